//! What looks like a path, an address, a unique id or a mail address at the beginning of a text.

use super::shield::Sort;
use crate::lane::TWIN;
use crate::stack;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What stands at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Its length in bytes, 1 or more.
    pub(super) bytes: usize,
    /// What it is; `None`: it looks private, and every machine has it.
    pub(super) sort: Option<Sort>,
}

/// Folders at the top of a machine: a path begins with them behind whatever letter (`-d/home/…`).
const TOPS: [&str; 17] = [
    "/home/",
    "/Users/",
    "/root/",
    "/mnt/",
    "/media/",
    "/srv/",
    "/var/",
    "/tmp/",
    "/opt/",
    "/etc/",
    "/run/",
    "/usr/",
    "/dev/",
    "/data/",
    "/nfs/",
    "/export/",
    "/scratch/",
];

/// Files of every Linux.
const EVERYWHERE: [&str; 15] = [
    "/dev/fuse",
    "/dev/kvm",
    "/dev/loop-control",
    "/dev/null",
    "/dev/shm",
    "/dev/zero",
    "/etc/os-release",
    "/proc/diskstats",
    "/proc/filesystems",
    "/proc/kallsyms",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/pressure/io",
    "/proc/vmstat",
    "/sys/fs/cgroup",
];
/// Folders of every Linux, in which the kernel names its own settings.
const KERNELS_OWN: [&str; 3] = ["/proc/sys/", "/sys/kernel/", "/sys/module/"];

/// What the path of a filesystem of one's own ends with, in a lane.
const TOML: &str = ".toml";

/// What unique ids of disks begin with (udev's names, NVMe's and SCSI's own).
const OF_DISKS: [&str; 5] = ["eui.", "naa.", "t10.", "uuid.", "wwn-0x"];
/// Bytes of the longest address: an IPv6 one that ends in an IPv4 one.
const MOST_ADDRESS_BYTES: usize = 45;

/// What stands at the beginning of a text that looks private. `before`: the character before it.
pub(super) fn find(rest: &str, before: Option<char>) -> Option<Found> {
    if let Some(bytes) = path(rest, before) {
        let token = rest.get(..bytes)?;
        let sort = match token {
            _ if is_everywhere(token) || !token.contains(char::is_alphanumeric) => None,
            _ if token.starts_with("/dev/") => Some(Sort::Device),
            _ => Some(Sort::Path),
        };
        return Some(Found { bytes, sort });
    }
    let of = |bytes: usize, sort: Sort| Found { bytes, sort: Some(sort) };
    if !before.is_some_and(is_of_mail)
        && let Some(bytes) = mail(rest)
    {
        return Some(of(bytes, Sort::Mail));
    }
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    if let Some(bytes) = identifier(rest) {
        return Some(of(bytes, Sort::Identifier));
    }
    match before.is_some_and(|character| "_-.:".contains(character)) {
        true => None,
        false => address(rest).map(|bytes| of(bytes, Sort::Address)),
    }
}

/// Where a path ends that a text begins with, by itself: at a blank, a bracket, a comma or a quotation mark.
pub(super) fn path_end(rest: &str) -> usize {
    let mut characters = rest.char_indices().peekable();
    let mut end = rest.len();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let line_follows = character == ':' && next.is_none_or(|next| next.is_whitespace() || next.is_ascii_digit());
        if character.is_whitespace() || "\"'`<>|;,()[]{}".contains(character) || line_follows {
            end = at;
            break;
        }
    }
    own_path(rest.get(..end).unwrap_or(rest).trim_end_matches(['.', '!', '?', '…'])).len()
}

/// Bytes of what lies below a path that a text goes on with; 0: nothing does.
pub(super) fn below(path: &str, behind: &str) -> usize {
    let is_layer = path.ends_with(TOML) && behind.strip_prefix('/').is_some_and(stack::begins_layer);
    if behind.starts_with('/') && !is_layer { path_end(behind) } else { 0 }
}

/// What of it is the path, where more of a lane follows: what runs as its twin, a venue, a state, disks, a layer.
fn own_path(token: &str) -> &str {
    let token = token.strip_suffix(TWIN).unwrap_or(token);
    let Some(end) = token.find(TOML).map(|at| at + TOML.len()) else { return token };
    let behind = token.get(end..).unwrap_or_default();
    let is_of_lane = behind.starts_with(['@', '+', ':']) || behind.strip_prefix('/').is_some_and(stack::begins_layer);
    if is_of_lane { token.get(..end).unwrap_or(token) } else { token }
}

