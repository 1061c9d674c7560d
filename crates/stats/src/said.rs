//! What to say about each result: every pair of lanes is said or follows from what is said.
//!
//! Nothing is judged here. Pairs are turned to stand against one reference lane, ties are gathered, and a pair that
//! follows from two others is left out. Lanes are numbered first: what is asked of each pair takes no look at all others.

mod known;
mod unranked;

use known::Known;
use model::Sentence;
use model::findings::{Limit, Pair, ResultFinding, Shown, Statement, Told, Undecided, Verdict};
use std::collections::HashMap;

/// Template of the reason that names an undecided pair's interval, which is said anyway.
const NAMES_THE_INTERVAL: &str = "difference_between";

/// Says of each result what there is to say.
pub fn set(results: &mut [ResultFinding]) {
    for result in results {
        result.reference = reference_of(result);
        result.statements = statements(result);
    }
}

/// A pair as it is told, with the numbers of its lanes.
#[derive(Debug, Clone, Copy)]
struct Numbered<'a> {
    told: Told,
    shown: Shown<'a>,
    a: usize,
    b: usize,
}

impl Numbered<'_> {
    fn turned(self) -> Self {
        let told = Told { turned: !self.told.turned, ..self.told };
        Numbered { told, shown: self.shown.turned(), a: self.b, b: self.a }
    }

    fn is_decided(&self) -> bool {
        matches!(self.shown.verdict, Verdict::Faster | Verdict::Slower)
    }
}

/// The lanes of a result in the order of the estimates, those that only pairs name behind them.
struct Lanes<'a> {
    names: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Lanes<'a> {
    fn new(result: &'a ResultFinding, pairs: &[(u32, &'a Pair)]) -> Self {
        let mut lanes = Lanes { names: Vec::new(), places: HashMap::new() };
        let named = result.estimates.iter().map(|estimate| estimate.lane.as_str());
        for lane in named.chain(pairs.iter().flat_map(|(_, pair)| [pair.a.as_str(), pair.b.as_str()])) {
            let next = lanes.names.len();
            if *lanes.places.entry(lane).or_insert(next) == next {
                lanes.names.push(lane);
            }
        }
        lanes
    }

    /// Every lane of the pairs is known.
    fn place(&self, lane: &str) -> usize {
        self.places.get(lane).copied().unwrap_or(usize::MAX)
    }

    fn named(&self, lanes: &[usize]) -> Vec<String> {
        lanes.iter().map(|&lane| self.names[lane].to_owned()).collect()
    }

    /// What the others are held against: the first lane of the command line that has a verdict against
    /// another, or may yet have one; where none has, the first that was compared.
    fn reference(&self, pairs: &[(u32, &Pair)]) -> Option<usize> {
        let (mut judged, mut compared) = (usize::MAX, usize::MAX);
        for (_, pair) in pairs {
            let first = self.place(&pair.a).min(self.place(&pair.b));
            compared = compared.min(first);
            if pair.verdict != Verdict::None {
                judged = judged.min(first);
            }
        }
        [judged, compared].into_iter().find(|&lane| lane < self.names.len())
    }
}

fn all_pairs(result: &ResultFinding) -> Vec<(u32, &Pair)> {
    (0..).zip(&result.pairs).collect()
}

fn reference_of(result: &ResultFinding) -> Option<String> {
    let pairs = all_pairs(result);
    let lanes = Lanes::new(result, &pairs);
    lanes.reference(&pairs).map(|lane| lanes.names[lane].to_owned())
}

