//! Numbers as people read them: `9 %` under a factor of two and `2.1x` above it, units always there.

use crate::clean::shorten;
use crate::layout::GLUE;
use model::units::{human_bandwidth, human_bytes, human_count, human_seconds};

/// Columns that a unit may take which another tool has named.
const UNIT_COLUMNS: usize = 40;

/// A figure with its unit: `88.1k ops/s`, `512 MB/s`, `2.1 ms`. `unit` is `operations/s`, `B/s` or
/// `ns`.
pub(crate) fn rate(unit: &str, value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    match unit {
        "B/s" => glued(&human_bandwidth(value)),
        "operations/s" => format!("{}{GLUE}ops/s", human_count(value)),
        "ns" => brief(value * 1e-9),
        // Another tool's unit is a text that anybody wrote.
        other => format!("{}{GLUE}{}", human_count(value), shorten(other, UNIT_COLUMNS)),
    }
}

/// Operations per second of a device: `88k IOPS`.
pub(crate) fn iops(value: f64) -> String {
    if value.is_finite() { format!("{}{GLUE}IOPS", human_count(value)) } else { "?".to_owned() }
}

/// A rate and its interval in the rate's own unit: `512 MB/s (505 to 519)`.
pub(crate) fn rate_with_interval(unit: &str, mean: f64, low: Option<f64>, high: Option<f64>) -> String {
    let shown = rate(unit, mean);
    let (Some(low), Some(high), Some((_, shown_unit))) = (low, high, shown.split_once(GLUE)) else { return shown };
    let bound = |value: f64| {
        let text = rate(unit, value);
        match text.split_once(GLUE) {
            Some((number, other)) if other == shown_unit => number.to_owned(),
            // Bandwidths and times change their unit from one figure to the next; counts carry a `k`.
            Some(_) => trimmed(&fixed(value / scale(shown_unit), if value < mean { 2 } else { 0 })).to_owned(),
            None => text,
        }
    };
    let (from, to) = (bound(low), bound(high));
    // Times are told with two digits: where those hide an end of the interval there is one more.
    if unit == "ns" && shown.split_once(GLUE).is_some_and(|(number, _)| number == from || number == to) {
        let [mean, from, to] = [mean, low, high].map(|time| three_digits(time / scale(shown_unit)));
        let shown = format!("{mean}{GLUE}{shown_unit}");
        return if from == to { shown } else { format!("{shown} ({from} to {to})") };
    }
    // Ends that read alike are no range.
    if from == to { shown } else { format!("{shown} ({from} to {to})") }
}

/// What one of a shown unit is in bytes per second or in nanoseconds.
fn scale(unit: &str) -> f64 {
    match unit {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "kB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        "TB/s" => 1e12,
        _ => 1.0,
    }
}

