//! The command lines of the two kinds of guest. QEMU has the channel on standard input and output; user-mode
//! Linux prints there by itself, so that its channel has numbers of its own. Standard error is the console.

use super::image;
use super::keeper::{CHANNEL_FROM_HOST, CHANNEL_TO_HOST};
use super::kernel::{GuestKind, Kernel};
use super::protocol::INIT;
use crate::command::find_program;
use crate::failure::{LaneFailure, failed};
use model::Bytes;
use std::path::{Path, PathBuf};

/// Disks of a user-mode Linux guest, at most (MAX_DEV of arch/um/drivers/ubd_kern.c, from Linux 2.6.20 on; its help still says 8).
pub const MOST_UML_DISKS: usize = 16;
/// Bytes of the command line of a user-mode Linux guest: it ends at once with a longer one (COMMAND_LINE_SIZE of arch/um).
const MOST_UML_COMMAND: usize = 4096;
/// Disks of a QEMU guest: its PCI bus has 32 places, and some are taken.
pub const MOST_QEMU_DISKS: usize = 24;
/// Where libraries lie in a guest.
pub(crate) const LIBRARIES: &str = "/libraries";

/// What a guest is made of.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Which kind.
    pub kind: GuestKind,
    /// Its kernel.
    pub kernel: Kernel,
    /// CPUs; user-mode Linux has one.
    pub cpus: u32,
    /// Memory.
    pub memory: Bytes,
    /// Images in the order of its disks.
    pub disks: Vec<PathBuf>,
    /// User-mode Linux opens images O_SYNC.
    pub sync: bool,
    /// Disks of user-mode Linux take discards. Below layers they do not, unless a lane discards: layers punch holes on
    /// their own account, and an image with holes is no equal ground any more.
    pub discards: bool,
    /// KVM truly works here.
    pub kvm: bool,
}

impl Machine {
    /// A disk as the guest's /proc/diskstats names it.
    pub fn disk_name(kind: GuestKind, index: usize) -> String {
        let letter = char::from(b'a' + index as u8);
        match kind {
            GuestKind::Uml => format!("ubd{letter}"),
            GuestKind::Qemu => format!("vd{letter}"),
        }
    }

    /// Most disks of a kind of guest.
    pub fn most_disks(kind: GuestKind) -> usize {
        match kind {
            GuestKind::Uml => MOST_UML_DISKS,
            GuestKind::Qemu => MOST_QEMU_DISKS,
        }
    }

    /// The device of the channel in the guest.
    pub(crate) fn channel(&self) -> &'static str {
        match self.kind {
            GuestKind::Uml => "/dev/ttyS0",
            GuestKind::Qemu => "/dev/vport0p1",
        }
    }

    /// Modules that every guest of this kind needs before it can talk and has disks.
    pub(crate) fn own_modules(&self) -> &'static [&'static str] {
        match self.kind {
            GuestKind::Uml => &[],
            GuestKind::Qemu => &["virtio_pci", "virtio_blk", "virtio_console"],
        }
    }

    /// The whole command.
    ///
    /// # Errors
    /// When a path cannot be given to the guest.
    pub(crate) fn command(&self, initramfs: &Path, folder: &Path) -> Result<Vec<String>, LaneFailure> {
        match self.kind {
            GuestKind::Uml => self.uml(initramfs, folder),
            GuestKind::Qemu => self.qemu(initramfs, folder),
        }
    }

    /// The kernel's own parameters. What it does not know goes into the environment of its first process.
    fn parameters(&self) -> Vec<String> {
        ["quiet".to_owned(), format!("rdinit={INIT}"), format!("LD_LIBRARY_PATH={LIBRARIES}")].into()
    }

    fn uml(&self, initramfs: &Path, folder: &Path) -> Result<Vec<String>, LaneFailure> {
        let mut words = vec![
            text(&self.kernel.path)?,
            format!("uml_dir={}", text(folder)?),
            "umid=guest".to_owned(),
            format!("mem={}M", self.memory.get() >> 20),
            format!("initrd={}", text(initramfs)?),
            "con=null".to_owned(),
            "con0=null,fd:2".to_owned(),
            "ssl=null".to_owned(),
            format!("ssl0=fd:{CHANNEL_FROM_HOST},fd:{CHANNEL_TO_HOST}"),
        ];
        for (index, disk) in self.disks.iter().enumerate() {
            // A comma would begin a copy-on-write file, and the kernel ends a word at a space.
            let disk = plain(disk, &[',', ':', ' ', '"'])?;
            let (sync, no_trim) = (if self.sync { "s" } else { "" }, if self.discards { "" } else { "t" });
            words.push(format!("ubd{index}{sync}{no_trim}={disk}"));
        }
        words.extend(self.parameters());
        let bytes: usize = words.iter().map(|word| word.len() + 1).sum();
        if bytes >= MOST_UML_COMMAND {
            return Err(failed(format!(
                "the command line of a user-mode Linux guest takes {MOST_UML_COMMAND} bytes, and this one has {bytes}, most of \
                 them paths of its {} disks; choose a place with a shorter path: --on DIR",
                self.disks.len()
            )));
        }
        Ok(words)
    }

    fn qemu(&self, initramfs: &Path, folder: &Path) -> Result<Vec<String>, LaneFailure> {
        let of = self.kernel.architecture;
        let gone = || failed(format!("the emulator is gone; install {} again", of.emulator_package));
        let emulator = find_program(of.emulator).ok_or_else(gone)?;
        let kernel = image::for_emulator(&self.kernel.path, folder)?;
        let accelerator = match self.kvm {
            true => ["-accel", "kvm", "-cpu", "host"],
            false => ["-accel", "tcg,thread=multi", "-cpu", of.emulated_cpu],
        };
        let mut words = vec![text(&emulator)?];
        let mut push = |list: &[&str]| words.extend(list.iter().map(|&word| word.to_owned()));
        push(&accelerator);
        push(&["-M", of.machine, "-smp", &self.cpus.to_string(), "-m", &format!("{}M", self.memory.get() >> 20)]);
        // Firmware of a package that was unpacked, not installed.
        for part in ["usr/share/qemu", "usr/share/seabios"] {
            if let Some(folder) =
                crate::command::own_folder().map(|folder| folder.join(part)).filter(|path| path.is_dir())
            {
                push(&["-L", &text(&folder)?]);
            }
        }
        push(&["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-vga", "none"]);
        push(&["-kernel", &text(&kernel)?, "-initrd", &text(initramfs)?]);
        push(&["-chardev", "file,id=console,path=/dev/stderr,append=on", "-serial", "chardev:console"]);
        push(&["-chardev", "stdio,id=channel,signal=off,mux=off"]);
        push(&["-device", "virtio-serial-pci", "-device", "virtserialport,chardev=channel,name=fairlane"]);
        for (index, disk) in self.disks.iter().enumerate() {
            // In QEMU's own lists a comma is written twice.
            let disk = text(disk)?.replace(',', ",,");
            let drive = format!(
                "if=none,id=d{index},format=raw,cache=none,aio=native,discard=ignore,file.locking=off,file.filename={disk}"
            );
            push(&["-drive", &drive, "-device", &format!("virtio-blk-pci,drive=d{index}")]);
        }
        let parameters =
            [format!("console={}", of.console), "panic=-1".to_owned()].into_iter().chain(self.parameters());
        push(&["-append", &parameters.collect::<Vec<_>>().join(" ")]);
        Ok(words)
    }
}