fn path(rest: &str, before: Option<char>) -> Option<usize> {
    let begin = ["/", "~/", "./", "../"].into_iter().find(|begin| rest.starts_with(begin))?;
    let goes_on = before.is_some_and(|character| character.is_alphanumeric() || "_-.~/%})".contains(character));
    if goes_on && !TOPS.iter().any(|top| rest.starts_with(top)) {
        return None;
    }
    // What stands in quotation marks ends with them, whatever blanks are in it.
    let quote = before.filter(|character| "\"'`".contains(*character));
    let quoted = quote.and_then(|quote| rest.get(..rest.find(quote)?)).map(|quoted| own_path(quoted).len());
    // What holds no letter is none, and is passed over whole.
    Some(quoted.unwrap_or_else(|| path_end(rest)).max(begin.len()))
}

fn is_everywhere(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_/-".contains(&byte);
    EVERYWHERE.contains(&path)
        || KERNELS_OWN.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.bytes().all(is_plain)))
}

fn is_of_mail(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._%+-".contains(character)
}

fn mail(rest: &str) -> Option<usize> {
    let local = rest.bytes().take_while(|byte| is_of_mail(char::from(*byte))).count();
    let behind = rest.get(local..)?.strip_prefix('@').filter(|_| local > 0)?;
    let domain = behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte)).count();
    let domain = behind.get(..domain)?.trim_end_matches(['.', '-']);
    let (_, last) = domain.rsplit_once('.')?;
    (last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some(local + 1 + domain.len())
}

