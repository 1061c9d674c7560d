//! What a race comes to, decided and gathered once, for whoever words it.

use crate::decide;
use crate::level;
use crate::said;
use model::Sentence;
use model::findings::{
    Answer, Choice, Claim, Conclusion, FailedLane, FailedWork, Findings, LaneClaims, Level, Limit, LimitedWork,
    OpenWork, Pair, Reason, ResultFinding, Undecided, UnrankedWork, Verdict, Work,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What may have been measured instead of the filesystems, in the order in which it is told.
const NOT_THE_FILESYSTEMS: [Limit; 3] = [Limit::Device, Limit::Cache, Limit::Harness];

/// Says of each result and of the whole race what there is to say. Whoever changes findings afterwards says it again.
pub fn tell(findings: &mut Findings) {
    said::set(&mut findings.results);
    findings.conclusion = conclusion(findings);
}

/// What the answer of these findings tells.
fn conclusion(findings: &Findings) -> Conclusion {
    let of = Race::new(findings);
    let failed = of.failures();
    let Some(answer) = &findings.answer else {
        let choice = of.choice_without_answer();
        return Conclusion { decision: decide::decision(findings, &choice), choice, failed, ..Conclusion::default() };
    };
    let undecided = of.places(&answer.undecided);
    let untold = of.places(&answer.cannot_tell);
    let choice = of.choice(answer, &undecided);
    Conclusion {
        decision: decide::decision(findings, &choice),
        choice,
        claims: of.claims(answer),
        open: of.open(&undecided),
        undecided: of.works(undecided),
        unsure: of.works(of.places(&answer.unsure)),
        limited: of.limited(&untold),
        cannot_tell: of.works(untold),
        no_verdict: of.unranked(answer),
        failed,
    }
}

/// Findings, with what is asked of them over and over.
struct Race<'a> {
    findings: &'a Findings,
    /// Places of the tables of file operations by their workloads.
    tables: HashMap<&'a str, u32>,
    /// Places of the results by their titles, with and without their groups.
    titles: HashMap<String, usize>,
    /// The lane that runs against itself.
    twins: HashSet<&'a str>,
}

impl<'a> Race<'a> {
    fn new(findings: &'a Findings) -> Self {
        let tables = findings.operations.iter().zip(0..).map(|(table, place)| (table.workload.as_str(), place));
        let twins = findings.lanes.iter().filter(|lane| lane.is_self).map(|lane| lane.name.as_str());
        let mut titles = HashMap::new();
        for (place, result) in findings.results.iter().enumerate() {
            titles.entry(result.title.clone()).or_insert(place);
            titles.entry(format!("{}: {}", result.title, result.group)).or_insert(place);
        }
        Race { findings, tables: tables.collect(), titles, twins: twins.collect() }
    }

    /// The places of results that the answer names by their titles, with their groups where a workload has several.
    fn places(&self, titles: &[String]) -> Vec<usize> {
        titles.iter().filter_map(|title| self.titles.get(title).copied()).collect()
    }

