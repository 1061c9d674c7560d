//! Sentences that a record holds as text, as those of the statistics where they are known: other languages have them then.

use crate::explain;
use crate::statements::{name, race as statement, text};
use model::Sentence;
use model::sentence::Weight;

/// A warning of the record's own. That two lanes are one filesystem weighs more than all else that is said of a race.
pub(crate) fn warning(said: String) -> Sentence {
    if let Some((lanes, "")) = said.split_once(": what sets them apart is no filesystem's doing") {
        return statement::one_filesystem(text(lanes)).weigh(Weight::Choice);
    }
    let known = explain::refusal(&said).or_else(|| {
        if said == "this is a virtual machine: its disk may be shared, cached by the host or capped" {
            return Some(statement::virtual_machine());
        }
        let size = said.strip_prefix("mkfs chooses other defaults on large disks than on lanes of ")?;
        Some(statement::other_defaults(name(size.strip_suffix(": journal, log, chunk sizes")?)))
    });
    known.map_or_else(|| Sentence::from(said.clone()), |of| of.weigh(Weight::Circumstances))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said_as_it_stands_and_can_be_said_in_other_languages() {
        for said in [
            "this is a virtual machine: its disk may be shared, cached by the host or capped",
            "mkfs chooses other defaults on large disks than on lanes of 2 GiB: journal, log, chunk sizes",
            "nothing is explained: the kernel refuses perf events; run as root",
            "commits is not explained: its lanes live in guests, whose kernel is not looked at",
            "not all of commits is explained: nobody looked meanwhile",
        ] {
            let sentence = warning(said.to_owned());
            assert_eq!((&*sentence, sentence.weight()), (said, Weight::Circumstances));
            assert!(sentence.said().is_some(), "{said}");
        }
        assert!(warning("somebody's own".to_owned()).said().is_none());
    }
}
