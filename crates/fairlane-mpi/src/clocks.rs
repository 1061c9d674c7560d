//! How far the clocks of another rank go ahead of this one's: it is asked often, and the shortest way there and back tells the
//! most (as NTP does it).

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// How often a rank is asked.
const TIMES: u32 = 32;
/// Whatever was answered by then is enough.
const ENOUGH: Duration = Duration::from_millis(250);
/// Who has not answered at all by then is given up.
const MOST: Duration = Duration::from_secs(2);

/// Two clocks of one machine, read one right behind the other, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    monotonic: i64,
    wall: i64,
}

impl Reading {
    /// CLOCK_MONOTONIC is read first: what is done next lies behind both.
    pub fn before() -> Reading {
        let monotonic = now(ClockId::Monotonic);
        Reading { monotonic, wall: now(ClockId::Realtime) }
    }

    /// CLOCK_MONOTONIC is read last: what was done lies before both.
    pub fn behind() -> Reading {
        let wall = now(ClockId::Realtime);
        Reading { monotonic: now(ClockId::Monotonic), wall }
    }

    /// What answers a question, whose own bytes begin the answer.
    pub fn answer(self, question: &[u8]) -> Vec<u8> {
        [question, &self.monotonic.to_le_bytes(), &self.wall.to_le_bytes()].concat()
    }
}

fn now(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// How far another rank's clocks go ahead, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    monotonic: i64,
    wall: i64,
    /// Half the way there and back: it read its clocks somewhere on it.
    uncertainty: i64,
}

impl Ahead {
    /// The words that `fairlane` is told.
    pub fn words(self) -> String {
        format!("{} {} {}", self.monotonic, self.wall, self.uncertainty)
    }
}

/// A rank that is being asked.
pub struct Asking {
    number: u64,
    sent: Reading,
    left: u32,
    begun: Instant,
    best: Option<Ahead>,
}

impl Asking {
    /// The first question has this number; the next ones count up from it.
    pub fn new(number: u64) -> Asking {
        Asking { number, sent: Reading::before(), left: TIMES, begun: Instant::now(), best: None }
    }

    /// The bytes of the question that is to be sent now.
    pub fn question(&mut self) -> [u8; 8] {
        self.sent = Reading::before();
        self.number.to_le_bytes()
    }

    /// Takes an answer, which was there when `heard` was read; answers whether another question is due. What answers none of
    /// these questions is none.
    pub fn hear(&mut self, answer: &[u8], heard: Reading) -> bool {
        let field = |at: usize| answer.get(at..at + 8)?.try_into().ok().map(i64::from_le_bytes);
        let (Some(number), Some(monotonic), Some(wall)) = (field(0), field(8), field(16)) else { return false };
        if number.cast_unsigned() != self.number || self.left == 0 {
            return false;
        }
        let ahead = between(self.sent, Reading { monotonic, wall }, heard);
        if self.best.is_none_or(|best| ahead.uncertainty < best.uncertainty) {
            self.best = Some(ahead);
        }
        self.number += 1;
        self.left -= 1;
        self.left > 0 && self.begun.elapsed() < ENOUGH
    }

    /// The next question's number: none of these had it.
    pub fn next_number(&self) -> u64 {
        self.number + 1
    }

    /// What is known, once nothing more is asked; `None`: there is more to come.
    pub fn found(&self) -> Option<Option<Ahead>> {
        let elapsed = self.begun.elapsed();
        let is_enough = self.left == 0 || elapsed >= if self.best.is_some() { ENOUGH } else { MOST };
        is_enough.then_some(self.best)
    }
}

/// The other clocks were read between two readings of the own ones.
fn between(sent: Reading, theirs: Reading, heard: Reading) -> Ahead {
    let way = heard.monotonic.saturating_sub(sent.monotonic).max(0);
    let ahead =
        |theirs: i64, sent: i64, heard: i64| theirs.saturating_sub(sent.saturating_add(heard.saturating_sub(sent) / 2));
    Ahead {
        monotonic: ahead(theirs.monotonic, sent.monotonic, heard.monotonic),
        wall: ahead(theirs.wall, sent.wall, heard.wall),
        // Halves are rounded up: the moment lies within.
        uncertainty: way / 2 + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(monotonic: i64, wall: i64) -> Reading {
        Reading { monotonic, wall }
    }

    #[test]
    fn clocks_are_ahead_by_what_they_told_less_the_middle_of_the_way() {
        let ahead = between(reading(1000, 50_000), reading(9_050, 40_060), reading(1100, 50_100));
        assert_eq!(ahead, Ahead { monotonic: 8_000, wall: -9_990, uncertainty: 51 });
        assert_eq!(ahead.words(), "8000 -9990 51");
        // Whenever on its way it was read, the truth lies within.
        for at in [1000, 1100] {
            let ahead = between(reading(1000, 0), reading(at + 7_000, 0), reading(1100, 0));
            assert!((ahead.monotonic - 7_000).abs() <= ahead.uncertainty, "{ahead:?}");
        }
    }

    #[test]
    fn the_shortest_way_counts_and_what_answers_something_else_does_not() {
        let mut asking = Asking::new(5);
        // However long this takes, its time is not up.
        asking.begun += Duration::from_secs(3600);
        let ask = |asking: &mut Asking, way: i64| {
            let question = asking.question();
            asking.sent = reading(0, 0);
            asking.hear(&reading(100 + way / 2, 0).answer(&question), reading(way, way))
        };
        assert!(asking.found().is_none() && ask(&mut asking, 90) && ask(&mut asking, 20) && ask(&mut asking, 50));
        let late = 5_u64.to_le_bytes();
        assert!(!asking.hear(&reading(1, 0).answer(&late), reading(2, 2)), "it was answered before");
        assert!(!asking.hear(b"short", reading(2, 2)));
        for left in (0..TIMES - 3).rev() {
            assert_eq!(ask(&mut asking, 60), left > 0);
        }
        assert_eq!(asking.found(), Some(Some(Ahead { monotonic: 100, wall: -10, uncertainty: 11 })));
        assert_eq!(asking.next_number(), 5 + u64::from(TIMES) + 1);
    }
}
