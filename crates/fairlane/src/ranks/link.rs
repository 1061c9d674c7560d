//! The lines between this process and the relay that carries them over MPI (`fairlane-mpi`), on standard input.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The end on which this process speaks.
pub struct Link {
    stream: Mutex<UnixStream>,
}

/// The end on which it listens.
pub struct Listening {
    stream: BufReader<UnixStream>,
}

/// A line of the relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Which rank this is, of how many, and the relay's version.
    Rank {
        /// From 0.
        rank: u32,
        /// At least 1.
        size: u32,
        /// Version of `fairlane-mpi`.
        version: String,
    },
    /// Another rank says something.
    From {
        /// Which.
        rank: u32,
        /// One line.
        text: String,
    },
    /// All ranks came to the barrier.
    Released,
    /// How far the clocks of another rank go ahead of this one's.
    Clocks {
        /// Which.
        rank: u32,
        /// `None`: it did not answer.
        ahead: Option<Ahead>,
    },
    /// The process of another rank is gone.
    Lost {
        /// Which.
        rank: u32,
        /// One phrase.
        why: String,
    },
}

/// How far clocks of another rank go ahead of this one's, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: i64,
    /// The time of day.
    pub wall_ns: i64,
    /// How far both may be wrong: half the shortest way there and back.
    pub uncertainty_ns: u64,
}

/// Takes the relay's socket, which is this process's standard input.
///
/// # Errors
/// Where it is no socket.
pub fn open() -> std::io::Result<(Link, Listening)> {
    let of_input = || std::io::stdin().as_fd().try_clone_to_owned();
    let (speaks, listens) = (UnixStream::from(of_input()?), UnixStream::from(of_input()?));
    speaks.peer_addr()?;
    Ok((Link::new(speaks), Listening { stream: BufReader::new(listens) }))
}

impl Link {
    /// Over this end of the relay's socket.
    pub fn new(stream: UnixStream) -> Self {
        Link { stream: Mutex::new(stream) }
    }

    /// Whoever says something waits at most so long for a relay that does not listen, and then takes it for gone.
    ///
    /// # Errors
    /// Where the socket takes no such limit.
    pub fn wait_at_most(&self, most: Duration) -> std::io::Result<()> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).set_write_timeout(Some(most))
    }

    /// Says something to another rank.
    ///
    /// # Errors
    /// Where the relay is gone.
    pub fn tell(&self, rank: u32, text: &str) -> std::io::Result<()> {
        self.line(&format!("to {rank} {text}\n"))
    }

    /// Comes to the barrier.
    ///
    /// # Errors
    /// Where the relay is gone.
    pub fn barrier(&self) -> std::io::Result<()> {
        self.line("barrier\n")
    }

    /// An agent of this rank is to do a part of collective I/O together with those of these ranks.
    ///
    /// # Errors
    /// Where the relay is gone.
    pub fn collect(&self, ranks: &[u32]) -> std::io::Result<()> {
        let ranks: Vec<String> = ranks.iter().map(u32::to_string).collect();
        self.line(&format!("collect {}\n", ranks.join(" ")))
    }

    /// The agent of this rank has done its part, or takes none in it.
    ///
    /// # Errors
    /// Where the relay is gone.
    pub fn collected(&self) -> std::io::Result<()> {
        self.line("collected\n")
    }

    /// Asks for the clocks of another rank.
    ///
    /// # Errors
    /// Where the relay is gone.
    pub fn clocks(&self, rank: u32) -> std::io::Result<()> {
        self.line(&format!("clocks {rank}\n"))
    }

    /// The job ends with an exit status; all of its ranks are well, or (`broken`) MPI ends those that are not.
    pub fn end(&self, status: u8, broken: bool) {
        // A relay that is gone needs not be told.
        let _ = self.line(&format!("{} {status}\n", if broken { "abort" } else { "end" }));
    }

    fn line(&self, line: &str) -> std::io::Result<()> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}

impl Listening {
    /// The next line; `None`: the relay is gone.
    pub fn next_line(&mut self) -> Option<Heard> {
        let mut line = Vec::new();
        match self.stream.read_until(b'\n', &mut line) {
            Ok(1..) if line.pop() == Some(b'\n') => read(&String::from_utf8_lossy(&line)),
            _ => None,
        }
    }
}

/// Reads a line; what no relay says is as if it were gone.
fn read(line: &str) -> Option<Heard> {
    let mut words = line.splitn(3, ' ');
    let verb = words.next()?;
    let rank = words.next().and_then(|word| word.parse::<u32>().ok());
    let rest = words.next().unwrap_or_default().to_owned();
    match (verb, rank) {
        ("from", Some(rank)) => Some(Heard::From { rank, text: rest }),
        ("lost", Some(rank)) => Some(Heard::Lost { rank, why: rest }),
        ("released", None) => Some(Heard::Released),
        ("clocks", Some(rank)) => Some(Heard::Clocks { rank, ahead: ahead(&rest) }),
        ("rank", Some(rank)) => {
            let (size, version) = rest.split_once(' ')?;
            let size = size.parse().ok().filter(|size| rank < *size)?;
            Some(Heard::Rank { rank, size, version: version.to_owned() })
        }
        _ => None,
    }
}

/// What is no three numbers is not known.
fn ahead(words: &str) -> Option<Ahead> {
    let mut words = words.split(' ');
    Some(Ahead {
        monotonic_ns: words.next()?.parse().ok()?,
        wall_ns: words.next()?.parse().ok()?,
        uncertainty_ns: words.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_a_part_of_collective_io_the_relay_hears_whose_it_is_and_that_it_is_over() {
        let (mut relay, stream) = UnixStream::pair().unwrap();
        let link = Link::new(stream);
        link.collect(&[0, 2, 11]).unwrap();
        link.collected().unwrap();
        drop(link);
        let mut lines = String::new();
        std::io::Read::read_to_string(&mut relay, &mut lines).unwrap();
        assert_eq!(lines, "collect 0 2 11\ncollected\n");
    }

    #[test]
    fn lines_of_the_relay_are_read_and_others_are_none() {
        let rank = Heard::Rank { rank: 1, size: 4, version: "0.1.0".to_owned() };
        assert_eq!(read("rank 1 4 0.1.0"), Some(rank));
        assert_eq!(read("from 3 {\"a\": 1}"), Some(Heard::From { rank: 3, text: "{\"a\": 1}".to_owned() }));
        assert_eq!(read("lost 2 it ended"), Some(Heard::Lost { rank: 2, why: "it ended".to_owned() }));
        assert_eq!(read("released"), Some(Heard::Released));
        let ahead = Ahead { monotonic_ns: -7, wall_ns: 8, uncertainty_ns: 90 };
        assert_eq!(read("clocks 2 -7 8 90"), Some(Heard::Clocks { rank: 2, ahead: Some(ahead) }));
        for unknown in ["clocks 2 none", "clocks 2 1 2", "clocks 2 1 2 -3"] {
            assert_eq!(read(unknown), Some(Heard::Clocks { rank: 2, ahead: None }));
        }
        for wrong in ["", "rank 4 4 0.1.0", "rank 1 x y", "from x y", "hello", "rank 0 1"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
