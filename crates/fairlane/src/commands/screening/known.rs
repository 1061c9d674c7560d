//! A record of a screening as its options are known here: it may come from anybody.

use super::{confirm, levels};
use lanes::screened_options;
use model::lane::LaneSpec;
use model::record::{Header, Record};

/// Has the options of a screening change and cost what their words do, whatever the record says of it, before anything is
/// proposed of them. Lanes that are not what its options make are runs of no design then, so that nothing is told of them; a
/// lane that nobody could have screened has no name then. Other records stay as they are.
pub fn as_known(record: &mut Record) {
    let is_made = lanes_are_made(&record.header);
    let Some(screening) = &mut record.header.plan.screening else { return };
    if !is_made {
        screening.runs.iter_mut().for_each(|run| run.at_other.clear());
    }
    let base: Option<LaneSpec> = screening.base.parse().ok();
    if !is_made && super::plan::screened(&screening.base).is_err() {
        screening.base.clear();
    }
    for factor in &mut screening.factors {
        *factor = screened_options::as_known(base.as_ref(), factor);
    }
}

/// Whether the lanes of a screening are what its options make of its lane: those that were planned, and those of which its
/// record tells. A record that is no screening has no such lanes.
pub fn lanes_are_made(header: &Header) -> bool {
    let Some(screening) = &header.plan.screening else { return true };
    let made = confirm::base(&header.plan).and_then(|base| levels::of_runs(&base, screening).ok());
    made.is_some_and(|made| levels::are_all_one(&made, &header.plan.lanes)) && levels::are_described(header)
}

#[cfg(test)]
mod tests {
    use super::super::tuned::tests::screened;
    use super::*;
    use model::screening::OptionClass;

    type Change<'a> = &'a dyn Fn(&mut Record);

    #[test]
    fn an_option_is_what_its_words_make_it_and_not_what_its_record_says() {
        let ours = screened().record;
        let read = |word: &str| {
            let mut theirs = ours.clone();
            let factor = &mut theirs.header.plan.screening.as_mut().unwrap().factors[0];
            (factor.class, factor.costs) = (OptionClass::Ordinary, "none".to_owned());
            factor.other.mount = vec![word.to_owned()];
            as_known(&mut theirs);
            let screening = theirs.header.plan.screening.unwrap();
            (screening.factors[0].class, screening.factors[0].costs.clone())
        };
        assert_eq!(read("nobarrier"), (OptionClass::Promises, String::new()), "it is called commit");
        assert_eq!(read("nombcache"), (OptionClass::Unknown, String::new()));
        let (class, costs) = read("commit=30");
        assert_eq!(class, OptionClass::Ordinary);
        assert!(costs.contains("a crash takes up to 30 s"), "{costs}");
        let mut race = ours.clone();
        race.header.plan.screening = None;
        as_known(&mut race);
        assert_eq!(race.header.plan.screening, None);
    }

    #[test]
    fn what_nobody_could_have_screened_is_not_shown_as_the_name_of_a_lane() {
        let ours = screened().record;
        let base = |text: &str| {
            let mut theirs = ours.clone();
            theirs.header.plan.screening.as_mut().unwrap().base = text.to_owned();
            // A reader that comes second finds the same.
            (0..2).for_each(|_| as_known(&mut theirs));
            stats::screening::finding(&theirs).unwrap().base
        };
        for nothing in ["$(id); rm -rf /", "ext4,,noatime", "/etc", "tmpfs", ""] {
            assert_eq!(base(nothing), "", "{nothing}");
        }
        for lane in ["ext4", "xfs", "ext4,noatime", "./of-my-own.toml"] {
            assert_eq!(base(lane), lane);
        }
    }

    #[test]
    fn lanes_that_are_not_what_the_options_make_tell_nothing() {
        let ours = screened().record;
        let told = |change: Change| {
            let mut theirs = ours.clone();
            change(&mut theirs);
            as_known(&mut theirs);
            let finding = stats::screening::finding(&theirs).unwrap();
            (finding.tells(), finding.why_untold().unwrap_or_default().contains("not the runs of a design"))
        };
        assert_eq!(told(&|_: &mut Record| ()), (true, false));
        let changes: [Change; 8] = [
            &|of| of.header.plan.screening.as_mut().unwrap().factors[0].other.mount = vec!["noatime".to_owned()],
            &|of| of.header.plan.screening.as_mut().unwrap().runs.reverse(),
            &|of| of.header.plan.screening.as_mut().unwrap().base = "xfs".to_owned(),
            &|of| of.header.plan.screening.as_mut().unwrap().base = "$(id); rm -rf /".to_owned(),
            &|of| of.header.plan.lanes[1].mount_options = vec!["nobarrier".to_owned()],
            &|of| of.header.lanes[1].spec = "r02=ext4,nobarrier".to_owned(),
            &|of| of.header.lanes[1].mount_options.push("nobarrier".to_owned()),
            &|of| of.header.lanes.truncate(1),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            assert_eq!(told(change), (false, true), "{at}");
        }
    }
}
