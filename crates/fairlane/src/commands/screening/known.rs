//! A record of a screening as its options are known here: it may come from anybody.

use lanes::screened_options;
use model::lane::LaneSpec;
use model::record::Record;

/// Has the options of a screening change and cost what their words do, whatever the record says of it, before anything is
/// proposed of them. Other records stay as they are.
pub fn as_known(record: &mut Record) {
    let Some(screening) = &mut record.header.plan.screening else { return };
    let base: Option<LaneSpec> = screening.base.parse().ok();
    for factor in &mut screening.factors {
        *factor = screened_options::as_known(base.as_ref(), factor);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tuned::tests::screened;
    use super::*;
    use model::screening::OptionClass;

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
}
