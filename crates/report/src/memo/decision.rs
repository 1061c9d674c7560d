//! The decision, what it brings, and what it costs.

use super::work::{Distance, claim, noun, when};
use crate::clean::shorten;
use crate::figures;
use crate::language::{Tongue, fill};
use crate::layout::Phrase;
use crate::screening;
use model::Sentence;
use model::findings::{
    Among, Answer, ConfirmationOutcome, Decision, Estimate, Findings, Limit, NotRanked, Pair, Reason, ResultFinding,
    ScreeningFinding, Shown, Undecided, Verdict,
};
use model::lane::Lane;
use model::sentence::Value;

/// Columns of a kernel's release.
const KERNEL_COLUMNS: usize = 60;
/// Lanes of one list of figures, at most.
const LANES_LISTED: usize = 6;
/// Options of one list, at most.
const OPTIONS_LISTED: usize = 6;

/// The decision in one sentence.
pub(super) fn decided(findings: &Findings, tongue: &Tongue) -> Phrase {
    let words = tongue.words;
    let mut said = decided_alone(findings, tongue);
    if let Some(each) = kernels(findings) {
        let each =
            each.into_iter().map(|(lane, kernel)| tongue.with(Phrase::default().name(lane), Phrase::new(kernel)));
        said = said.say(" ").and(fill(words.of_kernels, &[("list", tongue.few(each.collect(), LANES_LISTED))]));
    }
    let disturbed = findings.answer.as_ref().is_some_and(|answer| answer.disturbed)
        || findings.screening.as_ref().is_some_and(screening::is_disturbed);
    if disturbed { said.say(" ").say(words.disturbed) } else { said }
}

/// Without what has to be said beside it.
fn decided_alone(findings: &Findings, tongue: &Tongue) -> Phrase {
    let words = tongue.words;
    if let Some(finding) = &findings.screening
        && findings.conclusion.decision == Decision::Screened
    {
        return of_options(finding, tongue);
    }
    let template = match &findings.conclusion.decision {
        Decision::Nothing if findings.outcome == "running" => words.nothing_yet,
        Decision::Nothing => words.nothing_measured,
        Decision::Searched => words.searched,
        Decision::Alone if !findings.imported.is_empty() => words.one_imported,
        Decision::Alone => words.one_lane,
        Decision::Twice => words.same_twice,
        Decision::Open { .. } => words.undecided_yet,
        Decision::Disk => words.undecided_disk,
        Decision::Apart => words.undecided_apart,
        Decision::NothingApart | Decision::Screened => words.undecided_nothing,
        Decision::Take { among: Among::One, .. } => words.take_one,
        Decision::Take { among: Among::ByWork, .. } => words.take_by_work,
        Decision::Take { among: Among::Open { .. }, .. } => words.take_open,
        Decision::Take { among: Among::Alike, .. } => words.take_alike,
        Decision::Take { among: Among::Unnamed, .. } => words.take_unnamed,
    };
    let why = match &findings.conclusion.decision {
        Decision::Open { because } | Decision::Take { among: Among::Open { because }, .. } => why(*because, tongue),
        _ => "",
    };
    let lanes = tongue.listed(named(findings.conclusion.decision.taken()), words.or);
    let margin = Phrase::new(tongue.figure(&figures::margin(findings.margin)));
    fill(template, &[("lanes", lanes), ("margin", margin), ("why", Phrase::new(why))])
}