/// Two rates as a range that names a shared unit once: `501 to 508 MB/s`; one rate where both read alike.
pub(crate) fn range(low: &str, high: &str) -> String {
    match (low.split_once(GLUE), high.split_once(GLUE)) {
        _ if low == high => low.to_owned(),
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The metric's unit, where only its name is known, cleaned: another tool's is a text that anybody wrote.
pub(crate) fn unit_of_metric(metric: &str) -> String {
    shorten(model::metric::unit(metric).unwrap_or_default(), UNIT_COLUMNS)
}

/// A whole number in groups of three: `4,096`.
pub(crate) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How well data compresses: `1.62:1`.
pub(crate) fn compression(ratio: f64) -> String {
    format!("{}:1", fixed(ratio, 2))
}

/// How far apart two lanes are.
pub(crate) struct Gap {
    /// `9 %` or `2.1x`.
    pub(crate) size: String,
    /// `6 to 12 %` or `1.9x to 2.3x`, in the unit of the size.
    pub(crate) interval: Option<String>,
}

/// From this factor on a gap is told as a factor: a half is "2x slower" and the double "2x faster", so
/// that both sides change their unit at a factor of two.
const TOLD_AS_FACTOR: f64 = 1.995;

fn as_factor(ratio: f64, faster: bool) -> f64 {
    if faster { ratio } else { 1.0 / ratio }
}

fn as_percent(ratio: f64, faster: bool) -> f64 {
    if faster { (ratio - 1.0) * 100.0 } else { (1.0 - ratio) * 100.0 }
}

/// Under three percent whole numbers would show an interval that seems to touch zero, and under a tenth one digit would.
fn percent_digits(percent: f64) -> usize {
    match percent.abs() {
        size if size < 0.095 => 2,
        size => usize::from(size < 2.95),
    }
}

/// A percentage of a difference that was found: never zero.
fn some_percent(percent: f64, digits: usize) -> String {
    let text = fixed(percent, digits);
    let none = text.trim_matches(['0', '.']).is_empty();
    if none && percent > 0.0 && digits == 2 { "<0.01".to_owned() } else { text }
}

/// The gap of a decided pair. `faster` says on which side it lies: a lane that does 0.48 of the
/// other's work is `2.1x` slower, one that does 0.8 of it is `20 %` slower.
pub(crate) fn gap(ratio: f64, interval: Option<(f64, f64)>, faster: bool) -> Gap {
    let ordered = interval.map(|(low, high)| if faster { (low, high) } else { (high, low) });
    if as_factor(ratio, faster) >= TOLD_AS_FACTOR {
        let factor = |ratio: f64| coarse(as_factor(ratio, faster));
        return Gap {
            size: factor(ratio),
            interval: ordered.map(|(near, far)| glued(&format!("{} to {}", factor(near), factor(far)))),
        };
    }
    let digits = percent_digits(as_percent(ratio, faster));
    let percent = |ratio: f64| some_percent(as_percent(ratio, faster), digits);
    Gap {
        size: format!("{}{GLUE}%", percent(ratio)),
        interval: ordered.map(|(near, far)| glued(&format!("{} to {} %", percent(near), percent(far)))),
    }
}

/// The numbers of a gap, without their unit.
#[derive(Debug, PartialEq)]
pub(crate) struct Ends {
    /// Factors, not percentages.
    pub(crate) factors: bool,
    /// The gap itself.
    pub(crate) size: String,
    /// Its interval; `None`: there is none, or both ends read alike.
    pub(crate) ends: Option<(String, String)>,
}

/// The same gap for a sentence that names both ends. An end that whole numbers would show as zero
/// keeps a digit more: the interval of a decided pair does not touch zero.
pub(crate) fn ends(ratio: f64, interval: Option<(f64, f64)>, faster: bool) -> Ends {
    let ordered = interval.map(|(low, high)| if faster { (low, high) } else { (high, low) });
    let factors = as_factor(ratio, faster) >= TOLD_AS_FACTOR;
    let digits = percent_digits(as_percent(ratio, faster));
    let number = |ratio: f64| match factors {
        true => coarse(as_factor(ratio, faster)).trim_end_matches('x').to_owned(),
        false => {
            let percent = as_percent(ratio, faster);
            let text = fixed(percent, digits);
            if text.trim_matches(['0', '.']).is_empty() { fixed(percent, 1) } else { text }
        }
    };
    let ends = ordered.map(|(near, far)| (number(near), number(far))).filter(|(near, far)| near != far);
    Ends { factors, size: number(ratio), ends }
}

/// A factor: `2.1x`, `0.96x`, `12x`. Intervals of two rounds reach anywhere: beyond 9,999 and below 0.01 no digit
/// says anything.
pub(crate) fn times(factor: f64) -> String {
    if !factor.is_finite() || factor < 0.0 {
        return "?x".to_owned();
    }
    if factor >= 9_999.5 {
        return ">9,999x".to_owned();
    }
    if factor > 0.0 && factor < 0.005 {
        return "<0.01x".to_owned();
    }
    let digits = match factor.abs() {
        size if size < 1.995 => 2,
        size if size < 9.95 => 1,
        _ => 0,
    };
    let text = fixed(factor, digits);
    let short = trimmed(&text);
    // Near one the zeros say something: 1.00x is measured, 1x sounds like a guess.
    if factor.abs() < 1.995 && !short.contains('.') { format!("{text}x") } else { format!("{short}x") }
}

/// A factor of about two and more: `2.1x`, `12x`; one digit, so that its interval reads evenly. One that would read as no
/// difference keeps two, and beyond 9,999 no digit says anything.
pub(crate) fn coarse(factor: f64) -> String {
    if !(1.05..9_999.5).contains(&factor) {
        return times(factor);
    }
    format!("{}x", trimmed(&fixed(factor, usize::from(factor.abs() < 9.95))))
}

/// From this factor on either side a range of what is possible says nothing but that it is too noisy.
pub(crate) const TOO_NOISY: f64 = 3.0;
/// Beyond this factor on one side alone it does so too: of two rounds an interval reaches anywhere.
const ANYWHERE: f64 = 100.0;

/// Whether a range of what is possible is too wide to be worth its figures.
pub(crate) fn is_too_noisy(low: f64, high: f64) -> bool {
    let to_both = low < TOO_NOISY.recip() && high > TOO_NOISY;
    to_both || !(low > ANYWHERE.recip() && high < ANYWHERE)
}

/// A factor with its direction: `2x slower`, `7.5x faster`; `words`: below one, and above.
fn turned_factor(factor: f64, words: [&str; 2]) -> String {
    let more = factor >= 1.0;
    let reach = if more { factor } else { factor.recip() };
    format!("{}{GLUE}{}", times(reach), words[usize::from(more)])
}

/// Where an undecided ratio lies: `between -3 % and +9 %`, or in factors where it is wider, `2x slower` and `7.5x faster`;
/// `words`: below one, and above. Both ends are always of one kind.
pub(crate) fn span(low: f64, high: f64, words: [&str; 2]) -> (String, String) {
    if low <= 0.5 || high >= 2.0 {
        return (turned_factor(low, words), turned_factor(high, words));
    }
    let (low, high) = ((low - 1.0) * 100.0, (high - 1.0) * 100.0);
    let digits = usize::from(low.abs().max(high.abs()) < 2.95);
    (signed(low, digits), signed(high, digits))
}

/// One end of what is possible: `3 % slower`, `2.1x faster`; `words`: below one, and above.
pub(crate) fn apart(ratio: f64, words: [&str; 2]) -> String {
    let more = ratio >= 1.0;
    let reach = if more { ratio } else { ratio.recip() };
    if !reach.is_finite() || reach > 100.0 {
        return format!("over{GLUE}100x {}", words[usize::from(more)]);
    }
    format!("{} {}", gap(ratio, None, more).size, words[usize::from(more)])
}

/// A ratio as a part of the whole, `57 %`, and from two on as a factor: `2.3x`.
pub(crate) fn part(ratio: f64) -> String {
    match ratio.is_finite() && (0.095..1.995).contains(&ratio) {
        true => share(ratio),
        false => times(ratio),
    }
}

/// The bound of a tie as a whole percentage that no value inside exceeds: `2 %`.
pub(crate) fn within(low: f64, high: f64) -> String {
    let farthest = high.max(1.0 / low) - 1.0;
    // A hair of tolerance, so that a margin of exactly 5 % does not print as 6 %.
    format!("{}{GLUE}%", fixed((farthest * 100.0 - 1e-6).ceil().max(1.0), 0))
}

/// A share as a percentage: `98 %`, `<1 %`.
pub(crate) fn share(share: f64) -> String {
    if share > 0.0 && share < 0.005 {
        return format!("<1{GLUE}%");
    }
    format!("{}{GLUE}%", fixed(share * 100.0, 0))
}

/// A share that may be small: `<0.01 %`, `0.88 %`, `4.2 %`, `97 %`.
pub(crate) fn small_share(share: f64) -> String {
    if share > 0.0 && share < 0.000_05 {
        return format!("<0.01{GLUE}%");
    }
    let percent = share * 100.0;
    let digits = if percent < 0.995 { 2 } else { usize::from(percent < 9.95) };
    format!("{}{GLUE}%", trimmed(&fixed(percent, digits)))
}

/// A margin as a percentage with the digits it has: `5 %`, `2.5 %`.
pub(crate) fn margin(share: f64) -> String {
    format!("{}{GLUE}%", trimmed(&fixed(share * 100.0, 1)))
}

/// A short time from seconds: `41 us`, `0.9 ms`, `2.1 ms`.
pub(crate) fn brief(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "?".to_owned();
    }
    // Disks think in milliseconds: 0.9 ms, not 900 us.
    if (1e-4..1e-3).contains(&seconds) {
        return format!("{}{GLUE}ms", trimmed(&fixed(seconds * 1e3, 2)));
    }
    glued(&human_seconds(seconds))
}

/// Times from nanoseconds in the unit of the longest, which stands once: `0.4 / 12 / 310 ms`; `-` where one is not known,
/// `None` where none is.
pub(crate) fn in_one_unit(nanoseconds: &[Option<f64>]) -> Option<String> {
    let known = |of: &Option<f64>| of.filter(|ns| ns.is_finite() && *ns > 0.0);
    let longest = nanoseconds.iter().filter_map(known).reduce(f64::max)?;
    let (scale, unit) = match longest {
        ns if ns < 999.5 => (1.0, "ns"),
        // Disks think in milliseconds.
        ns if ns < 99_950.0 => (1e3, "us"),
        ns if ns < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let number = |ns: f64| {
        let value = ns / scale;
        let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        match value {
            value if value < 0.005 => "<0.01".to_owned(),
            value => trimmed(&fixed(value, digits)).to_owned(),
        }
    };
    let all: Vec<String> = nanoseconds.iter().map(|of| known(of).map_or("-".to_owned(), number)).collect();
    Some(format!("{}{GLUE}{unit}", glued(&all.join(" / "))))
}

/// A time as a table holds it, three digits up to a thousand seconds: `30.5 ms`, `1.46 s`, `171 s`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        seconds if !seconds.is_finite() || seconds < 0.0 => "?".to_owned(),
        0.0 => glued("0 s"),
        seconds if seconds < 0.9995 => glued(&human_seconds(seconds)),
        seconds if seconds < 999.5 => {
            let digits = if seconds < 9.995 { 2 } else { usize::from(seconds < 99.95) };
            format!("{}{GLUE}s", trimmed(&fixed(seconds, digits)))
        }
        seconds => glued(&human_seconds(seconds)),
    }
}

