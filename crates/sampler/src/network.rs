//! What network interfaces carried (/proc/net/dev), of all programs.
//!
//! An interface that has no device of its own (a bond, a bridge, a tunnel) passes on what another one carries, which would be
//! counted twice; in a namespace that has only such ones they are all there is. What goes past the kernel (RDMA) no interface counts.

use crate::source::{Source, fields, lines, number};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where the kernel has a folder for each interface.
const INTERFACES: &str = "/sys/class/net";

#[derive(Debug)]
pub(crate) struct Network {
    counters: Source,
    /// Those that have a device, by their names.
    devices: BTreeSet<Vec<u8>>,
}

/// Bytes since the machine was booted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

impl Network {
    pub(crate) fn open() -> Self {
        Network { counters: Source::open("/proc/net/dev", 4096), devices: with_devices(Path::new(INTERFACES)) }
    }

    pub(crate) fn read(&mut self) -> Carried {
        parse(self.counters.read(), &self.devices)
    }
}

/// Interfaces that have a device of their own, but for those whose master has one too and counts what they carry (a virtual function
/// beside the paravirtual interface that leads it, as on Azure).
fn with_devices(interfaces: &Path) -> BTreeSet<Vec<u8>> {
    let found = std::fs::read_dir(interfaces).into_iter().flatten().flatten();
    let counts = |name: &OsStr| {
        let place = interfaces.join(name);
        place.join("device").exists() && !place.join("master/device").exists()
    };
    found.map(|entry| entry.file_name()).filter(|name| counts(name)).map(|name| name.as_bytes().to_vec()).collect()
}

/// The name stands before a colon; behind it the first figure is bytes received, and the ninth bytes sent.
fn parse(text: &[u8], devices: &BTreeSet<Vec<u8>>) -> Carried {
    let (mut by_devices, mut by_others) = (None::<Carried>, Carried::default());
    for line in lines(text) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let all = match line[..colon].trim_ascii() {
            b"lo" => continue,
            name if devices.contains(name) => by_devices.get_or_insert_default(),
            _ => &mut by_others,
        };
        let mut figures = fields(&line[colon + 1..]).map(number);
        all.received = all.received.saturating_add(figures.next().unwrap_or(0));
        all.sent = all.sent.saturating_add(figures.nth(7).unwrap_or(0));
    }
    by_devices.unwrap_or(by_others)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
        lo: 5000 10 0 0 0 0 0 0 5000 10 0 0 0 0 0 0\n  \
        eth0:1000 7 0 0 0 0 0 3 200 4 0 0 0 0 0 0\n bond0: 1000 7 0 0 0 0 0 3 200 4 0 0 0 0 0 0\n";

    #[test]
    fn what_passes_through_two_interfaces_counts_once_and_what_stays_here_not_at_all() {
        let devices = BTreeSet::from([b"eth0".to_vec()]);
        assert_eq!(parse(TEXT, &devices), Carried { received: 1000, sent: 200 });
        let elsewhere = BTreeSet::from([b"ib7".to_vec()]);
        for none in [BTreeSet::new(), elsewhere] {
            assert_eq!(parse(TEXT, &none), Carried { received: 2000, sent: 400 }, "none has a device");
        }
        assert_eq!(parse(b"", &devices), Carried::default());
    }

    #[test]
    fn interfaces_with_a_device_are_found() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("eth0/device")).unwrap();
        std::fs::create_dir(place.path().join("bond0")).unwrap();
        // Parts of a bond count, and a virtual function does not whose leader has a device.
        std::os::unix::fs::symlink("../bond0", place.path().join("eth0/master")).unwrap();
        std::fs::create_dir_all(place.path().join("vf0/device")).unwrap();
        std::os::unix::fs::symlink("../eth0", place.path().join("vf0/master")).unwrap();
        assert_eq!(with_devices(place.path()), BTreeSet::from([b"eth0".to_vec()]));
        assert!(with_devices(&place.path().join("gone")).is_empty());
        // Whatever this machine has, its counters do not go back.
        let mut network = Network::open();
        let (before, after) = (network.read(), network.read());
        assert!(after.received >= before.received && after.sent >= before.sent);
    }
}
