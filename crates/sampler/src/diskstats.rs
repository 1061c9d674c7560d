//! Counters of block devices: /proc/diskstats (the kernel's Documentation/admin-guide/iostats.rst).

use crate::source::{Source, fields, lines, number};
use model::agent::Devices;
use model::trial::DeviceUse;

/// Whatever the device's own block size, /proc/diskstats counts in these.
const SECTOR_BYTES: u64 = 512;

/// Counters of one device, or the sum of several, since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    reads: u64,
    read_sectors: u64,
    writes: u64,
    write_sectors: u64,
    busy_milliseconds: u64,
    queue_milliseconds: u64,
    discard_sectors: u64,
    flushes: u64,
    flush_milliseconds: u64,
}

/// The devices that are watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Watched {
    pub(crate) device: Counters,
    /// Each of the lane's disks, where it has several.
    pub(crate) disks: Vec<Counters>,
    pub(crate) backing: Counters,
    pub(crate) neighbours: Counters,
}

#[derive(Debug)]
pub(crate) struct Disks {
    diskstats: Source,
    devices: Devices,
}

impl Disks {
    pub(crate) fn open(devices: &Devices) -> Self {
        let mut devices = devices.clone();
        // The same disk twice would count the lane's own work as foreign.
        devices.backing = devices.backing.filter(|backing| Some(backing) != devices.device.as_ref());
        Disks { diskstats: Source::open("/proc/diskstats", 16 << 10), devices }
    }

    pub(crate) fn read(&mut self) -> Watched {
        let wanted = self.devices.device.is_some() || self.devices.backing.is_some();
        if !wanted && self.devices.neighbours.is_empty() {
            return Watched::default();
        }
        parse(self.diskstats.read(), &self.devices)
    }
}

fn parse(text: &[u8], devices: &Devices) -> Watched {
    let mut watched = Watched::default();
    if !devices.further.is_empty() {
        watched.disks.resize(1 + devices.further.len(), Counters::default());
    }
    for line in lines(text) {
        let Some(name) = fields(line).nth(2) else { continue };
        let is = |wanted: &Option<String>| wanted.as_ref().is_some_and(|wanted| wanted.as_bytes() == name);
        let mut of_lane = devices.device.iter().chain(&devices.further);
        if let Some(disk) = of_lane.position(|wanted| wanted.as_bytes() == name) {
            watched.device.add(line);
            if let Some(counters) = watched.disks.get_mut(disk) {
                counters.add(line);
            }
        }
        if is(&devices.backing) {
            watched.backing.add(line);
        }
        if devices.neighbours.iter().any(|neighbour| neighbour.as_bytes() == name) {
            watched.neighbours.add(line);
        }
    }
    watched.device.busy_milliseconds /= 1 + devices.further.len() as u64;
    watched
}

impl Counters {
    /// Adds a line `major minor name 1 2 3 …`. Kernels before 4.18 end after field 11 (no
    /// discards), before 5.5 after field 15 (no flushes): what is missing is 0.
    fn add(&mut self, line: &[u8]) {
        let mut values = [0; 17];
        for (slot, field) in values.iter_mut().zip(fields(line).skip(3)) {
            *slot = number(field);
        }
        // The documentation counts from 1.
        let field = |number: usize| values[number - 1];
        self.reads += field(1);
        self.read_sectors += field(3);
        self.writes += field(5);
        self.write_sectors += field(7);
        self.busy_milliseconds += field(10);
        self.queue_milliseconds += field(11);
        self.discard_sectors += field(14);
        self.flushes += field(16);
        self.flush_milliseconds += field(17);
    }

    /// Bytes written since the device appeared.
    pub(crate) fn write_bytes(&self) -> u64 {
        self.write_sectors * 512
    }

    /// What happened between two readings. A counter that went back (a device taken away and made
    /// again, an overflow) counts as 0.
    pub(crate) fn since(&self, before: &Counters) -> DeviceUse {
        let count = |after: u64, before: u64| after.saturating_sub(before);
        let bytes = |after, before| count(after, before) * SECTOR_BYTES;
        let seconds = |after, before| count(after, before) as f64 / 1e3;
        DeviceUse {
            reads: count(self.reads, before.reads),
            writes: count(self.writes, before.writes),
            read_bytes: bytes(self.read_sectors, before.read_sectors),
            write_bytes: bytes(self.write_sectors, before.write_sectors),
            discard_bytes: bytes(self.discard_sectors, before.discard_sectors),
            flushes: count(self.flushes, before.flushes),
            flush_seconds: seconds(self.flush_milliseconds, before.flush_milliseconds),
            busy_seconds: seconds(self.busy_milliseconds, before.busy_milliseconds),
            queue_seconds: seconds(self.queue_milliseconds, before.queue_milliseconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &[u8] = b"   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
   7       1 loop1 10 0 80 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   7      10 loop10 900 0 900 0 0 0 0 0 0 0 0
 254       0 vda 100 0 800 0 50 0 400 0 0 1000 2000
";

    fn devices() -> Devices {
        Devices {
            device: Some("loop0".into()),
            backing: Some("vda".into()),
            neighbours: vec!["loop1".into(), "loop10".into(), "gone".into()],
            ..Devices::default()
        }
    }

    #[test]
    fn every_field_is_found_in_its_place() {
        let counters = parse(BEFORE, &devices());
        let all = counters.device.since(&Counters::default());
        assert_eq!((all.reads, all.read_bytes, all.writes, all.write_bytes), (1, 3 * 512, 5, 7 * 512));
        assert_eq!((all.discard_bytes, all.flushes), (14 * 512, 16));
        assert_eq!((all.busy_seconds, all.queue_seconds, all.flush_seconds), (0.010, 0.011, 0.017));
    }

    #[test]
    fn disks_of_one_lane_add_up_and_are_busy_on_average() {
        let several = Devices { further: vec!["loop1".into()], ..devices() };
        let watched = parse(BEFORE, &several);
        let all = watched.device.since(&Counters::default());
        assert_eq!((all.reads, all.read_bytes, all.writes), (11, 83 * 512, 5));
        assert_eq!((all.busy_seconds, all.queue_seconds), (0.005, 0.011));
        let each: Vec<DeviceUse> = watched.disks.iter().map(|disk| disk.since(&Counters::default())).collect();
        assert_eq!((each[0].reads, each[1].reads, each.len()), (1, 10, 2));
        assert_eq!((each[0].busy_seconds, each[1].busy_seconds), (0.010, 0.0));
        assert_eq!(parse(BEFORE, &devices()).disks, [], "one disk is the device itself");
    }

    #[test]
    fn neighbours_add_up_and_old_kernels_lines_end_early() {
        let counters = parse(BEFORE, &devices());
        assert_eq!(counters.neighbours.since(&Counters::default()).reads, 910);
        let backing = counters.backing.since(&Counters::default());
        assert_eq!((backing.write_bytes, backing.flushes, backing.queue_seconds), (400 * 512, 0, 2.0));
    }

    #[test]
    fn a_device_made_again_gives_zeros_not_an_overflow() {
        let before = parse(BEFORE, &devices()).device;
        assert_eq!(Counters::default().since(&before), DeviceUse::default());
    }

    #[test]
    fn a_backing_disk_that_is_the_device_itself_is_not_counted_twice() {
        let same = Devices { device: Some("vda".into()), backing: Some("vda".into()), ..Devices::default() };
        assert_eq!(Disks::open(&same).devices.backing, None);
    }
}
