//! Bytes of a traced program's memory.

use libc::{c_void, iovec, pid_t};

/// Most bytes of a path, the zero included.
const PATH_MAX: usize = 4096;
const PAGE: usize = 4096;

/// Reads as much as is there, at most the whole buffer.
pub(crate) fn read(thread: pid_t, address: u64, into: &mut [u8]) -> usize {
    let local = iovec { iov_base: into.as_mut_ptr().cast::<c_void>(), iov_len: into.len() };
    let remote = iovec { iov_base: address as *mut c_void, iov_len: into.len() };
    // SAFETY: the local buffer is `into`, for writing; the other process's memory is checked by the kernel.
    let read = unsafe { libc::process_vm_readv(thread, &local, 1, &remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// A text that ends with a zero; `None`: it is not there, or longer than a path.
pub(crate) fn text(thread: pid_t, address: u64) -> Option<Vec<u8>> {
    if address == 0 {
        return None;
    }
    let mut text = Vec::new();
    let mut buffer = [0; PAGE];
    while text.len() < PATH_MAX {
        let at = address.checked_add(text.len() as u64)?;
        // Not beyond the page: the next one may not be there.
        let room = (PAGE - (at as usize % PAGE)).min(if text.is_empty() { 256 } else { PAGE });
        let got = read(thread, at, &mut buffer[..room]);
        if got == 0 {
            return None;
        }
        match buffer[..got].iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(&buffer[..end]);
                return (text.len() < PATH_MAX).then_some(text);
            }
            None => text.extend_from_slice(&buffer[..got]),
        }
    }
    None
}

/// A number of 64 bits.
pub(crate) fn number(thread: pid_t, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (read(thread, address, &mut bytes) == 8).then(|| u64::from_ne_bytes(bytes))
}

/// Bytes of all buffers of a list (`struct iovec`), of which a call takes 1024 at most.
pub(crate) fn bytes_of_list(thread: pid_t, address: u64, count: u64) -> u64 {
    const EACH: usize = 16;
    let mut list = vec![0; EACH * usize::try_from(count).unwrap_or(usize::MAX).min(1024)];
    let got = read(thread, address, &mut list);
    let lengths =
        list[..got].chunks_exact(EACH).map(|each| u64::from_ne_bytes(each[8..].try_into().expect("eight bytes")));
    lengths.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_across_pages_and_what_is_not_there_is_not() {
        let own = std::process::id() as pid_t;
        for length in [0, 1, 255, 256, 300, 4000, 4095] {
            let text = [vec![b'x'; length], vec![0]].concat();
            assert_eq!(super::text(own, text.as_ptr() as u64), Some(vec![b'x'; length]), "{length}");
        }
        let long = [vec![b'x'; 5000], vec![0]].concat();
        assert_eq!(text(own, long.as_ptr() as u64), None);
        assert_eq!((text(own, 0), text(own, 8)), (None, None));
        let list = [5, 7].map(|iov_len| iovec { iov_base: std::ptr::null_mut(), iov_len });
        assert_eq!(bytes_of_list(own, list.as_ptr() as u64, 2), 12);
        assert_eq!(bytes_of_list(own, 8, u64::MAX), 0);
        let value = 0x0102_0304_0506_0708u64;
        assert_eq!(number(own, (&raw const value) as u64), Some(value));
    }
}