/// A number with three digits, more where its whole part has them: `0.85`, `81.5`, `2310`.
pub(crate) fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    trimmed(&fixed(value, digits)).to_owned()
}

/// Operations by time where a column has little room: `39.2k/s`.
pub(crate) fn per_second(rate: f64) -> String {
    if rate.is_finite() { format!("{}/s", human_count(rate)) } else { "?".to_owned() }
}

/// A longer time: `2 min 30 s`.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds.is_finite() && seconds > 0.0 { glued(&human_seconds(seconds.round().max(1.0))) } else { glued("0 s") }
}

/// A small number per operation: `2`, `0.03`.
pub(crate) fn per_operation(value: f64) -> String {
    trimmed(&fixed(value, 2)).to_owned()
}

/// A size: `2 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    glued(&human_bytes(bytes as f64))
}

/// A disk's size, decimal as disks are sold: `500 GB`.
pub(crate) fn disk_bytes(bytes: u64) -> String {
    glued(human_bandwidth(bytes as f64).trim_end_matches("/s"))
}

/// A percentage with its sign: `+9 %`, `-3.2 %`; a zero has none.
pub(crate) fn signed(percent: f64, digits: usize) -> String {
    let text = fixed(percent, digits);
    let sign = if percent > 0.0 && !text.trim_matches(['0', '.']).is_empty() { "+" } else { "" };
    format!("{sign}{text}{GLUE}%")
}

