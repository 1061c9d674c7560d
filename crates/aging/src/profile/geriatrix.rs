//! Distribution files of Geriatrix (Kadekodi and others, ATC'18): a count, then as many lines of a value and its weight.

use super::{Group, Step};
use model::Bytes;
use std::io;

/// Ages are kept in so many parts of their unit.
const AGE_PARTS: f64 = 1000.0;
/// Lines at most.
const MOST_LINES: usize = 65_536;

/// Puts what files say in place of their names.
///
/// # Errors
/// The file, its line and the remedy.
pub(super) fn resolve(group: &mut Group, open: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>) -> Result<(), String> {
    for sizes in [Some(&mut group.sizes), group.appends.as_mut(), group.overwrites.as_mut()].into_iter().flatten() {
        if let Some(name) = sizes.from.take() {
            sizes.steps =
                read(&name, open)?.into_iter().map(|(size, weight)| Step(Bytes(whole(size)), weight)).collect();
        }
    }
    if let Some(name) = group.lifetimes.ages_from.take() {
        // Published ones are decimals, of which only the ratio to the largest counts.
        group.lifetimes.ages =
            read(&name, open)?.into_iter().map(|(age, weight)| (whole(age * AGE_PARTS), weight)).collect();
    }
    if let Some(name) = group.directories.depths_from.take() {
        let depth = |(value, weight): (f64, f64)| (u32::try_from(whole(value)).unwrap_or(u32::MAX), weight);
        group.directories.depths = read(&name, open)?.into_iter().map(depth).collect();
    }
    Ok(())
}

/// Numbers of a distribution are 0 or more, and below 9e15.
fn whole(number: f64) -> u64 {
    number.round() as u64
}

fn read(name: &str, open: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>) -> Result<Vec<(f64, f64)>, String> {
    let shown = model::text::escaped(name.as_bytes());
    let bytes = open(name).map_err(|error| format!("cannot read {shown}: {error}; name a distribution beside it"))?;
    if bytes.len() as u64 > model::bounds::TOML_BYTES {
        return Err(format!("{shown} has more than {}; name a shorter one", Bytes(model::bounds::TOML_BYTES)));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| format!("{shown} is no UTF-8; name a distribution of Geriatrix"))?;
    let mut lines = text.lines();
    let count: usize = lines.next().unwrap_or_default().trim().parse().unwrap_or(0);
    let wrong = |line: usize, what: &str| Err(format!("{shown}, line {line}: {what}"));
    let mut values = Vec::new();
    // Behind its lines such a file says in words what they are; one that was published has a line more than it counts.
    for (at, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()).take(count.min(MOST_LINES + 1)) {
        let mut words = line.split_ascii_whitespace();
        let value = words.next().and_then(|word| word.parse::<f64>().ok()).filter(|value| (0.0..9e15).contains(value));
        let weight = words.next().and_then(|word| word.parse::<f64>().ok());
        // Lines of depths go on with a number of folders, of which a profile has its own.
        let has_more = words.next().is_some_and(|word| word.parse::<u64>().is_err()) || words.next().is_some();
        match (value, weight.filter(|weight| (0.0..=1e12).contains(weight)), has_more) {
            (Some(value), Some(weight), false) => values.push((value, weight)),
            _ => return wrong(at + 2, "write a number and its weight, both 0 or more"),
        }
        if values.len() > MOST_LINES {
            return wrong(at + 2, "no distribution has so many lines; name a shorter one");
        }
    }
    match count == values.len() && values.iter().any(|(_, weight)| *weight > 0.0) {
        true => Ok(values),
        false => wrong(1, "write the number of lines that follow, of which one has a weight above 0"),
    }
}
