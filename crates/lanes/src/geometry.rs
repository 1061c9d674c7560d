//! Journal size, allocation groups, profiles: read after mkfs, best effort. What a tool does not
//! tell is left out; geometry explains figures, and tells what a lane's metadata is guarded by.

/// The value of a `name: value` line.
pub(crate) fn value_of<'a>(geometry: &'a [String], name: &str) -> Option<&'a str> {
    geometry.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// All lines with something on them, but those that begin with one of these names and a colon.
pub(crate) fn all_but(text: &str, names: &[&str]) -> Vec<String> {
    let is_named =
        |line: &str, name: &str| line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty() && !names.iter().any(|name| is_named(line, name))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_chance_is_left_out_and_nothing_else() {
        let text =
            "Filesystem UUID:          1-2\nInode size:\t          256\n\nChecksum:   0x1\nChecksum type:  crc32c\n";
        assert_eq!(all_but(text, &["Filesystem UUID", "Checksum"]), ["Inode size: 256", "Checksum type: crc32c"]);
    }
}
