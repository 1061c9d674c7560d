//! Where the C library asks the kernel: places whose instruction can be replaced by a jump.
//!
//! A jump takes five bytes and `syscall` two, so the instruction behind it goes with it: a comparison, or a copy of what came back.

use std::ops::Range;

/// `syscall`.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// `mov %rax, %rdx`: glibc 2.44 has it where it asks for a call in which a thread can be cancelled, and there is one thread.
const KEPT: &[u8] = &[0x48, 0x89, 0xc2];
/// The instruction behind it, and what has to follow that: a comparison of what came back with the last error's number, as compilers
/// write it, is one of the two.
const BEHIND: [(&[u8], &[u8]); 5] = [
    (&[0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff], &[]),
    (&[0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff], &[]),
    (&[0x3d, 0x00, 0xf0, 0xff, 0xff], &[]),
    (KEPT, &[0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff]),
    (KEPT, &[0x48, 0x81, 0xfa, 0x00, 0xf0, 0xff, 0xff]),
];
/// The number of the call is loaded at most so many bytes before.
const LOADED_WITHIN: usize = 24;
/// A C library has some hundreds of such places; a text with more than so many is none, whatever it is called.
const MOST_SITES: usize = 4096;
/// A jump that is told in one byte leads no further than so.
const AROUND: usize = 130;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site {
    /// Of `syscall`, from the begin of the text.
    pub(super) offset: u64,
    /// The instruction behind it, which is moved with it.
    pub(super) moved: &'static [u8],
}

impl Site {
    /// Bytes that are replaced.
    pub(super) fn bytes(&self) -> usize {
        SYSCALL.len() + self.moved.len()
    }

    /// What stands there before.
    pub(super) fn before(&self) -> Vec<u8> {
        [&SYSCALL, self.moved].concat()
    }
}

/// Those of a text that ask for a call of interest and into which nothing jumps.
pub(super) fn find(text: &[u8], is_wanted: impl Fn(u32) -> bool) -> Vec<Site> {
    let sites: Vec<Site> = memchr::memmem::find_iter(text, &SYSCALL)
        .filter_map(|at| {
            let behind = &text[at + SYSCALL.len()..];
            let (moved, _) = *BEHIND
                .iter()
                .find(|(moved, then)| behind.strip_prefix(*moved).is_some_and(|behind| behind.starts_with(then)))?;
            number(&text[at.saturating_sub(LOADED_WITHIN)..at])
                .filter(|number| is_wanted(*number))
                .map(|_| Site { offset: at as u64, moved })
        })
        .take(MOST_SITES + 1)
        .collect();
    if sites.is_empty() || sites.len() > MOST_SITES {
        return Vec::new();
    }
    // Jumps lead to the begin of an instruction: that of the moved one is the only one inside.
    let inside: Vec<usize> = sites.iter().map(|site| site.offset as usize + SYSCALL.len()).collect();
    let mut are_reached = vec![false; sites.len()];
    for site in &sites {
        let around = (site.offset as usize).saturating_sub(AROUND)..text.len().min(site.offset as usize + AROUND);
        mark_reached_nearby(text, around, &inside, &mut are_reached);
    }
    mark_reached_from_afar(text, &inside, &mut are_reached);
    sites.into_iter().zip(are_reached).filter(|(_, is_reached)| !is_reached).map(|(site, _)| site).collect()
}

/// The number that is loaded before: `mov $number, %eax`, or `xor %eax, %eax`, or a test that found it to be zero.
fn number(before: &[u8]) -> Option<u32> {
    let end = before.len();
    if before.ends_with(&[0x31, 0xc0]) || (end >= 4 && before[end - 4..end - 1] == [0x85, 0xc0, 0x75]) {
        return Some(0);
    }
    let loads = before.windows(5).rev().find(|bytes| bytes[0] == 0xb8 && bytes[3..] == [0, 0])?;
    Some(u32::from_le_bytes(loads[1..].try_into().expect("four bytes")))
}

/// Marks those of the instructions, by where they begin in ascending order, to which some short jump may lead, by whatever looks like
/// one.
fn mark_reached_nearby(text: &[u8], around: Range<usize>, begins: &[usize], are_reached: &mut [bool]) {
    for at in around {
        if is_short_jump(text, at)
            && let Some(&far) = text.get(at + 1)
        {
            mark(at + 2, i64::from(far as i8), begins, are_reached);
        }
    }
}

/// The same for jumps that are told in four bytes, from anywhere: compilers lay what is seldom done far from the rest of its function,
/// and it may come back.
fn mark_reached_from_afar(text: &[u8], begins: &[usize], are_reached: &mut [bool]) {
    // A bit for each byte: a C library has some hundred thousand such jumps, and hardly one leads to one of those.
    let mut is_begin = vec![0_u64; text.len() / 64 + 1];
    begins.iter().filter(|begin| **begin < text.len()).for_each(|begin| is_begin[begin / 64] |= 1 << (begin % 64));
    for at in memchr::memchr3_iter(0xe8, 0xe9, 0x0f, text) {
        let told = match (text[at], text.get(at + 1)) {
            (0xe8 | 0xe9, _) => at + 1,
            (0x0f, Some(0x80..=0x8f)) => at + 2,
            _ => continue,
        };
        if let Some(far) = text.get(told..told + 4) {
            let far = i64::from(i32::from_le_bytes(far.try_into().expect("four bytes")));
            let target = (told as i64 + 4).wrapping_add(far);
            if is_begin.get(target.div_euclid(64) as usize).is_some_and(|bits| bits >> target.rem_euclid(64) & 1 == 1) {
                mark(told + 4, far, begins, are_reached);
            }
        }
    }
}

