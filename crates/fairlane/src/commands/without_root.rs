//! Where a race without root takes place when nobody said where: in QEMU where KVM truly works, else in user-mode
//! Linux, else in the directory that is there.

use super::planning;
use lanes::guest::{GuestKind, Kernel, kvm};
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
pub fn choose(texts: &[String], on: Option<&Path>) -> Option<Fallback> {
    if rustix::process::geteuid().is_root() || on.is_some() || !needs_root(texts) {
        return None;
    }
    let kvm = kvm::works_here(&AtomicBool::new(false));
    let uml = Kernel::find(GuestKind::Uml, None).map(|_| ()).map_err(|failure| failure.to_string());
    let here = std::env::current_dir().ok().map(|path| path.display().to_string());
    decide(kvm, uml, texts.is_empty(), here)
}

fn decide(kvm: Result<(), String>, uml: Result<(), String>, unnamed: bool, here: Option<String>) -> Option<Fallback> {
    let Err(no_kvm) = kvm else {
        return Some(Fallback {
            on: Some("qemu".into()),
            lanes: Vec::new(),
            note: "without root the lanes race in a QEMU guest with KVM, on the real disk".to_owned(),
        });
    };
    let Err(no_uml) = uml else {
        return Some(Fallback {
            on: Some("uml".into()),
            lanes: Vec::new(),
            note: format!(
                "without root the lanes race in user-mode Linux, because {no_kvm}: it compares the filesystems' code, not \
                 your disk; `sudo fairlane race` or `--on qemu` use the disk"
            ),
        });
    };
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
        let chosen = |kvm, uml, unnamed| decide(kvm, uml, unnamed, Some("/home/li".to_owned()));
        assert_eq!(chosen(Ok(()), Ok(()), true).unwrap().on, Some("qemu".into()));
        let uml = chosen(no("/dev/kvm cannot be opened"), Ok(()), false).unwrap();
        assert_eq!(uml.on, Some("uml".into()));
        assert!(
            uml.note.contains("because /dev/kvm cannot be opened") && uml.note.contains("not your disk"),
            "{uml:?}"
        );
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
