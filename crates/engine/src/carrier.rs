//! The socket on which an agent asks for what MPI alone can do: `fairlane-mpi` hands it down, from parent to child.
//!
//! This process links no MPI, and needs none: where nobody handed such a socket down, collective I/O is refused.

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketType, sendmsg};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;

/// The variable that has the socket's number.
const VARIABLE: &str = "FAIRLANE_MPI_SOCKET";

static CARRIER: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Takes the socket, where there is one: from here on no program that this process starts gets it unasked. To be called
/// before anything else opens files.
pub fn inherit() {
    CARRIER.get_or_init(handed_down);
}

/// The socket that [`inherit`] took; `None`: there is none.
pub fn socket() -> Option<BorrowedFd<'static>> {
    CARRIER.get()?.as_ref().map(AsFd::as_fd)
}

fn handed_down() -> Option<OwnedFd> {
    let number: RawFd = std::env::var(VARIABLE).ok()?.parse().ok().filter(|number| *number > 2)?;
    // SAFETY: it is only asked what it is; of a number that is no open file the kernel says so.
    let asked = unsafe { BorrowedFd::borrow_raw(number) };
    // A variable that somebody else's program left may name anything.
    if rustix::net::sockopt::socket_type(asked) != Ok(SocketType::SEQPACKET) {
        return None;
    }
    fcntl_setfd(asked, FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, `fairlane-mpi` handed it down for this process to have, and nobody else here knows of it; this
    // is done once.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Says something with three open files: the end on which the answer is awaited, the file that is meant, and memory.
pub(crate) fn ask(socket: BorrowedFd<'_>, text: &str, files: [BorrowedFd<'_>; 3]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    // There is room for three.
    control.push(SendAncillaryMessage::ScmRights(&files));
    let sent = sendmsg(socket, &[IoSlice::new(text.as_bytes())], &mut control, SendFlags::NOSIGNAL)?;
    if sent == text.len() { Ok(()) } else { Err(Errno::IO) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_socket_that_was_handed_down_there_is_none() {
        // Whoever runs the tests hands none down.
        inherit();
        assert!(socket().is_none());
    }
}
