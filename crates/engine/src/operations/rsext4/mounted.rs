//! The crate's filesystem, mounted: the same calls with the journal on and off.
//!
//! With the journal on the crate is used as an operating system would embed it: names are looked up
//! directory by directory and everything else goes by inode. With the journal off it is used by path,
//! which is how AxVisor uses it; what the crate offers by inode only (extended attributes) does not
//! exist then.

use super::disk::{Disk, WallClock};
use crate::operations::backend::Status;
use rsext4::dir::get_inode_with_num;
use rsext4::entries::{DirEntryIterator, Ext4DirEntry2};
use rsext4::loopfile::resolve_inode_blocks;
use rsext4::{
    DirectoryCursor, Ext4, Ext4Error, Ext4ErrorKind, Ext4FileSystem, Ext4Result, FileName, FilePermissions, InodeInfo,
    InodeNumber, Jbd2Dev, MkfsOptions, MountOptions, MountServices, MountedServices, MutationContext, NoopObserver,
    PreallocationOptions, RenameOptions, UnlinkOutcome, XattrNamespace, XattrSetMode,
};
use std::str::from_utf8;

/// Entries that one call reads from a directory.
const ENTRIES_AT_ONCE: usize = 128;
/// Everything belongs to root, as the agent does.
const CONTEXT: MutationContext = MutationContext::new(0, 0, 0, 0o022);

/// A mounted filesystem. Paths begin with a slash; each part of them is a name.
pub(super) enum Mounted {
    /// Every change of metadata goes through the journal.
    Journal(Box<Ext4<Disk, MountedServices<(), NoopObserver>>>),
    /// The journal is on the disk and is not used.
    Plain(Box<Plain>),
}

/// What calls by path need.
pub(super) struct Plain {
    device: Jbd2Dev<Disk>,
    filesystem: Ext4FileSystem,
}

/// Makes a filesystem on the disk; it is stable when this returns.
pub(super) fn format(disk: Disk) -> Ext4Result<()> {
    let mut disk = rsext4::format(disk, WallClock, MkfsOptions::default())?;
    rsext4::BlockIo::flush(&mut disk)
}

impl Mounted {
    pub(super) fn mount(disk: Disk, journal: bool) -> Ext4Result<Mounted> {
        if journal {
            let services = MountServices::new(WallClock, (), NoopObserver);
            return Ok(Mounted::Journal(Box::new(Ext4::mount(disk, services, MountOptions::read_write())?)));
        }
        let mut device = Jbd2Dev::initial_jbd2dev(0, disk, false);
        let filesystem = Ext4FileSystem::mount(&mut device)?;
        Ok(Mounted::Plain(Box::new(Plain { device, filesystem })))
    }

