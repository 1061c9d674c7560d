//! How the pieces of a kept image lie in its file: compressed where that makes them shorter, because the disk that they are read from
//! is mostly the one that they are laid on.

use crate::image::Aligned;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// Bytes that have a checksum of their own, and are read and laid at once. Chosen: several times what a life cuts its data from, so
/// that most of it comes again within one.
pub(super) const PIECE_BYTES: u64 = 8 << 20;
/// A whole piece may be looked back on.
const WINDOW_LOG: u32 = PIECE_BYTES.ilog2();
/// Places that are remembered (log2): as many as find what a life's data is cut from anywhere in a piece.
const HASH_LOG: u32 = 17;
/// The fastest of zstd's usual levels: what can be made shorter comes again as it is.
const LEVEL: i32 = 1;
/// What would become shorter by less than this part is kept as it is.
const LEAST_PART: usize = 8;
/// Where pieces begin in a file: what direct I/O asks for.
const ALIGNMENT: usize = 4096;

/// Bytes of the file that a piece takes which is so long there.
pub(super) fn room(stored: u32) -> u64 {
    u64::from(stored).next_multiple_of(ALIGNMENT as u64)
}

/// Whoever makes pieces shorter.
pub(super) struct Encoder {
    zstd: Compressor<'static>,
    shorter: Aligned,
}

impl Encoder {
    /// # Errors
    /// Where there is no memory for it.
    pub(super) fn new() -> io::Result<Encoder> {
        let mut zstd = Compressor::new(LEVEL)?;
        zstd.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        zstd.set_parameter(CParameter::HashLog(HASH_LOG))?;
        Ok(Encoder { zstd, shorter: Aligned::zeroed(PIECE_BYTES as usize) })
    }

    /// What is written in place of a piece, and how many bytes of that count: as many as the piece has where it is kept as it is.
    pub(super) fn encode<'a>(&'a mut self, piece: &'a Aligned) -> (&'a [u8], u32) {
        let whole = piece.bytes().len();
        self.shorter.shorten(whole - whole / LEAST_PART);
        // What has no room there is answered by an error, and stays as it is.
        let Ok(stored) = self.zstd.compress_to_buffer(piece.bytes(), self.shorter.bytes_mut()) else {
            return (piece.bytes(), whole as u32);
        };
        self.shorter.shorten(stored.next_multiple_of(ALIGNMENT));
        self.shorter.bytes_mut()[stored..].fill(0);
        (self.shorter.bytes(), stored as u32)
    }
}

/// Whoever reads them again.
pub(super) struct Decoder {
    zstd: Decompressor<'static>,
    stored: Aligned,
}

impl Decoder {
    /// # Errors
    /// Where there is no memory for it.
    pub(super) fn new() -> io::Result<Decoder> {
        Ok(Decoder { zstd: Decompressor::new()?, stored: Aligned::zeroed(PIECE_BYTES as usize) })
    }

    /// Reads a piece, as long as it was, from its place in a file, where it is `stored` bytes long.
    ///
    /// # Errors
    /// What the system answers, and where what lies there is no piece of that length.
    pub(super) fn read(&mut self, file: &File, at: u64, stored: u32, piece: &mut Aligned) -> io::Result<()> {
        let whole = piece.bytes().len();
        if stored as usize == whole {
            return file.read_exact_at(piece.bytes_mut(), at);
        }
        self.stored.shorten(room(stored) as usize);
        file.read_exact_at(self.stored.bytes_mut(), at)?;
        let bytes = self.stored.bytes().get(..stored as usize).ok_or(io::ErrorKind::InvalidData)?;
        match self.zstd.decompress_to_buffer(bytes, piece.bytes_mut())? == whole {
            true => Ok(()),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// A piece of random bytes that come again after so many.
    fn piece(bytes: usize, again: usize) -> Aligned {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut piece = Aligned::zeroed(PIECE_BYTES as usize);
        piece.shorten(bytes);
        random.fill_bytes(piece.bytes_mut());
        for at in (again..bytes).step_by(again) {
            let length = again.min(bytes - at);
            piece.bytes_mut().copy_within(..length, at);
        }
        piece
    }

    #[test]
    fn a_piece_comes_back_as_it_was_and_lies_shorter_where_it_repeats() {
        let path = std::path::PathBuf::from(format!("/var/tmp/fairlane-pieces-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new().unwrap(), Decoder::new().unwrap());
        let whole = PIECE_BYTES as usize;
        // One that comes again after a megabyte and some, one that never does, a last one that is short, zeros of a mkfs.
        let mut zeros = Aligned::zeroed(whole);
        zeros.shorten(1 << 20);
        for (of, most) in [
            (piece(whole, 1_200_000), whole / 4),
            (piece(whole, whole), whole),
            (piece(4096, 4096), 4096),
            (zeros, 4096),
        ] {
            let bytes = of.bytes().to_vec();
            let (written, stored) = encoder.encode(&of);
            assert!(written.len() as u64 == room(stored) && written.len() <= most, "{stored} of {}", bytes.len());
            file.write_all_at(written, 1 << 20).unwrap();
            let mut again = Aligned::zeroed(whole);
            again.shorten(bytes.len());
            decoder.read(&file, 1 << 20, stored, &mut again).unwrap();
            assert!(again.bytes() == bytes);
            if (stored as usize) < bytes.len() {
                // Another length, and other bytes, are none.
                assert!(decoder.read(&file, 1 << 20, stored - 1, &mut again).is_err());
                file.write_all_at(&[0x55; 64], 1 << 20).unwrap();
                assert!(decoder.read(&file, 1 << 20, stored, &mut again).is_err());
            }
        }
    }
}
