//! The program's own time between its calls.

use super::*;

#[test]
fn who_saw_the_end_of_a_process_follows_all_that_it_did_and_the_wait_is_no_thinking() {
    let mut made = Made::new(1);
    let look = |made: &mut Made, thread| made.call(thread, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    made.before("/x", FILE, 1);
    look(&mut made, 0);
    made.items.push(Item::Thread { process: 2, thread: 2, parent: 0 });
    made.items.push(Item::Thread { process: 2, thread: 3, parent: 1 });
    [1, 2, 1].into_iter().for_each(|thread| look(&mut made, thread));
    made.items.push(Item::Waited { thread: 0, process: 2, at: made.time });
    // Another one of that number, which it did not wait for, and one that nobody knows.
    made.items.push(Item::Thread { process: 2, thread: 2, parent: 0 });
    look(&mut made, 3);
    made.items.push(Item::Waited { thread: 0, process: 9, at: made.time });
    look(&mut made, 0);
    look(&mut made, 3);
    let of = made.read().unwrap();
    let mut own = waits(&of, 0, 1);
    own.sort_unstable();
    assert_eq!(own, [(1, 2), (2, 1)], "{of:#?}");
    // Each call takes 10 of the 100 ns to the next; the first of a thread thinks since who began it, the last one since the other process's
    // last call, not since its own one before.
    assert_eq!(of.think_times(0), [100, 190]);
    assert_eq!((&of.think_times(1)[..2], of.think_times(2)[0]), (&[90, 190][..], 190));
    assert_eq!(of.think_times(99), Vec::<u64>::new());
}

#[test]
fn the_programs_own_time_goes_from_its_begin_to_its_end_without_what_the_tracer_took() {
    let mut made = Made::new(1);
    made.before("/x", FILE, 1);
    made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    made.items.push(Item::Stood { thread: 0, nanoseconds: 30 });
    made.items.push(Item::Stood { thread: 0, nanoseconds: 20 });
    made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    made.items.push(Item::Stood { thread: 0, nanoseconds: u64::MAX });
    made.items.push(Item::Stood { thread: 0, nanoseconds: u64::MAX });
    made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    assert_eq!(made.read().unwrap().before_and_after, (100, 0), "the trace does not tell when it ended");
    made.items.push(Item::End(crate::End { nanoseconds: 1000, ..crate::End::default() }));
    let of = made.read().unwrap();
    assert_eq!((of.before_and_after, of.think_times(0), of.last_thread()), ((100, 690), vec![100, 40, 0], 0));
}

#[test]
fn what_is_known_of_thinking_is_a_part_of_the_memory_that_a_trace_may_take() {
    const CALLS: u64 = 1000;
    let mut made = Made::new(1);
    made.before("/x", FILE, 1);
    (0..CALLS).for_each(|_| made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0));
    // Room for what is kept of one file beside the calls, and for no word of each call more.
    let room = |of_each: u64| CALLS * of_each + 4096;
    let of = made.read_within(room(survey::STEP_BYTES)).unwrap();
    assert_eq!(of.thinks(), 100 + 90 * (CALLS - 1));
    let said = made.read_within(room(survey::STEP_BYTES - THINKING_BYTES)).unwrap_err().to_string();
    assert!(said.contains("of memory"), "{said}");
}