/// Everything to say about a result, in reading order.
fn statements(result: &ResultFinding) -> Vec<Statement> {
    let (failed, measured): (Vec<_>, Vec<_>) = result.estimates.iter().partition(|of| of.failure.is_some());
    let is_failed = |lane: &str| failed.iter().any(|of| of.lane == lane);
    // A lane that failed is said once, not in each of its pairs.
    let mut pairs = all_pairs(result);
    pairs.retain(|(_, pair)| pair.ratio.is_some() || !(is_failed(&pair.a) || is_failed(&pair.b)));
    let tie = pairs.iter().all(|(_, pair)| pair.verdict == Verdict::Tie);
    let unranked = pairs.iter().all(|(_, pair)| matches!(pair.verdict, Verdict::Tie | Verdict::None));

    let mut said = Vec::new();
    if result.limit == Limit::Device && !pairs.is_empty() && unranked && measured.len() > 1 {
        let rates = || measured.iter().map(|estimate| estimate.in_row());
        said.push(Statement::AtTheDisk {
            slowest: rates().fold(f64::MAX, f64::min),
            fastest: rates().fold(f64::MIN, f64::max),
            tie,
        });
    } else if pairs.is_empty() {
        match measured.as_slice() {
            [only] => said.push(Statement::Alone { lane: only.lane.clone() }),
            [] if failed.is_empty() => said.push(Statement::Nothing),
            _ => {}
        }
    } else {
        said.extend(of_pairs(result, &pairs));
    }
    said.extend(failed.iter().map(|of| Statement::Failed { lane: of.lane.clone() }));
    said
}

fn of_pairs(result: &ResultFinding, pairs: &[(u32, &Pair)]) -> Vec<Statement> {
    let lanes = Lanes::new(result, pairs);
    let reference = lanes.reference(pairs).unwrap_or(usize::MAX);
    let all = turned(result, pairs, &lanes, reference);
    let mut known = Known::new(lanes.names.len());
    let mut said = ties(&all, &lanes, &mut known);
    said.extend(apart(result, &all, &lanes, reference, &mut known));
    said.extend(undecided(&all));
    said.extend(unranked::without_verdict(result, &all, &lanes, reference));
    said
}

/// The pairs with the reference in second place. Of two other lanes the later one is the subject,
/// but where they are apart, the one that is better or worse than the reference too.
fn turned<'a>(result: &ResultFinding, pairs: &[(u32, &'a Pair)], lanes: &Lanes, reference: usize) -> Vec<Numbered<'a>> {
    let mut loses = vec![false; lanes.names.len()];
    for pair in &result.pairs {
        let (loser, winner) = match pair.verdict {
            Verdict::Slower => (lanes.place(&pair.a), lanes.place(&pair.b)),
            Verdict::Faster => (lanes.place(&pair.b), lanes.place(&pair.a)),
            _ => continue,
        };
        if let Some(loses) = loses.get_mut(loser).filter(|_| winner == reference) {
            *loses = true;
        }
    }
    let turn = |&(place, pair): &(u32, &'a Pair)| {
        let (a, b) = (lanes.place(&pair.a), lanes.place(&pair.b));
        let straight = Numbered { told: Told { pair: place, turned: false }, shown: Shown::new(pair), a, b };
        let subject_is_b = match pair.verdict {
            _ if a == reference || b == reference => a == reference,
            Verdict::Faster => loses[b],
            Verdict::Slower => !loses[a],
            _ => a < b,
        };
        if subject_is_b { straight.turned() } else { straight }
    };
    pairs.iter().map(turn).collect()
}

/// Lanes that all tie with each other, and ties that no such circle covers.
fn ties<'a>(all: &[Numbered<'a>], lanes: &Lanes, known: &mut Known) -> Vec<Statement> {
    let tied = || all.iter().filter(|pair| pair.shown.verdict == Verdict::Tie);
    tied().for_each(|pair| known.add_level(pair.a, pair.b));
    let mut circles: Vec<Vec<usize>> = Vec::new();
    let mut circle_of = Vec::with_capacity(lanes.names.len());
    for lane in 0..lanes.names.len() {
        let fits = |circle: &Vec<usize>| circle.iter().all(|&other| known.is_level(lane, other));
        let circle = circles.iter().position(fits).unwrap_or(circles.len());
        circle_of.push(circle);
        match circles.get_mut(circle) {
            Some(circle) => circle.push(lane),
            None => circles.push(vec![lane]),
        }
    }
    let covered = |pair: &Numbered| circle_of[pair.a] == circle_of[pair.b];
    let statement = |lanes: Vec<String>, interval: Option<(f64, f64)>| {
        let (low, high) = interval.filter(|(low, high)| low.is_finite() && high.is_finite()).unzip();
        Statement::Tie { lanes, low, high }
    };
    let mut said: Vec<Statement> = Vec::new();
    for (place, circle) in circles.iter().enumerate().filter(|(_, circle)| circle.len() > 1) {
        let inside = all.iter().filter(|pair| circle_of[pair.a] == place && covered(pair));
        said.push(statement(lanes.named(circle), widest(inside)));
    }
    said.extend(
        tied().filter(|pair| !covered(pair)).map(|pair| statement(lanes.named(&[pair.b, pair.a]), pair.shown.interval)),
    );
    said
}

