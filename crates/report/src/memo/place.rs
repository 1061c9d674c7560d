//! Where and when it was measured, with which options, and the command that repeats it.

use super::decision::raced;
use super::page::COLUMNS;
use crate::clean::{clean, columns, shell_line, shell_word, shorten};
use crate::figures;
use crate::language::{Tongue, fill};
use crate::layout::{Phrase, Tone};
use crate::lines::typed;
use crate::{Input, facts, words};
use model::Throttle;
use model::findings::Findings;
use model::kinds::foreign;
use model::lane::Lane;
use model::machine::Machine;

/// Columns of a machine's part that somebody named.
const PART_COLUMNS: usize = 50;
/// Columns of a lane's mkfs and mount commands each.
const COMMAND_COLUMNS: usize = 110;
/// Columns of a command that stands within a sentence.
const INLINE_COLUMNS: usize = 160;
/// Lanes whose limits are listed.
const LANES_LISTED: usize = 6;
/// Lines that a command may take.
const COMMAND_LINES: usize = 4;

/// The first points, so many, are never left out: when and where; and who raced, where kernels or drivers of their own
/// make that more than the names say.
pub(super) fn kept(findings: &Findings) -> usize {
    let own = |lane: &Lane| !lane.kernel.is_empty() || told(lane, "driver").is_some();
    if raced(findings).any(own) { 2 } else { 1 }
}

/// What a lane's geometry tells under a label.
fn told<'a>(lane: &'a Lane, label: &str) -> Option<&'a str> {
    lane.geometry.iter().find_map(|fact| fact.strip_prefix(label)?.strip_prefix(": "))
}

/// The guest of a lane.
fn guest_of(lane: &Lane, tongue: &Tongue) -> Option<Phrase> {
    let text = |text: &str| Phrase::new(shorten(text, COMMAND_COLUMNS));
    match told(lane, "guest") {
        Some(guest) => Some(fill(tongue.words.in_guest, &[("guest", text(guest))])),
        None if lane.kernel.is_empty() => None,
        None => Some(fill(tongue.words.kernel, &[("kernel", text(&lane.kernel))])),
    }
}

/// Machine, date and lanes.
pub(super) fn place(input: &Input, tongue: &Tongue) -> Vec<Phrase> {
    let findings = input.findings;
    let said = tongue.words;
    // Of a screening the default stands for all: the others differ from it by its options.
    let most = if findings.screening.is_some() { 1 } else { usize::MAX };
    // A guest that all share is told once.
    let guests: Vec<_> = raced(findings).map(|lane| (told(lane, "guest"), &lane.kernel)).collect();
    let one = guests.len() > 1 && guests.windows(2).all(|two| two[0] == two[1]);
    let shared = raced(findings).next().filter(|_| one).and_then(|first| guest_of(first, tongue));
    let is_shared = shared.is_some();
    let lanes = raced(findings).take(most);
    let lanes = lanes.map(|of| lane(of, guest_of(of, tongue).filter(|_| !is_shared), tongue));
    let lanes = Phrase::default().join(shared.into_iter().chain(lanes), said.semicolon);
    let lanes = fill(said.labelled, &[("name", Phrase::new(said.lanes)), ("value", lanes)]);
    let mut points = vec![measured(findings, tongue), lanes];
    let limits = |throttle: &Throttle| Phrase::new(shorten(&throttle.to_string(), PART_COLUMNS));
    match &findings.throttle {
        Some(throttle) if findings.lane_throttles.is_empty() => {
            points.push(fill(said.held_to, &[("limits", limits(throttle))]));
        }
        base if !findings.lane_throttles.is_empty() => {
            let each = raced(findings).map(|lane| {
                let own = findings.lane_throttles.get(&lane.name).or(base.as_ref());
                let limits = own.map_or_else(|| Phrase::new(said.no_limits), limits);
                fill(said.labelled, &[("name", Phrase::default().name(&lane.name)), ("value", limits)])
            });
            points.push(fill(said.held_apart, &[("each", tongue.few(each.collect(), LANES_LISTED))]));
        }
        _ => {}
    }
    let warnings = facts::warnings(input).len();
    let template = if warnings > 0 { said.full_report_warns } else { said.full_report };
    let count = Phrase::new(tongue.figure(&figures::whole(warnings as u64)));
    points.push(fill(template, &[("command", full_report(input)), ("count", count)]));
    points
}

