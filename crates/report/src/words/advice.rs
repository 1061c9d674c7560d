//! Advice in words.

use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::{listed, listed_names, names, sentence};
use model::findings::{
    Advice, AdviceNote, AdviceReason, Equal, Excluded, Flip, LaneFact, NoAdvice, NotMeasured, RacedWithout,
};
use model::scenario::Need;

pub(crate) const ADVICE: &str = "ADVICE";
pub(crate) const ADVICE_TITLE: &str = "Advice";
pub(crate) const TAKE: &str = "TAKE";
pub(crate) const LEANING: &str = "LEANING";
pub(crate) const BECAUSE: &str = "BECAUSE";
pub(crate) const EQUAL: &str = "EQUAL";
pub(crate) const OUT: &str = "OUT";
pub(crate) const UNLESS: &str = "UNLESS";
pub(crate) const MISSING: &str = "MISSING";
pub(crate) const NOTE: &str = "NOTE";
pub(crate) const NEXT: &str = "NEXT";
pub(crate) const NONE: &str = "NO ADVICE";
pub(crate) const REASONS: &str = "REASONS";

/// What a label means where there is room for it.
pub(crate) fn title(label: &str) -> &'static str {
    match label {
        TAKE => "Take",
        LEANING => "Leaning, by similar work alone",
        BECAUSE => "Because",
        EQUAL => "No difference",
        OUT => "Excluded",
        UNLESS => "It would be another lane",
        MISSING => "Not measured",
        NOTE => "Note",
        _ => "Next",
    }
}

/// The first line of a scenario.
pub(crate) fn heading(advice: &Advice) -> Phrase {
    Phrase::default().tone(Tone::Label, &advice.title).say(format!(" ({}), {}", advice.scenario, measured(advice)))
}

/// How much of a scenario was measured, and by what.
fn measured(advice: &Advice) -> String {
    let similar = advice.measured_share - advice.own_share;
    let (own, similar_work) = (figures::share(advice.own_share), figures::share(similar));
    match (advice.own_share > 0.0, similar > 1e-9) {
        (true, true) => format!("{own} of its weight measured by its own work, {similar_work} by similar work"),
        (true, false) => format!("{own} of its weight measured by its own work"),
        (false, true) => format!("{similar_work} of its weight measured, by similar work alone"),
        (false, false) => "nothing of its weight measured".to_owned(),
    }
}

/// The label of what is chosen: a race that did none of the scenario's own work leans, no more. What constraints alone
/// leave was not chosen by the race.
pub(crate) fn label_of(advice: &Advice) -> &'static str {
    if advice.lane.is_some() && !advice.leads.is_empty() && advice.own_share <= 0.0 { LEANING } else { TAKE }
}

/// Which lane to take, how far it is ahead, and how safe that is.
pub(crate) fn take(advice: &Advice, margin: f64) -> Phrase {
    let Some(lane) = &advice.lane else { return none(advice) };
    let mut said = chosen(advice, lane);
    let ahead: Vec<Phrase> = advice
        .leads
        .iter()
        .filter(|lead| !advice.level_with.contains(&lead.against))
        .map(|lead| {
            let size = figures::gap(lead.ratio, None, true).size;
            Phrase::default().tone(Tone::Faster, format!("{size} ahead")).say(" of ").name(&lead.against)
        })
        .collect();
    if advice.leads.is_empty() {
        return said.say(", the only lane that no constraint excludes; nothing was left to compare it with");
    }
    if ahead.is_empty() && advice.why.is_empty() {
        return said.say(": nothing that was measured sets them apart");
    }
    if !ahead.is_empty() {
        said = said.say(": over the measured work ").and(listed(ahead, "and"));
    }
    if !advice.level_with.is_empty() {
        let plural = if advice.level_with.len() == 1 { "the two are" } else { "they are" };
        said = said.say(format!("; {plural} apart by less than {} over it", figures::margin(margin)));
    }
    if let Some(share) = advice.share_of_resampled_races {
        said = said.say("; ").and(safe(share, !advice.level_with.is_empty()));
    }
    match advice.own_share > 0.0 || advice.own_suite.is_empty() {
        true => said,
        false => said.say(format!("; no work of its own was raced, which suite {} does", sentence(&advice.own_suite))),
    }
}

/// `xfs`, or `either xfs or ext4`.
fn chosen(advice: &Advice, lane: &str) -> Phrase {
    let all: Vec<Phrase> = std::iter::once(lane)
        .chain(advice.level_with.iter().map(String::as_str))
        .map(|lane| Phrase::default().name(lane))
        .collect();
    match all.len() {
        1 => Phrase::default().and(listed(all, "or")),
        2 => Phrase::new("either ").and(listed(all, "or")),
        _ => Phrase::new("any of ").and(listed(all, "or")),
    }
}