/// The outermost bounds, with every pair turned so that its bounds lie around the same one.
fn widest<'s, 'a: 's>(pairs: impl Iterator<Item = &'s Numbered<'a>>) -> Option<(f64, f64)> {
    pairs.filter_map(|pair| pair.shown.interval).reduce(|(low, high), (other_low, other_high)| {
        (low.min(other_low).min(other_high.recip()), high.max(other_high).max(other_low.recip()))
    })
}

/// Decided pairs that do not follow from others, lane by lane.
fn apart<'a>(
    result: &ResultFinding,
    all: &[Numbered<'a>],
    lanes: &Lanes,
    reference: usize,
    known: &mut Known,
) -> Vec<Statement> {
    let mut ranks = vec![usize::MAX; lanes.names.len()];
    for (rank, lane) in
        result.ranking.iter().enumerate().flat_map(|(rank, level)| level.iter().map(move |of| (rank, of)))
    {
        if let Some(of) = ranks.get_mut(lanes.place(lane)) {
            *of = rank.min(*of);
        }
    }
    let distance = |pair: &Numbered| ranks[pair.a].abs_diff(ranks[pair.b]);
    let mut decided: Vec<&Numbered> = all.iter().filter(|pair| pair.is_decided()).collect();
    // Against the reference first, the fastest first; then neighbours in the ranking, because
    // they settle the pairs that lie farther apart.
    decided.sort_by(|x, y| {
        let beside = |pair: &Numbered| pair.b != reference;
        let inside = if beside(x) {
            distance(x).cmp(&distance(y))
        } else {
            y.shown.ratio.unwrap_or(0.0).total_cmp(&x.shown.ratio.unwrap_or(0.0))
        };
        beside(x).cmp(&beside(y)).then(inside)
    });
    let mut apart: Vec<(usize, Vec<Told>)> = Vec::new();
    for pair in decided {
        let faster = pair.shown.verdict == Verdict::Faster;
        let (above, below) = if faster { (pair.a, pair.b) } else { (pair.b, pair.a) };
        if pair.b == reference || !known.follows(above, below) {
            known.add_above(above, below);
            match apart.iter_mut().find(|(lane, _)| *lane == pair.a) {
                Some((_, pairs)) => pairs.push(pair.told),
                None => apart.push((pair.a, vec![pair.told])),
            }
        }
    }
    let statement = |(lane, pairs): (usize, Vec<Told>)| Statement::Apart { lane: lanes.names[lane].to_owned(), pairs };
    apart.into_iter().map(statement).collect()
}

fn undecided(all: &[Numbered]) -> Option<Statement> {
    let open: Vec<&Numbered> = all.iter().filter(|pair| pair.shown.verdict == Verdict::Undecided).collect();
    let mut remarks: Vec<Sentence> = Vec::new();
    for remark in open.iter().filter_map(|pair| remark(&pair.shown)) {
        if !remarks.contains(remark) {
            remarks.push(remark.clone());
        }
    }
    let because = open.iter().find_map(|pair| pair.shown.undecided).unwrap_or(Undecided::Noise);
    let pairs: Vec<Told> = open.iter().map(|pair| pair.told).collect();
    (!pairs.is_empty()).then_some(Statement::Undecided { because, pairs, remarks })
}

/// What the reason of an undecided pair adds to the interval that is said anyway. What stands
/// beside the pair, behind the first clause, is a note of the race.
fn remark<'a>(pair: &Shown<'a>) -> Option<&'a Sentence> {
    let reason = pair.why?.clauses().into_iter().next()?;
    let names_it = reason.said().is_some_and(|said| said.id == NAMES_THE_INTERVAL);
    (!(names_it && pair.interval.is_some())).then_some(reason)
}

#[cfg(test)]
mod tests;
