//! Files made, replaced and read with the rights of the user who is served.

use super::reading::{TO_LOOK, open_part_by_part, read_within, regular};
use super::*;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        crate::terminal::say!("skipped: needs root, to stand in another user's place");
    }
    root
}

/// Not in the emulator; there, what a link of /proc says is walked as any other path, by the user's rights.
fn has_openat2() -> bool {
    let opened =
        rustix::fs::openat2(rustix::fs::CWD, "/", OFlags::PATH, Mode::empty(), rustix::fs::ResolveFlags::empty());
    let lacks = opened.err() == Some(rustix::io::Errno::NOSYS) && std::env::var_os("FAIRLANE_EMULATED").is_some();
    if lacks {
        crate::terminal::say!("in part skipped: the emulator has no openat2");
    }
    !lacks
}

#[test]
fn a_file_is_replaced_whole_keeps_its_permissions_and_never_becomes_set_user_id() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("r");
    replace(&file, false, &mut |out| out.write_all(b"one")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o4750)).unwrap();
    replace(&file, false, &mut |out| out.write_all(b"two")).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"two");
    assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o750);
    let failed = replace(&file, false, &mut |out| out.write_all(b"x").and(Err(io::Error::other("full"))));
    assert_eq!(failed.unwrap_err().to_string(), "full");
    assert_eq!((std::fs::read(&file).unwrap(), list(place.path()).unwrap().len()), (b"two".to_vec(), 1));
}

#[test]
fn a_new_file_is_made_whole_or_not_at_all_and_never_in_place_of_something() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("new");
    let made = create_whole(&file, |mut out| {
        out.write_all(b"whole")?;
        // Nobody sees it by its name before.
        assert!(!file.exists());
        Ok(7)
    });
    assert_eq!((made.unwrap(), std::fs::read(&file).unwrap()), (7, b"whole".to_vec()));
    assert_eq!(file.metadata().unwrap().mode() & 0o7133, 0);
    for taken in ["new", "link"] {
        let path = place.path().join(taken);
        _ = symlink("nowhere", place.path().join("link"));
        let refused = create_whole(&path, |_| Ok(())).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists, "{taken}");
    }
    // Somebody else was faster.
    let late = place.path().join("late");
    let refused = create_whole(&late, |_| std::fs::write(&late, "theirs")).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&late).unwrap(), b"theirs");
    let failed = create_whole(&place.path().join("half"), |mut out| {
        out.write_all(b"half")?;
        Err::<(), _>(io::Error::other("full"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "full");
    let mut names = names(place.path()).unwrap();
    names.sort();
    assert_eq!(names, ["late", "link", "new"]);
}

#[test]
fn a_link_of_ones_own_keeps_its_name_where_it_is_asked_to() {
    let place = tempfile::tempdir().unwrap();
    let (target, link) = (place.path().join("target"), place.path().join("link"));
    std::fs::write(&target, "old").unwrap();
    symlink("target", &link).unwrap();
    replace(&link, true, &mut |out| out.write_all(b"new")).unwrap();
    assert_eq!((std::fs::read(&target).unwrap(), link.is_symlink()), (b"new".to_vec(), true));
    replace(&link, false, &mut |out| out.write_all(b"own")).unwrap();
    assert_eq!((std::fs::read(&target).unwrap(), link.is_symlink()), (b"new".to_vec(), false));
    symlink("round", place.path().join("round")).unwrap();
    assert!(replace(&place.path().join("round"), true, &mut |_| Ok(())).is_err());
    assert!(create(&place.path().join("round")).is_err() && check_new(&place.path().join("round")).is_err());
}

#[test]
fn folders_are_made_below_links_of_ones_own_and_names_are_told_apart() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("real")).unwrap();
    symlink("real", place.path().join("way")).unwrap();
    make_folders(&place.path().join("way/a/../b/c")).unwrap();
    assert!(place.path().join("real/b/c").is_dir() && place.path().join("real/a").is_dir());
    let file = place.path().join("way/b/f");
    assert_eq!(there(&file).unwrap(), There::Nothing);
    drop(create_private(&file).unwrap());
    assert_eq!((there(&file).unwrap(), file.metadata().unwrap().mode() & 0o777), (There::File, 0o600));
    assert_eq!(there(&place.path().join("way")).unwrap(), There::Else);
    assert_eq!(check_new(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    rename_beside(&file, OsStr::new("g")).unwrap();
    remove(&place.path().join("real/b/g")).unwrap();
    assert!(create(&place.path().join("real/b/f/x")).is_err() && create(&place.path().join("no/x")).is_err());
    assert!(create(Path::new("/")).is_err() && check_new(Path::new("..")).is_err());
}

#[test]
fn what_is_no_regular_file_is_neither_read_nor_waited_for_and_a_bound_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    for no_file in [&pipe, Path::new("/dev/zero"), place.path()] {
        assert!(read(no_file, 10).is_err(), "{}", no_file.display());
    }
    assert!(open_to_append(&pipe).is_err());
    let sparse = place.path().join("sparse");
    std::fs::File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    assert!(read(&sparse, 4096).unwrap_err().to_string().contains("more than 4KiB"));
    std::fs::write(&sparse, "four").unwrap();
    assert_eq!((read(&sparse, 4).unwrap(), read(&sparse, 3).is_err()), (b"four".to_vec(), true));
}

#[test]
fn root_follows_no_link_that_somebody_else_planted() {
    if !is_root() || Owner::current().ids().is_some() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (planted, folder) = (place.path().join("planted"), place.path().join("folder"));
    std::fs::write(place.path().join("victim"), "old").unwrap();
    symlink("victim", &planted).unwrap();
    symlink(".", &folder).unwrap();
    for link in [&planted, &folder] {
        std::os::unix::fs::lchown(link, Some(65534), Some(65534)).unwrap();
    }
    for through in [replace(&planted, true, &mut |_| Ok(())), create(&folder.join("new")).map(drop)] {
        let said = through.unwrap_err().to_string();
        assert!(said.contains("a link of user 65534"), "{said}");
    }
    assert_eq!(std::fs::read(place.path().join("victim")).unwrap(), b"old");
    chown(place.path(), Some(65534), Some(65534)).unwrap();
}

#[test]
fn no_file_is_made_among_the_devices() {
    if !is_root() || !is_among_devices(&File::open("/dev").unwrap().into()).unwrap() {
        return;
    }
    let path = Path::new("/dev/fairlane-test-no-device");
    for made in [create(path).map(drop), replace(path, true, &mut |_| Ok(()))] {
        assert!(made.unwrap_err().to_string().contains("among the system's devices"));
    }
    assert!(!path.exists());
}

#[test]
fn the_users_rights_are_those_of_one_thread_alone_and_hold_none_of_roots() {
    if !is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let inside = place.path().join("x");
    // A process of root's, whose folder /proc shows to whoever may trace it.
    let mut roots = std::process::Command::new("sleep").arg("600").current_dir(place.path()).spawn().unwrap();
    let behind = format!("/proc/{}/cwd", roots.id());
    let (refused, ids, seen, sysctl) = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            take_rights(65534, 65533, &[65533]).unwrap();
            // It asks for the effective id, where other files ask for that of the file system.
            let sysctl = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_fastopen_key").map(drop);
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            (std::fs::write(&inside, "").unwrap_err().kind(), status, std::fs::metadata(&behind).map(drop), sysctl)
        });
        thread.join().unwrap()
    });
    assert!(std::fs::metadata(&behind).is_ok());
    roots.kill().and_then(|()| roots.wait()).unwrap();
    assert_eq!(seen.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    assert!(
        sysctl.is_err_and(|error| matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound))
    );
    assert_eq!(refused, io::ErrorKind::PermissionDenied);
    let line = |key: &str| ids.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("Uid:").ends_with("\t65534") && line("Gid:").ends_with("\t65533"), "{ids}");
    assert_eq!(line("Groups:").trim(), "Groups:\t65533");
    std::fs::write(&inside, "this thread is root as before").unwrap();
}