fn text(path: &Path) -> Result<String, LaneFailure> {
    plain(path, &[])
}

fn plain(path: &Path, not: &[char]) -> Result<String, LaneFailure> {
    let text = path.to_str().filter(|text| !text.contains(|c: char| c.is_control() || not.contains(&c)));
    text.map(str::to_owned).ok_or_else(|| {
        failed(format!(
            "a guest cannot be given the path {}; choose a plainer one: work there, or name it with --on DIR",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;

    fn machine(kind: GuestKind) -> Machine {
        let architecture = Architecture::of_pe(0x8664).unwrap();
        let kernel = Kernel { path: "/k".into(), release: "6".to_owned(), modules: Default::default(), architecture };
        let disks = vec!["/a/0".into(), "/a/1".into()];
        Machine { kind, kernel, cpus: 2, memory: Bytes(512 << 20), disks, sync: false, discards: false, kvm: false }
    }

    #[test]
    fn disks_of_user_mode_linux_are_opened_o_sync_on_request_only() {
        let uml = machine(GuestKind::Uml);
        let words = uml.command(Path::new("/i"), Path::new("/f")).unwrap();
        assert!(words.contains(&"ubd1t=/a/1".to_owned()) && words.contains(&"mem=512M".to_owned()), "{words:?}");
        let words = Machine { sync: true, ..uml.clone() }.command(Path::new("/i"), Path::new("/f")).unwrap();
        assert!(words.contains(&"ubd0st=/a/0".to_owned()), "{words:?}");
        let words = Machine { discards: true, ..uml.clone() }.command(Path::new("/i"), Path::new("/f")).unwrap();
        assert!(words.contains(&"ubd0=/a/0".to_owned()), "{words:?}");
        let odd = Machine { disks: vec!["/a,b".into()], ..uml };
        assert!(odd.command(Path::new("/i"), Path::new("/f")).is_err());
    }

    #[test]
    fn user_mode_linux_has_sixteen_disks_with_numbers_and_letters() {
        let with = |path: &str| {
            let disks = (0..MOST_UML_DISKS).map(|number| format!("{path}{number}").into()).collect();
            Machine { disks, ..machine(GuestKind::Uml) }.command(Path::new("/i"), Path::new("/f"))
        };
        let words = with("/a/").unwrap();
        assert!(words.contains(&"ubd9t=/a/9".to_owned()) && words.contains(&"ubd15t=/a/15".to_owned()), "{words:?}");
        let told = with(&format!("/{}/", "a".repeat(250))).unwrap_err().to_string();
        assert!(told.contains("16 disks; choose a place with a shorter path"), "{told}");
        let names = [7, MOST_UML_DISKS - 1].map(|number| Machine::disk_name(GuestKind::Uml, number));
        assert_eq!(names, ["ubdh", "ubdp"]);
        assert_eq!(Machine::disk_name(GuestKind::Qemu, 0), "vda");
    }
}
