//! The host's end of the channel: writes that never have too much under way, and a reader that hands every line
//! to whom it is for.

use super::protocol::{Answered, FromGuest, MOST_UNREAD_BYTES};
use model::agent::Reply;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of one write towards the guest.
const CHUNK_BYTES: usize = 1024;
/// A guest that reads nothing for so long does not live any more.
pub(crate) const READ_PATIENCE: Duration = Duration::from_secs(60);
/// Lines of the console that are kept.
const CONSOLE_LINES: usize = 200;
/// Characters of a kept line, at most.
const CONSOLE_WIDTH: usize = 300;

/// What a lane's agent answers, or why it ended.
pub type AgentReply = Result<Reply, String>;

/// Shared between the threads of one guest.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    flow: Mutex<Flow>,
    changed: Condvar,
    agents: Mutex<BTreeMap<u32, Sender<AgentReply>>>,
    console: Mutex<Console>,
}

/// What the kernel printed last.
#[derive(Debug, Default)]
struct Console {
    lines: VecDeque<Line>,
    /// Lines that came in all.
    count: u64,
}

/// A line of the console.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// When it came.
    pub(crate) at: Instant,
    /// What it says.
    pub(crate) text: String,
}

#[derive(Debug, Default)]
struct Flow {
    /// The guest said that it listens.
    ready: bool,
    /// Bytes that it has read.
    read: u64,
    /// The channel is closed.
    gone: bool,
    /// The console is closed: nothing more comes of it.
    silent: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Whether the channel is closed.
    pub(crate) fn is_gone(&self) -> bool {
        locked(&self.flow).gone
    }

    /// Waits until the guest listens. `false`: it will not, or not in that time.
    pub(crate) fn wait_until_ready(&self, patience: Duration, stop: &mut dyn FnMut() -> bool) -> bool {
        let begun = Instant::now();
        let mut flow = locked(&self.flow);
        while !flow.ready && !flow.gone && begun.elapsed() < patience {
            drop(flow);
            if stop() {
                return false;
            }
            flow = locked(&self.flow);
            if flow.ready || flow.gone {
                break;
            }
            flow = self.changed.wait_timeout(flow, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner).0;
        }
        flow.ready && !flow.gone
    }

    /// Waits until the channel is closed, at most so long.
    pub(crate) fn wait_until_gone(&self, patience: Duration) -> bool {
        let begun = Instant::now();
        let mut flow = locked(&self.flow);
        while !flow.gone && begun.elapsed() < patience {
            flow = self.changed.wait_timeout(flow, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner).0;
        }
        flow.gone
    }