/// When and where it was measured, and from what it was imported.
fn measured(findings: &Findings, tongue: &Tongue) -> Phrase {
    let said = tongue.words;
    let machine = machine(&findings.machine, tongue);
    let count = Phrase::new(tongue.figure(&figures::whole(findings.trials.ok.into())));
    let when = date(&findings.started, tongue);
    if !findings.imported.is_empty() {
        let formats = findings.imported.iter().map(|format| Phrase::new(shorten(format, PART_COLUMNS))).collect();
        let or = |phrase: Phrase, unknown: &'static str| if phrase.is_empty() { Phrase::new(unknown) } else { phrase };
        let values = [
            ("formats", tongue.few(formats, LANES_LISTED)),
            ("date", or(when, said.no_date)),
            ("count", count),
            ("machine", or(machine, said.no_machine)),
        ];
        return fill(said.imported, &values);
    }
    // Its kernel and memory are those of no lane.
    let guests = raced(findings).any(|lane| !lane.kernel.is_empty());
    let values = [
        ("date", when),
        ("suite", Phrase::new(shorten(&findings.suite, PART_COLUMNS))),
        ("count", count),
        ("machine", if guests { fill(said.host, &[("machine", machine)]) } else { machine }),
    ];
    fill(said.measured, &values)
}

/// The command that shows all figures.
pub(super) fn full_report(input: &Input) -> Phrase {
    let named = input.record_path.map(|path| format!("fairlane report {}", typed(path)));
    inline(named.as_deref()).unwrap_or_else(|| Phrase::default().tone(Tone::Name, "fairlane report"))
}

/// A command within a sentence; `None`: it is too long for that.
pub(super) fn inline(command: Option<&str>) -> Option<Phrase> {
    let fits = command.filter(|command| columns(command) <= INLINE_COLUMNS && !command.contains('`'));
    fits.map(|command| Phrase::default().tone(Tone::Name, command))
}

fn machine(machine: &Machine, tongue: &Tongue) -> Phrase {
    let said = tongue.words;
    let part = |text: &str| Phrase::new(shorten(text.trim(), PART_COLUMNS));
    let size = |bytes: u64| Phrase::new(tongue.figure(&figures::bytes(bytes)));
    let device = &machine.device;
    let mut disk = part(if device.model.trim().is_empty() { &device.name } else { &device.model });
    if device.size_bytes > 0 {
        disk = tongue.with(disk, Phrase::new(tongue.figure(&figures::disk_bytes(device.size_bytes))));
    }
    // What another tool did not tell is left out.
    let known = |is: bool, phrase: Phrase| if is { phrase } else { Phrase::default() };
    let parts = [
        part(&machine.cpu),
        known(machine.cpus > 0, fill(said.cpus, &[("count", Phrase::new(machine.cpus.to_string()))])),
        known(machine.memory_bytes > 0, fill(said.memory, &[("size", size(machine.memory_bytes))])),
        if machine.virtualization.is_empty() { Phrase::default() } else { Phrase::new(said.virtual_machine) },
        part(&machine.os),
        known(!machine.kernel.trim().is_empty(), fill(said.kernel, &[("kernel", part(&machine.kernel))])),
        known(!disk.is_empty(), fill(said.disk, &[("disk", disk)])),
        match device.host_filesystem.as_str() {
            "" => Phrase::default(),
            host => fill(said.images_on, &[("filesystem", part(host))]),
        },
    ];
    tongue.joined(parts.into_iter().filter(|part| !part.is_empty()))
}

/// A lane with its exact options.
fn lane(lane: &Lane, guest: Option<Phrase>, tongue: &Tongue) -> Phrase {
    let said = tongue.words;
    let facts = words::facts::lane(lane);
    let code = |text: &str| Phrase::default().tone(Tone::Name, shorten(text, COMMAND_COLUMNS));
    let made = match facts.mkfs {
        Some(mkfs) => code(&mkfs),
        None => Phrase::new(match lane.venue.as_str() {
            "library" => said.by_library,
            "memory" => said.in_memory,
            foreign::VENUE => said.by_another_tool,
            _ => said.as_found,
        }),
    };
    let mounted = facts.mount_options.map(|options| code(&format!("mount -o {options}")));
    let size = (lane.size_bytes > 0).then(|| Phrase::new(tongue.figure(&figures::bytes(lane.size_bytes))));
    let driver = told(lane, "driver")
        .map(|driver| fill(said.driver, &[("driver", Phrase::new(shorten(driver, COMMAND_COLUMNS)))]));
    let parts = tongue.joined([guest, driver, Some(made), mounted, size].into_iter().flatten());
    fill(said.labelled, &[("name", Phrase::default().name(&lane.name)), ("value", parts)])
}

