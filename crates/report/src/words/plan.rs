//! What a race is about to do, said before anything is written.

use crate::clean::shorten;
use crate::figures;
use crate::layout::Phrase;
use crate::plan::{Contestants, Foresight, Ground, KnownNoise, PlanSummary, PlannedPasses};
use crate::words;
use model::plan::LOOKS;

/// Writing images is told beside the time to race from this share of it on.
const TELLING_SHARE: f64 = 0.1;
/// A forecast of the first look this much too long may still be wrong.
const TOO_SHORT: f64 = 0.7;

/// Where the lanes live, what is formatted and written, and how to get out.
pub(crate) fn writes(plan: &PlanSummary) -> Phrase {
    let mut said = Phrase::default().join(plan.contestants.iter().map(contestants), "; ").say(".");
    let formatted: Vec<String> = plan
        .contestants
        .iter()
        .filter_map(|group| match &group.ground {
            Ground::Device { path } => Some(shorten(path, 120)),
            _ => None,
        })
        .collect();
    said = if formatted.is_empty() {
        said.say(" Formats no disk.")
    } else {
        let them = formatted.join(", ");
        said.tone(
            crate::layout::Tone::Failed,
            format!(" FORMATS {them}: everything on {} is lost.", if them.contains(", ") { "them" } else { "it" }),
        )
    };
    let mut amounts = Vec::new();
    if let Some(bytes) = plan.written_bytes {
        amounts.push(format!("writes about {}", figures::bytes(bytes)));
    }
    if let Some(bytes) = plan.needed_bytes.filter(|bytes| *bytes > 0) {
        amounts.push(format!("needs {} free", figures::bytes(bytes)));
    }
    if !amounts.is_empty() {
        let sentence = amounts.join(", ");
        let mut letters = sentence.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
        said = said.say(format!(" {}.", first.chain(letters).collect::<String>()));
    }
    said.say(if plan.keep { " Ctrl-C cleans up; a failure keeps the images (--keep)." } else { " Ctrl-C cleans up." })
}

fn contestants(group: &Contestants) -> Phrase {
    let names = words::names(&group.lanes, ", ");
    match &group.ground {
        Ground::Images { directory, lane_bytes, host } => {
            let images = if group.lanes.len() == 1 { "a" } else { "as" };
            let plural = if group.lanes.len() == 1 { "image" } else { "images" };
            let size = figures::bytes(*lane_bytes);
            let size = if images == "a" { format!(" as a {size}") } else { format!(" as {size}") };
            let host = if host.trim().is_empty() { String::new() } else { format!(" ({})", shorten(host, 120)) };
            names.say(format!("{size} {plural} in {}{host}", shorten(directory, 200)))
        }
        Ground::Guest { directory, lane_bytes, guest, code_only } => {
            let size = figures::bytes(*lane_bytes);
            let images = match group.lanes.len() {
                1 => format!(" as a {size} image"),
                _ => format!(" as {size} images"),
            };
            let only = if *code_only { ": compares the filesystems' code, not your disk" } else { "" };
            names.say(format!("{images} in {}, in {}{only}", shorten(directory, 200), shorten(guest, 120)))
        }
        Ground::Device { path } if group.lanes.len() == 1 => names.say(format!(" on {}", shorten(path, 120))),
        Ground::Device { path } => names.say(format!(" in turns on {}", shorten(path, 120))),
        Ground::Directory { path } => {
            names.say(format!(" as it is, in a folder of its own in {} that is removed again", shorten(path, 200)))
        }
        Ground::Memory => names.say(" in memory"),
    }
}

