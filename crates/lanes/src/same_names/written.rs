//! Which disks a text names: fstab, crypttab, the kernel's command line.
//!
//! Each of their readers has its own quotes, escapes and ends of a name, so every way to read a field is taken: a name
//! too many refuses the image that happens to carry it, a name too few lets one pass.

use super::{Form, Name, name_of};
use std::collections::BTreeSet;

/// What a name stands behind, in small letters. `PARTUUID=` is among them, `PARTLABEL=` is none of a filesystem: an
/// image with partitions is refused whatever their names are.
const KEYS: [(&[u8], Form); 4] =
    [(b"uuid=", Form::Uuid), (b"by-uuid/", Form::Uuid), (b"label=", Form::Label), (b"by-label/", Form::Label)];
/// No label is longer: F2FS has 512 characters.
const MOST_NAME: usize = 2048;
/// What may end a name before its field ends.
const ENDS: [u8; 5] = *b"\"',:;";

/// The names in a text of this path.
pub(super) fn names_said(text: &[u8], path: &str) -> Vec<Name> {
    let mut names = BTreeSet::new();
    for field in fields(text) {
        for spelling in spellings(&field) {
            add_names(&spelling, &mut names);
        }
    }
    names.into_iter().map(|(form, bytes)| Name { form, bytes, of: path.to_owned() }).collect()
}

fn add_names(field: &[u8], names: &mut BTreeSet<(Form, Vec<u8>)>) {
    // However it is written, nothing but a UUID looks like one.
    names.extend(field.windows(36).filter_map(|window| name_of(Form::Uuid, window)));
    let small = field.to_ascii_lowercase();
    for (key, form) in KEYS {
        for at in (0..small.len()).filter(|&at| small[at..].starts_with(key)) {
            if form == Form::Label && small[..at].ends_with(b"part") {
                continue;
            }
            let rest = &field[at + key.len()..];
            let rest = &rest[..rest.len().min(MOST_NAME)];
            names.extend(values(rest).into_iter().filter_map(|value| name_of(form, value)));
        }
    }
}

/// The parts of each line between blanks, and those that quotes hold together.
fn fields(text: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut fields = BTreeSet::new();
    for line in text.split(|&byte| byte == b'\n') {
        for quotes in [&b""[..], b"\"", b"\"'"] {
            let mut open = None;
            let words = line.split(|byte| {
                match open {
                    None if quotes.contains(byte) => open = Some(*byte),
                    Some(quote) if quote == *byte => open = None,
                    _ => {}
                }
                open.is_none() && byte.is_ascii_whitespace()
            });
            fields.extend(words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec));
        }
    }
    fields
}

/// A field as it stands, without `\040` of fstab, without `\x20` of udev too, and each without its quotes.
fn spellings(field: &[u8]) -> BTreeSet<Vec<u8>> {
    let plain = without_octal(field);
    let mut found = BTreeSet::from([field.to_vec(), without_hex(&plain), plain]);
    let unquoted = |word: &Vec<u8>| word.iter().copied().filter(|byte| !b"\"'".contains(byte)).collect();
    found.extend(found.iter().map(unquoted).collect::<Vec<Vec<u8>>>());
    found
}

/// What of the rest of a field may be the name.
fn values(rest: &[u8]) -> Vec<&[u8]> {
    let mut found = vec![rest];
    if let [quote @ (b'"' | b'\''), inner @ ..] = rest {
        let end = inner.iter().rposition(|byte| byte == quote).unwrap_or(inner.len());
        found.extend([inner, &inner[..end]]);
    }
    // As a path goes on: `by-label//name`, `by-label/./name`.
    let mut path = rest;
    while let Some(shorter) = path.strip_prefix(b"/").or_else(|| path.strip_prefix(b"./")) {
        path = shorter;
    }
    found.push(path);
    for whole in found.clone() {
        let ends = ENDS.iter().filter_map(|end| whole.iter().position(|byte| byte == end));
        found.extend(ends.map(|end| &whole[..end]));
    }
    found
}

/// `\040` as fstab's readers take it: three digits, of which what is more than a byte is lost.
fn without_octal(text: &[u8]) -> Vec<u8> {
    unescaped(text, |code| match code {
        [b'\\', a @ b'0'..=b'7', b @ b'0'..=b'7', c @ b'0'..=b'7'] => Some((a & 7) << 6 | (b & 7) << 3 | (c & 7)),
        _ => None,
    })
}

