//! What the system did in the course of one trial: columns of equal length.

use crate::page::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points of a trial at most; of more the smallest and the largest of each stretch are kept.
pub const MOST_POINTS: usize = 256;
/// Points of [`TrialTimeline::each_second`] at most; longer trials have one in so many seconds.
pub const MOST_SECONDS: usize = 3600;

/// What shows beside appenders at one moment, here or in a guest.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Look {
    /// `Buffers` of /proc/meminfo.
    pub buffers_bytes: u64,
    /// `Cached`.
    pub cached_bytes: u64,
    /// `Dirty`.
    pub dirty_bytes: u64,
    /// `Writeback`.
    pub writeback_bytes: u64,
    /// The load average of one minute.
    pub load_average: f64,
    /// Tasks in state D when tasks were looked at last.
    pub blocked_tasks: u32,
    /// CPU seconds of the kernel's workers per second, of the second before tasks were looked at last.
    pub kworker_cores: f64,
}

/// What the system did in the course of one trial: one point for each measured window and, inside
/// windows of a second or more, one for each quarter of a second, of appenders for each tenth. All columns are of equal length; one
/// that was not known is empty. Figures hold four digits, times milliseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TrialTimeline {
    /// Seconds from the opening of the trial's first window to the end of what the point stands for.
    pub seconds: Vec<f64>,
    /// The same without what lay between windows: measured seconds so far.
    pub measured_seconds: Vec<f64>,
    /// Operations of the application per second, charged syncs left out; inside a longer window its
    /// mean, or, of job files, what the engine counted in each half second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations_per_second: Vec<f64>,
    /// User and system time as a share of all CPUs, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpu_share: Vec<f64>,
    /// Idle while I/O was outstanding, as a share of all CPUs, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iowait_share: Vec<f64>,
    /// Taken by the hypervisor, as a share of all CPUs, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steal_share: Vec<f64>,
    /// Bytes that the lane's device read per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_read_bytes_per_second: Vec<f64>,
    /// Bytes that the lane's device wrote per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_write_bytes_per_second: Vec<f64>,
    /// Requests that the lane's device completed per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_iops: Vec<f64>,
    /// Flushes of the lane's device per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_flushes_per_second: Vec<f64>,
    /// Requests in flight at the lane's device, the mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_queue: Vec<f64>,
    /// Share of the time in which the lane's device had a request in flight, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_busy_share: Vec<f64>,
    /// Bytes in the page cache that still had to be written, at the point's end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirty_bytes: Vec<f64>,
    /// Share of the time in which some task waited for I/O, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pressure_io_share: Vec<f64>,
    /// Bytes of block devices in the page cache (`Buffers`), at the point's end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffers_bytes: Vec<f64>,
    /// Bytes of files in the page cache (`Cached`), at the point's end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cached_bytes: Vec<f64>,
    /// Bytes of the page cache that are on their way to a disk, at the point's end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writeback_bytes: Vec<f64>,
    /// The mean of the iowait share over the last ten seconds, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iowait_average_share: Vec<f64>,
    /// The load average of one minute, at the point's end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_average: Vec<f64>,
    /// Tasks that wait in the kernel and cannot be interrupted (state D), once a second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_tasks: Vec<f64>,
    /// CPU time of the kernel's workers (kworker) as a share of all CPUs, 0 to 1, once a second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kworker_share: Vec<f64>,
    /// Reads that the lane's device completed per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_reads_per_second: Vec<f64>,
    /// Writes that the lane's device completed per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_writes_per_second: Vec<f64>,
    /// Bytes that the lane's device wrote from the opening of the first window to the point's end, all digits of
    /// them: a point that stands for a stretch says nothing of what was written between. Of appenders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_written_bytes: Vec<f64>,
    /// The same second by second, of appenders: rates and shares are means of the second, what is there
    /// (bytes of memory, the load average, tasks) is as it was at its end. It has no such list itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each_second: Option<Box<TrialTimeline>>,
}

