//! How long single operations waited, beside a verdict on a rate that hides it.

use crate::figures;
use crate::layout::Phrase;
use model::findings::{Estimate, ResultFinding};

/// `p99 1.2 / 3.4 / 9 ms, longest 12 / 40 / 310 ms of all rounds`, lanes in their order; `None`: nobody waits for single
/// operations of this work, or it is not known how long.
pub(crate) fn longest(result: &ResultFinding) -> Option<Phrase> {
    if !result.stalls_matter {
        return None;
    }
    let of = |figure: fn(&Estimate) -> Option<f64>| {
        let lanes: Vec<Option<f64>> = result.estimates.iter().map(figure).collect();
        figures::in_one_unit(&lanes)
    };
    // Where the 99th percentile is what the verdict is about, it stands there.
    let p99 = of(|lane| lane.latency_p99_ns).filter(|_| result.metric != "latency_p99_ns");
    let max = of(|lane| lane.latency_max_ns);
    let parts = [p99.map(|all| format!("p99 {all}")), max.map(|all| format!("longest {all} of all rounds"))];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    (!said.is_empty()).then(|| Phrase::new(said.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::findings::Limit;

    fn commits(lanes: &[(Option<f64>, Option<f64>)]) -> ResultFinding {
        let estimate = |(p99, max): &(Option<f64>, Option<f64>)| Estimate {
            latency_p99_ns: *p99,
            latency_max_ns: *max,
            ..Estimate::default()
        };
        ResultFinding {
            explanations: Vec::new(),
            explained: Vec::new(),
            unexplained: Vec::new(),
            headline: None,
            workload: "commit".to_owned(),
            title: "commits".to_owned(),
            group: "write".to_owned(),
            section: None,
            metric: "operations_per_second".to_owned(),
            unit: "operations/s".to_owned(),
            higher_is_better: true,
            shared_rate: None,
            rounds: 8,
            limit: Limit::Flush,
            buffered: Vec::new(),
            kept: Vec::new(),
            acts: Vec::new(),
            counts: model::findings::Counts::Commits,
            missed_the_disk: false,
            by_means: false,
            stalls_matter: true,
            limit_reason: "".into(),
            estimates: lanes.iter().map(estimate).collect(),
            pairs: Vec::new(),
            ranking: Vec::new(),
            reference: None,
            statements: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn said(result: &ResultFinding) -> Option<String> {
        longest(result).map(|said| said.plain())
    }

    #[test]
    fn the_longest_waits_stand_in_one_unit_lanes_in_their_order() {
        let three = commits(&[(Some(1.2e6), Some(12e6)), (Some(3.4e6), Some(40.4e6)), (Some(9e6), Some(310.2e6))]);
        assert_eq!(said(&three).unwrap(), "p99 1.2 / 3.4 / 9 ms, longest 12 / 40.4 / 310 ms of all rounds");
        let few = commits(&[(None, Some(95e3)), (None, None)]);
        assert_eq!(said(&few).unwrap(), "longest 95 / - us of all rounds");
        assert_eq!(said(&commits(&[(None, None)])), None);
    }

    #[test]
    fn what_nobody_waits_for_or_is_the_verdict_itself_is_not_repeated() {
        let mut paced = commits(&[(Some(1.2e6), Some(2.5e9))]);
        paced.metric = "latency_p99_ns".to_owned();
        assert_eq!(said(&paced).unwrap(), "longest 2.5 s of all rounds");
        paced.stalls_matter = false;
        assert_eq!(said(&paced), None);
    }
}