    /// The pairs of a result without the lane that runs against itself.
    fn contestants(&self, result: &'a ResultFinding) -> impl Iterator<Item = &'a Pair> + use<'_, 'a> {
        result.pairs.iter().filter(|pair| !self.is_twin(pair))
    }

    fn is_twin(&self, pair: &Pair) -> bool {
        [&pair.a, &pair.b].into_iter().any(|lane| self.twins.contains(lane.as_str()))
    }

    /// Results as an answer names them: those of one table of file operations as their number, where the first stands.
    fn works(&self, places: impl IntoIterator<Item = usize>) -> Vec<Work> {
        self.works_as(places, |place| Work::Result { result: place as u32 })
    }

    fn works_as(&self, places: impl IntoIterator<Item = usize>, named: impl Fn(usize) -> Work) -> Vec<Work> {
        let mut works: Vec<Work> = Vec::new();
        let mut at: HashMap<u32, usize> = HashMap::new();
        for place in places {
            let Some(&table) = self.tables.get(self.findings.results[place].workload.as_str()) else {
                works.push(named(place));
                continue;
            };
            let at = *at.entry(table).or_insert(works.len());
            match works.get_mut(at) {
                Some(Work::Steps { count, .. }) => *count += 1,
                _ => works.push(Work::Steps { table, count: 1 }),
            }
        }
        works
    }

    fn choice_without_answer(&self) -> Choice {
        let findings = self.findings;
        let is_measured = findings.results.iter().flat_map(|of| &of.estimates).any(|of| of.failure.is_none());
        match () {
            () if findings.screening.is_some() && is_measured => Choice::Screened,
            () if !findings.searches.is_empty() => Choice::Searched,
            () => Choice::Nothing,
        }
    }

    fn choice(&self, answer: &Answer, undecided: &[usize]) -> Choice {
        let findings = self.findings;
        let raced = findings.lanes.iter().filter(|lane| !lane.is_self).count();
        let measured = |of: &ResultFinding| of.estimates.iter().any(|estimate| estimate.failure.is_none());
        let told = || findings.results.iter().any(told_something);
        let chosen = |lane: &String| answer.choose.contains(lane);
        match &answer.level {
            _ if !findings.searches.is_empty() => Choice::Searched,
            _ if !findings.results.iter().any(measured) => Choice::Nothing,
            _ if findings.screening.is_some() => Choice::Screened,
            _ if raced == 1 && findings.lanes.len() > 1 => Choice::Twice,
            _ if raced == 1 => Choice::Alone,
            _ if answer.choose.is_empty() || !told() => self.no_choice(undecided),
            Some(Level::Undecided { because, .. }) if answer.reasons.is_empty() => {
                Choice::Open { because: *because, ties: self.works(level::ties(answer, &findings.results)) }
            }
            Some(Level::Unnamed) if answer.reasons.is_empty() => Choice::Unnamed,
            Some(Level::Tie) if answer.reasons.is_empty() && answer.choose.len() >= raced => Choice::Level,
            // Each of them is better than another at something: "either" would sound as if it did not matter.
            _ if answer.reasons.iter().any(|of| chosen(&of.lane) && chosen(&of.against)) => Choice::ByWork,
            _ => Choice::Chosen,
        }
    }

    fn no_choice(&self, undecided: &[usize]) -> Choice {
        if undecided.is_empty() {
            let mut compared = self.findings.results.iter().filter(|result| !result.pairs.is_empty());
            return Choice::None { disk_everywhere: compared.all(|result| result.limit == Limit::Device) };
        }
        let open = undecided.iter().map(|&place| because(&self.findings.results[place]));
        let because = Undecided::of_most(open.chain(never_reached(self.findings)));
        Choice::NoneYet { because: because.unwrap_or(Undecided::Noise) }
    }

    /// Undecided work by its reasons.
    fn open(&self, undecided: &[usize]) -> Vec<OpenWork> {
        let results = &self.findings.results;
        let of = |reason: Undecided| {
            let places = undecided.iter().copied().filter(|&place| because(&results[place]) == reason);
            let works = self.works_as(places, |place| self.open_pairs(place));
            (!works.is_empty()).then_some(OpenWork { because: reason, works })
        };
        Undecided::IN_ORDER.into_iter().filter_map(of).collect()
    }

    /// A result, by the pairs that are undecided where others of it are decided.
    fn open_pairs(&self, place: usize) -> Work {
        let result = &self.findings.results[place];
        let decided = |pair: &Pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower | Verdict::Tie);
        let is_open = |pair: &Pair| pair.verdict == Verdict::Undecided && !self.is_twin(pair);
        let open = (0..).zip(&result.pairs).filter(|(_, pair)| is_open(pair)).map(|(place, _)| place);
        match self.contestants(result).any(decided) {
            true => Work::Pairs { result: place as u32, pairs: open.collect() },
            false => Work::Result { result: place as u32 },
        }
    }

    /// Of the results that could not tell, what was measured in each.
    fn limited(&self, untold: &[usize]) -> Vec<LimitedWork> {
        let of = |limit: Limit| {
            let places = untold.iter().copied().filter(|&place| self.findings.results[place].limit == limit);
            let places: Vec<usize> = places.collect();
            let results = places.len() as u32;
            (results > 0).then(|| LimitedWork { limit, results, works: self.works(places) })
        };
        NOT_THE_FILESYSTEMS.into_iter().filter_map(of).collect()
    }

