//! Arguments as strace prints them.

/// One argument, as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument(String);

impl Argument {
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// What a string says; `None`: it is none, or was cut off.
    pub(super) fn string(&self) -> Option<Vec<u8>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        unescaped(inner)
    }

    /// The path behind a descriptor: `3</path>`, `AT_FDCWD</path>`.
    pub(super) fn path(&self) -> Option<Vec<u8>> {
        let (_, path) = self.0.split_once('<')?;
        let path = unescaped(path.strip_suffix('>')?)?;
        Some(path).filter(|path| path.first() == Some(&b'/'))
    }
}

/// C's escapes: `\n`, `\"`, `\12`, `\x0a`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        at += 1;
        let next = *bytes.get(at)?;
        let (digits, radix, begin) = match next {
            b'0'..=b'7' => (3, 8, at),
            b'x' => (2, 16, at + 1),
            _ => {
                out.push(match next {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    other => other,
                });
                at += 1;
                continue;
            }
        };
        let length = bytes[begin..].iter().take(digits).take_while(|byte| (**byte as char).is_digit(radix)).count();
        let number = std::str::from_utf8(&bytes[begin..begin + length]).ok()?;
        out.push(u8::try_from(u32::from_str_radix(number, radix).ok()?).ok()?);
        at = begin + length;
    }
    Some(out)
}

/// The arguments up to the bracket that closes them, and what stands behind it.
pub(super) fn parse(text: &str) -> Option<(Vec<Argument>, &str)> {
    let bytes = text.as_bytes();
    let (mut arguments, mut begin, mut depth) = (Vec::new(), 0, 0u32);
    let (mut quoted, mut escaped, mut in_path) = (false, false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if escaped {
            escaped = false;
            continue;
        }
        match byte {
            b'\\' if quoted || in_path => escaped = true,
            b'"' if !in_path => quoted = !quoted,
            _ if quoted => {}
            // Behind a number or a name it is the path of a descriptor.
            b'<' if !in_path && at > 0 && (bytes[at - 1].is_ascii_alphanumeric()) => in_path = true,
            b'>' if in_path => in_path = false,
            _ if in_path => {}
            b'[' | b'{' | b'(' => depth += 1,
            b')' if depth == 0 => {
                push(&mut arguments, &text[begin..at]);
                return Some((arguments, &text[at + 1..]));
            }
            b']' | b'}' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                push(&mut arguments, &text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn push(arguments: &mut Vec<Argument>, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        arguments.push(Argument(text.to_owned()));
    }
}

/// A number in decimal, or in hexadecimal behind `0x`.
pub(super) fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as i64),
        None => text.parse().ok().or_else(|| text.parse::<u64>().ok().map(|number| number as i64)),
    }
}

/// Names of bits and numbers, joined by `|`; an unknown name is nobody's number.
pub(super) fn flags(text: &str) -> Option<i64> {
    text.split('|').try_fold(0i64, |sum, word| {
        let word = word.trim();
        let known = FLAGS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        let octal = || {
            word.strip_prefix('0').filter(|rest| !rest.is_empty()).and_then(|rest| i64::from_str_radix(rest, 8).ok())
        };
        // What is not known of a file's flags is none that a filesystem looks at.
        let ignored = || word.starts_with("O_").then_some(0);
        Some(sum | known.or_else(octal).or_else(|| number(word)).or_else(ignored)?)
    })
}

macro_rules! names {
    ($table:ident: $($name:ident),+) => {
        static $table: &[(&str, i64)] = &[$((stringify!($name), libc::$name as i64)),+];
    };
}

names!(FLAGS: O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_SYNC, O_DSYNC, O_DIRECT,
    O_NOATIME, O_PATH, O_TMPFILE, O_CLOEXEC, SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW,
    AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, AT_NO_AUTOMOUNT, AT_EACCESS, AT_STATX_SYNC_AS_STAT, F_OK, R_OK, W_OK, X_OK, RENAME_NOREPLACE,
    RENAME_EXCHANGE, LOCK_SH, LOCK_EX, LOCK_UN, LOCK_NB, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE,
    FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE, SYNC_FILE_RANGE_WAIT_BEFORE, SYNC_FILE_RANGE_WRITE,
    SYNC_FILE_RANGE_WAIT_AFTER, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK, S_ISUID, S_ISGID, S_ISVTX);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parted_where_they_end() {
        let (arguments, rest) =
            parse(r#"AT_FDCWD</tmp/a\76 (b)>, "x, \"y\")\n", {st_mode=S_IFREG|0644, st_size=3}, [1, 2]) = 3"#).unwrap();
        let texts: Vec<&str> = arguments.iter().map(Argument::text).collect();
        assert_eq!(texts.len(), 4, "{texts:?}");
        assert_eq!(arguments[0].path().unwrap(), b"/tmp/a> (b)");
        assert_eq!(arguments[1].string().unwrap(), b"x, \"y\")\n");
        assert_eq!(rest, " = 3");
        assert_eq!((parse("a, b"), parse("\"a)")), (None, None));
        assert_eq!(Argument("\"cut\"...".to_owned()).string(), None);
    }

    #[test]
    fn names_are_numbers() {
        assert_eq!(flags("O_WRONLY|O_CREAT|O_LARGEFILE"), Some(i64::from(libc::O_WRONLY | libc::O_CREAT)));
        assert_eq!((flags("S_IFREG|0644"), flags("0"), flags("WHAT")), (Some(0o100_644), Some(0), None));
        assert_eq!((number("0x10"), number("-1"), number("x")), (Some(16), Some(-1), None));
        assert_eq!((unescaped(r"a\x0a\101\\").unwrap(), unescaped("\\")), (b"a\nA\\".to_vec(), None));
    }
}
