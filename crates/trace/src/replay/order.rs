//! Who waits for whom: whoever uses a thing waits for who changed it last, and whoever changes it for all who used it since.
//!
//! The rule is that of ARTC (Weiss et al., SOSP 2013): calls are ordered by the resources that they share, and by nothing else.
//! Between calls whose times overlap in the trace there was no order, and where a filesystem does not need one there is none.

use super::{Step, Wait};
use std::collections::HashMap;

/// What steps wait for, at most, in all.
const MOST_WAITS: usize = 64_000_000;
/// Bytes of a step that waits for what is known only later, beside those waits.
const LATER_BYTES: u64 = 96;

/// A step of a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    thread: u32,
    /// From 1.
    step: u32,
    /// When it ended.
    end: u64,
}

/// What calls share.
#[derive(Debug, Default, Clone)]
pub(super) struct Resource {
    /// The last change, and those that were under way with it; one of each thread.
    changed: Vec<Place>,
    /// The change before it.
    before: Vec<Place>,
    /// Since; one of each thread.
    used: Vec<Place>,
    /// Uses that found what is made only by a call that ended later.
    early: Vec<Place>,
}

/// Whether calls that overlapped in the trace are ordered too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    /// One cannot do without the other.
    Ordered,
    /// They did not wait for each other.
    Free,
}

/// The order of all steps so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) threads: Vec<Vec<Step>>,
    pub(super) waits: Vec<Wait>,
    /// Waits that are known only later: by thread and step (from 1), for what.
    later: HashMap<(u32, u32), Vec<Wait>>,
    /// Of all of these.
    later_waits: u64,
    /// Places that are kept.
    places: u64,
    /// By thread: how far each other one is known to be.
    known: Vec<HashMap<u32, u32>>,
    me: Option<Place>,
    start: u64,
    found: Vec<Place>,
}

/// Notes a place; answers whether it is one more.
fn note(list: &mut Vec<Place>, me: Place) -> bool {
    match list.iter_mut().find(|of| of.thread == me.thread) {
        Some(of) => {
            *of = me;
            false
        }
        None => {
            list.push(me);
            true
        }
    }
}

impl Resource {
    fn places(&self) -> u64 {
        (self.changed.len() + self.before.len() + self.used.len() + self.early.len()) as u64
    }
}

impl Order {
    pub(super) fn new(threads: u32) -> Order {
        let count = threads as usize;
        Order { threads: vec![Vec::new(); count], known: vec![HashMap::new(); count], ..Order::default() }
    }

    /// Whether there are more waits than a replay keeps.
    pub(super) fn has_too_many_waits(&self) -> bool {
        self.waits.len() > MOST_WAITS || self.later_waits > MOST_WAITS as u64 / 16
    }

    /// Bytes that places and waits take.
    pub(super) fn bytes(&self) -> u64 {
        // Waits of a step that waits for something more are copied behind all others.
        let copied = if self.later.is_empty() { 1 } else { 2 };
        self.places * size_of::<Place>() as u64
            + (self.waits.len() as u64 * copied + self.later_waits * 2) * size_of::<Wait>() as u64
            + self.later.len() as u64 * LATER_BYTES
    }

    /// Nobody uses it any more.
    pub(super) fn forget(&mut self, resource: &Resource) {
        self.places = self.places.saturating_sub(resource.places());
    }

    /// How many steps a thread has.
    pub(super) fn steps(&self, thread: u32) -> u32 {
        self.threads.get(thread as usize).map_or(0, |steps| steps.len() as u32)
    }

    /// The next step of a thread.
    pub(super) fn begin(&mut self, thread: u32, start: u64, end: u64) {
        (self.me, self.start) = (Some(Place { thread, step: self.steps(thread) + 1, end }), start);
        self.found.clear();
    }

    pub(super) fn uses(&mut self, resource: &mut Resource, overlap: Overlap) {
        let Some(me) = self.me else { return };
        self.wait_for_changes(resource, overlap);
        self.places += u64::from(note(&mut resource.used, me));
    }

    /// Its answer is that of before the last change, with which it overlapped: it comes before that. `false`: it did not overlap.
    pub(super) fn uses_before_the_last_change(&mut self, resource: &mut Resource) -> bool {
        let Some(me) = self.me else { return false };
        let last: Vec<Place> =
            resource.changed.iter().filter(|of| of.end > self.start && of.thread != me.thread).copied().collect();
        if last.is_empty() {
            return false;
        }
        resource.before.iter().for_each(|of| self.waits_for(*of, Overlap::Ordered));
        last.into_iter().for_each(|of| self.waits_later(of, me));
        self.places += u64::from(note(&mut resource.used, me));
        true
    }

    /// A step that stands already waits for another one.
    fn waits_later(&mut self, of: Place, place: Place) {
        let wait = Wait { thread: place.thread, steps: place.step };
        self.later.entry((of.thread, of.step)).or_default().push(wait);
        self.later_waits += 1;
    }

    /// It found what nobody has made so far: whoever makes it was under way, and is waited for.
    pub(super) fn uses_early(&mut self, resource: &mut Resource) {
        let Some(me) = self.me else { return };
        // The first of each thread is enough: those behind it come later by themselves.
        if !resource.early.iter().any(|of| of.thread == me.thread) {
            resource.early.push(me);
            self.places += 1;
        }
    }