    /// Results whose pairs have no verdict, by the reason.
    fn unranked(&self, answer: &Answer) -> Vec<UnrankedWork> {
        let apart: HashSet<&String> = answer.not_ranked.iter().flat_map(|fact| &fact.lanes).collect();
        let mut reasons: Vec<(&Sentence, Vec<usize>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (place, result) in self.findings.results.iter().enumerate() {
            // What was measured instead of the lanes is said of the result as a whole.
            if matches!(result.limit, Limit::Device | Limit::Harness) {
                continue;
            }
            let pairs = result.pairs.iter().filter(|pair| pair.verdict == Verdict::None && pair.ratio.is_some());
            let pairs = pairs.filter(|pair| !apart.contains(&pair.a) && !apart.contains(&pair.b));
            for why in pairs.filter_map(|pair| pair.why.as_ref()).filter(|why| !why.trim().is_empty()) {
                let at = *known.entry(why).or_insert(reasons.len());
                match reasons.get_mut(at) {
                    Some((_, places)) if places.last() == Some(&place) => {}
                    Some((_, places)) => places.push(place),
                    None => reasons.push((why, vec![place])),
                }
            }
        }
        let work =
            |(why, places): (&Sentence, Vec<usize>)| UnrankedWork { why: why.clone(), works: self.works(places) };
        reasons.into_iter().map(work).collect()
    }

    /// What each lane could not do. Where the race did not come to it, that is no failure of the lane.
    fn failures(&self) -> Vec<FailedLane> {
        let mut failed: BTreeMap<&str, Vec<(usize, &Sentence)>> = BTreeMap::new();
        for (place, result) in self.findings.results.iter().enumerate() {
            for estimate in &result.estimates {
                failed.entry(&estimate.lane).or_default().extend(estimate.failed().map(|reason| (place, reason)));
            }
        }
        let of = |lane: &str| {
            let failed = failed.get(lane).filter(|failed| !failed.is_empty())?;
            let mut reasons: Vec<(&Sentence, Vec<usize>)> = Vec::new();
            for &(place, reason) in failed {
                match reasons.iter_mut().find(|(other, _)| *other == reason) {
                    Some((_, places)) => places.push(place),
                    None => reasons.push((reason, vec![place])),
                }
            }
            let reason = |(reason, places): (&Sentence, Vec<usize>)| FailedWork {
                reason: reason.clone(),
                works: self.works(places),
            };
            Some(FailedLane {
                lane: lane.to_owned(),
                works: self.works(failed.iter().map(|(place, _)| *place)),
                reasons: reasons.into_iter().map(reason).collect(),
            })
        };
        self.findings.lanes.iter().filter_map(|lane| of(&lane.name)).collect()
    }

    /// The reasons of the answer, lane by lane. Why the only choice is the choice comes first; of several choices, first why
    /// the rest is none.
    fn claims(&self, answer: &Answer) -> Vec<LaneClaims> {
        let mut lanes: Vec<LaneClaims> = Vec::new();
        for (place, reason) in answer.reasons.iter().enumerate() {
            let (lane, claim) = self.claim(place, reason);
            match lanes.iter_mut().find(|of| of.lane == *lane) {
                Some(of) => of.claims.push(claim),
                None => lanes.push(LaneClaims { lane: lane.clone(), claims: vec![claim] }),
            }
        }
        let only = answer.choose.len() == 1;
        lanes.sort_by_key(|of| answer.choose.contains(&of.lane) != only);
        let reason = |claim: &Claim| &answer.reasons[claim.reason as usize];
        let sure = |claim: &Claim| reason(claim).at_least.unwrap_or(1.0);
        for of in &mut lanes {
            of.claims.sort_by(|x, y| sure(x).total_cmp(&sure(y)).then(reason(x).ratio.total_cmp(&reason(y).ratio)));
        }
        lanes
    }

    /// A reason told with the lane as reference that the verdicts and the tables tell it with; and of which lane.
    fn claim<'r>(&self, place: usize, reason: &'r Reason) -> (&'r String, Claim) {
        let of = |result: &ResultFinding| result.workload == reason.workload && result.group == reason.group;
        let result = self.findings.results.iter().position(of);
        let reference = match self.tables.get(reason.workload.as_str()) {
            Some(&table) => Some(&self.findings.operations[table as usize].reference),
            None => result.and_then(|place| self.findings.results[place].reference.as_ref()),
        };
        let gain = reference == Some(&reason.lane);
        let (lane, against) = if gain { (&reason.against, &reason.lane) } else { (&reason.lane, &reason.against) };
        let claim =
            Claim { reason: place as u32, against: against.clone(), gain, result: result.map(|place| place as u32) };
        (lane, claim)
    }
}

/// Whether a result set lanes apart, or showed that they are level in something other than the disk.
pub(crate) fn told_something(result: &ResultFinding) -> bool {
    result.pairs.iter().any(|pair| match pair.verdict {
        Verdict::Faster | Verdict::Slower => true,
        Verdict::Tie => result.limit != Limit::Device,
        Verdict::Undecided | Verdict::None => false,
    })
}

/// The one reason why a result is undecided.
fn because(result: &ResultFinding) -> Undecided {
    Undecided::first(result.pairs.iter().filter_map(|pair| pair.undecided)).unwrap_or(Undecided::Noise)
}

/// Why work was never raced, once for each piece of it.
pub(crate) fn never_reached(findings: &Findings) -> impl Iterator<Item = Undecided> {
    let reached = findings.answer.as_ref().and_then(|answer| answer.reached);
    let count = reached.map_or(0, |reached| reached.of.saturating_sub(reached.workloads));
    let ended = matches!(findings.outcome.as_str(), "complete" | "unexplained");
    std::iter::repeat_n(if ended { Undecided::OutOfBudget } else { Undecided::Interrupted }, count as usize)
}
