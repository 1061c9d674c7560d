//! Where a race without root takes place when nobody said where: in QEMU where KVM truly works, else in user-mode
//! Linux where it runs programs, else in QEMU with an emulated CPU, else in the directory that is there.

use super::planning;
use lanes::guest::{self, GuestKind, Kernel, kvm, uml};
use model::Bytes;
use model::lane::{Contestant, LaneSpec};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Where, and the sentence that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// As `--on` would name it; `None`: the lane is a directory.
    pub on: Option<PathBuf>,
    /// The lanes to race where none was named and no guest is there.
    pub lanes: Vec<String>,
    /// Which and why.
    pub note: String,
}

/// Chooses for somebody without root; `None`: nothing has to be chosen, or nothing can be.
pub fn choose(texts: &[String], on: Option<&Path>, memory: Option<Bytes>) -> Option<Fallback> {
    // Who names a guest or a device means it; in a directory the images of a guest lie as well.
    let means_it = on.is_some_and(|on| planning::guest_venue(on).is_some() || !on.is_dir());
    if lanes::host::is_root() || means_it || !needs_root(texts) {
        return None;
    }
    let no_stop = AtomicBool::new(false);
    let kvm = kvm::works_here(&no_stop);
    // A trial is a second or two, so only where it decides.
    let uml = || {
        let kernel = Kernel::find(GuestKind::Uml, None)?;
        guest::check_room_for_uml(memory)?;
        let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
        uml::ptrace_for(&kernel, &program, &no_stop).map(|_| ())
    };
    let qemu = || Kernel::find(GuestKind::Qemu, None).map(|_| ());
    let text = |failure: lanes::LaneFailure| failure.to_string();
    let guests = Guests { kvm, uml: &|| uml().map_err(text), emulated: &|| qemu().map_err(text) };
    let here = on.map(Path::to_owned).or_else(|| std::env::current_dir().ok());
    let here = here.map(|path| path.display().to_string());
    decide(guests, texts.is_empty(), here)
}

/// Which guests work here, the later ones asked only where those before do not.
struct Guests<'a> {
    kvm: Result<(), String>,
    uml: &'a dyn Fn() -> Result<(), String>,
    emulated: &'a dyn Fn() -> Result<(), String>,
}

fn decide(guests: Guests, unnamed: bool, here: Option<String>) -> Option<Fallback> {
    let Err(no_kvm) = guests.kvm else {
        return Some(Fallback {
            on: Some("qemu".into()),
            lanes: Vec::new(),
            note: "without root the lanes race in a QEMU guest with KVM, on the real disk".to_owned(),
        });
    };
    let Err(no_uml) = (guests.uml)() else {
        return Some(Fallback {
            on: Some("uml".into()),
            lanes: Vec::new(),
            note: format!(
                "without root the lanes race in user-mode Linux, because {no_kvm}: it compares the filesystems' code, not \
                 your disk; the same command with `sudo`, or with `--on qemu`, uses the disk"
            ),
        });
    };
    if (guests.emulated)().is_ok() {
        return Some(Fallback {
            on: Some("qemu".into()),
            lanes: Vec::new(),
            note: format!(
                "without root the lanes race in a QEMU guest, whose CPU is emulated because {no_kvm}, and not in \
                 user-mode Linux, because {no_uml}: work that is bound by the CPU is many times slower than on hardware"
            ),
        });
    }
    let here = here.filter(|_| unnamed)?;
    Some(Fallback {
        on: None,
        lanes: vec![here],
        note: format!(
            "without root and without a guest ({no_uml}) one directory is raced as it is: one lane, speed only, no \
             comparison; `fairlane doctor --install --user` adds a guest"
        ),
    })
}

/// Whether some lane would be formatted and mounted by this machine. What cannot be read is refused later.
fn needs_root(texts: &[String]) -> bool {
    let of_host = |text: &String| {
        text.parse::<LaneSpec>()
            .is_ok_and(|lane| !matches!(lane.contestant, Contestant::Directory(_)) && lane.venue.is_none())
    };
    let named_elsewhere =
        |text: &String| text.parse::<LaneSpec>().is_ok_and(|lane| lane.venue.is_some() && !planning::in_guest(&lane));
    texts.is_empty() || (texts.iter().any(of_host) && !texts.iter().any(named_elsewhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_disk_comes_before_the_filesystems_code_and_that_before_one_directory() {
        let no = |why: &str| Err(why.to_owned());
        let choose = |kvm, uml: Result<(), String>, emulated: Result<(), String>, unnamed| {
            let guests = Guests { kvm, uml: &|| uml.clone(), emulated: &|| emulated.clone() };
            decide(guests, unnamed, Some("/home/li".to_owned()))
        };
        let chosen = |kvm, uml, unnamed| choose(kvm, uml, Err("no".to_owned()), unnamed);
        assert_eq!(chosen(Ok(()), Ok(()), true).unwrap().on, Some("qemu".into()));
        let uml = chosen(no("/dev/kvm cannot be opened"), Ok(()), false).unwrap();
        assert_eq!(uml.on, Some("uml".into()));
        assert!(
            uml.note.contains("because /dev/kvm cannot be opened") && uml.note.contains("not your disk"),
            "{uml:?}"
        );
        // Where user-mode Linux panics an emulated CPU still compares filesystems.
        let emulated = choose(no("no KVM"), no("it panics"), Ok(()), true).unwrap();
        assert_eq!(emulated.on, Some("qemu".into()));
        assert!(["emulated because no KVM", "because it panics"].iter().all(|why| emulated.note.contains(why)));
        let directory = chosen(no("no"), no("linux.uml is missing"), true).unwrap();
        assert_eq!((directory.on, directory.lanes), (None, vec!["/home/li".to_owned()]));
        assert!(directory.note.contains("one lane, speed only"));
        // Filesystems that were asked for are not traded for a directory.
        assert_eq!(chosen(no("no"), no("no"), false), None);
    }

    #[test]
    fn directories_and_guests_need_no_root() {
        let needs = |texts: &[&str]| needs_root(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        assert!(needs(&[]) && needs(&["ext4"]) && needs(&["ext4", "/mnt/a"]));
        assert!(!needs(&["/mnt/a"]) && !needs(&["ext4@uml", "xfs@qemu"]));
        // Who names an image or a device wants that one.
        assert!(!needs(&["ext4@image", "xfs"]) && !needs(&["ext4@/dev/sdb"]));
    }
}
