//! What rank 0 asks the ranks of a job, and what they answer: one JSON object a line.

use model::agent::{Reply, Request};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A question with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Counts up; a question that nobody waits for any more has an older one.
    pub number: u64,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Ask {
    /// Who it is.
    Hello,
    /// Whether it sees what rank 0 wrote into a lane, and may work there.
    Look {
        /// The directory that is raced.
        directory: PathBuf,
        /// The lane's folder below it.
        folder: PathBuf,
        /// What rank 0 wrote there.
        token: String,
    },
    /// Something for the agent of a lane, which is started where there is none.
    Agent {
        /// Number of the lane.
        lane: u32,
        /// As the conductor of one machine asks it.
        request: Box<Request>,
        /// The rank whose folder is meant, where the request names the lane's; `None`: the one that all share.
        folder_of: Option<u32>,
        /// The ranks whose agents do it together, by MPI-IO, as the first and the last of each row; empty: each does it by itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        together: Vec<[u32; 2]>,
    },
    /// Comes to the barrier at which others begin to work, and does nothing behind it. It is answered before the others are let
    /// go, so that nothing is sent while they work.
    Barrier,
    /// Its agents end: the next requests start others.
    EndAgents,
    /// Everything ends in order; not answered.
    Stop,
    /// Whether it lives; answered at once, whatever it does.
    Ping,
}

/// An answer with the number of its question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The question's.
    pub number: u64,
    /// What is answered.
    pub answer: Answer,
}

/// What a rank answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// To `hello`.
    Hello {
        /// Version of Fairlane.
        version: String,
        /// What tells its program from another build of that version.
        build: String,
        /// What tells its machine from others: only who sees it knows of which.
        boot: String,
    },
    /// To `end-agents` and `barrier`.
    Done,
    /// To `look`.
    Looked {
        /// Why it cannot work there; `None`: it can.
        trouble: Option<Trouble>,
    },
    /// To `agent`.
    Agent {
        /// What the agent answered.
        reply: Box<Reply>,
        /// When, on its machine's clock, of measured work.
        moments: Option<Moments>,
    },
    /// The agent is gone, or what the filesystem does has no end.
    Lost {
        /// One phrase.
        reason: String,
        /// Its process cannot be ended: it hangs in the kernel.
        hangs: bool,
    },
    /// Not all ranks came to the barrier.
    Apart,
    /// To `ping`.
    Pong,
}

/// Why a rank cannot work in a lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "trouble", rename_all = "kebab-case")]
pub enum Trouble {
    /// There is no such directory.
    Missing,
    /// What rank 0 wrote is not there.
    NotShared,
    /// It may not be read or written.
    NotAllowed {
        /// What the kernel says.
        why: String,
    },
    /// It does not answer.
    Silent,
}

/// Nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// When the barrier let this rank go.
    pub released_ns: u64,
    /// When it asked its agent.
    pub asked_ns: u64,
}