fn fixed(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let text = format!("{value:.digits$}");
    // -0.3 rounds to a zero that needs no sign.
    if text.trim_start_matches('-').trim_matches(['0', '.']).is_empty() {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

/// Without zeros that say nothing behind a decimal point.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn glued(text: &str) -> String {
    text.replace(' ', &GLUE.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(GLUE, " ")
    }

    fn said(ratio: f64, low: f64, high: f64, faster: bool) -> String {
        let gap = gap(ratio, Some((low, high)), faster);
        plain(&format!("{} ({})", gap.size, gap.interval.unwrap()))
    }

    #[test]
    fn factors_that_say_nothing_have_no_digits() {
        assert_eq!([1e40, 9_999.0, 0.006, 1e-40].map(times), [">9,999x", "9999x", "0.01x", "<0.01x"]);
    }

    #[test]
    fn gaps_are_percentages_under_a_factor_of_two_and_factors_above() {
        assert_eq!(said(1.09, 1.06, 1.12, true), "9 % (6 to 12 %)");
        assert_eq!(said(0.8, 0.75, 0.85, false), "20 % (15 to 25 %)");
        assert_eq!(said(0.476, 0.43, 0.53, false), "2.1x (1.9x to 2.3x)");
        assert_eq!(said(12.3, 9.0, 15.0, true), "12x (9x to 15x)");
        assert_eq!(said(1.012, 1.004, 1.02, true), "1.2 % (0.4 to 2.0 %)");
        assert_eq!(said(2.0, 1.9, 2.1, true), "2x (1.9x to 2.1x)");
        assert_eq!(said(0.5, 0.48, 0.52, false), "2x (1.9x to 2.1x)");
        assert_eq!(said(1.996, 1.9, 2.1, true), "2x (1.9x to 2.1x)");
    }

    #[test]
    fn both_ends_of_a_gap_are_numbers_and_none_is_shown_as_zero() {
        let of = |ratio: f64, low: f64, high: f64, faster: bool| {
            let said = ends(ratio, Some((low, high)), faster);
            (said.factors, said.size, said.ends)
        };
        let text = |low: &str, high: &str| Some((low.to_owned(), high.to_owned()));
        assert_eq!(of(1.09, 1.06, 1.12, true), (false, "9".to_owned(), text("6", "12")));
        assert_eq!(of(0.97, 0.94, 0.996, false), (false, "3".to_owned(), text("0.4", "6")));
        assert_eq!(of(0.476, 0.43, 0.53, false), (true, "2.1".to_owned(), text("1.9", "2.3")));
        assert_eq!(of(12.3, 12.1, 12.4, true), (true, "12".to_owned(), None));
        assert_eq!(ends(1.2, None, true).ends, None);
    }

    #[test]
    fn an_undecided_ratio_shows_both_signs() {
        let words = ["slower", "faster"];
        let (low, high) = span(0.97, 1.09, words);
        assert_eq!((plain(&low), plain(&high)), ("-3 %".to_owned(), "+9 %".to_owned()));
        let (low, high) = span(0.998, 1.021, words);
        assert_eq!((plain(&low), plain(&high)), ("-0.2 %".to_owned(), "+2.1 %".to_owned()));
        // Never a fraction beside a factor: both ends say their direction.
        let factors = |low: f64, high: f64| {
            let (low, high) = span(low, high, words);
            format!("{} to {}", plain(&low), plain(&high))
        };
        assert_eq!(factors(0.5, 7.5), "2x slower to 7.5x faster");
        assert_eq!(factors(0.9, 2.3), "1.11x slower to 2.3x faster");
        assert_eq!(factors(1e-9, 0.05), ">9,999x slower to 20x slower");
        assert_eq!(plain(&span(0.997, 1.09, words).0), "0 %");
    }

    #[test]
    fn a_range_that_reaches_far_to_both_sides_is_only_too_noisy() {
        for (low, high, noisy) in [(0.32, 3.1, true), (0.34, 30.0, false), (0.9, 7.5, false), (0.009, 1.2, true)] {
            assert_eq!(is_too_noisy(low, high), noisy, "{low} to {high}");
        }
    }

    #[test]
    fn a_tie_is_bounded_upwards() {
        assert_eq!(plain(&within(0.99, 1.012)), "2 %");
        assert_eq!(plain(&within(1.0 / 1.05, 1.05)), "5 %");
        assert_eq!(plain(&within(0.9995, 1.0005)), "1 %");
    }

    #[test]
    fn intervals_share_their_unit_where_they_can() {
        let seconds = |mean: f64, low: f64, high: f64| {
            rate_with_interval("ns", mean * 1e9, Some(low * 1e9), Some(high * 1e9)).replace(GLUE, " ")
        };
        assert_eq!(seconds(10.1, 9.85, 10.35), "10.1 s (9.85 to 10.3)");
        assert_eq!(seconds(12.0, 12.0, 12.0), "12 s");
        assert_eq!(seconds(1.2, 1.1, 1.4), "1.2 s (1.1 to 1.4)");
        assert_eq!(plain(&rate_with_interval("B/s", 512e6, Some(505e6), Some(519e6))), "512 MB/s (505 to 519)");
        assert_eq!(plain(&rate_with_interval("B/s", 1e9, Some(990e6), Some(1.01e9))), "1 GB/s (0.99 to 1.01)");
        assert_eq!(plain(&rate_with_interval("B/s", 861e6, Some(736e6), Some(1.01e9))), "861 MB/s (736 to 1010)");
        assert_eq!(plain(&rate_with_interval("B/s", 512e6, Some(512e6), Some(512e6))), "512 MB/s");
        assert_eq!(plain(&rate("operations/s", 1180.0)), "1.18k ops/s");
        assert_eq!(plain(&rate_with_interval("ns", 846e3, Some(821e3), Some(872e3))), "0.85 ms (0.82 to 0.87)");
        assert_eq!(plain(&rate_with_interval("ns", 99e3, Some(95e3), Some(104e3))), "99 us (95 to 104)");
        assert_eq!((whole(7), whole(4_096), whole(1_234_567)), ("7".into(), "4,096".into(), "1,234,567".into()));
    }

    #[test]
    fn tables_hold_times_of_three_digits_and_rates_in_the_unit_of_every_other_line() {
        let said = [0.0, 96e-6, 0.00046, 0.03046, 0.9994, 1.458, 18.373, 171.28, 1500.0].map(|of| plain(&time(of)));
        assert_eq!(said, ["0 s", "96 us", "460 us", "30.5 ms", "999 ms", "1.46 s", "18.4 s", "171 s", "25 min"]);
        assert_eq!(plain(&rate("B/s", 3_363_000.0)), "3.36 MB/s");
        assert_eq!((per_second(39_210.0), time(f64::NAN)), ("39.2k/s".to_owned(), "?".to_owned()));
    }

    #[test]
    fn a_unit_that_another_tool_named_is_cleaned_and_cut() {
        assert_eq!(unit_of_metric("operations_per_second"), "operations/s");
        assert_eq!(unit_of_metric("more_of:\u{1b}]0;x\u{7}\u{1b}[2J\nfake"), "]0;x[2J fake");
        assert_eq!(plain(&rate("\u{1b}[2J\nfake", 5.0)), "5 [2J fake");
        assert!(unit_of_metric(&format!("less_of:{}", "x".repeat(1 << 20))).chars().count() <= UNIT_COLUMNS);
        assert!(rate(&"x".repeat(1 << 20), 5.0).chars().count() <= UNIT_COLUMNS + 2);
    }

    #[test]
    fn numbers_that_are_none_do_not_pass_for_numbers() {
        assert_eq!(times(f64::NAN), "?x");
        assert_eq!(rate("B/s", f64::INFINITY), "?");
    }

    #[test]
    fn a_decided_difference_is_never_shown_as_none() {
        assert_eq!(said(1.0006, 1.0003, 1.0009, true), "0.06 % (0.03 to 0.09 %)");
        assert_eq!(said(1.00002, 1.00001, 1.00003, true), "<0.01 % (<0.01 to <0.01 %)");
        // The near end of a wide interval keeps the digits that show it apart from one.
        assert_eq!(said(2.4, 1.04, 5.5, true), "2.4x (1.04x to 5.5x)");
        assert_eq!(said(1e5, 3.0, 1e9, true), ">9,999x (3x to >9,999x)");
    }

    #[test]
    fn waits_stand_in_the_unit_of_the_longest() {
        let said = |all: &[Option<f64>]| in_one_unit(all).map(|said| plain(&said));
        assert_eq!(said(&[Some(12e6), Some(40.44e6), Some(310e6)]).unwrap(), "12 / 40.4 / 310 ms");
        assert_eq!(said(&[Some(800.0), Some(2.5e9), None]).unwrap(), "<0.01 / 2.5 / - s");
        assert_eq!(said(&[Some(999.7e6)]).unwrap(), "1 s");
        assert_eq!((said(&[]), said(&[None]), said(&[Some(0.0), Some(f64::NAN)])), (None, None, None));
    }

    proptest::proptest! {
        #[test]
        fn figures_are_short_and_none_says_nothing(
            bits in proptest::num::u64::ANY,
            ratio in 1e-12_f64..1e12,
            low in 1e-12_f64..1.0,
            high in 1.0_f64..1e12,
        ) {
            let any = f64::from_bits(bits);
            let (below, above) = span(low, high, ["slower", "faster"]);
            let faster = ratio > 1.0;
            let Gap { size, interval } = gap(ratio, Some((ratio * low, ratio * high)), faster);
            let all = [
                rate("operations/s", any), rate("B/s", any), rate("ns", any), iops(any), times(any), coarse(any),
                share(any.clamp(-1e6, 1e6)), small_share(any.clamp(-1e6, 1e6)), brief(any), time(any), duration(any), below, above,
                size.clone(), within(low, high.min(1e6)), per_second(any),
            ];
            for said in all.iter().map(|said| plain(said)) {
                assert!(said.len() <= 24, "{said}");
                for silly in ["NaN", "inf", "-0 ", "-0x"] {
                    assert!(!said.contains(silly), "{said}");
                }
            }
            assert!(ratio == 1.0 || size.contains(|c: char| ('1'..='9').contains(&c)), "{ratio}: {size}");
            assert!(interval.is_some_and(|said| !said.contains("NaN")));
        }
    }
}