/// Whether a text goes on with a letter or a digit.
fn continues(rest: &str, at: usize) -> bool {
    rest.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// A UUID, 32 hexadecimal digits such as a machine's id, a network card's address or a disk's own name.
fn identifier(rest: &str) -> Option<usize> {
    let is_shaped = |length: usize, marks: &[usize], mark: &[u8]| {
        let all = rest.as_bytes().get(..length)?;
        let fits = |(at, byte): (usize, &u8)| match marks.contains(&at) {
            true => mark.contains(byte),
            false => byte.is_ascii_hexdigit(),
        };
        (all.iter().enumerate().all(fits) && !continues(rest, length)).then_some(length)
    };
    let card = || is_shaped(17, &[2, 5, 8, 11, 14], b":-").filter(|_| rest.as_bytes().get(17) != Some(&b':'));
    let of_disk = || {
        let begin = OF_DISKS.iter().find(|begin| rest.starts_with(**begin))?;
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let bytes = rest.bytes().take_while(is_of_name).count();
        (bytes >= begin.len() + 8).then_some(bytes)
    };
    is_shaped(36, &[8, 13, 18, 23], b"-").or_else(|| is_shaped(32, &[], b"")).or_else(card).or_else(of_disk)
}

fn address(rest: &str) -> Option<usize> {
    let is_of_address = |byte: &u8| byte.is_ascii_hexdigit() || b".:".contains(byte);
    let run = rest.bytes().take(MOST_ADDRESS_BYTES + 1).take_while(is_of_address).count();
    let token = rest.get(..run)?.trim_end_matches(['.', ':']);
    // Versions go on behind a dash: 5.15.153.1-microsoft.
    let ends = |at: usize| !continues(rest, at) && !rest.as_bytes().get(at).is_some_and(|byte| b"-_".contains(byte));
    let sixth = token.len() > 2 && token.contains(':') && token.parse::<Ipv6Addr>().is_ok();
    if sixth && ends(token.len()) {
        return Some(token.len());
    }
    let fourth = token.split(':').next()?;
    (fourth.parse::<Ipv4Addr>().is_ok() && ends(fourth.len())).then_some(fourth.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that looks private in a text, with what it is.
    fn all(text: &str) -> Vec<(&str, Sort)> {
        let (mut at, mut before, mut seen) = (0, None, Vec::new());
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let found = find(rest, before);
            let bytes = found.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |found| found.bytes);
            let token = &rest[..bytes];
            seen.extend(found.and_then(|found| found.sort).map(|sort| (token, sort)));
            before = token.chars().next_back();
            at += bytes;
        }
        seen
    }

    #[test]
    fn paths_are_found_wherever_they_stand() {
        for (text, path) in [
            ("images in /home/li", "/home/li"),
            ("cannot open /srv/x/y.z: No such file", "/srv/x/y.z"),
            ("it lies in /mnt/a.", "/mnt/a"),
            ("logdev=/scratch", "/scratch"),
            ("--on=~/images", "~/images"),
            ("\"/mnt/two words/x\" is full", "/mnt/two words/x"),
            ("`./mine.toml`: line 3", "./mine.toml"),
            ("xfs@/data/images", "/data/images"),
            ("-d/home/li/tree", "/home/li/tree"),
            ("nfs host:/export/имя", "/export/имя"),
            ("/etc/my.fio:12: no option", "/etc/my.fio"),
            ("file:///opt/x", "///opt/x"),
        ] {
            assert_eq!(all(text), [(path, Sort::Path)], "{text}");
        }
        assert_eq!(all("xfs@/dev/sdb2"), [("/dev/sdb2", Sort::Device)]);
        assert_eq!(all("./my.toml@/dev/sdb"), [("./my.toml", Sort::Path), ("/dev/sdb", Sort::Device)]);
        assert_eq!(all("/srv/my.toml/crypt:2"), [("/srv/my.toml", Sort::Path)]);
        assert_eq!(all("'/mnt/a~self', /mnt/a~self"), [("/mnt/a", Sort::Path), ("/mnt/a", Sort::Path)]);
        assert_eq!(all("lowerdir=/a,upperdir=/b"), [("/a", Sort::Path), ("/b", Sort::Path)]);
    }

    #[test]
    fn what_is_no_path_and_what_every_machine_has_stays() {
        for text in [
            "201 MiB/s, 3k ops/s",
            "ext4/raid5:3,chunk=64K",
            "xfs(-m reflink=0)/crypt",
            "kworker/u8:1-flush-8:0",
            "read/write and I/O",
            "a / b, 1/2",
            "{material}/src",
            "/dev/fuse and /dev/kvm are missing",
            "set /proc/sys/kernel/perf_event_paranoid to 1",
            "…/…",
            "/",
        ] {
            assert!(all(text).is_empty(), "{text}: {:?}", all(text));
        }
    }

    #[test]
    fn addresses_and_ids_are_told_from_versions_and_times() {
        for (text, token, sort) in [
            ("from 192.168.1.17:2049", "192.168.1.17", Sort::Address),
            ("addr=fe80::1ff:fe23:4567:890a,rw", "fe80::1ff:fe23:4567:890a", Sort::Address),
            ("[::1]", "::1", Sort::Address),
            ("UUID=1b4e28ba-2fa1-11d2-883f-0016d3cca427", "1b4e28ba-2fa1-11d2-883f-0016d3cca427", Sort::Identifier),
            ("id 0123456789abcdef0123456789ABCDEF.", "0123456789abcdef0123456789ABCDEF", Sort::Identifier),
            ("card 00:16:3e:12:34:56", "00:16:3e:12:34:56", Sort::Identifier),
            ("disk eui.0025385b71b0b0d5", "eui.0025385b71b0b0d5", Sort::Identifier),
            ("ask ada.l+x@mail.example.org.", "ada.l+x@mail.example.org", Sort::Mail),
        ] {
            assert_eq!(all(text), [(token, sort)], "{text}");
        }
        for text in [
            "2026-07-01T10:00:00Z",
            "10:20:30",
            "5.15.153.1-microsoft-standard",
            "mke2fs 1.47.0 (5-Feb-2023)",
            "0.1.0",
            "ext4@uml",
            "subvol=@home",
            "b".repeat(64).as_str(),
            "21d38b884c93260c",
            "std::io",
        ] {
            assert!(all(text).is_empty(), "{text}: {:?}", all(text));
        }
    }

    #[test]
    fn no_text_is_too_strange() {
        for text in ["文/文 ./文", "\u{301}/\u{301}x", "@@..@@", "::::", "1.2.3.4.5", "'/x", "/\u{202e}x", "~/"] {
            all(text);
        }
        for long in ["/a'", "\u{301}/", "/.!", "'/", "eui.", "a@", "::"] {
            all(&long.repeat(100_000));
        }
    }
}
