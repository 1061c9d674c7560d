//! Where paths lead through symbolic links, as the kernel would go.

use super::names::{MOST_PARTS, Names};
use crate::MOST_PATH_BYTES;
use std::collections::HashMap;

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// Bytes of paths that are looked at, at most: small traces may name long ones again and again.
const MOST_WALKED_BYTES: u64 = 32 << 30;

/// The links that are there, by their paths: the number of what they say, as the trace has it.
#[derive(Debug, Default)]
pub(super) struct Links {
    texts: HashMap<u32, u32>,
    /// What was found since the last change.
    known: HashMap<(u32, bool), u32>,
    walked_bytes: u64,
}

impl Links {
    pub(super) fn made(&mut self, path: u32, text: u32) {
        self.texts.insert(path, text);
        self.known.clear();
    }

    /// Whether more was looked at than any program needs.
    pub(super) fn are_too_long(&self) -> bool {
        self.walked_bytes > MOST_WALKED_BYTES
    }

    /// What has this name is something else from now on, or nothing.
    pub(super) fn gone(&mut self, path: u32) {
        if self.texts.remove(&path).is_some() {
            self.known.clear();
        }
    }

    /// What lies at a path and below it lies elsewhere; `exchanges`: and the other way round.
    pub(super) fn moved(&mut self, names: &mut Names, from: u32, to: u32, exchanges: bool) {
        if self.texts.is_empty() {
            return;
        }
        let (from, to) = (names.path(from).to_vec(), names.path(to).to_vec());
        let (moved, replaced) = (self.take_below(names, &from), self.take_below(names, &to));
        let back = if exchanges { replaced } else { Vec::new() };
        for (top, list) in [(&to, moved), (&from, back)] {
            for (rest, text) in list {
                // A longer path is none that a call can name, and more of them are refused behind this call.
                if top.len() + rest.len() > MOST_PATH_BYTES || names.are_too_many() {
                    continue;
                }
                let number = names.number([&top[..], &rest].concat());
                self.texts.insert(number, text);
            }
        }
        self.known.clear();
    }

    fn take_below(&mut self, names: &Names, top: &[u8]) -> Vec<(Vec<u8>, u32)> {
        self.walked_bytes += self.texts.len() as u64 * 64;
        let below = |path: &[u8]| path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
        let keys: Vec<u32> = self.texts.keys().filter(|path| below(names.path(**path))).copied().collect();
        keys.into_iter()
            .filter_map(|key| Some((names.path(key)[top.len()..].to_vec(), self.texts.remove(&key)?)))
            .collect()
    }

    /// The path that is meant; `follows`: its last part too.
    pub(super) fn lead(&mut self, names: &mut Names, path: u32, follows: bool) -> u32 {
        if self.texts.is_empty() {
            return path;
        }
        if let Some(&known) = self.known.get(&(path, follows)) {
            return known;
        }
        let found = self.walk(names, path, follows).unwrap_or(path);
        self.known.insert((path, follows), found);
        found
    }

    fn walk(&mut self, names: &mut Names, path: u32, follows: bool) -> Option<u32> {
        let mut left: Vec<Vec<u8>> = parts(names.path(path));
        left.reverse();
        let mut here: Vec<Vec<u8>> = Vec::new();
        let mut followed = 0;
        while let Some(part) = left.pop() {
            match &part[..] {
                b"" | b"." => continue,
                b".." => {
                    here.pop();
                    continue;
                }
                _ => here.push(part),
            }
            let is_last = left.is_empty();
            let whole = here.join(&b'/');
            self.walked_bytes += whole.len() as u64 + 64;
            if here.len() > MOST_PARTS {
                return None;
            }
            let link = names.find(&whole).and_then(|number| self.texts.get(&number));
            let Some(text) = link.filter(|_| !is_last || follows).and_then(|text| names.said(*text)) else { continue };
            followed += 1;
            if followed > MOST_LINKS || left.len() > 2 * MOST_PARTS || text.len() > 4096 {
                return None;
            }
            here.pop();
            if text.first() == Some(&b'/') {
                here.clear();
            }
            left.extend(parts(text).into_iter().rev());
        }
        let whole = if here.is_empty() { b".".to_vec() } else { here.join(&b'/') };
        super::names::plain(&whole).map(|path| names.number(path))
    }
}

fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_the_kernel_goes() {
        let mut names = Names::default();
        let mut links = Links::default();
        let number = |names: &mut Names, path: &str| names.number(path.as_bytes().to_vec());
        let all = [
            ("lib", "usr/lib"),
            ("usr/lib/x.so", "x.so.1"),
            ("abs", "/lib/x.so"),
            ("loop", "loop"),
            ("up", "../../../lib"),
        ];
        for (text, (path, says)) in all.into_iter().enumerate() {
            names.add(says.as_bytes().to_vec());
            let path = number(&mut names, path);
            links.made(path, text as u32);
        }
        for (path, follows, to) in [
            ("lib/y", true, "usr/lib/y"),
            ("lib", false, "lib"),
            ("lib", true, "usr/lib"),
            ("lib/x.so", true, "usr/lib/x.so.1"),
            ("lib/x.so", false, "usr/lib/x.so"),
            ("abs", true, "usr/lib/x.so.1"),
            ("up/y", false, "usr/lib/y"),
            ("loop", true, "loop"),
            ("plain/x", true, "plain/x"),
        ] {
            let path = number(&mut names, path);
            let found = links.lead(&mut names, path, follows);
            assert_eq!(String::from_utf8_lossy(names.path(found)), to);
        }
        // Where a text is deeper than any path, it is not walked to its end, and what was walked is counted.
        names.add("x/".repeat(2000).into_bytes());
        let (long, below) = (number(&mut names, "long"), number(&mut names, "long/y"));
        links.made(long, 5);
        let before = links.walked_bytes;
        assert_eq!(links.lead(&mut names, below, true), below);
        let walked = links.walked_bytes - before;
        assert!((64..1 << 20).contains(&walked) && !links.are_too_long(), "{walked}");
        // What lies below a folder moves with it.
        let (usr, opt) = (number(&mut names, "usr"), number(&mut names, "opt"));
        links.moved(&mut names, usr, opt, false);
        let moved = number(&mut names, "opt/lib/x.so");
        let found = links.lead(&mut names, moved, true);
        assert_eq!(names.path(found), b"opt/lib/x.so.1");
        let lib = number(&mut names, "lib");
        links.gone(lib);
        let y = number(&mut names, "lib/y");
        assert_eq!(links.lead(&mut names, y, true), y);
    }
}
