//! What is said of the cost of layers and of several disks.

pub(crate) const LAYERS: &str = "LAYERS";
pub(crate) const TITLE: &str = "What layers cost";
pub(crate) const LEGEND: &str = "written: bytes at all disks per byte of the application, the mean of the rows, split by disk as the \
     measured windows were. CPU: of the whole system per operation, as a multiple of the same lane's without layers, without an interval. Layers \
     alone: how fast they are without a filesystem, as a multiple of a bare disk, looked at once. -: not known, or no such lane was raced.";
pub(crate) const COLUMNS: [&str; 6] = ["lane", "usable", "written", "by disk", "CPU", "layers alone"];
pub(crate) const ABSENT: &str = "-";

pub(crate) fn usable(usable: &str, all: &str) -> String {
    format!("{usable} of {all}")
}

pub(crate) fn beside(own: &str, other: &str, lane: &str) -> String {
    format!("{own} ({lane} {other})")
}

/// `range`: the least and the most of several rows.
pub(crate) fn cpu(times: &str, range: Option<(String, String)>, lane: &str, rows: u32) -> String {
    let range = range.map_or_else(String::new, |(least, most)| format!(" ({least} to {most})"));
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    format!("{times}{range} of {lane}, {rows}")
}

pub(crate) fn of_a_bare_disk(times: &str, kinds: usize) -> String {
    let kinds = if kinds == 1 { "1 kind of work".to_owned() } else { format!("{kinds} kinds of work") };
    format!("{times} of a bare disk, {kinds}")
}

pub(crate) fn from_to(least: &str, most: &str) -> String {
    format!("{least} to {most}")
}
