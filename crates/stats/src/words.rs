//! Figures as reasons show them.

pub use model::units::percent;
use model::units::{human_bandwidth, human_bytes, human_count};

/// `88.1k IOPS`.
pub fn iops(rate: f64) -> String {
    format!("{} IOPS", human_count(rate))
}

/// `512 MB/s`.
pub fn bandwidth(bytes_per_second: f64) -> String {
    human_bandwidth(bytes_per_second)
}

/// `29.8 GiB`.
pub fn bytes(bytes: f64) -> String {
    human_bytes(bytes)
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// `1 boot`, `2 boots`.
pub fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_counts_read_like_sentences() {
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!((count(1, "boot"), count(0, "boot")), ("1 boot".to_owned(), "0 boots".to_owned()));
    }
}
