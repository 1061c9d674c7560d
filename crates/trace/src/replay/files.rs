//! Open files and what lies on the disk, as far as the order and the room of a replay need it.

use super::order::Resource;

/// Place of a file beside its bytes: its inode, its name and a part of a block.
const FILE_BYTES: u64 = 8192;

/// An open file.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// Number in the replay.
    pub(super) number: u32,
    pub(super) inode: usize,
    pub(super) position: u64,
    pub(super) appends: bool,
    /// Whether it was opened to be written.
    pub(super) writes: bool,
    /// Its position and its life.
    pub(super) own: Resource,
}

/// A file on the disk.
#[derive(Debug, Default)]
pub(super) struct Inode {
    pub(super) size: u64,
    /// Bytes that take place, rather too many.
    allocated: u64,
    /// Names that it has, as far as they are known, and how often it is open.
    pub(super) names: u32,
    open: u32,
    /// What lies in it, as far as what a read answers hangs on it: its size.
    pub(super) data: Resource,
    /// Who wrote to it: a sync waits for them.
    pub(super) written: Resource,
    /// Its locks.
    pub(super) locks: Resource,
}

/// All files, and the room that they take.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) inodes: Vec<Inode>,
    taken: u64,
    /// The most that was ever taken at once.
    pub(super) most: u64,
}

impl Disk {
    /// A file that is there, or is made now. What is never opened takes no place.
    pub(super) fn add(&mut self, size: u64) -> usize {
        self.inodes.push(Inode { size, names: 1, ..Inode::default() });
        self.inodes.len() - 1
    }

    /// A file that is new: its inode, and what its last block has beyond its end, take place.
    pub(super) fn make(&mut self) -> usize {
        let inode = self.add(0);
        self.take(inode, FILE_BYTES);
        inode
    }

    fn take(&mut self, inode: usize, bytes: u64) {
        let of = &mut self.inodes[inode];
        of.allocated = of.allocated.saturating_add(bytes);
        self.taken = self.taken.saturating_add(bytes);
        self.most = self.most.max(self.taken);
    }

    fn free(&mut self, inode: usize, bytes: u64) {
        let of = &mut self.inodes[inode];
        let bytes = bytes.min(of.allocated);
        of.allocated -= bytes;
        self.taken = self.taken.saturating_sub(bytes);
    }

    pub(super) fn opened(&mut self, inode: usize, whole: bool) {
        let of = &mut self.inodes[inode];
        of.open += 1;
        let missing = if whole { of.size.saturating_sub(of.allocated) } else { 0 };
        self.take(inode, missing);
    }

    /// It has all of its contents.
    pub(super) fn filled(&mut self, inode: usize) {
        let of = &self.inodes[inode];
        let missing = of.size.saturating_sub(of.allocated);
        self.take(inode, missing);
    }

    pub(super) fn closed(&mut self, inode: usize) {
        let of = &mut self.inodes[inode];
        of.open = of.open.saturating_sub(1);
        self.free_if_gone(inode);
    }

    /// Bytes are written from an offset on; answers whether the file grew. `asked`: more than that are not asked for.
    pub(super) fn written(&mut self, inode: usize, offset: u64, bytes: u64, asked: u64) -> bool {
        let of = &mut self.inodes[inode];
        let end = offset.saturating_add(bytes);
        let grew = end > of.size;
        // What lies below the end may be there already, or be a hole: no file takes more than its size.
        let largest = of.size.max(offset.saturating_add(asked));
        let more = asked.min(largest.saturating_add(FILE_BYTES).saturating_sub(of.allocated));
        of.size = of.size.max(end);
        self.take(inode, more);
        grew
    }

    /// Place is asked for, wherever it lies.
    pub(super) fn reserved(&mut self, inode: usize, bytes: u64) {
        self.take(inode, bytes);
    }

    pub(super) fn resized(&mut self, inode: usize, bytes: u64) {
        let of = &mut self.inodes[inode];
        of.size = bytes;
        let less = of.allocated.saturating_sub(bytes.saturating_add(FILE_BYTES));
        self.free(inode, less);
    }

    /// A name of it is gone. What is still open keeps its place.
    pub(super) fn unnamed(&mut self, inode: usize) {
        let of = &mut self.inodes[inode];
        of.names = of.names.saturating_sub(1);
        self.free_if_gone(inode);
    }

    fn free_if_gone(&mut self, inode: usize) {
        let of = &self.inodes[inode];
        if of.names == 0 && of.open == 0 {
            self.free(inode, of.allocated);
        }
    }
}
