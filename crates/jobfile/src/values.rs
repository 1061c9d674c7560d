//! Values of options: numbers, sizes, times, and values by direction.
//!
//! Every calculation is checked. A number above [`MOST`] is refused; nothing wraps.

use crate::shown;

/// Largest number: 2^63 - 1, as in fio.
pub(crate) const MOST: u64 = i64::MAX as u64;
/// Longest number or expression: every job reads it anew.
const LONGEST: usize = 4096;
/// Deepest nesting of parentheses.
const DEEPEST: u32 = 32;

/// What `k` stands for (fio's `kb_base`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Base {
    /// `k` is 1024 and `kib` is 1000: fio's default, kept for old job files.
    #[default]
    Binary,
    /// `k` is 1000 and `kib` is 1024, as the standards say.
    Decimal,
}

/// A number with an optional unit of size, or an expression in parentheses.
pub(crate) fn number(text: &str, base: Base) -> Result<u64, String> {
    let wrong = |why: &str| format!("{} is no number{why}; write for example 4k, 128m or 0x1000", shown(text));
    if text.len() > LONGEST {
        return Err(wrong(" of at most 4096 letters"));
    }
    if text.starts_with('(') {
        let read = |word: &str| plain(word, base).map(i128::from);
        let value = Expression::evaluate(text, &read).map_err(|why| wrong(&format!(" ({why})")))?;
        return u64::try_from(value).ok().filter(|value| *value <= MOST).ok_or_else(|| wrong(" from 0 to 2^63-1"));
    }
    match plain(text, base) {
        Some(value) if value <= MOST => Ok(value),
        Some(_) => Err(wrong(" from 0 to 2^63-1")),
        None if text.ends_with('%') => {
            Err(format!("{} is a percentage, which only size and io_size take; write a number", shown(text)))
        }
        None => Err(wrong("")),
    }
}

/// A number with an optional unit of size; above [`MOST`] it saturates at `u64::MAX`.
fn plain(text: &str, base: Base) -> Option<u64> {
    let (digits, unit) = digits(text)?;
    let scale = scale(unit, base)?;
    Some(digits.saturating_mul(scale))
}

/// The number at the start of a text, `0x` for hexadecimal; saturating.
fn digits(text: &str) -> Option<(u64, &str)> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (body, radix) = hexadecimal.map_or((text, 10), |body| (body, 16));
    let end = body.find(|letter: char| !letter.is_digit(radix)).unwrap_or(body.len());
    if end == 0 {
        return None;
    }
    let mut value = 0_u64;
    for digit in body[..end].chars() {
        value = value.saturating_mul(u64::from(radix)).saturating_add(u64::from(digit.to_digit(radix)?));
    }
    Some((value, &body[end..]))
}

/// Bytes of a unit. As fio 3.33 does it, only `ib` at the end changes the base.
fn scale(unit: &str, base: Base) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let (prefix, flipped) = match unit.strip_suffix("ib") {
        Some(prefix) if !prefix.is_empty() => (prefix, true),
        _ => (unit.strip_suffix('b').or(unit.strip_suffix('i')).unwrap_or(&unit), false),
    };
    let power = match prefix {
        "" if unit.is_empty() || unit == "b" => return Some(1),
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let step: u64 = if (base == Base::Binary) != flipped { 1024 } else { 1000 };
    step.checked_pow(power)
}

/// Whether a text holds a unit that means the unusual: `4KiB` is 4000 bytes with fio's default.
pub(crate) fn surprising_unit(text: &str, base: Base) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let unusual = |word: &str| word.to_ascii_lowercase().ends_with("ib") && plain(word, base).is_some();
    base == Base::Binary && words.into_iter().any(unusual)
}

/// A whole number within a range, as `u32`.
pub(crate) fn count(text: &str, base: Base, least: u32, most: u32) -> Result<u32, String> {
    let value = number(text, base)?;
    let fits = u32::try_from(value).ok().filter(|value| (least..=most).contains(value));
    fits.ok_or_else(|| format!("{} is not from {least} to {most}; change it", shown(text)))
}