/// What to take of the options that were screened.
fn of_options(finding: &ScreeningFinding, tongue: &Tongue) -> Phrase {
    let words = tongue.words;
    let options = screening::taken(finding);
    let open = screening::open_options(finding);
    let is_running = finding.confirmation.as_ref().is_some_and(|of| of.unfinished);
    let because = finding.confirmation.as_ref().and_then(|of| of.because);
    let template = match finding.confirmation.as_ref().map(|of| of.outcome) {
        _ if finding.is_being_tuned() => words.screened_tuning,
        _ if options.is_empty() && finding.unfinished => words.screened_unfinished,
        _ if options.is_empty() && finding.tells() && !open.is_empty() && finding.factors.len() == 1 => {
            words.screened_keep_yet_one
        }
        _ if options.is_empty() && finding.tells() && !open.is_empty() => words.screened_keep_yet,
        _ if options.is_empty() && finding.tells() => words.screened_keep,
        _ if options.is_empty() && finding.why_untold().is_some() => words.screened_because,
        _ if options.is_empty() => words.screened_nothing,
        None => words.screened_yet,
        Some(ConfirmationOutcome::Confirmed) => words.screened_take,
        Some(ConfirmationOutcome::Mixed) => words.screened_mixed,
        Some(ConfirmationOutcome::NotConfirmed) => words.screened_not,
        Some(ConfirmationOutcome::Open) if is_running => words.screened_running,
        Some(ConfirmationOutcome::Open) if because.is_some() => words.screened_open_because,
        Some(ConfirmationOutcome::Open) => words.screened_open,
    };
    let all: Vec<&str> = finding.factors.iter().map(|factor| factor.name.as_str()).collect();
    let few = |names: Vec<Phrase>| tongue.few(names, OPTIONS_LISTED);
    let why = match because {
        Some(because) => why(because, tongue).to_owned(),
        None => {
            let why = finding.results.first().and_then(|of| of.unknown.as_ref());
            why.map(|why| crate::words::sentence(&tongue.sentence(why))).unwrap_or_default()
        }
    };
    let values = [
        (
            "base",
            screening::base(finding)
                .map_or_else(|| Phrase::new(words.screened_no_lane), |of| Phrase::default().name(of)),
        ),
        ("options", tongue.listed(named(&options), words.and)),
        ("why", Phrase::new(why)),
        ("open", few(named(&open))),
        ("count", Phrase::new(open.len().to_string())),
        ("all", few(named(&all))),
        ("of", Phrase::new(all.len().to_string())),
    ];
    fill(template, &values)
}

/// Why something is open, in a few words.
fn why(because: Undecided, tongue: &Tongue) -> &'static str {
    match because {
        Undecided::Noise => tongue.words.why_noise,
        Undecided::TooFewRounds => tongue.words.why_few,
        Undecided::Interrupted => tongue.words.why_interrupted,
        Undecided::OutOfBudget => tongue.words.why_time,
        Undecided::MachineBusy => tongue.words.why_busy,
    }
}

/// The contestants: a lane that is raced a second time is none.
pub(super) fn raced(findings: &Findings) -> impl Iterator<Item = &Lane> {
    findings.lanes.iter().filter(|lane| !lane.is_self)
}

/// The lanes and their kernels where one filesystem, made and mounted alike, was raced on several; `None`: it was not.
pub(super) fn kernels(findings: &Findings) -> Option<Vec<(&str, String)>> {
    let first = raced(findings).next()?;
    let alike = |lane: &Lane| {
        !lane.kernel.is_empty()
            && lane.filesystem == first.filesystem
            && lane.mkfs_command == first.mkfs_command
            && lane.mount_options == first.mount_options
    };
    let other = |lane: &Lane| lane.kernel != first.kernel || lane.kernel_build != first.kernel_build;
    let build = |lane: &Lane| {
        let one_release = raced(findings).all(|other| other.kernel == lane.kernel);
        if one_release { format!(", {}", lane.kernel_build) } else { String::new() }
    };
    let told = |lane: &'_ Lane| shorten(&format!("Linux {}{}", lane.kernel, build(lane)), KERNEL_COLUMNS);
    (raced(findings).all(alike) && raced(findings).any(other))
        .then(|| raced(findings).map(|lane| (lane.name.as_str(), told(lane))).collect())
}

/// Whether the answer keeps a lane out of the ranking.
fn is_apart(answer: &Answer, lane: &str) -> bool {
    answer.not_ranked.iter().any(|fact| fact.lanes.iter().any(|other| other == lane))
}

