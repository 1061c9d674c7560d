//! Times as tools print them: local ones, whose zone they do not tell.

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Of `Tue Feb  3 04:05:06 2026`, as ctime(3) writes it; `None`: it is no such time.
pub(crate) fn from_ctime(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    let [_, month, day, time, year] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    local([year, &month.to_string(), day], time)
}

/// Of `02/03/2026 04:05:06`: month, day, year; `None`: it is no such time.
pub(crate) fn from_slashes(text: &str) -> Option<String> {
    let (date, time) = text.trim().split_once(' ')?;
    let parts: Vec<&str> = date.split('/').take(4).collect();
    let [month, day, year] = parts.as_slice() else { return None };
    local([year, month, day], time)
}

/// Of `2026-02-03 04:05:06`; `None`: it is no such time.
pub(crate) fn from_dashes(text: &str) -> Option<String> {
    let (date, time) = text.trim().split_once(' ')?;
    let parts: Vec<&str> = date.split('-').take(4).collect();
    let [year, month, day] = parts.as_slice() else { return None };
    local([year, month, day], time)
}

/// A time as RFC 3339 has it, but for the zone: `2026-02-03T04:05:06`.
fn local(date: [&str; 3], time: &str) -> Option<String> {
    let number = |text: &str| text.parse::<u32>().ok();
    let [year, month, day] = date.map(number);
    let text = format!("{:04}-{:02}-{:02}T{}", year?, month?, day?, time.trim());
    let is_whole = text.len() == "2026-02-03T04:05:06".len();
    // There are days and hours that no calendar has.
    (is_whole && humantime::parse_rfc3339(&format!("{text}Z")).is_ok()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_three_forms_are_read_without_a_zone() {
        let expected = Some("2026-02-03T04:05:06".to_owned());
        assert_eq!(from_ctime("Tue Feb  3 04:05:06 2026"), expected);
        assert_eq!(from_slashes("02/03/2026 04:05:06"), expected);
        assert_eq!(from_dashes(" 2026-02-03 04:05:06"), expected);
        assert_eq!(from_ctime("Thu Feb 29 23:59:59 2024").as_deref(), Some("2024-02-29T23:59:59"));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["", "Tue", "Tue Feb  3 04:05:06", "Tue Feb  3 04:05 2026", "Tue Foo  3 04:05:06 2026", "é"] {
            assert_eq!(from_ctime(text), None, "{text}");
        }
        for text in ["Tue Feb 30 04:05:06 2026", "Tue Feb  3 25:05:06 2026", "Tue Feb  3 04:05:06 99999", "a b c d e f"]
        {
            assert_eq!(from_ctime(text), None, "{text}");
        }
        for text in ["02/03/2026", "13/03/2026 04:05:06", "02/03/2026 04:05:6", "2026-02-03 04:05:06"] {
            assert_eq!(from_slashes(text), None, "{text}");
        }
        for text in ["2026-02-03", "2026-02-03T04:05:06", "2026-02 04:05:06", "2026-02-03 04:05:06 +0100"] {
            assert_eq!(from_dashes(text), None, "{text}");
        }
    }
}
