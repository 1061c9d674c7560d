//! What a kernel said last: why something of it died.

use super::talk::Line;
use std::time::Duration;

/// Lines of the console in a failure's message.
const LAST_LINES: usize = 4;
/// Telling lines that came so close to the last one are of one event.
const ONE_EVENT: Duration = Duration::from_secs(5);

/// The lines that tell why something died: those of the last event, or the last of all where none tells.
pub(super) fn last_block(console: &[Line]) -> Vec<&str> {
    let tells = |line: &&Line| {
        ["panic", "Out of memory", "oom-kill", "BUG:", "Oops", "VFS:", "fairlane-guest:"]
            .iter()
            .any(|word| line.text.contains(word))
    };
    let mut telling: Vec<&Line> = console.iter().filter(tells).collect();
    match telling.last().map(|line| line.at) {
        Some(last) => telling.retain(|line| last.duration_since(line.at) <= ONE_EVENT),
        None => telling = console.iter().collect(),
    }
    let first = telling.len().saturating_sub(LAST_LINES);
    telling[first..].iter().map(|line| line.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn what_killed_something_is_the_last_event_and_not_the_first() {
        let now = Instant::now();
        let line = |number: u64, seconds: u64, text: &str| Line {
            number,
            at: now + Duration::from_secs(seconds),
            text: text.to_owned(),
        };
        let console = [
            line(1, 0, "Out of memory: Killed process 7 (old)"),
            line(2, 100, "Out of memory: Killed process 9 (new)"),
            line(3, 100, "some trace"),
            line(4, 101, "Kernel panic - not syncing"),
        ];
        assert_eq!(last_block(&console), ["Out of memory: Killed process 9 (new)", "Kernel panic - not syncing"]);
        assert_eq!(last_block(&console[2..3]), ["some trace"]);
        assert!(last_block(&[]).is_empty());
        let many: Vec<Line> = (0..9).map(|number| line(number, 0, &format!("BUG: {number}"))).collect();
        assert_eq!(last_block(&many), ["BUG: 5", "BUG: 6", "BUG: 7", "BUG: 8"]);
    }
}