fn reasons(findings: &Findings) -> impl Iterator<Item = &Reason> {
    findings.answer.iter().flat_map(|answer| &answer.reasons)
}

pub(super) fn named<S: AsRef<str>>(lanes: &[S]) -> Vec<Phrase> {
    lanes.iter().map(|lane| Phrase::default().name(lane.as_ref())).collect()
}

/// What taking these lanes brings: how far they are ahead of those that are left.
pub(super) fn brings(findings: &Findings, decision: &Decision, tongue: &Tongue) -> Vec<Phrase> {
    let mut said = Claims::default();
    let mut why = None;
    for reason in reasons(findings).filter(|reason| !decision.takes(&reason.lane)) {
        let Some(result) = result_of(findings, reason) else { continue };
        // The answer names the lane that does best; a lane that is taken is what the reader asks for.
        let beats = |lane: &&str| {
            Shown::from_lanes(result, lane, &reason.lane)
                .is_some_and(|pair| pair.verdict == Verdict::Faster && pair.over_race.is_some())
        };
        let first = Some(reason.against.as_str()).filter(|lane| decision.takes(lane));
        let mut winners = first.into_iter().chain(decision.taken().iter().map(String::as_str));
        let Some(lane) = winners.find(beats) else { continue };
        let acts = if lane == reason.against { &reason.acts } else { &result.acts };
        said.add(findings, (result, acts), (lane, &reason.lane), tongue);
        why = why.or_else(|| time_went(findings, result, (lane, &reason.lane), tongue));
    }
    let mut points = said.points(tongue);
    points.extend(why);
    points
}

/// What a pass showed of why one lane is faster than the other; `None`: no pass looked, or it shows nothing.
fn time_went(
    findings: &Findings,
    result: &ResultFinding,
    (fast, slow): (&str, &str),
    tongue: &Tongue,
) -> Option<Phrase> {
    let is_of = |of: &&Sentence| {
        let lanes = of.said().map(|said| said.values.as_slice()).unwrap_or_default();
        let named = |place: &str, lane: &str| {
            lanes.iter().any(|(name, value)| *name == place && matches!(value, Value::Name(name) if name == lane))
        };
        named("fast", fast) && named("slow", slow)
    };
    let why = crate::words::sentence(&tongue.sentence(result.explained.iter().find(is_of)?));
    Some(fill(tongue.words.time_went, &[("work", noun(findings, result, tongue)), ("why", Phrase::new(why))]))
}

/// What taking these lanes costs: where they lose, what they do not promise, CPU and extra writes.
pub(super) fn costs(findings: &Findings, decision: &Decision, tongue: &Tongue) -> Vec<Phrase> {
    let mut said = Claims::default();
    for reason in reasons(findings).filter(|reason| decision.takes(&reason.lane)) {
        if let Some(result) = result_of(findings, reason) {
            said.add(findings, (result, &reason.acts), (&reason.lane, &reason.against), tongue);
        }
    }
    let mut points = said.points(tongue);
    if points.is_empty() && !decision.taken().is_empty() {
        let lanes = tongue.listed(named(decision.taken()), tongue.words.or);
        let slower = |pair: &Pair| match pair.verdict {
            Verdict::Slower => decision.takes(&pair.a),
            Verdict::Faster => decision.takes(&pair.b),
            _ => false,
        };
        let somewhere = findings.results.iter().flat_map(|result| &result.pairs).any(slower);
        let template = if somewhere { tongue.words.costs_unsure } else { tongue.words.costs_nothing };
        points.push(fill(template, &[("lanes", lanes)]));
    }
    points.extend(promises(findings, decision, tongue));
    points.extend(figures_apart(findings, decision, tongue));
    points
}

fn result_of<'a>(findings: &'a Findings, reason: &Reason) -> Option<&'a ResultFinding> {
    findings.results.iter().find(|of| of.workload == reason.workload && of.group == reason.group)
}