/// `\x20` as udev writes it.
pub(super) fn without_hex(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    unescaped(text, |code| match *code {
        [b'\\', b'x', high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    })
}

/// A text whose escapes, of four characters each, are the bytes that they stand for.
fn unescaped(text: &[u8], of: impl Fn(&[u8; 4]) -> Option<u8>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, more @ ..] = rest {
        let code = rest.first_chunk().and_then(&of);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[4..] } else { more };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::uuid;
    use super::*;

    const ONE: &str = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

    fn said(text: &str) -> Vec<(Form, Vec<u8>)> {
        names_said(text.as_bytes(), "x").into_iter().map(|name| (name.form, name.bytes)).collect()
    }

    #[track_caller]
    fn names(text: &str, form: Form, name: &[u8]) {
        assert!(said(text).contains(&(form, name.to_vec())), "{text}: {:?}", said(text));
    }

    #[test]
    fn same_names_are_known_however_a_text_quotes_and_escapes_them() {
        let one = uuid(ONE.as_bytes()).unwrap();
        for text in [
            "UUID='ONE' /mnt/backup ext4 noauto 0 0",
            "UUID=\"ONE\" /mnt",
            "'UUID=ONE' /mnt",
            "\"UUID\"=ONE /mnt",
            "uuid=ONE /mnt",
            "UUID=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 /mnt",
            "UUID=0a1b2c3d-4e5f'-6071-'8293-a4b5c6d7e8f9 /mnt",
            "\\125UID\\075ONE /mnt",
            "UUID=\\060a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9 /mnt",
            "UUID=0a1b2c3d4e5f60718293a4b5c6d7e8f9 /mnt",
            "PARTUUID=ONE /mnt",
            "/dev/disk/by-partuuid/ONE /mnt",
            "/dev/disk/by-uuid/ONE /mnt",
            "/dev/disk/by-uuid//./ONE /mnt",
            "cryptdevice=UUID=ONE:root:allow-discards quiet",
            "rd.luks.name=ONE=root rd.luks.uuid=luks-ONE",
        ] {
            names(&text.replace("ONE", ONE), Form::Uuid, &one);
        }
        for text in [
            "LABEL='BACKUP' /mnt",
            "Label=\"BACKUP\" /mnt",
            "LABEL=BACK\\125P /mnt",
            "LABEL=BACK\\525P /mnt",
            "LABEL=B'ACK'UP /mnt",
            "root=live:CDLABEL=BACKUP",
            "LABEL=BACKUP,ro /mnt",
            "a b none x,journal_path=/dev/disk/by-label/BACKUP,ro",
            "/dev/disk/by-label/B\\x41CKUP /mnt",
            "/dev/disk/by-label/B\\134x41CKUP /mnt",
        ] {
            names(text, Form::Label, b"BACKUP");
        }
        for text in
            ["LABEL=my\\040data /d", "'LABEL=my data' /d", "root=LABEL=\"my data\"", "/dev/disk/by-label/my\\x20data"]
        {
            names(text, Form::Label, b"my data");
        }
        names("LABEL=my\\x20data /d", Form::Label, b"my\\x20data");
        names("LABEL='it's' /d", Form::Label, b"it's");
        names("LABEL=a,b:c /d", Form::Label, b"a,b:c");
        names("LABEL=/ /", Form::Label, b"/");
        names("it's here: root=\"LABEL=my data\"", Form::Label, b"my data");
        names("UUID='1A2B-3C4D' /efi", Form::Uuid, &[0x4D, 0x3C, 0x2B, 0x1A]);
        names("UUID=0123456789ABCDEF", Form::Uuid, &[0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]);
        assert_eq!(said("PARTLABEL=a /dev/disk/by-partlabel/b UUID=short UUID= LABEL="), vec![]);
    }

    #[test]
    fn same_names_are_known_behind_bytes_that_are_no_text() {
        let text = [b"# f\xFCr die Sicherung\nLABEL=B\xFCro /b\nUUID=", ONE.as_bytes(), b" /c\n"].concat();
        let found: Vec<Vec<u8>> = names_said(&text, "x").into_iter().map(|name| name.bytes).collect();
        assert_eq!(found, [uuid(ONE.as_bytes()).unwrap(), b"B\xFCro".to_vec()]);
    }

    #[test]
    fn same_names_of_udev_lose_their_escapes() {
        assert_eq!(without_hex(b"a\\x20b\\x2f\\040\\"), b"a b/\\040\\");
        assert_eq!(without_hex(b"\\x2\\x4g\\"), b"\\x2\\x4g\\");
        assert_eq!(without_octal(b"a\\040b\\x20\\08\\"), b"a b\\x20\\08\\");
    }
}
