//! Small traces that ask for much memory: they are read within a bound, or refused.

use super::*;
use crate::MOST_PATH_BYTES;

/// No path of a replay is deeper.
const MOST_PARTS: usize = 128;

fn assert_no_path_is_too_long(of: &Replay) {
    for thing in &of.tree {
        let path = &of.paths[thing.path as usize];
        let parts = path.split(|&byte| byte == b'/').count();
        assert!(path.len() <= MOST_PATH_BYTES && parts <= MOST_PARTS, "{} bytes, {parts} parts", path.len());
    }
}

#[test]
fn folders_that_come_out_of_each_other_again_and_again_make_no_tree_that_is_deeper_than_any() {
    let mut made = Made::new(1);
    for step in 0..300 {
        let (deep, next) = (format!("/t{step}/{}", "x/".repeat(60) + "x"), format!("/t{}", step + 1));
        made.call(0, code::RENAMEAT2, &[&deep, &next], [0; 2], [0; 4], 0);
        made.before(&format!("{next}/f"), FILE, 1);
    }
    let of = made.read_within(64 << 20).unwrap();
    assert!((100..=MOST_PARTS).contains(&of.tree.len()), "{} entries", of.tree.len());
    assert_no_path_is_too_long(&of);
}

#[test]
fn files_that_sink_with_their_folders_again_and_again_have_no_path_that_is_longer_than_any() {
    let mut made = Made::new(1);
    (0..50).for_each(|file| made.before(&format!("/t0/{file}"), FILE, 1));
    for step in 0..300 {
        let (from, to) = (format!("/t{step}"), format!("/t{}/{}", step + 1, "y".repeat(200)));
        made.call(0, code::RENAMEAT2, &[&from, &to], [0; 2], [0; 4], 0);
    }
    let of = made.read_within(4 << 20).unwrap();
    assert_eq!(of.facts.operations, 300);
    assert_no_path_is_too_long(&of);
}

#[test]
fn threads_that_follow_what_a_thousand_others_did_are_counted_to_the_memory() {
    const MANY: u32 = 1000;
    let of = |children: u32| {
        let mut made = Made::new(1);
        let thread = |number: u32| Item::Thread { process: 10 + number, thread: 10 + number, parent: 0 };
        made.before("/x", FILE, 1);
        made.items.extend((1..MANY).map(thread));
        let look = |made: &mut Made, thread| made.call(thread, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
        (0..MANY).for_each(|thread| look(&mut made, thread));
        // The first one saw all of the others end, and begins many before its next call.
        let at = made.time;
        made.items.extend((1..MANY).map(|number| Item::Waited { thread: 0, process: 10 + number, at }));
        made.items.extend((MANY..MANY + children).map(thread));
        (0..MANY).for_each(|thread| look(&mut made, thread));
        made.read_within(8 << 20)
    };
    let few = of(10).unwrap();
    assert_eq!((few.facts.operations, few.facts.threads), (2 * u64::from(MANY), MANY));
    let said = of(5000).unwrap_err().to_string();
    assert!(said.contains("what its threads wait for"), "{said}");
}

#[test]
fn a_long_chain_of_threads_follows_the_last_of_each_alone() {
    const MANY: u32 = 20_000;
    let mut made = Made::new(1);
    made.before("/x", FILE, 1);
    let thread = |number: u32| Item::Thread { process: 10 + number, thread: 10 + number, parent: number - 1 };
    made.items.extend((1..MANY).map(thread));
    (0..MANY).for_each(|thread| made.call(thread, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0));
    let of = made.read_within(16 << 20).unwrap();
    assert_eq!((of.facts.operations, of.facts.threads, of.waits.len()), (u64::from(MANY), 1, 0));
}

#[test]
fn many_files_that_get_a_long_path_at_once_are_refused_though_nothing_comes_behind_that() {
    let moved_to = |name: &str| {
        let mut made = Made::new(1);
        (0..2000).for_each(|file| made.before(&format!("/t/{file}"), FILE, 1));
        made.call(0, code::RENAMEAT2, &["/t", name], [0; 2], [0; 4], 0);
        made.read_within(6 << 20)
    };
    assert_eq!(moved_to("/u").unwrap().facts.operations, 1);
    let said = moved_to(&format!("/{}", "y".repeat(4000))).unwrap_err().to_string();
    assert!(said.contains("take more memory"), "{said}");
}
