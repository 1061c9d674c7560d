//! A file of MPI-IO: the few calls that collective I/O is, and what MPI says where one fails.

use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::AsRaw;
use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;

/// Stands before what is said of a lane that is full.
pub const FULL: &str = "full ";

/// A file that all ranks of a team have open.
pub struct MpiFile {
    handle: ffi::MPI_File,
}

impl MpiFile {
    /// Opens a file that is there, without hints; all ranks of the team call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn open(team: &SimpleCommunicator, path: &CStr, writes: bool) -> Result<MpiFile, String> {
        // Whoever writes by MPI-IO may have to read what it writes beside.
        let mode = if writes { ffi::MPI_MODE_RDWR } else { ffi::MPI_MODE_RDONLY };
        let mut handle = MaybeUninit::uninit();
        // SAFETY: the team lives, the path ends in a zero, there are no hints, and MPI fills the handle where it succeeds.
        let code = unsafe {
            let no_hints = ffi::RSMPI_INFO_NULL;
            ffi::MPI_File_open(team.as_raw(), path.as_ptr(), mode.cast_signed(), no_hints, handle.as_mut_ptr())
        };
        checked(code, "MPI_File_open")?;
        // SAFETY: it succeeded.
        Ok(MpiFile { handle: unsafe { handle.assume_init() } })
    }

    /// Writes or reads a block; all ranks of the team call it, each for its own.
    ///
    /// # Safety
    /// There are so many bytes at `block`, and nobody else looks at them meanwhile.
    ///
    /// # Errors
    /// What MPI says, and where it moved less.
    pub unsafe fn transfer(&self, writes: bool, (offset, block, bytes): (i64, *mut u8, c_int)) -> Result<(), String> {
        let mut status = MaybeUninit::uninit();
        // SAFETY: the file is open, the caller vouches for the block, and MPI fills the status where it succeeds.
        let code = unsafe {
            let (file, block, told) = (self.handle, block.cast::<c_void>(), status.as_mut_ptr());
            match writes {
                true => ffi::MPI_File_write_at_all(file, offset, block, bytes, ffi::RSMPI_UINT8_T, told),
                false => ffi::MPI_File_read_at_all(file, offset, block, bytes, ffi::RSMPI_UINT8_T, told),
            }
        };
        let call = if writes { "MPI_File_write_at_all" } else { "MPI_File_read_at_all" };
        checked(code, call)?;
        let mut moved = 0;
        // SAFETY: the call succeeded, so that the status is its own.
        let code = unsafe { ffi::MPI_Get_count(status.as_ptr(), ffi::RSMPI_UINT8_T, &raw mut moved) };
        checked(code, "MPI_Get_count")?;
        if moved == bytes {
            return Ok(());
        }
        Err(format!("{call} moved {moved} of {bytes} bytes at offset {offset}"))
    }

    /// Has all that was written reach the disk or the server; all ranks of the team call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn sync(&self) -> Result<(), String> {
        // SAFETY: the file is open.
        checked(unsafe { ffi::MPI_File_sync(self.handle) }, "MPI_File_sync")
    }

    /// Closes it; all ranks of the team call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn close(mut self) -> Result<(), String> {
        // SAFETY: the file is open, and nobody has it behind this.
        checked(unsafe { ffi::MPI_File_close(&raw mut self.handle) }, "MPI_File_close")
    }
}

/// What MPI says of a call that did not succeed: files return errors, where nobody asked for something else.
fn checked(code: c_int, call: &str) -> Result<(), String> {
    if code == ffi::MPI_SUCCESS.cast_signed() {
        return Ok(());
    }
    let mut text = [0; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let (mut length, mut class) = (0, 0);
    // SAFETY: there is room for the longest text and its end, and both numbers are this function's own. Where MPI says nothing
    // the text is empty.
    let said = unsafe {
        ffi::MPI_Error_class(code, &raw mut class);
        ffi::MPI_Error_string(code, text.as_mut_ptr(), &raw mut length);
        CStr::from_ptr(text.as_ptr()).to_string_lossy()
    };
    let full = [ffi::MPI_ERR_NO_SPACE, ffi::MPI_ERR_QUOTA].iter().any(|of| of.cast_signed() == class);
    Err(in_words(call, &said, (code, full)))
}

/// On one line, as MPICH does not say it.
fn in_words(call: &str, said: &str, (code, full): (c_int, bool)) -> String {
    let said: Vec<&str> = said.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let said: Vec<&str> = said.into_iter().filter(|word| !word.is_empty()).collect();
    let said = if said.is_empty() { format!("error {code}") } else { said.join(" ") };
    format!("{}{call}: {said}", if full { FULL } else { "" })
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn what_mpi_says_is_one_line_and_a_full_lane_is_told() {
        let stack = "Other I/O error , error stack:\nADIOI_GEN_WRITECONTIG(123):\tOther I/O error Input/output error\n";
        assert_eq!(
            in_words("MPI_File_sync", stack, (5, false)),
            "MPI_File_sync: Other I/O error , error stack: ADIOI_GEN_WRITECONTIG(123): Other I/O error Input/output error"
        );
        assert_eq!(in_words("MPI_File_close", "MPI_ERR_NO_SPACE", (1, true)), "full MPI_File_close: MPI_ERR_NO_SPACE");
        assert_eq!(in_words("MPI_File_open", "", (77, false)), "MPI_File_open: error 77");
    }
}
