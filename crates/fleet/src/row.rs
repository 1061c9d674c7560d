//! The row and its columns, declared once.

use std::sync::Arc;

/// A text, shared by all rows that have it in common.
pub type Text = Arc<str>;
/// A whole number that is never negative.
type Count = u64;
/// A number.
type Number = f64;
/// Yes or no.
type Boolean = bool;

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// 64 bits without a sign.
    Count,
    /// IEEE 754, 64 bits; always finite.
    Number,
    /// Yes or no.
    Boolean,
}

impl Kind {
    /// As the documents and most readers call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Count => "uint64",
            Kind::Number => "double",
            Kind::Boolean => "boolean",
        }
    }
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
    /// Their unit; empty: none.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// When a cell is null.
    pub null: &'static str,
}

/// A cell; `None` is null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Of [`Kind::Text`].
    Text(Option<&'a Text>),
    /// Of [`Kind::Count`].
    Count(Option<&'a u64>),
    /// Of [`Kind::Number`].
    Number(Option<&'a f64>),
    /// Of [`Kind::Boolean`].
    Boolean(Option<&'a bool>),
}

macro_rules! columns {
    ($($name:ident: $kind:ident, $unit:literal, $about:literal, $null:literal;)+) => {
        /// One row: a metric of a group of a trial, with all that says whose it is.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Row {
            $(#[doc = $about] pub $name: Option<$kind>,)+
        }

        /// All columns, in the order of the table.
        pub const COLUMNS: &[Column] = &[
            $(Column { name: stringify!($name), kind: Kind::$kind, unit: $unit, about: $about, null: $null },)+
        ];

        impl Row {
            /// The cells, in the order of [`COLUMNS`].
            pub fn cells(&self) -> [Cell<'_>; COLUMNS.len()] {
                [$(Cell::$kind(self.$name.as_ref()),)+]
            }
        }
    };
}

columns! {
    record: Text, "", "name of the record's file, what a terminal would obey escaped", "never";
    started: Text, "RFC 3339, UTC", "when the race began", "not recorded";
    version: Text, "", "version of Fairlane that raced or imported", "not recorded";
    boot_id: Text, "", "the machine's boot; tells two races of one name apart, with `seed`", "not recorded, or the record was shared";
    seed: Count, "", "seed of every order, offset and byte; 0 where the figures are imported", "never";
    race_kind: Text, "", "`race`, `calibration` (a lane against itself), `as-published` (an article's own method, once), `search` (`--find-max`) or `imported` (another tool's figures, `fairlane import`)", "never";
    race_outcome: Text, "", "`complete`, `interrupted`, `failed`, or `unfinished` where no end was written", "never";
    machine_id_hash: Text, "", "identity of the machine: its machine-id, hashed", "the machine has none, or the record was shared";
    os: Text, "", "operating system", "not recorded";
    kernel: Text, "", "release of the machine's kernel; a lane in a guest has `guest_kernel` too", "not recorded";
    cpu: Text, "", "model of the processor", "not recorded";
    cpus: Count, "", "online CPUs", "not recorded";
    memory_bytes: Count, "bytes", "main memory", "not recorded";
    virtualization: Text, "", "hypervisor, as the CPU shows it", "none was seen";
    disk_model: Text, "", "model of the disk under the lanes", "the disk tells none";
    disk_bytes: Count, "bytes", "size of that disk", "not recorded";
    suite: Text, "", "name of the suite", "not recorded";
    workload: Text, "", "name of the workload", "never";
    workload_title: Text, "", "what a person calls it", "the plan does not know the workload";
    workload_kind: Text, "", "what the engine does: `io`, `small-files`, …; `foreign`: another tool did it", "the plan does not know the workload";
    parameters: Text, "", "hash of the workload's kind and parameters: work with the same one is the same work. Compare it within one file alone", "the plan does not know the workload";
    loops: Count, "", "how often the sums of this row were done: passes of file operations, else 1", "never";
    lane: Text, "", "name of the lane", "never";
    lane_spec: Text, "", "the line that makes the lane again", "the header does not know the lane, or the figures are imported";
    filesystem: Text, "", "the filesystem", "the header does not know the lane";
    venue: Text, "", "`image`, `device`, `directory`, `memory`, `library`, `uml`, `qemu`, or `foreign`: another tool measured it", "the header does not know the lane";
    mkfs_command: Text, "", "mkfs with its options, with `{device}` where the device stood", "it was not formatted";
    mount_options: Text, "", "mount options, Fairlane's own included, separated by commas", "there were none";
    layers: Text, "", "what the filesystem stands on, from top to bottom, separated by `/`", "it stands on its disks itself";
    above: Text, "", "what lies above the filesystem", "nothing does";
    disks: Count, "", "disks that the lane stands on", "the header does not know the lane, or the figures are imported";
    lane_bytes: Count, "bytes", "size of the lane", "not known";
    states: Text, "", "what it lived through before the race: `+aged=git:10x+full=90%`", "it was fresh";
    life: Text, "", "hash of all that decides the acts of that life", "it was fresh";
    throttle: Text, "", "what its device was held to", "nothing held it";
    guest_kernel: Text, "", "release of the kernel of the lane's guest", "the machine's own kernel mounted it";
    is_self: Boolean, "", "it is the first lane again (`--with-self`)", "the header does not know the lane";
    round: Count, "", "round, from 1; of a search its pass; 0: before the first", "never";
    position: Count, "", "place in the round's order, from 1", "the figures are imported";
    attempt: Count, "", "1, or more where a noisy round was repeated; of a search its step", "never";
    ground: Count, "", "which image or device carried the lane in this round, from 0", "the figures are imported";
    trial_started: Text, "RFC 3339, UTC", "when the trial began", "not recorded";
    outcome: Text, "", "`ok`, `failed`, `repeated` (set aside for noise) or `void` (in no figure); only `ok` counts, and of a round its highest attempt", "never";
    reason: Text, "", "why it failed, was repeated or is void", "nothing was said";
    flags: Text, "", "marks and notes of the trial, separated by `; `", "there are none";
    group: Text, "", "kind of operation: `read`, `create`, `JOB: write`, …", "the trial has no figures";
    metric: Text, "", "name of the figure", "the group has no figures";
    unit: Text, "", "unit of `value`", "there is no metric, or its name says what it counts";
    value: Number, "as `unit` says", "the figure", "there is no metric";
    higher_is_better: Boolean, "", "whether more is better: of rates, not of times", "there is no metric, or its name does not tell";
    is_primary: Boolean, "", "the metric that verdicts rest on", "there is no metric";
    operations: Count, "", "completed operations in the measured windows", "there is no group, or an imported file does not tell them";
    bytes: Count, "bytes", "bytes of the application in the measured windows", "there is no group, or an imported file does not tell them";
    seconds: Number, "s", "measured time, the charged sync included", "there is no group, or an imported file does not tell it";
    sync_seconds: Number, "s", "of it what was done once for all operations, such as a final sync", "there is no group, or the figures are imported";
    latency_mean_ns: Number, "ns", "mean latency of single operations", "latency was not measured";
    latency_p50_ns: Number, "ns", "median", "latency was not measured, or of too few operations";
    latency_p99_ns: Number, "ns", "99th percentile", "as before; at least 2,000 operations";
    latency_p999_ns: Number, "ns", "99.9th percentile", "as before; at least 20,000 operations";
    latency_max_ns: Number, "ns", "largest", "latency was not measured";
    window_seconds: Number, "s", "wall time of the windows of this and the following columns: those of the group, or of the whole trial where the group has none of its own", "the figures are imported";
    cpu_user_seconds: Number, "s", "all CPUs of the machine, user", "the figures are imported";
    cpu_system_seconds: Number, "s", "the same, system", "the figures are imported";
    cpu_steal_seconds: Number, "s", "the same, taken by the hypervisor", "the figures are imported";
    device_read_bytes: Count, "bytes", "read from the lane's device", "the figures are imported";
    device_write_bytes: Count, "bytes", "written to it", "the figures are imported";
    device_flushes: Count, "", "its flushes", "the figures are imported";
    device_busy_seconds: Number, "s", "time with a request in flight there", "the figures are imported";
}

/// The columns as a table of Markdown, as docs/fleet.md has it.
pub fn documented() -> String {
    let mut table =
        String::from("| column | type | unit | what it is | null when |\n| --- | --- | --- | --- | --- |\n");
    for Column { name, kind, unit, about, null } in COLUMNS {
        table.push_str(&format!("| `{name}` | {} | {unit} | {about} | {null} |\n", kind.name()));
    }
    table
}
