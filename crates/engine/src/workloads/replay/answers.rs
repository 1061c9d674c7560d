//! Whether a call answers what it answered the program, and what differs.

use std::collections::BTreeMap;
use trace::code;
use trace::replay::Step;

/// Kinds of differences that are told apart.
const MOST_KINDS: usize = 256;
/// Of these, how many are named.
const NAMED: usize = 3;

/// A call, what it answered the program, and what it answers here: errors as their negative numbers, other answers as 0 and
/// more.
type Kind = (u8, i64, i64);

/// What differs, counted.
#[derive(Debug, Default, Clone)]
pub(crate) struct Differences {
    /// How often, and of the first one the path that it names.
    kinds: BTreeMap<Kind, (u64, Option<u32>)>,
    others: u64,
}

impl Differences {
    #[cold]
    pub(crate) fn note(&mut self, step: &Step, got: i64) {
        let kind = (step.call, step.result.min(0), got.min(0));
        match self.kinds.len() < MOST_KINDS || self.kinds.contains_key(&kind) {
            true => {
                let path = trace::call(step.call).filter(|row| row.paths > 0).map(|row| step.paths[row.paths - 1]);
                self.kinds.entry(kind).or_insert((0, path)).0 += 1;
            }
            false => self.others += 1,
        }
    }

    pub(super) fn add(&mut self, more: Differences) {
        for (kind, (count, path)) in more.kinds {
            self.kinds.entry(kind).or_insert((0, path)).0 += count;
        }
        self.others += more.others;
    }

    pub(crate) fn count(&self) -> u64 {
        self.kinds.values().map(|(count, _)| count).sum::<u64>() + self.others
    }

    /// Calls that move data or take place, failed here and not for the program.
    pub(super) fn undone(&self) -> u64 {
        self.kinds.iter().filter(|(kind, _)| is_work_undone(kind)).map(|(_, (count, _))| count).sum()
    }

    /// As a part of a sentence: `12 of 184220 calls answered otherwise: 10 ficlone EOPNOTSUPP where the program got none, …`.
    /// `paths`: those of the replay.
    pub(crate) fn told(&self, of: u64, paths: &[Vec<u8>]) -> String {
        let mut kinds: Vec<(&Kind, &(u64, Option<u32>))> = self.kinds.iter().collect();
        kinds.sort_by_key(|(kind, (count, _))| (std::cmp::Reverse(*count), **kind));
        let answer = |result: i64| match result {
            0 => "another answer".to_owned(),
            error => error_name(error),
        };
        let name = |(call, want, got): &Kind| {
            let call = trace::call(*call).map_or("a call", |row| row.name);
            match (want, got) {
                (0, 0) => format!("{call} another count"),
                (0, got) => format!("{call} {} where the program got none", answer(*got)),
                (want, 0) => format!("{call} no error where the program got {}", answer(*want)),
                (want, got) => format!("{call} {} where the program got {}", answer(*got), answer(*want)),
            }
        };
        let example = |path: &Option<u32>| {
            let path = path.and_then(|path| paths.get(path as usize));
            path.map_or(String::new(), |path| format!(" (such as {})", model::text::escaped(path)))
        };
        let one =
            |(kind, (count, path)): &(&Kind, &(u64, Option<u32>))| format!("{count} {}{}", name(kind), example(path));
        let mut told: Vec<String> = kinds.iter().take(NAMED).map(one).collect();
        if kinds.len() > NAMED {
            told.push("and others".to_owned());
        }
        format!("{} of {of} calls answered otherwise: {}", self.count(), told.join(", "))
    }
}

/// `ENOSPC`.
fn error_name(error: i64) -> String {
    let errno = i32::try_from(-error).unwrap_or(0);
    trace::error_name(errno).map_or_else(|| format!("errno {errno}"), str::to_owned)
}

/// Whether the answer is another one, as far as it is the filesystem's: descriptors, times, and where a directory is cut are
/// not.
#[inline]
pub(crate) fn differs(step: &Step, got: i64) -> bool {
    let want = step.result;
    match step.call {
        code::READ | code::PREAD64 | code::WRITE | code::PWRITE64 | code::COPY_FILE_RANGE | code::SENDFILE => {
            want != got
        }
        // Names of attributes are not in a trace: only whether the filesystem has any can be the same.
        code::GETXATTR | code::FGETXATTR | code::LISTXATTR | code::FLISTXATTR => is_of_attributes(want, got),
        code::SETXATTR | code::FSETXATTR | code::REMOVEXATTR => is_of_attributes(want, got),
        // Whoever waited for a lock waits not here.
        code::FLOCK => got != -i64::from(libc::EAGAIN) && (want < 0 || got < 0) && want != got,
        _ => (want < 0 || got < 0) && want != got,
    }
}

fn is_of_attributes(want: i64, got: i64) -> bool {
    let is_of =
        |answer: i64| [libc::EOPNOTSUPP, libc::ENOSPC, libc::ENOENT].iter().any(|errno| answer == -i64::from(*errno));
    (is_of(want) || is_of(got)) && want != got
}

/// Whether a call that moves data or takes place failed where the program's did not.
fn is_work_undone((call, want, got): &Kind) -> bool {
    works(*call) && *want >= 0 && *got < 0
}

/// Whether a call moves data or takes place.
pub(super) fn works(call: u8) -> bool {
    [code::FICLONE, code::FALLOCATE].contains(&call) || trace::replay::moves_bytes(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(call: u8, result: i64) -> Step {
        Step { call, result, ..Step::default() }
    }

    #[test]
    fn answers_of_the_filesystem_are_compared_and_numbers_of_descriptors_are_not() {
        for (call, want, got, is) in [
            (code::OPENAT, 3, 9, false),
            (code::OPENAT, 3, -2, true),
            (code::OPENAT, -2, 3, true),
            (code::OPENAT, -2, -2, false),
            (code::OPENAT, -2, -20, true),
            (code::READ, 10, 9, true),
            (code::READ, 10, 10, false),
            (code::GETDENTS64, 1000, 500, false),
            (code::GETXATTR, 20, -61, false),
            (code::GETXATTR, -61, -95, true),
            (code::REMOVEXATTR, 0, -61, false),
            (code::FLOCK, 0, -11, false),
            (code::FLOCK, 0, -95, true),
        ] {
            assert_eq!(differs(&step(call, want), got), is, "{call} {want} {got}");
        }
    }

    #[test]
    fn differences_are_told_with_the_most_frequent_first() {
        let mut all = Differences::default();
        all.note(&step(code::FICLONE, 0), -95);
        (0..2).for_each(|_| all.note(&step(code::READ, 4), 3));
        let mut more = Differences::default();
        more.note(&step(code::OPENAT, -2), 5);
        all.add(more);
        assert_eq!(all.count(), 4);
        assert_eq!(
            all.told(100, &[b"a\n".to_vec()]),
            "4 of 100 calls answered otherwise: 2 read another count, 1 openat no error where the program got ENOENT (such \
             as a\\n), 1 ficlone EOPNOTSUPP where the program got none"
        );
    }
}