    fn wait_for_changes(&mut self, resource: &Resource, overlap: Overlap) {
        resource.changed.iter().for_each(|of| self.waits_for(*of, overlap));
    }

    fn wait_for_all(&mut self, resource: &Resource, overlap: Overlap) {
        self.wait_for_changes(resource, overlap);
        resource.used.iter().for_each(|of| self.waits_for(*of, overlap));
    }

    /// As one who changes it, but whoever comes later does not wait for it.
    pub(super) fn waits_for_users(&mut self, resource: &Resource) {
        self.wait_for_all(resource, Overlap::Free);
    }

    pub(super) fn changes(&mut self, resource: &mut Resource, overlap: Overlap) {
        let Some(me) = self.me else { return };
        self.wait_for_all(resource, overlap);
        let places = resource.places();
        for early in std::mem::take(&mut resource.early) {
            if early.thread != me.thread && early.end > self.start {
                self.waits_later(early, me);
            }
        }
        // Whoever was under way with it was not waited for, and whoever comes later waits for both.
        let is_free = |of: &Place| overlap == Overlap::Free && of.end > self.start && of.thread != me.thread;
        resource.used.retain(is_free);
        let under_way: Vec<Place> = resource.changed.iter().filter(|of| is_free(of)).copied().collect();
        resource.before = std::mem::replace(&mut resource.changed, under_way);
        resource.changed.push(me);
        self.places = (self.places + resource.places()).saturating_sub(places);
    }

    /// For so many steps of a thread.
    pub(super) fn follows(&mut self, thread: u32, steps: u32) {
        if steps > 0 {
            self.waits_for(Place { thread, step: steps, end: 0 }, Overlap::Ordered);
        }
    }

    fn waits_for(&mut self, place: Place, overlap: Overlap) {
        let Some(me) = self.me else { return };
        let is_free = overlap == Overlap::Free && place.end > self.start;
        if place.thread != me.thread && !is_free {
            self.found.push(place);
        }
    }

    /// The step, with all that it waits for and does not know to be done.
    pub(super) fn end(&mut self, step: Step) {
        let Some(me) = self.me.take() else { return };
        let begin = self.waits.len() as u32;
        let known = &mut self.known[me.thread as usize];
        // The last of each thread stands for those before it.
        self.found.sort_unstable_by_key(|of| (of.thread, std::cmp::Reverse(of.step)));
        self.found.dedup_by_key(|of| of.thread);
        for place in &self.found {
            let done = known.entry(place.thread).or_default();
            if *done < place.step {
                *done = place.step;
                self.waits.push(Wait { thread: place.thread, steps: place.step });
                self.threads[place.thread as usize][place.step as usize - 1].is_awaited = true;
            }
        }
        let count = (self.waits.len() as u32 - begin) as u16;
        self.threads[me.thread as usize].push(Step { waits: (begin, count), ..step });
    }

    /// All steps with what they wait for, what was known only later too, but for what would have somebody wait for ever.
    pub(super) fn finish(mut self) -> (Vec<Vec<Step>>, Vec<Wait>) {
        if !self.later.is_empty() {
            self.drop_what_never_ends();
        }
        for ((thread, number), more) in std::mem::take(&mut self.later) {
            let step = &mut self.threads[thread as usize][number as usize - 1];
            let (first, count) = step.waits;
            let begin = self.waits.len();
            // Its waits lie together.
            let room = usize::from(u16::MAX - count);
            self.waits.extend_from_within(first as usize..first as usize + usize::from(count));
            self.waits.extend(more.iter().take(room));
            step.waits = (begin as u32, (self.waits.len() - begin) as u16);
            for wait in more {
                self.threads[wait.thread as usize][wait.steps as usize - 1].is_awaited = true;
            }
        }
        (self.threads, self.waits)
    }

    /// Does all steps without doing anything. Where nobody can go on, those that stand still wait only for what was known before:
    /// these waits lead to earlier steps alone.
    fn drop_what_never_ends(&mut self) {
        let count = self.threads.len();
        let mut done = vec![0u32; count];
        let mut ready: Vec<u32> = (0..count as u32).collect();
        // By thread: who waits for it, and for how many steps.
        let mut asleep: Vec<Vec<(u32, u32)>> = vec![Vec::new(); count];
        loop {
            while let Some(thread) = ready.pop() {
                let at = thread as usize;
                while let Some(step) = self.threads[at].get(done[at] as usize) {
                    let (first, waits) = step.waits;
                    let own = self.waits[first as usize..first as usize + usize::from(waits)].iter();
                    let more = self.later.get(&(thread, done[at] + 1));
                    let blocked =
                        own.chain(more.into_iter().flatten()).find(|wait| done[wait.thread as usize] < wait.steps);
                    if let Some(wait) = blocked {
                        asleep[wait.thread as usize].push((wait.steps, thread));
                        break;
                    }
                    done[at] += 1;
                    let now = done[at];
                    asleep[at].retain(|&(steps, other)| {
                        if steps <= now {
                            ready.push(other);
                        }
                        steps > now
                    });
                }
            }
            let blocked: Vec<u32> = asleep.iter_mut().flat_map(std::mem::take).map(|(_, thread)| thread).collect();
            if blocked.is_empty() {
                return;
            }
            for thread in &blocked {
                self.later.remove(&(*thread, done[*thread as usize] + 1));
            }
            ready = blocked;
        }
    }
}