/// A date as the language writes it; what is none is shown as it is.
fn date(started: &str, tongue: &Tongue) -> Phrase {
    let parts = || {
        let (day, time) = started.split_once('T')?;
        let mut numbers = day.splitn(3, '-').map(|part| part.parse::<usize>().ok().filter(|_| part.len() <= 4));
        let (year, month, day) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let month = tongue.words.months.split(' ').nth(month.checked_sub(1)?)?;
        let time = time.get(..5).filter(|time| time.bytes().all(|b| b.is_ascii_digit() || b == b':'))?;
        Some((year, month, day, time))
    };
    match parts() {
        Some((year, month, day, time)) => {
            // Where months are numbers of two digits, days are too.
            let padded = tongue.words.months.starts_with('0');
            let day = if padded { format!("{day:02}") } else { day.to_string() };
            let text = |text: String| Phrase::new(text);
            let values = [
                ("year", text(year.to_string())),
                ("month", Phrase::new(month)),
                ("day", text(day)),
                ("time", Phrase::new(time)),
            ];
            let known = started.ends_with('Z');
            fill(if known { tongue.words.date } else { tongue.words.local_date }, &values)
        }
        None => Phrase::new(shorten(started, PART_COLUMNS)),
    }
}

/// The command that repeats the race, in lines that a shell takes as one; without one that fits, the
/// command that shows it.
pub(super) fn repeat(input: &Input) -> Result<Vec<String>, Phrase> {
    lines_of(&facts::again_words(input.findings)).ok_or_else(|| full_report(input))
}

fn lines_of(words: &[String]) -> Option<Vec<String>> {
    const INDENT: &str = "    ";
    // The block is indented, and all lines but the last end in a blank and a backslash.
    let width = COLUMNS - INDENT.len() - 2;
    let mut lines: Vec<String> = Vec::new();
    for word in words.iter().map(|word| shell_word(word)) {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) => lines.push(format!("{INDENT}{word}")),
            None => lines.push(word),
        }
    }
    let last = lines.len().checked_sub(1)?;
    let fits = lines.len() <= COMMAND_LINES && lines.iter().all(|line| columns(line) <= width);
    lines[..last].iter_mut().for_each(|line| line.push_str(" \\"));
    fits.then_some(lines)
}

/// The command that is worth running next where that is a race.
pub(super) fn next(findings: &Findings) -> Option<String> {
    // What to do about a screening is its proposal.
    let next = &findings.answer.as_ref().filter(|_| findings.screening.is_none())?.next;
    // How a race goes on that did not end stands in the note.
    let resumes = next.iter().any(|word| word == "--resume");
    let races = next.first().is_some_and(|word| word == "race" || word == "fio") && !resumes;
    races.then(|| clean(&format!("fairlane {}", shell_line(next))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::page::Language;

    #[test]
    fn dates_are_written_as_each_language_does() {
        let said = |started: &str, language| date(started, &Tongue::new(language)).plain();
        let july = "2026-07-01T10:05:00Z";
        assert_eq!(said(july, Language::En), "1 July 2026, 10:05 UTC");
        assert_eq!(said(july, Language::De), "01.07.2026, 10:05 Uhr UTC");
        assert_eq!(said(july, Language::Zh), "2026 年 7 月 1 日 10:05（UTC）");
        assert_eq!(said("2026-11-22T00:00:00Z", Language::De), "22.11.2026, 00:00 Uhr UTC");
        assert_eq!(said("2026-12-05T00:00:00Z", Language::Zh), "2026 年 12 月 5 日 00:00（UTC）");
        let local = "2026-02-03T04:05:06";
        assert_eq!(said(local, Language::En), "3 February 2026, 04:05 in a zone that is not known");
        assert_eq!(said(local, Language::De), "03.02.2026, 04:05 Uhr in unbekannter Zeitzone");
        assert_eq!(said("", Language::En), "");
        for broken in ["yesterday", "2026-13-01T10:05:00Z", "2026-00-01T10:05", "2026-01-01T10", "1-2-3T\u{1b}[1mx"] {
            assert_eq!(said(broken, Language::De), clean(broken), "{broken:?}");
        }
    }

    #[test]
    fn a_long_command_is_told_in_lines_that_a_shell_takes_as_one() {
        let words: Vec<String> = (0..20).map(|at| format!("--option-{at:02}")).collect();
        let lines = lines_of(&words).unwrap();
        assert!(lines.len() > 1 && lines.iter().all(|line| columns(line) <= COLUMNS - 4), "{lines:?}");
        let script = format!("set -- {}\nprintf '%s\\n' \"$@\"", lines.join("\n"));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), words);
        assert_eq!(lines_of(&["x".repeat(100)]), None);
        assert_eq!(lines_of(&[]), None);
    }
}