impl Quantity {
    /// Every quantity.
    pub const ALL: [Quantity; 21] = [
        Quantity::OperationsPerSecond,
        Quantity::CpuShare,
        Quantity::IowaitShare,
        Quantity::StealShare,
        Quantity::DeviceReadBytesPerSecond,
        Quantity::DeviceWriteBytesPerSecond,
        Quantity::DeviceIops,
        Quantity::DeviceFlushesPerSecond,
        Quantity::DeviceQueue,
        Quantity::DeviceBusyShare,
        Quantity::DirtyBytes,
        Quantity::PressureIoShare,
        Quantity::BuffersBytes,
        Quantity::CachedBytes,
        Quantity::WritebackBytes,
        Quantity::IowaitAverageShare,
        Quantity::LoadAverage,
        Quantity::BlockedTasks,
        Quantity::KworkerShare,
        Quantity::DeviceReadsPerSecond,
        Quantity::DeviceWritesPerSecond,
    ];

    /// Whether it is watched of appenders alone: it costs more than the others, or other work says
    /// it in another way.
    pub fn is_of_appenders(self) -> bool {
        use Quantity as Q;
        matches!(
            self,
            Q::BuffersBytes
                | Q::CachedBytes
                | Q::WritebackBytes
                | Q::IowaitAverageShare
                | Q::LoadAverage
                | Q::BlockedTasks
                | Q::KworkerShare
                | Q::DeviceReadsPerSecond
                | Q::DeviceWritesPerSecond
        )
    }

    /// Whether it is what is there at a moment, and not what was done in a time.
    pub fn is_a_level(self) -> bool {
        use Quantity as Q;
        matches!(
            self,
            Q::DirtyBytes
                | Q::BuffersBytes
                | Q::CachedBytes
                | Q::WritebackBytes
                | Q::IowaitAverageShare
                | Q::LoadAverage
                | Q::BlockedTasks
        )
    }

    /// Whether it is a counter of the lane's own device, which not every lane has.
    pub fn is_of_the_device(self) -> bool {
        use Quantity as Q;
        matches!(
            self,
            Q::DeviceReadBytesPerSecond
                | Q::DeviceWriteBytesPerSecond
                | Q::DeviceIops
                | Q::DeviceFlushesPerSecond
                | Q::DeviceQueue
                | Q::DeviceBusyShare
                | Q::DeviceReadsPerSecond
                | Q::DeviceWritesPerSecond
        )
    }
}

impl TrialTimeline {
    /// Number of points: the length of the shorter column of times, in a record that was edited.
    pub fn points(&self) -> usize {
        self.seconds.len().min(self.measured_seconds.len())
    }

    /// The list that tells moments apart best: that of seconds, or the thinned one, of which two points stand for a
    /// stretch.
    pub fn finest(&self) -> &TrialTimeline {
        self.each_second.as_deref().filter(|seconds| 2 * seconds.points() > self.points()).unwrap_or(self)
    }

    /// The list whose mean is that of the whole trial: that of seconds, or the only one there is.
    pub fn evenly(&self) -> &TrialTimeline {
        self.each_second.as_deref().unwrap_or(self)
    }

    /// The largest figure of a quantity; `None`: it was not known.
    pub fn largest(&self, quantity: Quantity) -> Option<f64> {
        self.column(quantity).iter().copied().reduce(f64::max)
    }