/// How often the choice wins.
fn safe(share: f64, several: bool) -> Phrase {
    let said =
        format!("{} in {} of resampled races", if several { "one of them wins" } else { "it wins" }, wins(share));
    match share {
        share if share < 0.8 => Phrase::default().tone(Tone::Undecided, format!("{said}, which is not safe")),
        _ => Phrase::new(format!("{said}, which covers the noise between rounds alone")),
    }
}

/// A share that is never 100 %: a few thousand resampled races cannot show that.
fn wins(share: f64) -> String {
    match share {
        share if share > 0.994 => format!("over 99{GLUE}%"),
        share => figures::share(share),
    }
}

/// Why there is no advice.
fn none(advice: &Advice) -> Phrase {
    match advice.no_advice {
        Some(NoAdvice::TooLittleMeasured) if advice.too_few_rounds_share > 0.0 => {
            Phrase::default().tone(Tone::NoVerdict, "no advice").say(format!(
                ": {} of its weight was raced in too few rounds to say anything{}; race at least 6",
                figures::share(advice.too_few_rounds_share),
                match advice.measured_share > 0.0 {
                    true => format!(", and {} was measured", figures::share(advice.measured_share)),
                    false => String::new(),
                }
            ))
        }
        Some(NoAdvice::TooLittleMeasured) if advice.measured_share <= 0.0 => {
            let other = advice.not_measured.iter().any(|part| !part.raced.is_empty());
            let said = if other {
                ": what was raced stands for none of its work"
            } else {
                ": nothing of its work was measured"
            };
            Phrase::default().tone(Tone::NoVerdict, "no advice").say(said)
        }
        Some(NoAdvice::TooLittleMeasured) => Phrase::default().tone(Tone::NoVerdict, "no advice").say(format!(
            ": only {} of its weight was measured, and advice needs half of it",
            figures::share(advice.measured_share)
        )),
        Some(NoAdvice::Undecided) => Phrase::default()
            .tone(Tone::Undecided, "no advice yet")
            .say(": what was measured is undecided, so nothing sets the lanes apart"),
        Some(NoAdvice::NotComparable) => Phrase::default().tone(Tone::NoVerdict, "no advice").say(
            ": the lanes that are left may not be ranked with each other; race them on one disk and with the same \
             promises, or fewer of them",
        ),
        _ => Phrase::default().tone(Tone::NoVerdict, "no advice").say(": no lane that was raced meets the constraints"),
    }
}

/// A part of the work in which the lane is apart from others: what speaks for it, or against it.
pub(crate) fn part(reasons: &[&AdviceReason]) -> Phrase {
    let Some(first) = reasons.first() else { return Phrase::default() };
    let pairs = reasons.iter().map(|reason| {
        let faster = reason.ratio > 1.0;
        let gap = figures::gap(reason.ratio, None, faster);
        let (tone, word) = if faster { (Tone::Faster, "better") } else { (Tone::Slower, "worse") };
        let size = if reason.at_least { format!("at least {} {word}", gap.size) } else { word.to_owned() };
        Phrase::default().tone(tone, size).say(" than ").name(&reason.against)
    });
    weighed(&first.what, first.share).say(": ").and(listed(pairs.collect(), "and"))
}

/// A part of the work with its share.
fn weighed(what: &str, share: f64) -> Phrase {
    Phrase::new(format!("{} ({})", sentence(what), figures::share(share)))
}

/// Why no difference counts in some parts.
pub(crate) fn equal(because: Equal, parts: &[(&str, f64)]) -> Phrase {
    let why = match because {
        Equal::Tie => "tie, surely apart by less than the margin",
        Equal::Undecided => "undecided, so nothing is counted",
        Equal::Unsure => "apart in its own row, which is not sure among so many, so nothing is counted",
        Equal::Device => "the disk was measured, which is the same for all lanes",
        Equal::Cache => "the page cache was measured, not the filesystems",
        Equal::Harness => "Fairlane itself was measured, not the filesystems",
        Equal::NoVerdict => "no verdict is possible",
    };
    Phrase::default().join(parts.iter().map(|(what, share)| weighed(what, *share)), ", ").say(format!(": {why}"))
}

