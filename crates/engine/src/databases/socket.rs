//! The Unix socket of one client.

use super::session::DatabaseError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{BufReader, Error, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// An answer that takes longer is no answer: a lock is waited for 50 s by default.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
const BUFFER_BYTES: usize = 64 << 10;

/// Waits for what comes with poll(2). Who waits in recv(2) is woken for nothing as soon as the server has taken the
/// statement, because both kinds of waiting share a queue and only poll says for what it waits: with 36 clients that was
/// a second context switch per transaction and a tenth of the transactions.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Arc<UnixStream>,
    /// Whether somebody else sees to it that an answer which never comes is not waited for.
    watched: bool,
}

impl Socket {
    /// Connects.
    ///
    /// # Errors
    /// [`Cure::Lost`](super::session::Cure): nobody listens there.
    pub(super) fn connect(path: &Path) -> Result<BufReader<Socket>, DatabaseError> {
        let stream = UnixStream::connect(path).map_err(|error| DatabaseError::lost(&error))?;
        Ok(BufReader::with_capacity(BUFFER_BYTES, Socket { stream: Arc::new(stream), watched: false }))
    }

    /// As [`Session::watched`](super::session::Session::watched).
    pub(super) fn watched(&mut self) -> Weak<UnixStream> {
        self.watched = true;
        Arc::downgrade(&self.stream)
    }
}

impl Read for Socket {
    fn read(&mut self, room: &mut [u8]) -> Result<usize, Error> {
        let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        match poll(&mut [PollFd::new(&*self.stream, PollFlags::IN)], (!self.watched).then_some(&patience))? {
            0 => Err(Error::new(ErrorKind::TimedOut, format!("no answer in {} seconds", PATIENCE.as_secs()))),
            _ => (&*self.stream).read(room),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        (&*self.stream).write(bytes)
    }

    fn flush(&mut self) -> Result<(), Error> {
        (&*self.stream).flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_comes_is_read_to_its_end_and_who_goes_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        assert!(Socket::connect(&path).unwrap_err().message.contains("gone"));
        let listener = UnixListener::bind(&path).unwrap();
        let mut client = Socket::connect(&path).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.get_mut().write_all(b"ask").unwrap();
        let mut asked = [0; 3];
        server.read_exact(&mut asked).unwrap();
        server.write_all(b"answer").unwrap();
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!((&asked, answer.as_str()), (b"ask", "answer"));
    }

    #[test]
    fn who_watches_ends_the_wait_for_an_answer_that_never_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let mut client = Socket::connect(&path).unwrap();
        let (_silent, _) = listener.accept().unwrap();
        let watch = client.get_mut().watched();
        let waits = std::thread::spawn(move || client.read_exact(&mut [0; 4]));
        watch.upgrade().unwrap().shutdown(std::net::Shutdown::Both).unwrap();
        assert_eq!(waits.join().unwrap().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
