//! What a person can decide by a race who reads no statistics: the memo words it.

use crate::conclude::{never_reached, told_something};
use model::findings::{
    Among, Answer, Choice, Decision, Findings, Level, Limit, Pair, ResultFinding, Undecided, Verdict,
};

/// What the answer says, without lanes that it does not rank. `choice`: what can be chosen at all.
pub(crate) fn decision(findings: &Findings, choice: &Choice) -> Decision {
    let answer = match (choice, &findings.answer) {
        (Choice::Searched, _) => return Decision::Searched,
        (Choice::Screened, _) => return Decision::Screened,
        (Choice::Nothing, _) | (_, None) => return Decision::Nothing,
        (Choice::Alone, _) => return Decision::Alone,
        (Choice::Twice, _) => return Decision::Twice,
        (_, Some(answer)) => answer,
    };
    if findings.results.iter().any(told_something) && !answer.choose.is_empty() {
        let ranked: Vec<String> = answer.choose.iter().filter(|lane| !is_apart(answer, lane)).cloned().collect();
        let lanes = if ranked.is_empty() { answer.choose.clone() } else { ranked };
        // Where ties alone are told and nobody is left out, what is still open may decide.
        let mut raced = findings.lanes.iter().filter(|lane| !lane.is_self);
        let left_out = raced.any(|lane| !is_apart(answer, &lane.name) && !lanes.contains(&lane.name));
        if left_out || !answer.reasons.is_empty() || !is_open(findings, &lanes) {
            return Decision::Take { among: among(findings, answer, &lanes), lanes };
        }
    }
    let pairs = || findings.results.iter().flat_map(|result| &result.pairs);
    match () {
        () if pairs().any(is_open_pair) => Decision::Open { because: because(findings, &|_| true) },
        () if findings.results.iter().all(|result| result.limit == Limit::Device) => Decision::Disk,
        () if !answer.not_ranked.is_empty() && pairs().all(|pair| pair.verdict == Verdict::None) => Decision::Apart,
        () => Decision::NothingApart,
    }
}

fn among(findings: &Findings, answer: &Answer, lanes: &[String]) -> Among {
    match &answer.level {
        _ if lanes.len() == 1 => Among::One,
        _ if answer.reasons.iter().any(|of| lanes.contains(&of.lane) && lanes.contains(&of.against)) => Among::ByWork,
        _ if is_open(findings, lanes) => {
            Among::Open { because: because(findings, &|pair| lanes.contains(&pair.a) && lanes.contains(&pair.b)) }
        }
        Some(Level::Tie) => Among::Alike,
        _ => Among::Unnamed,
    }
}

/// Whether the answer keeps a lane out of the ranking.
fn is_apart(answer: &Answer, lane: &String) -> bool {
    answer.not_ranked.iter().any(|fact| fact.lanes.contains(lane))
}

/// Whether more rounds may tell two lanes apart: they are undecided, or apart in their own row alone.
fn is_open_pair(pair: &Pair) -> bool {
    pair.verdict == Verdict::Undecided || (matches!(pair.verdict, Verdict::Faster | Verdict::Slower) && !pair.over_race)
}

/// Whether more rounds may tell some of these lanes apart.
fn is_open(findings: &Findings, lanes: &[String]) -> bool {
    let mut pairs = findings.results.iter().flat_map(|result| &result.pairs);
    pairs.any(|pair| is_open_pair(pair) && lanes.contains(&pair.a) && lanes.contains(&pair.b))
}

/// Why such pairs are open; those that differ in their own rows alone are so for noise.
fn because(findings: &Findings, such: &dyn Fn(&Pair) -> bool) -> Undecided {
    let of = |result: &ResultFinding| {
        Undecided::first(result.pairs.iter().filter(|pair| such(pair)).filter_map(|pair| pair.undecided))
    };
    let all = findings.results.iter().filter_map(of).chain(never_reached(findings));
    Undecided::of_most(all).unwrap_or(Undecided::Noise)
}
