//! Figures as reasons show them.

use model::units::{human_bandwidth, human_bytes, human_count};

/// A share as a percentage without decimals from 10 % on: `97 %`, `4.2 %`.
pub fn percent(share: f64) -> String {
    // Broken counters can claim anything; a sentence need not repeat three hundred digits of it.
    let percent = 100.0 * share.clamp(-1e6, 1e6);
    if percent.abs() >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %").replace(".0 %", " %") }
}

/// Two shares as a range, or one where they print alike: `97 to 99 %`.
pub fn percent_range(shares: impl IntoIterator<Item = f64>) -> String {
    let (low, high) =
        shares.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let (low, high) = (percent(low), percent(high));
    if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

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
    fn shares_and_lists_read_like_sentences() {
        assert_eq!(percent(0.97), "97 %");
        assert_eq!(percent(0.0421), "4.2 %");
        assert_eq!(percent(0.05), "5 %");
        assert_eq!(percent_range([0.99, 0.97]), "97 to 99 %");
        assert_eq!(percent_range([0.97]), "97 %");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!((count(1, "boot"), count(0, "boot")), ("1 boot".to_owned(), "0 boots".to_owned()));
    }
}