/// `0` or `1`; the bare option means 1.
pub(crate) fn switch(text: Option<&str>) -> Result<bool, String> {
    match text {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => Err(format!("{} is neither 0 nor 1; write one of them", shown(other))),
    }
}

/// Seconds of a time; without a unit it counts in units of `usual` microseconds. In parentheses a
/// number without a unit counts microseconds, as in fio.
pub(crate) fn seconds(text: &str, usual: u64) -> Result<f64, String> {
    let wrong = || format!("{} is no time; write for example 90, 10m, 500ms or 1h", shown(text));
    if text.len() > LONGEST {
        return Err(wrong());
    }
    let micros = if text.starts_with('(') {
        let value = Expression::evaluate(text, &|word| time(word, 1).map(i128::from)).map_err(|_| wrong())?;
        u64::try_from(value).ok()
    } else {
        time(text, usual)
    };
    // A year keeps every sum of nanoseconds far from overflow.
    match micros {
        Some(micros) if micros <= 31_536_000 * 1_000_000 => Ok(micros as f64 / 1e6),
        Some(_) => Err(format!("{} is above a year; lower it", shown(text))),
        None => Err(wrong()),
    }
}

/// Microseconds of a time, saturating.
fn time(text: &str, usual: u64) -> Option<u64> {
    let (digits, unit) = digits(text)?;
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" => usual,
        "d" => 86_400_000_000,
        "h" => 3_600_000_000,
        "m" => 60_000_000,
        "s" | "sec" => 1_000_000,
        "ms" | "msec" => 1000,
        "us" | "usec" => 1,
        _ => return None,
    };
    Some(digits.saturating_mul(scale))
}

/// Values for reads, writes and discards: an empty one is the default; the last one counts for the
/// directions that follow, unless a comma follows it.
pub(crate) fn by_direction(text: &str) -> Result<[Option<&str>; 3], String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(format!("{} has more than three values; write READ,WRITE,TRIM", shown(text)));
    }
    let mut out = [None; 3];
    for (index, value) in out.iter_mut().enumerate() {
        let part = parts.get(index).or(parts.last()).copied().unwrap_or("");
        *value = Some(part).filter(|part| !part.is_empty());
    }
    Ok(out)
}

/// The value of an expression in numbers alone; `None` where the text is none.
pub(crate) fn calculate(text: &str) -> Option<u64> {
    let read = |word: &str| plain(word, Base::Binary).map(i128::from);
    Expression::evaluate(text, &read).ok().and_then(|value| u64::try_from(value).ok()).filter(|value| *value <= MOST)
}

/// An expression with `+ - * / % ^` and parentheses, in whole numbers.
struct Expression<'a> {
    rest: &'a str,
    read: &'a dyn Fn(&str) -> Option<i128>,
    depth: u32,
}