/// A difference with what one of the two lanes made of the work.
fn beside(claim: Phrase, acts: &[Sentence], tongue: &Tongue) -> Phrase {
    acts.iter().fold(claim, |said, act| {
        let inside = Phrase::new(crate::words::sentence(&tongue.sentence(act)));
        fill(tongue.words.brackets, &[("text", said), ("inside", inside)])
    })
}

/// Differences, gathered by the two lanes.
#[derive(Default)]
struct Claims<'a>(Vec<(&'a str, &'a str, Vec<Phrase>)>);

impl<'a> Claims<'a> {
    fn add(
        &mut self,
        findings: &Findings,
        (result, acts): (&ResultFinding, &[Sentence]),
        (lane, other): (&'a str, &'a str),
        tongue: &Tongue,
    ) {
        let Some(distance) = Distance::over_race(result, lane, other) else { return };
        let said = beside(claim(findings, result, distance, tongue), acts, tongue);
        match self.0.iter_mut().find(|(a, b, _)| (*a, *b) == (lane, other)) {
            Some((.., claims)) => claims.push(said),
            None => self.0.push((lane, other, vec![said])),
        }
    }

    fn points(self, tongue: &Tongue) -> Vec<Phrase> {
        let point = |(lane, other, claims): (&str, &str, Vec<Phrase>)| {
            let name = |lane: &str| Phrase::default().name(lane);
            let claims = Phrase::default().join(claims, tongue.words.semicolon);
            fill(tongue.words.against, &[("lane", name(lane)), ("other", name(other)), ("claims", claims)])
        };
        self.0.into_iter().map(point).collect()
    }
}

/// What lanes do not promise, and what that means: of those that are taken, and of those that are not
/// ranked for it.
fn promises(findings: &Findings, decision: &Decision, tongue: &Tongue) -> Vec<Phrase> {
    let words = tongue.words;
    let Some(answer) = &findings.answer else { return Vec::new() };
    let lanes = |names: &[&str]| tongue.few(named(names), LANES_LISTED);
    let mut points: Vec<Phrase> = answer.not_ranked.iter().map(|fact| not_ranked(fact, tongue)).collect();
    let on_disk = |lane: &&Lane| lane.venue != "library" && lane.venue != "memory";
    let asked = |lane: &&Lane| decision.takes(&lane.name) || is_apart(answer, &lane.name);
    type Lacks = fn(&Lane) -> bool;
    let lacking: [(Lacks, &str); 3] = [
        (|lane| !lane.promises.journal, words.lacks_journal),
        (|lane| !lane.promises.fsync_reaches_stable_storage, words.lacks_fsync),
        (|lane| !lane.promises.barriers, words.lacks_barriers),
    ];
    for (lacks, template) in lacking {
        // What a server promises no client sees.
        let of = raced(findings).filter(on_disk).filter(|lane| !lane.is_served()).filter(asked);
        let of = of.filter(|lane| lacks(lane));
        let of: Vec<&str> = of.map(|lane| lane.name.as_str()).collect();
        if !of.is_empty() {
            points.push(fill(template, &[("lanes", lanes(&of))]));
        }
    }
    let (with, without): (Vec<&Lane>, Vec<&Lane>) =
        raced(findings).filter(on_disk).partition(|lane| lane.promises.data_checksums);
    let without: Vec<&Lane> = without.into_iter().filter(|lane| decision.takes(&lane.name)).collect();
    if !with.is_empty() && !without.is_empty() {
        let list = |of: &[&Lane]| lanes(&of.iter().map(|lane| lane.name.as_str()).collect::<Vec<_>>());
        points.push(fill(words.checksums, &[("with", list(&with)), ("without", list(&without))]));
    }
    points
}

pub(super) fn not_ranked(fact: &NotRanked, tongue: &Tongue) -> Phrase {
    let values = [
        ("lanes", tongue.few(named(&fact.lanes), LANES_LISTED)),
        ("other", Phrase::default().name(&fact.against)),
        ("what", Phrase::new(crate::words::sentence(&tongue.sentence(&fact.what)))),
    ];
    fill(tongue.words.not_ranked, &values)
}