/// How much work there is and how long it takes.
pub(crate) fn work(plan: &PlanSummary) -> Phrase {
    let workloads = if plan.workloads == 1 { "1 workload".to_owned() } else { format!("{} workloads", plan.workloads) };
    let (least, most) = plan.rounds;
    let rounds = match plan.rounds_until_the_time_is_up {
        true => "rounds until the time is up".to_owned(),
        false if least == most => match plan.fits.filter(|fits| *fits < least) {
            Some(fits) => format!("about {fits} of {}", words::rounds(least)),
            None => words::rounds(least),
        },
        false => format!("{least} to {most} rounds"),
    };
    let each = if plan.workloads == 1 { "" } else { " each" };
    let mut said = match room(plan) {
        Some(room) => format!("plan: {workloads}, {room}"),
        None => format!("plan: {workloads}, {rounds}{each}"),
    };
    let is_cut = plan.fits.is_some();
    let is_beyond = plan.budget_seconds.is_some_and(|budget| plan.seconds.is_some_and(|seconds| seconds > budget));
    // What is cut takes all of its time, and one figure of that is enough.
    let told = plan.seconds.filter(|_| !is_cut || is_beyond);
    let images = match plan.budget_seconds.and(plan.seconds) {
        // The time to race does not count what comes before it.
        Some(seconds) if plan.setup_seconds > seconds * TELLING_SHARE => {
            format!(", after {} for the images", figures::duration(plan.setup_seconds))
        }
        _ => String::new(),
    };
    if let Some(seconds) = told {
        let before = if plan.budget_seconds.is_some() { 0.0 } else { plan.setup_seconds };
        said.push_str(&format!(", about {}{images}", figures::duration(seconds + before)));
    }
    if let (Some(budget), true) = (plan.budget_seconds, is_cut || plan.seconds != plan.budget_seconds) {
        let ends = match is_beyond {
            // Its first rounds are raced all the same.
            true if is_cut => "beyond",
            false if !is_cut => "at most",
            _ => "ended after",
        };
        said.push_str(&format!(", {ends} {} (--budget)", figures::duration(budget)));
    }
    if told.is_none() {
        said.push_str(&images);
    }
    Phrase::new(said)
}

/// What an adaptive race has time for that cannot make six rounds of all of its work; `None`: it can, or nobody knows.
fn room(plan: &PlanSummary) -> Option<String> {
    let budget = plan.budget_seconds?;
    let short = plan.rounds.0 < plan.rounds.1 && plan.ranks && !plan.rounds_until_the_time_is_up;
    if !short || plan.first_look_seconds <= budget || plan.seconds_per_round.is_empty() {
        return None;
    }
    // As the race does: first looks in its order, as long as they fit.
    let mut left = budget;
    let mut looks = 0;
    for seconds in plan.seconds_per_round.iter().map(|seconds| seconds * f64::from(ENOUGH_ROUNDS)) {
        if seconds <= left {
            (left, looks) = (left - seconds, looks + 1);
        }
    }
    let fewest = plan.seconds_per_round.iter().copied().fold(f64::INFINITY, f64::min);
    let rounds = if fewest > 0.0 { (budget / fewest) as u32 } else { 0 };
    Some(match (looks, rounds) {
        (0, 0) => "with time for no whole round".to_owned(),
        (0, rounds) => format!("with time for about {}, and no verdict comes before six", words::rounds(rounds)),
        (looks, _) if plan.workloads == 1 || looks == plan.seconds_per_round.len() => {
            format!("with time for about {ENOUGH_ROUNDS} rounds, the fewest that decide")
        }
        (looks, _) => format!("with time for {ENOUGH_ROUNDS} rounds, the fewest that decide, of about {looks} of them"),
    })
}

/// What a reader should know about the work before it begins.
pub(crate) fn remarks(plan: &PlanSummary) -> Vec<Phrase> {
    let once = plan.rounds == (1, 1);
    let published = plan.as_published.then(|| match once {
        true => "as published: the article's own method, run once; one round gives no verdicts.".to_owned(),
        false => format!("as published: the article's own method, run {} times instead of once.", plan.rounds.0),
    });
    let auto = plan.rounds.0 < plan.rounds.1;
    let short = plan.budget_seconds.filter(|budget| auto && plan.first_look_seconds * TOO_SHORT > *budget).map(|_| {
        format!(
            "six rounds of all of it, the fewest that decide, take about {}: some of it will stay undecided; raise \
             --budget or choose with --workload.",
            figures::duration(plan.first_look_seconds)
        )
    });
    let notes = plan.notes.iter().map(|note| format!("{}.", words::sentence(note)));
    let told = plan.resolves.as_ref().map(foresight);
    let told = told.into_iter().chain(passes(plan));
    published.into_iter().chain(short).chain(few_rounds(plan)).chain(told).chain(notes).map(Phrase::new).collect()
}