#[test]
fn what_the_kernel_makes_up_and_what_stands_behind_a_process_is_not_read() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("x"), "text").unwrap();
    let behind = PathBuf::from(format!("/proc/self/cwd{}/x", place.path().display()));
    let mut way = PathBuf::from("/proc/self/root");
    way.push(place.path().strip_prefix("/").unwrap().join("x"));
    let made_up = ["/proc/self/maps", "/proc/sys/kernel/osrelease", "/proc/version"].map(Path::new);
    let behind_a_process = [&*way, &*behind, Path::new("/proc/self/cwd")];
    let behind_a_process = behind_a_process.into_iter().filter(|_| has_openat2());
    for path in made_up.into_iter().chain(behind_a_process) {
        assert!(open_as_owner(path).is_err() && read(path, 1 << 20).is_err(), "{}", path.display());
    }
    // As kernels without openat2 have it: the way of a link is walked, and leads to no process.
    symlink("x", place.path().join("link")).unwrap();
    let found = open_part_by_part(&place.path().join("link"), TO_LOOK).and_then(regular).unwrap();
    assert_eq!(read_within(found, 10).unwrap(), b"text");
    assert!(open_part_by_part(Path::new("/proc/self/maps"), TO_LOOK).and_then(regular).is_err());
    std::fs::remove_file(place.path().join("link")).unwrap();
    assert!(!has_openat2() || list(Path::new("/proc/self/cwd")).is_err());
    assert_eq!(list(place.path()).unwrap().len(), 1);
    assert_eq!(read(&place.path().join("x"), 10).unwrap(), b"text");
}

#[test]
fn what_is_swapped_for_a_pipe_between_two_looks_is_not_read() {
    if !has_openat2() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let (named, other) = (at("named"), at("other"));
    rustix::fs::mknodat(rustix::fs::CWD, &named, FileType::Fifo, Mode::RWXU, 0).unwrap();
    // Its own writer: nobody waits for another one.
    let _writer = File::options().read(true).write(true).open(&named).unwrap();
    symlink("named", at("way")).unwrap();
    assert!(open_text(&at("way")).unwrap().metadata().unwrap().file_type().is_fifo());
    let behind_a_process = |name: &str| PathBuf::from(format!("/proc/self/root{}", at(name).display()));
    assert!(open_text(&behind_a_process("named")).is_err());
    std::fs::write(at("secret"), "TOPSECRET").unwrap();
    symlink(behind_a_process("secret"), &other).unwrap();
    let exchange = || {
        let [here, there] = [&named, &other];
        rustix::fs::renameat_with(rustix::fs::CWD, here, rustix::fs::CWD, there, rustix::fs::RenameFlags::EXCHANGE)
    };
    exchange().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let read = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                exchange().unwrap();
            }
        });
        let is_file = |file: File| file.metadata().is_ok_and(|of| of.is_file());
        let read = (0..50_000).filter_map(|_| open_text(&named).ok()).any(is_file);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        read
    });
    assert!(!read, "what a link of /proc leads to was opened");
}
