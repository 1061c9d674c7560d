//! Directories that servers keep: what is compared with them, and what was said of when their servers answer.

use crate::statements::{name, pair as statement};
use model::Sentence;
use model::lane::{Lane, ServerAnswers};

/// That what was said of two lanes' servers differs; of lanes that no server keeps nothing has to be said.
pub(crate) fn unlike(a: &Lane, b: &Lane) -> Option<Sentence> {
    if !(a.is_served() && b.is_served()) || a.server_answers == b.server_answers {
        return None;
    }
    Some(match (a.server_answers, b.server_answers) {
        (None, _) => statement::server_said_of_one(name(&b.name), name(&a.name)),
        (_, None) => statement::server_said_of_one(name(&a.name), name(&b.name)),
        (Some(ServerAnswers::Sync), _) => statement::servers_said(name(&a.name), name(&b.name)),
        (Some(ServerAnswers::Async), _) => statement::servers_said(name(&b.name), name(&a.name)),
    })
}

/// What stands beside a verdict of two lanes of which the same was said.
pub(crate) fn compared(a: &Lane, b: &Lane) -> Sentence {
    let (one, other) = (name(&a.name), name(&b.name));
    match a.server_answers {
        None => statement::servers_compared(one, other),
        Some(ServerAnswers::Sync) => statement::servers_compared_sync(one, other),
        Some(ServerAnswers::Async) => statement::servers_compared_async(one, other),
    }
}

/// What was said of a lane's server, behind the lane's name.
pub(crate) fn said(lane: &Lane) -> Sentence {
    match lane.server_answers {
        None => statement::server_unsaid(),
        Some(ServerAnswers::Sync) => statement::server_said_sync(),
        Some(ServerAnswers::Async) => statement::server_said_async(),
    }
}

/// What was said of a lane's server in two races, where that differs: `sync`, `async` or `nothing`.
pub(crate) fn said_otherwise(before: &Lane, now: &Lane) -> Option<[&'static str; 2]> {
    let word = |lane: &Lane| lane.server_answers.map_or("nothing", ServerAnswers::word);
    (before.server_answers != now.server_answers).then(|| [word(before), word(now)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparable::tests::lane;
    use crate::comparable::{comparable, not_ranked};

    fn served(name: &str, server_answers: Option<ServerAnswers>) -> Lane {
        Lane {
            filesystem: "nfs4".to_owned(),
            ground: format!("/mnt/{name}"),
            backing: String::new(),
            server_answers,
            ..lane(name, "directory", "")
        }
    }

    #[test]
    fn servers_that_were_said_to_answer_at_different_moments_get_no_verdict() {
        let (sync, fast) = (served("slow", Some(ServerAnswers::Sync)), served("fast", Some(ServerAnswers::Async)));
        for why in [comparable(&sync, &fast).unwrap_err(), comparable(&fast, &sync).unwrap_err()] {
            assert!(why.starts_with("different promises: who started this race said that the server of slow"), "{why}");
            assert!(why.contains("that of fast before that (async)") && why.contains("survives a crash"), "{why}");
        }
        let facts = not_ranked(&[&sync, &fast], &sync);
        assert_eq!(facts.len(), 1, "{facts:?}");
        assert_eq!((&facts[0].lanes[..], facts[0].against.as_str()), (&["fast".to_owned()][..], "slow"));
        assert!(facts[0].what.starts_with("has a server"), "{}", facts[0].what);
        assert!(facts[0].what.contains("before its disk has the data (async), as was said"), "{}", facts[0].what);
    }

    #[test]
    fn the_same_said_of_both_stands_beside_the_verdict_and_nothing_said_is_not_known() {
        for (said, words) in [
            (None, "what survives a crash there is not known"),
            (Some(ServerAnswers::Sync), "once their disks have the data (sync)"),
            (Some(ServerAnswers::Async), "before their disks have the data (async)"),
        ] {
            let beside = comparable(&served("a", said), &served("b", said)).unwrap();
            assert!(beside.iter().any(|sentence| sentence.contains(words)), "{said:?}: {beside:?}");
            let claims = beside.iter().any(|sentence| sentence.contains("who started this race said"));
            assert_eq!(claims, said.is_some(), "{beside:?}");
        }
    }

    #[test]
    fn what_was_said_of_one_server_alone_is_asked_of_the_other() {
        let (told, untold) = (served("told", Some(ServerAnswers::Sync)), served("untold", None));
        for why in [comparable(&told, &untold).unwrap_err(), comparable(&untold, &told).unwrap_err()] {
            let asks = "when the server of told confirms a sync, and not of untold: say it of both";
            assert!(why.contains(asks), "{why}");
        }
        assert!(not_ranked(&[&told, &untold], &told)[0].what.contains("nobody said when"));
        // What no server keeps is told apart by its disk.
        let here = Lane { filesystem: "ext4".to_owned(), ..served("here", None) };
        assert!(comparable(&told, &here).unwrap_err().starts_with("different disks"));
    }
}
