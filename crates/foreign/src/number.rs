//! Sizes and rates with the units in which people and tools write them.

/// Bytes of a size: `47008`, `4k`, `2 MiB`, `1.5GiB`. A prefix alone or with `i` counts in 1024, one with `B` in 1000.
/// `None` where it is no size.
pub(crate) fn size_bytes(text: &str) -> Option<f64> {
    let (figure, unit) = parts(text);
    finite(figure.parse::<f64>().ok()? * factor(unit)?)
}

/// Bytes per second of a rate (`12.5 MiB/s`), or of one of a unit that stands alone (`KB/s`, `GiB/sec`). `None` where
/// it is no rate of bytes: `Mb/s` are bits.
pub(crate) fn rate(text: &str) -> Option<f64> {
    let (figure, unit) = parts(text);
    let unit = unit.strip_suffix("/sec").or_else(|| unit.strip_suffix("/s"))?.trim_end();
    if unit.is_empty() || unit.len() > 1 && unit.ends_with('b') {
        return None;
    }
    let figure = if figure.is_empty() { 1.0 } else { figure.parse::<f64>().ok()? };
    finite(figure * factor(unit)?)
}

fn finite(figure: f64) -> Option<f64> {
    figure.is_finite().then_some(figure)
}

/// A figure, and the unit behind it.
fn parts(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let (figure, unit) = text.split_at(end);
    (figure, unit.trim_start())
}

/// Bytes of one of a unit.
fn factor(unit: &str) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    if matches!(unit.as_str(), "" | "b" | "byte" | "bytes") {
        return Some(1.0);
    }
    let mut letters = unit.chars();
    let power = match letters.next()? {
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        _ => return None,
    };
    match letters.as_str() {
        "" | "i" | "ib" => Some(1024_f64.powi(power)),
        "b" => Some(1000_f64.powi(power)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("47008", 47_008.0),
            ("4k", 4096.0),
            ("4K", 4096.0),
            (" 2 MiB ", 2_097_152.0),
            ("1.5GiB", 1_610_612_736.0),
            ("3Ki", 3072.0),
            ("7 bytes", 7.0),
            ("2MB", 2e6),
            ("1T", 1_099_511_627_776.0),
        ] {
            assert_eq!(size_bytes(text), Some(bytes), "{text}");
        }
        for text in ["", "k", "4x", "4 kilo", "-4k", "1.2.3", "nan", "inf", "é", "4é"] {
            assert_eq!(size_bytes(text), None, "{text}");
        }
        assert_eq!(size_bytes(&"9".repeat(400)), None);
    }

    #[test]
    fn rates() {
        for (text, bytes) in [
            ("MiB/s", 1_048_576.0),
            ("KiB/s", 1024.0),
            ("MB/s", 1e6),
            ("KB/s", 1e3),
            ("GB/s", 1e9),
            ("GiB/sec", 1_073_741_824.0),
            ("B/s", 1.0),
            ("2.5 MiB/s", 2_621_440.0),
            ("K/sec", 1024.0),
        ] {
            assert_eq!(rate(text), Some(bytes), "{text}");
        }
        for text in ["", "/s", "5/s", "MB", "Mb/s", "Mbit/s", "ops/s", "1e3 MB/s", "MiB/s/s"] {
            assert_eq!(rate(text), None, "{text}");
        }
    }
}