impl Expression<'_> {
    fn evaluate(text: &str, read: &dyn Fn(&str) -> Option<i128>) -> Result<i128, &'static str> {
        let mut expression = Expression { rest: text, read, depth: 0 };
        let value = expression.sum()?;
        if expression.peek().is_some() { Err("something follows the expression") } else { Ok(value) }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes one of these operators.
    fn take(&mut self, of: &[char]) -> Option<char> {
        let letter = self.peek().filter(|letter| of.contains(letter))?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn sum(&mut self) -> Result<i128, &'static str> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' { value.checked_add(right) } else { value.checked_sub(right) }
                .ok_or("it overflows")?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i128, &'static str> {
        let mut value = self.power()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let right = self.power()?;
            value = match operator {
                '*' => value.checked_mul(right).ok_or("it overflows")?,
                '/' => value.checked_div(right).ok_or("it divides by zero")?,
                _ => value.checked_rem(right).ok_or("it divides by zero")?,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<i128, &'static str> {
        let value = self.atom()?;
        if self.take(&['^']).is_none() {
            return Ok(value);
        }
        // Raised one after the other, as the others: no recursion over a long chain.
        let mut value = value;
        loop {
            let exponent = u32::try_from(self.atom()?).map_err(|_| "an exponent is negative or too large")?;
            value = value.checked_pow(exponent).ok_or("it overflows")?;
            if self.take(&['^']).is_none() {
                return Ok(value);
            }
        }
    }

    fn atom(&mut self) -> Result<i128, &'static str> {
        if self.take(&['-']).is_some() {
            let value = self.word()?;
            return value.checked_neg().ok_or("it overflows");
        }
        if self.take(&['(']).is_none() {
            return self.word();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("its parentheses nest too deep");
        }
        let value = self.sum()?;
        self.depth -= 1;
        if self.take(&[')']).is_none() { Err("a parenthesis is not closed") } else { Ok(value) }
    }

    fn word(&mut self) -> Result<i128, &'static str> {
        self.peek();
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (self.read)(word).ok_or("a number is missing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_mean_what_fio_takes_them_for() {
        // Found by running fio 3.33 with each of them.
        let cases =
            [("1k", 1024, 1000), ("1kb", 1024, 1000), ("1ki", 1024, 1000), ("1kib", 1000, 1024), ("1K", 1024, 1000)];
        for (text, binary, decimal) in cases {
            assert_eq!(number(text, Base::Binary), Ok(binary), "{text}");
            assert_eq!(number(text, Base::Decimal), Ok(decimal), "{text}");
        }
        assert_eq!(number("1mib", Base::Binary), Ok(1_000_000));
        assert_eq!(number("0x1000", Base::Binary), Ok(4096));
        assert_eq!(number("017", Base::Binary), Ok(17));
        assert_eq!(number("2p", Base::Binary), Ok(2 << 50));
    }

    #[test]
    fn expressions_in_parentheses_are_calculated() {
        let cases =
            [("(4*1024)", 4096), ("((1+2)*1k)", 3072), ("(2^10)", 1024), ("(10%4)", 2), ("(7/2)", 3), ("(5-3-1)", 1)];
        for (text, value) in cases {
            assert_eq!(number(text, Base::Binary), Ok(value), "{text}");
        }
        assert_eq!(calculate("8*4096"), Some(32768));
        assert_eq!(calculate("a.8"), None);
    }

    #[test]
    fn broken_numbers_are_refused_not_shortened() {
        let deep = "(".repeat(10_000);
        for text in [
            "",
            "x",
            "1.5k",
            "1 m",
            "1x",
            "-1",
            "8*4k",
            "4k+4k",
            "10%",
            "99999999999999999999",
            "18446744073709551615",
            "9223372036854775808",
            "0x",
            "(1",
            "(1/0)",
            "(1%0)",
            "(2^999)",
            "(1-2)",
            "()",
            "(9p*9p*9p*9p*9p)",
            "1e",
            "1z",
            "i",
            "ib",
            "kib",
            &deep,
        ] {
            assert!(number(text, Base::Binary).is_err(), "{text}");
        }
    }

    #[test]
    fn times_count_in_the_option_s_own_unit_without_one() {
        assert_eq!(seconds("90", 1_000_000), Ok(90.0));
        assert_eq!(seconds("90", 1), Ok(0.00009));
        assert_eq!(seconds("10m", 1_000_000), Ok(600.0));
        assert_eq!(seconds("1h", 1_000_000), Ok(3600.0));
        assert_eq!(seconds("500ms", 1_000_000), Ok(0.5));
        assert_eq!(seconds("7usec", 1_000_000), Ok(0.000_007));
        assert_eq!(seconds("(2*1000000)", 1_000_000), Ok(2.0));
        for text in ["", "1.5", "1min", "m", "366d", "99999999999999999999d", "-1"] {
            assert!(seconds(text, 1_000_000).is_err(), "{text}");
        }
    }

    #[test]
    fn a_value_counts_for_the_directions_that_follow_unless_a_comma_ends_it() {
        assert_eq!(by_direction("a"), Ok([Some("a"); 3]));
        assert_eq!(by_direction("a,b"), Ok([Some("a"), Some("b"), Some("b")]));
        assert_eq!(by_direction("a,b,"), Ok([Some("a"), Some("b"), None]));
        assert_eq!(by_direction(",b"), Ok([None, Some("b"), Some("b")]));
        assert_eq!(by_direction("a,"), Ok([Some("a"), None, None]));
        assert!(by_direction("a,b,c,d").is_err());
    }
}
