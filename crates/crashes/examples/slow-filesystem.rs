//! A filesystem in memory, over FUSE, that sleeps before it answers: a cause that is known (`make evidence`, parts causes and planted).
//!
//! `slow-filesystem TARGET SLEEP [DEVICE]` mounts it at TARGET and serves it until it is unmounted; needs root. SLEEP is a number of
//! milliseconds, or options of a mount: `nosuid,sleep=2000,nothing3` sleeps 2000 microseconds, and the others do nothing.
//! Its folders are kept at the beginning of DEVICE, so that the next mount finds them.

use crashes::serve::mount_fuse;
use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner, OpenFlags,
    RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, Session, SessionACL, TimeOrNow, WriteFlags,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ROOT: u64 = 1;
/// Attributes are asked for again each time, so that every call is answered late.
const NEVER_CACHED: Duration = Duration::ZERO;
/// Bytes that it says it has room for.
const ROOM: u64 = 64 << 30;

enum Node {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, u64>),
}

struct Slow {
    sleep: Duration,
    /// Where folders are kept.
    device: Option<File>,
    nodes: Mutex<BTreeMap<u64, Node>>,
}

impl Slow {
    /// Sleeps as if a disk were slow, and is then the only one at work.
    fn nodes(&self) -> MutexGuard<'_, BTreeMap<u64, Node>> {
        std::thread::sleep(self.sleep);
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the folders, as their number and each with its names; files are not kept.
    fn keep(&self, nodes: &BTreeMap<u64, Node>) -> Result<(), Errno> {
        let Some(device) = &self.device else { return Ok(()) };
        let is_folder = |inode: &u64| matches!(nodes.get(inode), Some(Node::Directory(_)));
        let folders: Vec<(u64, Vec<(&str, u64)>)> = nodes
            .iter()
            .filter_map(|(inode, node)| match node {
                Node::File(_) => None,
                Node::Directory(names) => {
                    let kept = names.iter().filter(|(_, inode)| is_folder(inode));
                    Some((*inode, kept.filter_map(|(name, inode)| Some((name.to_str()?, *inode))).collect()))
                }
            })
            .collect();
        let mut text = serde_json::to_vec(&folders).map_err(|_| Errno::EIO)?;
        text.push(b'\n');
        device.write_all_at(&text, 0).map_err(|_| Errno::EIO)
    }
}

