//! Journal size, allocation groups, profiles: read after mkfs, best effort. What a tool does not
//! tell is left out; geometry explains figures, and tells what a lane's metadata is guarded by.

/// The value of a `name: value` line.
pub(crate) fn value_of<'a>(geometry: &'a [String], name: &str) -> Option<&'a str> {
    geometry.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Picks lines of the form `NAME:   value`.
pub(crate) fn pick(text: &str, names: &[&str]) -> Vec<String> {
    let line = |name: &&str| {
        let value = text.lines().find_map(|line| line.trim().strip_prefix(*name)?.trim_start().strip_prefix(':'))?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        (!value.is_empty()).then(|| format!("{name}: {value}"))
    };
    names.iter().filter_map(line).collect()
}