/// What is done behind the rounds, and what it takes.
fn passes(plan: &PlanSummary) -> Option<String> {
    let all = "behind the rounds each workload is done once more in every lane, to see where its time goes (--explain)";
    match (plan.passes, plan.budget_seconds) {
        (PlannedPasses::No, _) => None,
        (PlannedPasses::InTime, _) => Some(
            "in what time has room for it, each workload is done once more behind the rounds, to see where its time goes."
                .to_owned(),
        ),
        (PlannedPasses::All, None) => Some(format!("{all}; that comes on top.")),
        (PlannedPasses::All, Some(_)) => {
            Some(format!("{all}; where --budget has no room for it, that comes on top."))
        }
    }
}

/// The rounds from which on a verdict is likely.
const ENOUGH_ROUNDS: u32 = LOOKS[0];

/// Why so few rounds will hardly decide anything; `None`: they may.
fn few_rounds(plan: &PlanSummary) -> Option<String> {
    let (rounds, most) = plan.rounds;
    if !plan.ranks || plan.as_published || rounds < most || rounds == 0 {
        return None;
    }
    let round: f64 = plan.seconds_per_round.iter().sum();
    if rounds < ENOUGH_ROUNDS {
        let time = match round > 0.0 {
            true => {
                // What is done once, such as the looks at the disk, is done once then too.
                let once = plan.seconds.map_or(0.0, |all| (all - round * f64::from(rounds)).max(0.0));
                format!(" (about {})", figures::duration(once + round * f64::from(ENOUGH_ROUNDS)))
            }
            false => String::new(),
        };
        let few = if rounds == 1 {
            "one round gives no verdicts".to_owned()
        } else {
            format!("{rounds} rounds seldom decide")
        };
        return Some(format!("{few}: --rounds {ENOUGH_ROUNDS}{time} is the least that usually decides."));
    }
    let room = plan.budget_seconds.filter(|_| round > 0.0).map(|budget| (budget / round) as u32)?;
    (room < ENOUGH_ROUNDS)
        .then(|| format!("the time has room for about {room} of {rounds} rounds, and fewer than six seldom decide."))
}

/// Three times as much (a share of 2) and more is seen without a race.
const NEXT_TO_NOTHING: f64 = 2.0;

/// What the time is enough for.
fn foresight(of: &Foresight) -> String {
    let percent = |share: f64| match 100.0 * share {
        percent if percent < 9.5 => format!("{percent:.1} %").replace(".0 %", " %"),
        percent if percent <= 100.0 => format!("{percent:.0} %"),
        _ => format!("{}x", factor(share)),
    };
    let smaller = of.smaller.map_or(String::new(), |(difference, seconds, rounds)| {
        let with = rounds.map_or(String::new(), |rounds| format!(" with --rounds {rounds}"));
        format!("; {} needs about {}{with}", percent(difference), figures::duration(seconds))
    });
    let noise = match &of.noise {
        KnownNoise::All => "the noise is this machine's, as calibrated".to_owned(),
        KnownNoise::Of(titles) => {
            let titles: Vec<String> = titles.iter().map(|title| words::sentence(title)).collect();
            format!(
                "the noise of {} is this machine's, as calibrated; ordinary noise is assumed of the rest",
                words::listed_names(&titles)
            )
        }
        KnownNoise::None => "ordinary noise is assumed; `fairlane calibrate` measures this machine's".to_owned(),
    };
    let work = of.of.map_or(String::new(), |(some, all)| {
        format!(" in {some} of {all} workloads, and the others get too few rounds")
    });
    let time = figures::duration(of.seconds);
    match of.difference {
        ..=1.0 => format!(
            "in {time} differences of about {} can be detected{work}{smaller} ({noise}).",
            percent(of.difference)
        ),
        NEXT_TO_NOTHING.. => format!("in {time} next to nothing can be detected{work}{smaller} ({noise})."),
        // So noisy that a percentage of it would pass for a precision.
        _ => format!(
            "in {time} only differences above {}x can be detected{work}{smaller} ({noise}).",
            factor(of.difference)
        ),
    }
}

/// A difference of more than the figure itself, as the factor that it is: a share of 7.61 is 8.6 times as much.
pub(crate) fn factor(share: f64) -> String {
    figures::coarse(1.0 + share).trim_end_matches('x').to_owned()
}