/// Lanes that are out for the same reason, and by what.
pub(crate) fn excluded(scenario: &str, lanes: &[&str], sources: &str, out: &Excluded) -> Phrase {
    let said = listed(lanes.iter().map(|lane| Phrase::default().name(lane)).collect(), "and").say(": ");
    let note = out.facts.iter().find_map(|fact| fact.note.as_deref()).unwrap_or_default();
    let said = match out.constraint.as_str() {
        "done" => said.say(format!("it could not do the work ({})", sentence(note))),
        "measured" => said.say(format!("less than half of the work was measured in it ({})", sentence(note))),
        "mounted" => return said.say("no kernel mounts it; it raced inside Fairlane, for comparison"),
        "kept" => return said.say("it keeps nothing across a reboot; it raced in memory, for comparison"),
        "comparable" => said.say(format!("its speed is not ranked beside the others ({})", sentence(note))),
        need => {
            let asked = match &out.why {
                Some(why) => format!("{} {}", sentence(scenario), sentence(why)),
                None => format!("you ask for {}", need_title(need)),
            };
            said.say(format!("{asked}; ")).join(out.facts.iter().map(fact), ", ")
        }
    };
    if sources.is_empty() || ["done", "measured", "comparable"].contains(&out.constraint.as_str()) {
        return said;
    }
    said.tone(Tone::Quiet, format!(" [{}]", sentence(sources)))
}

fn fact(fact: &LaneFact) -> Phrase {
    let title = need_title(&fact.need);
    let note = fact.note.as_deref().map(|note| format!(" ({})", sentence(note))).unwrap_or_default();
    match (fact.is.as_str(), fact.with.as_deref()) {
        ("no", _) if fact.need == "durable" => Phrase::new(sentence(fact.note.as_deref().unwrap_or(&title))),
        ("no", _) => Phrase::new(format!("no {title}{note}")),
        ("unknown", _) => Phrase::new(format!("nothing is known of its {title}{note}")),
        ("off", Some(with)) => Phrase::new(format!("{title} only with {}{note}", sentence(with))),
        (is, _) => Phrase::new(format!("{title}: {}{note}", sentence(is))),
    }
}

/// What people call what `--need` takes.
pub(crate) fn need_title(need: &str) -> String {
    need.parse::<Need>().map_or_else(|_| sentence(need), |need| need.title())
}

/// What would choose another lane.
pub(crate) fn flip(flip: &Flip, scenario: &str) -> Phrase {
    match flip {
        Flip::Weight { what, share, at, lane } => {
            let direction = if at < share { "under" } else { "over" };
            let what = sentence(what);
            let (at, share) = (figures::small_share(*at), figures::share(*share));
            Phrase::default().name(lane).say(format!(", if {what} weighed {direction} {at} (here {share})"))
        }
        Flip::Undecided { what, lane } => Phrase::default()
            .name(lane)
            .say(format!(", if {}, which is undecided, came out at the end of what is possible", sentence(what))),
        Flip::Without { need, lane, ratio } => Phrase::default().name(lane).say(format!(
            "{}, if {} could do without {}",
            distance(*ratio),
            sentence(scenario),
            need_title(need)
        )),
        Flip::With { needs, lane, ratio } => {
            let titles: Vec<Phrase> = needs.iter().map(|need| Phrase::new(need_title(need))).collect();
            let verb = if needs.len() == 1 { "was" } else { "were" };
            let said = Phrase::default().name(lane).say(format!("{}, if ", distance(*ratio)));
            said.and(listed(titles, "or")).say(format!(" {verb} required"))
        }
    }
}

/// How far another lane is ahead or behind, in brackets; nothing where no difference counts.
fn distance(ratio: f64) -> String {
    if (ratio.ln()).abs() < 1e-9 {
        return String::new();
    }
    let ahead = ratio > 1.0;
    format!(" ({} {})", figures::gap(ratio, None, ahead).size, if ahead { "ahead" } else { "behind" })
}

/// A part that was not measured: its workload, how to race that, and what was raced and is other work.
fn missing_part(part: &NotMeasured) -> Phrase {
    let said = weighed(&part.what, part.share);
    match (&part.title, &part.workload) {
        (Some(title), Some(name)) if !part.raced.is_empty() => {
            let raced: Vec<String> = part.raced.iter().map(|title| sentence(title)).collect();
            let is = if raced.len() == 1 { "is" } else { "are" };
            said.say(format!(
                " [{}, --workload{GLUE}{}; {}, which was raced, {is} other work]",
                sentence(title),
                sentence(name),
                listed_names(&raced)
            ))
        }
        (Some(title), Some(name)) => said.say(format!(" [{}, --workload{GLUE}{}]", sentence(title), sentence(name))),
        _ => said,
    }
}