fn attributes(inode: u64, node: &Node) -> FileAttr {
    let (kind, size, perm) = match node {
        Node::File(bytes) => (FileType::RegularFile, bytes.len() as u64, 0o600),
        Node::Directory(_) => (FileType::Directory, 4096, 0o700),
    };
    FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// The names in a directory.
fn names(nodes: &mut BTreeMap<u64, Node>, directory: INodeNo) -> Result<&mut BTreeMap<OsString, u64>, Errno> {
    match nodes.get_mut(&directory.0) {
        Some(Node::Directory(names)) => Ok(names),
        Some(Node::File(_)) => Err(Errno::ENOTDIR),
        None => Err(Errno::ENOENT),
    }
}

fn bytes(nodes: &mut BTreeMap<u64, Node>, file: INodeNo) -> Result<&mut Vec<u8>, Errno> {
    match nodes.get_mut(&file.0) {
        Some(Node::File(bytes)) => Ok(bytes),
        Some(Node::Directory(_)) => Err(Errno::EISDIR),
        None => Err(Errno::ENOENT),
    }
}

fn add(nodes: &mut BTreeMap<u64, Node>, parent: INodeNo, name: &OsStr, node: Node) -> Result<FileAttr, Errno> {
    let inode = nodes.keys().next_back().map_or(ROOT, |last| last + 1);
    if names(nodes, parent)?.insert(name.to_owned(), inode).is_some() {
        return Err(Errno::EEXIST);
    }
    let attributes = attributes(inode, &node);
    nodes.insert(inode, node);
    Ok(attributes)
}

fn remove(nodes: &mut BTreeMap<u64, Node>, parent: INodeNo, name: &OsStr) -> Result<(), Errno> {
    let inode = names(nodes, parent)?.remove(name).ok_or(Errno::ENOENT)?;
    nodes.remove(&inode);
    Ok(())
}

fn answer(result: Result<(), Errno>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for Slow {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut nodes = self.nodes();
        let inode = names(&mut nodes, parent).ok().and_then(|names| names.get(name).copied());
        match inode.and_then(|inode| Some((inode, nodes.get(&inode)?))) {
            Some((inode, node)) => reply.entry(&NEVER_CACHED, &attributes(inode, node), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.nodes().get(&ino.0) {
            Some(node) => reply.attr(&NEVER_CACHED, &attributes(ino.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut nodes = self.nodes();
        if let (Some(size), Ok(bytes)) = (size, bytes(&mut nodes, ino)) {
            bytes.resize(size as usize, 0);
        }
        match nodes.get(&ino.0) {
            Some(node) => reply.attr(&NEVER_CACHED, &attributes(ino.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        let mut nodes = self.nodes();
        let added = add(&mut nodes, parent, name, Node::Directory(BTreeMap::new()));
        match added.and_then(|added| self.keep(&nodes).map(|()| added)) {
            Ok(attributes) => reply.entry(&NEVER_CACHED, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn create(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        match add(&mut self.nodes(), parent, name, Node::File(Vec::new())) {
            Ok(attributes) => reply.created(
                &NEVER_CACHED,
                &attributes,
                Generation(0),
                FileHandle(attributes.ino.0),
                FopenFlags::FOPEN_DIRECT_IO,
            ),
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(remove(&mut self.nodes(), parent, name), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut nodes = self.nodes();
        answer(remove(&mut nodes, parent, name).and_then(|()| self.keep(&nodes)), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut nodes = self.nodes();
        let moved = names(&mut nodes, parent).and_then(|names| names.remove(name).ok_or(Errno::ENOENT));
        let moved =
            moved.and_then(|inode| names(&mut nodes, newparent).map(|names| names.insert(newname.to_owned(), inode)));
        answer(moved.map(drop), reply);
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(ino.0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match bytes(&mut self.nodes(), ino) {
            Ok(bytes) => {
                let begin = (offset as usize).min(bytes.len());
                reply.data(&bytes[begin..(begin + size as usize).min(bytes.len())]);
            }
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match bytes(&mut self.nodes(), ino) {
            Ok(bytes) => {
                let end = offset as usize + data.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[offset as usize..end].copy_from_slice(data);
                reply.written(data.len() as u32);
            }
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        drop(self.nodes());
        reply.ok();
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let mut nodes = self.nodes();
        let entries: Vec<(OsString, u64)> = match names(&mut nodes, ino) {
            Ok(names) => names.iter().map(|(name, inode)| (name.clone(), *inode)).collect(),
            Err(error) => return reply.error(error),
        };
        for (at, (name, inode)) in entries.iter().enumerate().skip(offset as usize) {
            let kind = match nodes.get(inode) {
                Some(Node::Directory(_)) => FileType::Directory,
                _ => FileType::RegularFile,
            };
            if reply.add(INodeNo(*inode), at as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(ROOM / 4096, ROOM / 4096, ROOM / 4096, 1 << 20, 1 << 20, 4096, 255, 4096);
    }
}

/// For how long a word of the command line lets it sleep.
fn sleep(word: &str) -> Result<Duration, Box<dyn std::error::Error>> {
    match word.split(',').find_map(|option| option.strip_prefix("sleep=")) {
        Some(microseconds) => Ok(Duration::from_micros(microseconds.parse()?)),
        None => Ok(Duration::from_millis(word.parse()?)),
    }
}

/// The folders that a device keeps: none where nothing was kept on it yet.
fn kept(device: &File) -> Result<BTreeMap<u64, Node>, Box<dyn std::error::Error>> {
    let mut line = Vec::new();
    BufReader::new(device).take(1 << 20).read_until(b'\n', &mut line)?;
    if !line.starts_with(b"[") {
        return Ok(BTreeMap::from([(ROOT, Node::Directory(BTreeMap::new()))]));
    }
    let folders: Vec<(u64, Vec<(String, u64)>)> = serde_json::from_slice(&line)?;
    let named = |names: Vec<(String, u64)>| names.into_iter().map(|(name, inode)| (name.into(), inode)).collect();
    Ok(folders.into_iter().map(|(inode, names)| (inode, Node::Directory(named(names)))).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(target), Some(word)) = (words.next(), words.next()) else {
        return Err("slow-filesystem TARGET SLEEP [DEVICE]".into());
    };
    let device = words.next().map(|device| File::options().read(true).write(true).open(device)).transpose()?;
    let nodes = match &device {
        Some(device) => kept(device)?,
        None => BTreeMap::from([(ROOT, Node::Directory(BTreeMap::new()))]),
    };
    let slow = Slow { sleep: sleep(&word)?, device, nodes: Mutex::new(nodes) };
    let mut config = Config::default();
    config.n_threads = Some(4);
    let connection = mount_fuse("slow", target.as_ref())?;
    Ok(Session::from_fd(slow, connection, SessionACL::All, config)?.run()?)
}
