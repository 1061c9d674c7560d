//! The sampler on the running kernel.

use model::agent::{Devices, FilesystemProcesses};
use model::trial::{DeviceUse, SystemUse};
use sampler::Sampler;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

fn spin(milliseconds: u128) {
    let begun = Instant::now();
    while begun.elapsed().as_millis() < milliseconds {
        std::hint::spin_loop();
    }
}

/// The kernel's name of the disk that holds the path.
fn disk_under(path: &std::path::Path) -> Option<String> {
    let device = std::fs::metadata(path).ok()?.dev();
    let link = std::fs::read_link(format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device))).ok()?;
    Some(link.file_name()?.to_str()?.to_owned())
}

#[test]
fn a_window_shows_its_length_and_our_own_time() {
    let mut sampler = Sampler::new(&Devices::default());
    sampler.begin(false);
    spin(60);
    let used = sampler.end();
    assert!(used.window_seconds >= 0.060 && used.window_seconds < 5.0, "{used:?}");
    let own = used.agent_cpu_user_seconds + used.agent_cpu_system_seconds;
    assert!(own > 0.005 && used.cpus >= 1, "{used:?}");
    assert_eq!((used.device, used.busiest_thread), (DeviceUse::default(), None));
}

#[test]
fn only_the_time_between_opening_and_closing_counts() {
    let mut sampler = Sampler::new(&Devices::default());
    sampler.begin(false);
    std::thread::sleep(Duration::from_millis(80));
    let begun = Instant::now();
    sampler.open_window();
    std::thread::sleep(Duration::from_millis(30));
    sampler.close_window();
    let outer = begun.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(80));
    let used = sampler.end();
    assert!(used.window_seconds >= 0.030 && used.window_seconds <= outer, "{used:?}");
}

#[test]
fn synced_writes_show_on_the_disk_that_holds_them() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let Some(disk) = disk_under(folder.path()) else {
        eprintln!("skipped: /var/tmp lies on no block device here");
        return;
    };
    let devices = Devices {
        device: Some(disk.clone()),
        backing: Some(disk),
        neighbours: vec!["nonesuch0".into()],
        ..Devices::default()
    };
    let mut sampler = Sampler::new(&devices);
    sampler.begin(false);
    let mut file = std::fs::File::create(folder.path().join("f")).unwrap();
    let bytes: Vec<u8> = (0..4u32 << 18).flat_map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    file.write_all(&bytes).unwrap();
    file.sync_all().unwrap();
    let used = sampler.end();
    assert!(used.device.write_bytes >= 4 << 20 && used.device.writes > 0, "{used:?}");
    assert_eq!((used.backing, used.neighbours), (DeviceUse::default(), DeviceUse::default()));
}

#[test]
fn the_busiest_thread_is_named_where_threads_are_looked_at() {
    let mut sampler = Sampler::new(&Devices::default());
    sampler.begin(true);
    spin(100);
    let used = sampler.end();
    let share = used.busiest_thread_share.unwrap();
    assert!(share > 0.1 && share < 1.5, "{used:?}");
    assert!(!used.busiest_thread.unwrap().is_empty());
}

#[test]
fn laps_follow_one_another_without_a_gap() {
    let mut sampler = Sampler::new(&Devices::default());
    sampler.begin(false);
    let first = sampler.opened_at().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let one = sampler.lap();
    let second = sampler.opened_at().unwrap();
    std::thread::sleep(Duration::from_millis(10));
    let two = sampler.lap();
    let between = second.duration_since(first).as_secs_f64();
    assert!((one.window_seconds - between).abs() < 1e-9, "{one:?}, {between}");
    let whole = sampler.opened_at().unwrap().duration_since(first).as_secs_f64();
    assert!((one.window_seconds + two.window_seconds - whole).abs() < 1e-9);
    assert_eq!((one.windows, two.windows), (1, 1));
}

#[test]
fn an_end_without_a_beginning_is_all_zero() {
    assert_eq!(Sampler::new(&Devices::default()).end(), SystemUse::default());
}

#[test]
fn user_time_of_a_filesystems_process_is_told_apart() {
    let mut busy = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let watch = |filesystem| Sampler::new(&Devices { filesystem, ..Devices::default() });
    let mut known = watch(FilesystemProcesses::Known(vec![busy.id()]));
    let mut unknown = watch(FilesystemProcesses::Unknown);
    known.begin(false);
    unknown.begin(false);
    // On a busy machine it may have to wait for its turn.
    let begun = Instant::now();
    let mut seen = 0.0;
    while seen < 0.05 && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(Duration::from_millis(100));
        known.close_window();
        let used = known.end();
        seen += used.filesystem_cpu_user_seconds;
        assert!(!used.filesystem_process_unknown, "{used:?}");
        known.begin(false);
    }
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert!(seen >= 0.05, "{seen}");
    let used = unknown.end();
    assert!(used.filesystem_process_unknown && used.filesystem_cpu_user_seconds == 0.0, "{used:?}");
}
