//! The process that makes the load and samples the system, over JSON lines.
//!
//! [`serve`] reads one [`Request`] a line and answers each with exactly one [`Reply`], in order. It
//! is the same code in a local child process, in PID 1 of a guest and in a rank of an MPI job, and
//! it ends when its input closes.

mod lines;
mod trial;

use crate::lines::{Line, Lines};
use crate::trial::Session;
use model::agent::{Reply, Request, Room};
use std::any::Any;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why the conversation broke off.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The requests could not be read.
    #[error("the agent cannot read its requests: {0}")]
    Input(#[source] std::io::Error),
    /// An answer could not be written: nobody listens any more.
    #[error("the agent cannot write its answer: {0}")]
    Output(#[source] std::io::Error),
}

/// Answers requests until `quit` or the end of the input.
///
/// Whoever holds the other end of `stop` sets it to end a long `prepare`, `phase` or `slice`: it is
/// answered with `interrupted`. It is never cleared here, so that work asked for later ends at once
/// too. Nothing but replies is written to `output`.
///
/// # Errors
/// Where the input cannot be read or the output cannot be written; never for what is asked.
pub fn serve(input: impl BufRead, mut output: impl Write, stop: Arc<AtomicBool>) -> Result<(), AgentError> {
    let mut lines = Lines::new(input);
    let mut session = Session::new(stop);
    while let Some(line) = lines.next_line().map_err(AgentError::Input)? {
        let (reply, quits) = match read_request(line) {
            Ok(request) => (guarded(&mut session, |session| session.answer(&request)), request == Request::Quit),
            Err(reason) => (refused(reason), false),
        };
        send(&mut output, &reply).map_err(AgentError::Output)?;
        if quits {
            break;
        }
    }
    Ok(())
}

fn read_request(line: Line<'_>) -> Result<Request, String> {
    match line {
        Line::TooLong => Err(format!("a request is longer than {} bytes; send shorter ones", lines::MOST_BYTES)),
        Line::Whole(bytes) => Request::from_line(bytes)
            .map_err(|error| format!("this line is no request ({error}); send one JSON object a line")),
    }
}

/// A panic is a fault of ours: it becomes an answer, and what was at work is dropped because
/// nobody knows its state.
fn guarded(session: &mut Session, work: impl FnOnce(&mut Session) -> Reply) -> Reply {
    match catch_unwind(AssertUnwindSafe(|| work(session))) {
        Ok(reply) => reply,
        Err(panic) => {
            session.forget_all();
            let reason =
                format!("the agent failed inside ({}); this is a fault of Fairlane, report it", panic_text(&*panic));
            refused(reason)
        }
    }
}

/// What was asked for makes no sense, or the agent itself failed.
fn refused(reason: String) -> Reply {
    Reply::Failed { reason, errno: None, corrupt: false, unsupported: false, room: Room::Enough }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic without a message")
}

fn send(output: &mut impl Write, reply: &Reply) -> std::io::Result<()> {
    let line = reply.to_line().map_err(std::io::Error::other)? + "\n";
    // One write: whoever reads never sees half a line for long.
    output.write_all(line.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panics_message_is_found_in_either_form() {
        let text = |panic: Box<dyn Any + Send>| panic_text(&*panic).to_owned();
        assert_eq!(text(Box::new("plain")), "plain");
        assert_eq!(text(Box::new("owned".to_owned())), "owned");
        assert_eq!(text(Box::new(3)), "panic without a message");
    }

    #[test]
    fn a_panic_becomes_an_answer_and_drops_what_was_at_work() {
        let mut session = Session::new(Arc::new(AtomicBool::new(false)));
        let attach = Request::Attach { target: model::agent::Target::Null, devices: Default::default() };
        assert_eq!(session.answer(&attach), Reply::Done);
        let reply = guarded(&mut session, |_| panic!("chunk 7 of 4"));
        assert!(matches!(&reply, Reply::Failed { reason, .. } if reason.contains("chunk 7 of 4")), "{reply:?}");
        let reply = session.answer(&Request::Sync);
        assert!(matches!(&reply, Reply::Failed { reason, .. } if reason.contains("send attach")), "{reply:?}");
    }

    #[test]
    fn a_reply_is_one_line() {
        let mut output = Vec::new();
        let reason = "two\nlines".to_owned();
        send(
            &mut output,
            &Reply::Failed { reason, errno: Some(28), corrupt: false, unsupported: false, room: Room::Full },
        )
        .unwrap();
        assert_eq!(output.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(output.last(), Some(&b'\n'));
    }
}
