//! Writes a trace frame by frame, each whole on its own, so that whatever ends the tracer leaves what came before.

use crate::encoding::{
    BEFORE, END, HEADER, MAGIC, MOST_FRAME_BYTES, NOTE, OPERATION, PATH, SAMPLE, STOOD, THREAD, WAITED, fold, put,
};
use crate::{Item, Operation, call};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, Write};

/// A frame is written when it has so many bytes.
const FRAME_BYTES: usize = 256 << 10;

/// Writes items to a file.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    frame: Vec<u8>,
    /// Start of the operation before, from which the next is counted.
    start: u64,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// What the file says.
    pub fn begin(mut out: W) -> io::Result<Writer<W>> {
        out.write_all(MAGIC)?;
        Ok(Writer { out, frame: Vec::with_capacity(FRAME_BYTES + 4096), start: 0, written: MAGIC.len() as u64 })
    }

    /// Adds an item.
    ///
    /// # Errors
    /// What the file says where a frame is full; an item that is larger than a frame may be.
    pub fn add(&mut self, item: &Item) -> io::Result<()> {
        let json = |value: serde_json::Result<Vec<u8>>| value.map_err(io::Error::from);
        match item {
            Item::Header(header) => self.text(HEADER, &json(serde_json::to_vec(header))?),
            Item::Path(path) => return self.add_path(path),
            Item::Note(note) => self.text(NOTE, note.as_bytes()),
            Item::End(end) => self.text(END, &json(serde_json::to_vec(end))?),
            Item::Thread { process, thread, parent } => {
                self.frame.push(THREAD);
                // One more, so that the tracer is 0.
                let parent = u64::from(parent.wrapping_add(1));
                [u64::from(*process), u64::from(*thread), parent].iter().for_each(|&value| put(&mut self.frame, value));
            }
            Item::Waited { thread, process, at } => {
                self.frame.push(WAITED);
                [u64::from(*thread), u64::from(*process), *at].iter().for_each(|&value| put(&mut self.frame, value));
            }
            Item::Stood { thread, nanoseconds } => {
                self.frame.push(STOOD);
                [u64::from(*thread), *nanoseconds].iter().for_each(|&value| put(&mut self.frame, value));
            }
            Item::Before(before) => {
                self.frame.push(BEFORE);
                let values = [u64::from(before.path), u64::from(before.mode), before.bytes];
                values.iter().for_each(|&value| put(&mut self.frame, value));
            }
            Item::Sample { bytes, compressed, repeated } => {
                self.frame.push(SAMPLE);
                let values = [u64::from(*bytes), u64::from(*compressed), u64::from(*repeated)];
                values.iter().for_each(|&value| put(&mut self.frame, value));
            }
            Item::Operation(operation) => self.operation(operation),
        }
        self.end_item()
    }

    /// Writes the frame where it is full.
    fn end_item(&mut self) -> io::Result<()> {
        if self.frame.len() > MOST_FRAME_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an item is larger than a frame may be"));
        }
        if self.frame.len() >= FRAME_BYTES { self.flush() } else { Ok(()) }
    }

    /// Adds a path, as [`Item::Path`] does.
    ///
    /// # Errors
    /// As [`Writer::add`].
    pub fn add_path(&mut self, path: &[u8]) -> io::Result<()> {
        self.text(PATH, path);
        self.end_item()
    }

    fn text(&mut self, tag: u8, text: &[u8]) {
        self.frame.push(tag);
        put(&mut self.frame, text.len() as u64);
        self.frame.extend_from_slice(text);
    }

    fn operation(&mut self, operation: &Operation) {
        let Some(row) = call(operation.call) else { return };
        self.frame.push(OPERATION + operation.call);
        let frame = &mut self.frame;
        put(frame, u64::from(operation.thread));
        put(frame, fold(operation.start.wrapping_sub(self.start) as i64));
        self.start = operation.start;
        put(frame, operation.nanoseconds);
        put(frame, fold(operation.result));
        operation.paths[..row.paths].iter().for_each(|&path| put(frame, u64::from(path)));
        operation.files[..row.files].iter().for_each(|&file| put(frame, u64::from(file)));
        operation.numbers[..row.numbers.len()].iter().for_each(|&number| put(frame, fold(number)));
    }

    /// Writes what is gathered as a frame.
    ///
    /// # Errors
    /// What the file says.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        // A tracer has the program wait for it: the quickest, with which a call takes some 7 bytes in place of 5.
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.frame)?;
        let packed = encoder.finish()?;
        let head = [(packed.len() as u32).to_le_bytes(), crc32c::crc32c(&packed).to_le_bytes()].concat();
        self.out.write_all(&[&head[..], &packed].concat())?;
        self.written += (head.len() + packed.len()) as u64;
        self.frame.clear();
        Ok(())
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.written
    }
}