    /// Writes everything and marks the filesystem clean. After a failure it is still mounted.
    pub(super) fn unmount(&mut self) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => mounted.unmount(),
            Mounted::Plain(plain) => {
                plain.filesystem.umount(&mut plain.device)?;
                plain.device.flush()
            }
        }
    }

    /// Data and metadata are stable.
    pub(super) fn sync(&mut self) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => mounted.sync(),
            Mounted::Plain(plain) => plain.filesystem.sync_filesystem(&mut plain.device),
        }
    }

    #[inline]
    pub(super) fn find(&mut self, path: &[u8]) -> Ext4Result<(InodeNumber, Status)> {
        match self {
            Mounted::Journal(mounted) => {
                let info = find_by_name(mounted, path)?;
                Ok((info.number, Status { size: info.size, is_directory: info.is_directory() }))
            }
            Mounted::Plain(plain) => plain.find(text(path)?),
        }
    }

    /// Names of a file.
    pub(super) fn links(&mut self, path: &[u8]) -> Ext4Result<u64> {
        Ok(u64::from(match self {
            Mounted::Journal(mounted) => find_by_name(mounted, path)?.links,
            Mounted::Plain(plain) => {
                let file = plain.find(text(path)?)?.0;
                plain.filesystem.get_inode_by_num(&mut plain.device, file)?.i_links_count
            }
        }))
    }

    pub(super) fn create(&mut self, path: &[u8]) -> Ext4Result<InodeNumber> {
        match self {
            Mounted::Journal(mounted) => {
                let (parent, name) = parent_of(mounted, path)?;
                Ok(mounted.create_regular_file(CONTEXT, parent, name, FilePermissions::new(0o644)?)?.number)
            }
            Mounted::Plain(plain) => {
                let path = text(path)?;
                rsext4::mkfile(&mut plain.device, &mut plain.filesystem, path, None, None)?;
                Ok(plain.find(path)?.0)
            }
        }
    }

    /// Fewer bytes than there is room for mean the file's end.
    #[inline]
    pub(super) fn read(&mut self, file: InodeNumber, offset: u64, room: &mut [u8]) -> Ext4Result<usize> {
        match self {
            Mounted::Journal(mounted) => mounted.read_inode(file, offset, room),
            Mounted::Plain(plain) => {
                rsext4::read_inode_data_into(&mut plain.device, &mut plain.filesystem, file, offset, room)
            }
        }
    }

    #[inline]
    pub(super) fn write(&mut self, file: InodeNumber, offset: u64, bytes: &[u8]) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => mounted.write_inode(file, offset, bytes),
            Mounted::Plain(plain) => {
                rsext4::write_inode_data(&mut plain.device, &mut plain.filesystem, file, offset, bytes)
            }
        }
    }

    /// Size of an open file in bytes.
    pub(super) fn size(&mut self, file: InodeNumber) -> Ext4Result<u64> {
        match self {
            Mounted::Journal(mounted) => Ok(mounted.inode(file)?.size),
            Mounted::Plain(plain) => Ok(plain.filesystem.get_inode_by_num(&mut plain.device, file)?.size()),
        }
    }

    pub(super) fn truncate(&mut self, file: InodeNumber, size: u64) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => mounted.truncate_inode(file, size),
            Mounted::Plain(plain) => rsext4::truncate_inode(&mut plain.device, &mut plain.filesystem, file, size),
        }
    }

    pub(super) fn allocate(&mut self, file: InodeNumber, offset: u64, bytes: u64) -> Ext4Result<()> {
        let options = PreallocationOptions::EXTEND_SIZE;
        match self {
            Mounted::Journal(mounted) => mounted.preallocate_inode(file, offset, bytes, options),
            Mounted::Plain(plain) => {
                rsext4::preallocate_inode(&mut plain.device, &mut plain.filesystem, file, offset, bytes, options)
            }
        }
    }

    pub(super) fn list(&mut self, path: &[u8], entry: &mut dyn FnMut(&[u8])) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => {
                let directory = find_by_name(mounted, path)?.number;
                let mut reader = mounted.open_directory_reader(directory)?;
                let mut cursor = DirectoryCursor::Start;
                loop {
                    let batch = mounted.read_directory_with_reader(&mut reader, cursor, ENTRIES_AT_ONCE)?;
                    let Some(last) = batch.last() else { return Ok(()) };
                    cursor = last.next_cursor;
                    batch.iter().filter(|found| !is_dots(&found.name)).for_each(|found| entry(&found.name));
                }
            }
            Mounted::Plain(plain) => plain.list(text(path)?, entry),
        }
    }

    pub(super) fn rename(&mut self, from: &[u8], to: &[u8]) -> Ext4Result<()> {
        let options = RenameOptions::REPLACE;
        let outcome = match self {
            Mounted::Journal(mounted) => {
                let (old_parent, old_name) = parent_of(mounted, from)?;
                let (new_parent, new_name) = parent_of(mounted, to)?;
                mounted.rename(old_parent, old_name, new_parent, new_name, options)?
            }
            Mounted::Plain(plain) => {
                rsext4::rename(&mut plain.device, &mut plain.filesystem, text(from)?, text(to)?, options)?
            }
        };
        outcome.replaced.map_or(Ok(()), |replaced| self.reap(replaced))
    }

    pub(super) fn link(&mut self, from: &[u8], to: &[u8]) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => {
                let target = find_by_name(mounted, from)?.number;
                let (parent, name) = parent_of(mounted, to)?;
                mounted.hard_link(target, parent, name).map(|_| ())
            }
            Mounted::Plain(plain) => rsext4::link(&mut plain.filesystem, &mut plain.device, text(to)?, text(from)?),
        }
    }

    pub(super) fn symlink(&mut self, target: &[u8], path: &[u8]) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => {
                let (parent, name) = parent_of(mounted, path)?;
                mounted.create_symlink(CONTEXT, parent, name, target).map(|_| ())
            }
            // The crate's own call for it wants the target to exist, from the root on.
            Mounted::Plain(plain) => {
                let kind = Some(Ext4DirEntry2::EXT4_FT_SYMLINK);
                rsext4::mkfile(&mut plain.device, &mut plain.filesystem, text(path)?, Some(target), kind).map(|_| ())
            }
        }
    }

    pub(super) fn set_xattr(&mut self, path: &[u8], name: &[u8], value: &[u8]) -> Ext4Result<()> {
        let Mounted::Journal(mounted) = self else { return Err(Ext4Error::unsupported()) };
        let file = find_by_name(mounted, path)?.number;
        mounted.set_xattr(file, XattrNamespace::User, name, value, XattrSetMode::Upsert)
    }

    pub(super) fn get_xattr(&mut self, path: &[u8], name: &[u8]) -> Ext4Result<Vec<u8>> {
        let Mounted::Journal(mounted) = self else { return Err(Ext4Error::unsupported()) };
        let file = find_by_name(mounted, path)?.number;
        mounted.get_xattr(file, XattrNamespace::User, name)
    }

    /// Removes a file or a link; without a name left its blocks are freed too.
    pub(super) fn unlink(&mut self, path: &[u8]) -> Ext4Result<()> {
        let outcome = match self {
            Mounted::Journal(mounted) => {
                let (parent, name) = parent_of(mounted, path)?;
                mounted.unlink(parent, name)?
            }
            Mounted::Plain(plain) => rsext4::unlink(&mut plain.filesystem, &mut plain.device, text(path)?)?,
        };
        self.reap(outcome)
    }

    /// Nothing holds a file that has no name: an unlinked inode goes at once.
    fn reap(&mut self, outcome: UnlinkOutcome) -> Ext4Result<()> {
        if !outcome.requires_reap() {
            return Ok(());
        }
        match self {
            Mounted::Journal(mounted) => mounted.reap_unlinked_inode(outcome.inode),
            Mounted::Plain(plain) => {
                rsext4::reap_unlinked_inode(&mut plain.filesystem, &mut plain.device, outcome.inode)
            }
        }
    }

    pub(super) fn make_directory(&mut self, path: &[u8]) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => {
                let (parent, name) = parent_of(mounted, path)?;
                mounted.create_directory(CONTEXT, parent, name, FilePermissions::new(0o755)?).map(|_| ())
            }
            Mounted::Plain(plain) => rsext4::mkdir(&mut plain.device, &mut plain.filesystem, text(path)?).map(|_| ()),
        }
    }

    pub(super) fn remove_directory(&mut self, path: &[u8]) -> Ext4Result<()> {
        match self {
            Mounted::Journal(mounted) => {
                let (parent, name) = parent_of(mounted, path)?;
                let outcome = mounted.remove_empty_directory(parent, name)?;
                self.reap(outcome)
            }
            Mounted::Plain(plain) => plain.remove_directory(text(path)?),
        }
    }
}