    /// Waits until nothing more comes of the console, at most so long: helpers of user-mode Linux may hold it open.
    pub(crate) fn wait_until_silent(&self, patience: Duration) {
        let begun = Instant::now();
        let mut flow = locked(&self.flow);
        while !flow.silent && begun.elapsed() < patience {
            flow = self.changed.wait_timeout(flow, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// From now on the replies of a lane's agent come here.
    pub(crate) fn listen(&self, lane: u32) -> Receiver<AgentReply> {
        let (sender, receiver) = channel();
        if !self.is_gone() {
            locked(&self.agents).insert(lane, sender);
        }
        receiver
    }

    /// The last lines that the kernel printed.
    pub(crate) fn console(&self) -> Vec<Line> {
        locked(&self.console).lines.iter().cloned().collect()
    }

    /// How many lines the kernel printed so far.
    pub(crate) fn console_count(&self) -> u64 {
        locked(&self.console).count
    }

    fn change(&self, change: impl FnOnce(&mut Flow)) {
        change(&mut locked(&self.flow));
        self.changed.notify_all();
    }
}

/// Writes lines towards a guest.
#[derive(Debug)]
pub(crate) struct Writer {
    to: ChildStdin,
    sent: u64,
}

impl Writer {
    pub(crate) fn new(to: ChildStdin) -> Self {
        Writer { to, sent: 0 }
    }

    /// Writes a line in pieces, each when the guest has read enough of those before.
    ///
    /// # Errors
    /// When the guest is gone or reads nothing any more.
    pub(crate) fn line(&mut self, line: &str, shared: &Shared, patience: Duration) -> std::io::Result<()> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        for chunk in bytes.chunks(CHUNK_BYTES) {
            self.wait_for_room(chunk.len() as u64, shared, patience)?;
            self.to.write_all(chunk)?;
            self.sent += chunk.len() as u64;
        }
        self.to.flush()
    }

    fn wait_for_room(&self, bytes: u64, shared: &Shared, patience: Duration) -> std::io::Result<()> {
        let begun = Instant::now();
        let mut flow = locked(&shared.flow);
        while self.sent + bytes > flow.read + MOST_UNREAD_BYTES {
            if flow.gone {
                return Err(std::io::Error::other("the guest is gone"));
            }
            if begun.elapsed() > patience {
                return Err(std::io::Error::other("the guest reads nothing any more"));
            }
            let waited = shared.changed.wait_timeout(flow, Duration::from_millis(50));
            flow = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

/// Starts the two readers: of the channel, whose answers come out of what is returned, and of the console.
///
/// # Errors
/// When a thread cannot be started.
pub(crate) fn listen(
    from: ChildStdout,
    console: ChildStderr,
    shared: &Arc<Shared>,
) -> std::io::Result<Receiver<Answered>> {
    let (sender, answers) = channel();
    let of_channel = shared.clone();
    let builder = || std::thread::Builder::new().stack_size(512 << 10);
    builder().name("guest-channel".to_owned()).spawn(move || {
        let mut reader = BufReader::with_capacity(64 << 10, from);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line);
            hand_on(text.trim_end_matches(['\n', '\r']), &of_channel, &sender);
            line.clear();
        }
        of_channel.change(|flow| flow.gone = true);
        locked(&of_channel.agents).clear();
    })?;
    let of_console = shared.clone();
    builder().name("guest-console".to_owned()).spawn(move || {
        keep_console(console, &of_console);
        of_console.change(|flow| flow.silent = true);
    })?;
    Ok(answers)
}

fn hand_on(line: &str, shared: &Shared, answers: &Sender<Answered>) {
    match FromGuest::parse(line) {
        FromGuest::Ready => shared.change(|flow| flow.ready = true),
        FromGuest::Read(bytes) => shared.change(|flow| flow.read = bytes),
        FromGuest::Answer(text) => {
            if let Ok(answered) = serde_json::from_str(text) {
                // Whoever waited may have given up.
                let _ = answers.send(answered);
            }
        }
        FromGuest::Agent(lane, text) => {
            if let Some(agent) = locked(&shared.agents).get(&lane) {
                let _ = agent.send(Reply::from_line(text).map_err(|error| format!("{error}: {text}")));
            }
        }
        FromGuest::Ended(lane, words) => {
            if let Some(agent) = locked(&shared.agents).remove(&lane) {
                let _ = agent.send(Err(format!("the agent ended in its guest ({words})")));
            }
        }
        FromGuest::Other(text) => keep_line(text, shared),
    }
}

fn keep_console(mut console: ChildStderr, shared: &Shared) {
    let mut buffer = [0u8; 4096];
    let mut line = String::new();
    while let Ok(count) = console.read(&mut buffer) {
        if count == 0 {
            break;
        }
        for character in String::from_utf8_lossy(&buffer[..count]).chars() {
            match character {
                '\n' => keep_line(&std::mem::take(&mut line), shared),
                character if line.len() < CONSOLE_WIDTH && !character.is_control() => line.push(character),
                _ => {}
            }
        }
    }
    keep_line(&line, shared);
}

fn keep_line(line: &str, shared: &Shared) {
    let line = line.trim();
    if line.is_empty() {
        return;
    }
    let mut console = locked(&shared.console);
    if console.lines.len() >= CONSOLE_LINES {
        console.lines.pop_front();
    }
    console.count += 1;
    let line = Line { number: console.count, at: Instant::now(), text: line.chars().take(CONSOLE_WIDTH).collect() };
    console.lines.push_back(line);
}