/// What was not measured, gathered by the suite that does.
pub(crate) fn missing(suite: Option<&str>, parts: &[&NotMeasured]) -> Phrase {
    let listed = Phrase::default().join(parts.iter().map(|part| missing_part(part)), ", ");
    match suite {
        Some(suite) => listed.say(format!(": suite {}", sentence(suite))),
        None => listed.say(": no suite measures it yet"),
    }
}

/// What a lane meets a constraint with, though it was raced without it.
pub(crate) fn raced_without(lane: &str, of: &RacedWithout) -> Phrase {
    Phrase::default()
        .name(lane)
        .say(format!(" was raced without {}; {} brings it", need_title(&of.need), sentence(&of.with)))
        .tone(Tone::Quiet, format!(" [{}]", sentence(&of.source)))
}

/// What would meet the constraints and was not raced.
pub(crate) fn not_raced(filesystems: &[&str]) -> Phrase {
    let said = listed(filesystems.iter().map(|name| Phrase::default().name(name)).collect(), "and");
    let (has, was) = if filesystems.len() == 1 { ("meets", "was") } else { ("meet", "were") };
    said.say(format!(" {has} every constraint by the table of features, and {was} not raced"))
}

/// What is worth knowing about lanes, with its source.
pub(crate) fn note(note: &AdviceNote) -> Phrase {
    names(&note.lanes, ", ")
        .say(format!(": {}", sentence(&note.text)))
        .tone(Tone::Quiet, format!(" [{}]", sentence(&note.source)))
}

/// Which lanes of which race advice is about.
pub(crate) fn about(lanes: &[String], records: &[String], needs: &[String]) -> Phrase {
    let said = names(lanes, ", ").say(format!("; from {}", records.join(" and ")));
    match needs {
        [] => said,
        needs => said.say(format!("; required: {}", needs.join(", "))),
    }
}

/// One choice of several scenarios in a line: `xfs for MySQL (own work 40 %, similar work 35 %) and video (own work 60 %)`,
/// or `xfs, by similar work alone, for mail (60 %)`.
pub(crate) fn brief(advices: &[&Advice]) -> Phrase {
    let Some(first) = advices.first() else { return Phrase::default() };
    let leaning = label_of(first) == LEANING;
    let said = match &first.lane {
        Some(lane) if leaning => chosen(first, lane).say(", by similar work alone,"),
        Some(lane) => chosen(first, lane),
        None if first.no_advice == Some(NoAdvice::Undecided) => Phrase::default().tone(Tone::Undecided, "undecided"),
        None if first.no_advice == Some(NoAdvice::NotComparable) => {
            Phrase::default().tone(Tone::NoVerdict, "no ranking of these lanes")
        }
        None => Phrase::default().tone(Tone::NoVerdict, "none of these lanes"),
    };
    let scenarios = advices.iter().map(|advice| match advice.share_of_resampled_races {
        Some(share) if share < 0.8 => {
            Phrase::new(format!("{} ({}, not safe)", sentence(&advice.title), stands_on(advice)))
        }
        Some(_) => Phrase::new(format!("{} ({})", sentence(&advice.title), stands_on(advice))),
        None if advice.lane.is_some() && advice.leads.is_empty() => {
            Phrase::new(format!("{} (the others are excluded)", sentence(&advice.title)))
        }
        None if advice.lane.is_some() => Phrase::new(format!("{} (nothing sets them apart)", sentence(&advice.title))),
        None => Phrase::new(sentence(&advice.title)),
    });
    said.say(" for ").and(listed(scenarios.collect(), "and"))
}

/// How much of the weight stands on what, in brackets.
fn stands_on(advice: &Advice) -> String {
    let similar = advice.measured_share - advice.own_share;
    let (own, similar_work) = (figures::share(advice.own_share), figures::share(similar));
    match (advice.own_share > 0.0, similar > 1e-9) {
        (true, true) => format!("own work {own}, similar work {similar_work}"),
        (true, false) => format!("own work {own}"),
        _ => similar_work,
    }
}

/// What the shares in brackets are.
pub(crate) const SHARES: &str = "in brackets: how much of the work was measured";

/// Scenarios of which too little was measured.
pub(crate) fn too_little(advices: &[&Advice]) -> Phrase {
    let parts = advices.iter().map(|advice| weighed(&advice.title, advice.measured_share));
    Phrase::default().join(parts, ", ").say(": less than half of the work was measured")
}