impl Plain {
    fn find(&mut self, path: &str) -> Ext4Result<(InodeNumber, Status)> {
        let found = get_inode_with_num(&mut self.filesystem, &mut self.device, path)?;
        let (number, inode) = found.ok_or_else(Ext4Error::not_found)?;
        Ok((number, Status { size: inode.size(), is_directory: inode.is_dir() }))
    }

    /// By path the crate lists nothing: the directory's blocks are read and taken apart.
    fn list(&mut self, path: &str, entry: &mut dyn FnMut(&[u8])) -> Ext4Result<()> {
        let (filesystem, device) = (&mut self.filesystem, &mut self.device);
        let (number, mut inode) = get_inode_with_num(filesystem, device, path)?.ok_or_else(Ext4Error::not_found)?;
        if !inode.is_dir() {
            return Err(Ext4Error::not_dir());
        }
        for block in resolve_inode_blocks(filesystem, device, number, &mut inode)?.into_values() {
            let block = filesystem.datablock_cache.get_or_load(device, block)?;
            let names = DirEntryIterator::new(&block.data).map(|(found, _)| found.name);
            // Blocks of the directory's index hold no entries but those two.
            names.filter(|name| !is_dots(name)).for_each(&mut *entry);
        }
        Ok(())
    }

    /// The crate's own call removes whole trees.
    fn remove_directory(&mut self, path: &str) -> Ext4Result<()> {
        let (filesystem, device) = (&mut self.filesystem, &mut self.device);
        let (number, mut inode) = get_inode_with_num(filesystem, device, path)?.ok_or_else(Ext4Error::not_found)?;
        if !inode.is_dir() {
            return Err(Ext4Error::not_dir());
        }
        if !rsext4::is_dir_empty(filesystem, device, number, &mut inode)? {
            return Err(Ext4Error::not_empty());
        }
        rsext4::delete_dir(filesystem, device, path)
    }
}