    /// The column of a quantity; empty where it was not known.
    pub fn column(&self, quantity: Quantity) -> &[f64] {
        match quantity {
            Quantity::OperationsPerSecond => &self.operations_per_second,
            Quantity::CpuShare => &self.cpu_share,
            Quantity::IowaitShare => &self.iowait_share,
            Quantity::StealShare => &self.steal_share,
            Quantity::DeviceReadBytesPerSecond => &self.device_read_bytes_per_second,
            Quantity::DeviceWriteBytesPerSecond => &self.device_write_bytes_per_second,
            Quantity::DeviceIops => &self.device_iops,
            Quantity::DeviceFlushesPerSecond => &self.device_flushes_per_second,
            Quantity::DeviceQueue => &self.device_queue,
            Quantity::DeviceBusyShare => &self.device_busy_share,
            Quantity::DirtyBytes => &self.dirty_bytes,
            Quantity::PressureIoShare => &self.pressure_io_share,
            Quantity::BuffersBytes => &self.buffers_bytes,
            Quantity::CachedBytes => &self.cached_bytes,
            Quantity::WritebackBytes => &self.writeback_bytes,
            Quantity::IowaitAverageShare => &self.iowait_average_share,
            Quantity::LoadAverage => &self.load_average,
            Quantity::BlockedTasks => &self.blocked_tasks,
            Quantity::KworkerShare => &self.kworker_share,
            Quantity::DeviceReadsPerSecond => &self.device_reads_per_second,
            Quantity::DeviceWritesPerSecond => &self.device_writes_per_second,
        }
    }

    /// The column of a quantity, to be filled.
    pub fn column_mut(&mut self, quantity: Quantity) -> &mut Vec<f64> {
        match quantity {
            Quantity::OperationsPerSecond => &mut self.operations_per_second,
            Quantity::CpuShare => &mut self.cpu_share,
            Quantity::IowaitShare => &mut self.iowait_share,
            Quantity::StealShare => &mut self.steal_share,
            Quantity::DeviceReadBytesPerSecond => &mut self.device_read_bytes_per_second,
            Quantity::DeviceWriteBytesPerSecond => &mut self.device_write_bytes_per_second,
            Quantity::DeviceIops => &mut self.device_iops,
            Quantity::DeviceFlushesPerSecond => &mut self.device_flushes_per_second,
            Quantity::DeviceQueue => &mut self.device_queue,
            Quantity::DeviceBusyShare => &mut self.device_busy_share,
            Quantity::DirtyBytes => &mut self.dirty_bytes,
            Quantity::PressureIoShare => &mut self.pressure_io_share,
            Quantity::BuffersBytes => &mut self.buffers_bytes,
            Quantity::CachedBytes => &mut self.cached_bytes,
            Quantity::WritebackBytes => &mut self.writeback_bytes,
            Quantity::IowaitAverageShare => &mut self.iowait_average_share,
            Quantity::LoadAverage => &mut self.load_average,
            Quantity::BlockedTasks => &mut self.blocked_tasks,
            Quantity::KworkerShare => &mut self.kworker_share,
            Quantity::DeviceReadsPerSecond => &mut self.device_reads_per_second,
            Quantity::DeviceWritesPerSecond => &mut self.device_writes_per_second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_a_column_of_its_own_under_its_own_name() {
        let mut timeline = TrialTimeline::default();
        for (at, quantity) in Quantity::ALL.into_iter().enumerate() {
            timeline.column_mut(quantity).push(at as f64);
        }
        let json = serde_json::to_value(&timeline).unwrap();
        for (at, quantity) in Quantity::ALL.into_iter().enumerate() {
            assert_eq!(timeline.column(quantity), [at as f64], "{quantity:?}");
            let name = serde_json::to_value(quantity).unwrap();
            assert_eq!(json[name.as_str().unwrap()][0], at as f64, "{name}");
        }
    }

    #[test]
    fn unknown_columns_of_a_later_version_are_ignored_and_missing_ones_empty() {
        let timeline: TrialTimeline =
            serde_json::from_str(r#"{"seconds":[1.0],"measured_seconds":[1.0],"fan_rpm":[900]}"#).unwrap();
        assert_eq!((timeline.points(), timeline.cpu_share.len()), (1, 0));
        assert_eq!(serde_json::to_string(&timeline).unwrap(), r#"{"seconds":[1.0],"measured_seconds":[1.0]}"#);
    }
}