/// A figure of an estimate.
type Figure = fn(&Estimate) -> Option<f64>;

/// CPU and extra writes, each where the lanes are farthest apart; nothing where they hardly are.
fn figures_apart(findings: &Findings, decision: &Decision, tongue: &Tongue) -> Vec<Phrase> {
    let words = tongue.words;
    let short = |seconds: f64| figures::brief(seconds);
    let cpu: (Figure, fn(&ResultFinding) -> bool) = (|of| of.cpu_seconds_per_operation, |of| of.unit != "B/s");
    let per_gib: (Figure, fn(&ResultFinding) -> bool) = (|of| of.cpu_seconds_per_gib, |of| of.unit == "B/s");
    let writes: (Figure, fn(&ResultFinding) -> bool) = (|of| of.write_amplification, |_| true);
    let mut points = Vec::new();
    let of_cpu = [(cpu, words.cpu_per_operation), (per_gib, words.cpu_per_gib)];
    let widest = of_cpu.into_iter().filter_map(|((figure, fits), template)| {
        let (spread, result) = farthest(findings, figure, fits)?;
        Some((spread, result, figure, template))
    });
    if let Some((_, result, figure, template)) = widest.max_by(|x, y| x.0.total_cmp(&y.0)) {
        points.push(listing(findings, decision, result, figure, &short, template, tongue));
    }
    if let Some((_, result)) = farthest(findings, writes.0, writes.1) {
        points.push(listing(findings, decision, result, writes.0, &figures::per_operation, words.extra_writes, tongue));
    }
    points
}

/// The result in which a figure differs most from lane to lane, and by which factor; `None`: nowhere
/// by more than the margin.
fn farthest(findings: &Findings, figure: Figure, fits: fn(&ResultFinding) -> bool) -> Option<(f64, &ResultFinding)> {
    let spread = |result: &ResultFinding| {
        let of = || shown(findings, result).filter_map(figure).filter(|&value| value > 0.0 && value.is_finite());
        let (low, high) = (of().reduce(f64::min)?, of().reduce(f64::max)?);
        (of().count() > 1).then_some(high / low)
    };
    let results = findings.results.iter().filter(|result| result.limit != Limit::Harness && fits(result));
    let known = results.filter_map(|result| Some((spread(result)?, result)));
    known.filter(|(spread, _)| *spread > 1.0 + findings.margin).max_by(|x, y| x.0.total_cmp(&y.0))
}

/// The estimates of the contestants on disks.
fn shown<'a>(findings: &'a Findings, result: &'a ResultFinding) -> impl Iterator<Item = &'a Estimate> {
    let counts = |name: &str| {
        let lane = findings.lanes.iter().find(|lane| lane.name == name);
        lane.is_none_or(|lane| !lane.is_self && lane.venue != "library" && lane.venue != "memory")
    };
    result.estimates.iter().filter(move |of| of.failure.is_none() && counts(&of.lane))
}

/// A figure of every lane in one result, those that are taken first.
fn listing(
    findings: &Findings,
    decision: &Decision,
    result: &ResultFinding,
    figure: Figure,
    write: &dyn Fn(f64) -> String,
    template: &str,
    tongue: &Tongue,
) -> Phrase {
    let mut estimates: Vec<&Estimate> = shown(findings, result).filter(|of| figure(of).is_some()).collect();
    estimates.sort_by_key(|of| !decision.takes(&of.lane));
    let each = estimates.into_iter().map(|of| {
        let value = figure(of).map(|value| tongue.figure(&write(value))).unwrap_or_default();
        Phrase::default().name(&of.lane).say(" ").say(value)
    });
    let list = tongue.few(each.collect(), LANES_LISTED);
    fill(template, &[("when", when(findings, result, tongue)), ("list", list)])
}