type Journalled = Ext4<Disk, MountedServices<(), NoopObserver>>;

/// The directory that holds the last name of a path, and that name.
#[inline]
fn parent_of<'p>(mounted: &mut Journalled, path: &'p [u8]) -> Ext4Result<(InodeNumber, FileName<'p>)> {
    let at = path.iter().rposition(|byte| *byte == b'/').ok_or_else(Ext4Error::invalid_input)?;
    let name = FileName::new(&path[at + 1..])?;
    let mut directory = mounted.root_inode();
    for part in parts(&path[..at]) {
        directory = child(mounted, directory, part)?.number;
    }
    Ok((directory, name))
}

fn find_by_name(mounted: &mut Journalled, path: &[u8]) -> Ext4Result<InodeInfo> {
    let mut parts = parts(path);
    let Some(first) = parts.next() else {
        let root = mounted.root_inode();
        return mounted.inode(root);
    };
    let root = mounted.root_inode();
    let mut found = child(mounted, root, first)?;
    for part in parts {
        found = child(mounted, found.number, part)?;
    }
    Ok(found)
}

fn child(mounted: &mut Journalled, directory: InodeNumber, name: &[u8]) -> Ext4Result<InodeInfo> {
    mounted.lookup_child(directory, FileName::new(name)?)?.ok_or_else(Ext4Error::not_found)
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

/// By path, names are text.
#[inline]
fn text(path: &[u8]) -> Ext4Result<&str> {
    from_utf8(path).map_err(|_| Ext4Error::invalid_input().with_operation("path:not_text"))
}

fn is_dots(name: &[u8]) -> bool {
    name == b"." || name == b".."
}

/// What the crate says, as words.
pub(super) fn words(error: Ext4Error) -> String {
    match error.context() {
        Some(context) => format!("{} ({context})", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Unmounting is refused while inodes wait to be freed, and the journal does that when it is replayed.
pub(super) fn wants_replay(error: Ext4Error) -> bool {
    error.kind() == Ext4ErrorKind::Busy
}