/// Whether what stands there looks like a jump that is told in one byte.
fn is_short_jump(text: &[u8], at: usize) -> bool {
    match text[at] {
        0x70..=0x7f | 0xeb => true,
        // No compiler makes those by a counter (`loop`), but `and $1, %ecx` looks like one behind its first byte. That byte may also
        // end an instruction that names a place by two registers.
        0xe0..=0xe3 => at < 2 || text[at - 1] != 0x83 || text[at - 2] & 0xc7 == 0x04,
        _ => false,
    }
}

/// Marks the one to which a jump leads: so far from the instruction behind it.
fn mark(behind: usize, far: i64, begins: &[usize], are_reached: &mut [bool]) {
    let target = usize::try_from((behind as i64).wrapping_add(far)).ok();
    if let Some(which) = target.and_then(|target| begins.binary_search(&target).ok()) {
        are_reached[which] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &[u8] = &[0x0f, 0x05, 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, 0xc3];

    fn offsets(text: &[u8]) -> Vec<u64> {
        find(text, |number| [0, 17].contains(&number)).iter().map(|site| site.offset).collect()
    }

    #[test]
    fn calls_of_interest_with_a_comparison_behind_them_are_found() {
        let load = |number: u8| vec![0xb8, number, 0, 0, 0];
        assert_eq!(offsets(&[&load(17), LONG].concat()), [5]);
        assert_eq!(offsets(&[&load(18), LONG].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&[0x31, 0xc0], LONG].concat()), [2]);
        assert_eq!(offsets(&[&[0x85, 0xc0, 0x75, 0x10], LONG].concat()), [4]);
        // Without its comparison, or cut off.
        assert_eq!(offsets(&[&load(17), &[0x0f, 0x05, 0xc3][..]].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&load(17), &LONG[..5]].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[0x0f]), [] as [u64; 0]);
    }

    #[test]
    fn what_came_back_may_be_copied_before_it_is_compared() {
        let kept = |then: &[u8]| [&[0xb8u8, 17, 0, 0, 0, 0x0f, 0x05, 0x48, 0x89, 0xc2][..], then].concat();
        for compares in [&[0x48, 0x3d, 0, 0xf0, 0xff, 0xff][..], &[0x48, 0x81, 0xfa, 0, 0xf0, 0xff, 0xff]] {
            let [site] = find(&kept(compares), |number| number == 17)[..] else { panic!("{compares:?}") };
            assert_eq!((site.offset, site.bytes(), site.before()), (5, 5, vec![0x0f, 0x05, 0x48, 0x89, 0xc2]));
        }
        assert_eq!(offsets(&kept(&[0xc3])), [] as [u64; 0]);
        assert_eq!(offsets(&kept(&[0x48, 0x3d])), [] as [u64; 0]);
        // To the copy nothing may jump, to the comparison behind it something may.
        let compares = [0x48, 0x3d, 0, 0xf0, 0xff, 0xff];
        assert_eq!(offsets(&[&[0xeb, 7][..], &kept(&compares)].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&[0xeb, 10][..], &kept(&compares)].concat()), [7]);
    }

    #[test]
    fn a_text_that_asks_more_often_than_any_library_is_none() {
        let one = [&[0xb8, 17, 0, 0, 0], LONG].concat();
        assert_eq!(offsets(&one.repeat(100)).len(), 100);
        assert_eq!(offsets(&one.repeat(MOST_SITES)).len(), MOST_SITES);
        assert_eq!(offsets(&one.repeat(MOST_SITES + 1)).len(), 0);
    }

    #[test]
    fn what_something_jumps_into_is_left_alone() {
        let load = [0xb8, 17, 0, 0, 0];
        // To the comparison, behind the call; to the call itself it may.
        assert_eq!(offsets(&[&[0xeb, 7][..], &load, LONG].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&[0xeb, 5][..], &load, LONG].concat()), [7]);
        assert_eq!(offsets(&[&[0xe9, 7, 0, 0, 0][..], &load, LONG].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&[0x90, 0xe1, 7][..], &load, LONG].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&[0x90, 0x83, 0xe1, 7][..], &load, LONG].concat()), [9]);
        // `mov (%rbx,%rax,4), %eax` ends with the byte with which `and` begins.
        assert_eq!(offsets(&[&[0x8b, 0x04, 0x83, 0xe2, 7][..], &load, LONG].concat()), [] as [u64; 0]);
        assert_eq!(offsets(&[&[0x0f, 0x84, 7, 0, 0, 0][..], &load, LONG].concat()), [] as [u64; 0]);
        // From far behind it, to the comparison and to the call.
        let from_afar = |back: i32| {
            let until = [&load[..], LONG, &[0x90; 5000]].concat();
            let far = back - (until.len() as i32 + 5);
            offsets(&[&until[..], &[0xe9], &far.to_le_bytes()].concat())
        };
        assert_eq!((from_afar(7), from_afar(5)), (vec![], vec![5]));
    }

    #[test]
    fn this_machines_c_library_has_them() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let Some(line) = maps.lines().find(|line| line.contains("libc.so.6") && line.contains("r-xp")) else { return };
        let (begin, rest) = line.split_once('-').unwrap();
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let (begin, end) = (hex(begin), hex(rest.split(' ').next().unwrap()));
        // SAFETY: the kernel says that this is mapped for reading.
        let text = unsafe { std::slice::from_raw_parts(begin as *const u8, (end - begin) as usize) };
        let found = |wanted: u32| find(text, |number| number == wanted).len();
        for call in [libc::SYS_read, libc::SYS_pread64, libc::SYS_write, libc::SYS_openat, libc::SYS_close] {
            assert!(found(call as u32) > 0, "{call}");
        }
    }
}
