//! What the name of a metric tells: its unit, and whether more is better.

use crate::kinds::foreign;

/// The unit of a metric's values; `None`: its name says what it counts, as of `retries`, or it is a share.
pub fn unit(metric: &str) -> Option<&str> {
    if let Some((unit, _)) = foreign::unit_of(metric) {
        return Some(unit);
    }
    match metric {
        "bandwidth_bytes_per_second" => Some("B/s"),
        metric if is_rate(metric) => Some("operations/s"),
        metric if metric.ends_with("_ns") => Some("ns"),
        metric if metric.ends_with("seconds_per_operation") => Some("s"),
        _ => None,
    }
}

/// Whether it grows with speed; times, such as latencies, shrink.
pub fn is_rate(metric: &str) -> bool {
    metric.ends_with("_per_second")
}

/// Whether more of it is better: rates grow with speed, times shrink, and another tool's own figure says itself.
pub fn grows_with_speed(metric: &str) -> bool {
    foreign::unit_of(metric).map_or_else(|| is_rate(metric), |(_, more)| more)
}

/// Whether more of it is better, where its name tells: rates grow, times shrink.
pub fn higher_is_better(metric: &str) -> Option<bool> {
    if let Some((_, more)) = foreign::unit_of(metric) {
        return Some(more);
    }
    match unit(metric) {
        Some("ns" | "s") => Some(false),
        Some(_) => Some(true),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_unit_and_which_way_is_better() {
        for (metric, unit_of_it, better) in [
            ("operations_per_second", Some("operations/s"), Some(true)),
            ("bandwidth_bytes_per_second", Some("B/s"), Some(true)),
            ("latency_p99_ns", Some("ns"), Some(false)),
            ("process_startup_seconds_per_operation", Some("s"), Some(false)),
            ("more_of:Frames", Some("Frames"), Some(true)),
            ("less_of:s", Some("s"), Some(false)),
            ("late_share", None, None),
            ("", None, None),
        ] {
            assert_eq!((unit(metric), higher_is_better(metric)), (unit_of_it, better), "{metric}");
        }
    }
}
