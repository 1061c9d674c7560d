use super::*;
use model::agent::{Room, Target};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg, socketpair,
};
use std::fs::File;
use std::io::{BufRead, BufReader, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

const SYNC_NS: u64 = 7;

fn collective(file: &str) -> Collective {
    let text = format!("bs = \"3000B\"\noperations = 12\nfile = \"{file}\"");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn seed_of(client: u32) -> u64 {
    42 ^ (u64::from(client) << 32)
}

/// What `fairlane-mpi` is asked, with the files that come with it; `None`: nobody is there any more.
fn asked(socket: &OwnedFd) -> Option<(String, [OwnedFd; 3])> {
    let mut bytes = [0; 256];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::empty());
    let message = message.expect("a socket");
    let files = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files.collect::<Vec<OwnedFd>>()),
        _ => None,
    });
    let text = String::from_utf8_lossy(&bytes[..message.bytes]).into_owned();
    Some((text, files?.try_into().expect("three files")))
}

/// Does what `fairlane-mpi` is asked, without MPI, so many times; answers what was asked.
fn serve(
    socket: OwnedFd,
    times: usize,
    mut work: impl FnMut(&str, &mut UnixStream, &File, &File) + Send + 'static,
) -> JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        (0..times)
            .filter_map(|_| {
                let (text, [talk, file, memory]) = asked(&socket)?;
                work(&text, &mut UnixStream::from(talk), &File::from(file), &File::from(memory));
                Some(text)
            })
            .collect()
    })
}

/// One part, as it should be done; `spoil` is what is done to the memory behind a read.
fn do_part(text: &str, talk: &mut UnixStream, file: &File, memory: &File, spoil: &dyn Fn(&File)) {
    let words: Vec<&str> = text.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().expect("a number");
    let (bytes, count, first, step) = (number(1), number(2), number(3), number(4));
    talk.write_all(b"opened\n").expect("it listens");
    let mut line = String::new();
    BufReader::new(&*talk).read_line(&mut line).expect("it speaks");
    assert_eq!(line, "go\n");
    let mut block = vec![0; bytes as usize];
    for place in 0..count {
        let (here, there) = (place * bytes, first + place * step);
        if words[0] == "write" {
            memory.read_exact_at(&mut block, here).expect("memory");
            file.write_all_at(&block, there).expect("a file");
        } else {
            file.read_exact_at(&mut block, there).expect("a file");
            memory.write_all_at(&block, here).expect("memory");
        }
        memory.write_all_at(&(1000 + place).to_ne_bytes(), count * bytes + place * 8).expect("memory");
    }
    if words[0] == "read" {
        spoil(memory);
    }
    talk.write_all(format!("done {SYNC_NS} 2000 3000\nclosed\n").as_bytes()).expect("it listens");
}

/// Both ends; the first one lives as long as the process.
fn sockets() -> (BorrowedFd<'static>, OwnedFd) {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("sockets");
    let ours: &'static OwnedFd = Box::leak(Box::new(ours));
    (ours.as_fd(), theirs)
}

fn client(socket: BorrowedFd<'static>, place: &OpenTarget, layout: &str, number: u32) -> CollectiveWork {
    let clients = Clients { number, reads: 1 - number, of: 2 };
    let of = (seed_of(number), clients);
    CollectiveWork::over(socket, place, &collective(layout), of, Arc::default()).expect("prepared")
}

fn place() -> (tempfile::TempDir, OpenTarget) {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let place = OpenTarget::open(&Target::Directory(folder.path().to_owned())).expect("a directory");
    (folder, place)
}

/// Two parts of an act by both clients.
fn act(both: &mut [CollectiveWork], place: &OpenTarget, group: &str) -> Vec<Window> {
    let mut windows = Vec::new();
    for index in 0..2 {
        for work in both.iter_mut() {
            work.ready(group, Part { index, of: 2 }).expect("memory");
            windows.push(work.phase(place, group, Part { index, of: 2 }, &mut ()).expect("a part"));
        }
    }
    windows
}

#[test]
fn what_all_clients_write_is_one_file_of_which_each_reads_what_the_other_wrote() {
    for layout in ["strided", "segmented"] {
        let (folder, place) = place();
        let (socket, relay) = sockets();
        let relay = serve(relay, 8, |text, talk, file, memory| do_part(text, talk, file, memory, &|_| {}));
        let mut both = [0, 1].map(|number| client(socket, &place, layout, number));
        for group in ["collective write", "collective read"] {
            let windows = act(&mut both, &place, group);
            assert_eq!(windows.iter().map(|window| (window.operations, window.bytes)).max(), Some((6, 18_000)));
            assert!(windows.iter().all(|window| window.seconds > 0.0 && window.sync_seconds <= 7e-9), "{group}");
            assert!(windows.iter().all(|window| window.server_cpu_seconds == Some([2e-6, 3e-6])), "{group}");
        }
        let written = std::fs::read(folder.path().join(TOP).join(FILE)).expect("the file");
        assert_eq!(written.len(), 72_000);
        for number in [0, 1] {
            let other = OtherClient { number: 1 - number, rank: 1 - number, seed: seed_of(1 - number) };
            let work = &mut both[number as usize];
            assert_eq!(work.check_other(&place, other).expect("as it was written"), 72_000, "in the file, and as read");
            let wrong = OtherClient { seed: 7, ..other };
            let said = work.check_other(&place, wrong).expect_err("another seed").to_string();
            assert!(said.contains(&format!("which rank {} wrote", other.rank)), "{said}");
        }
        let asked = relay.join().expect("it is done");
        let expected = if layout == "strided" { "write 3000 6 3000 6000" } else { "write 3000 6 36000 3000" };
        assert_eq!(asked[1], expected, "the second client's first part");
    }
}

#[test]
fn what_was_read_wrong_is_told_although_the_file_is_right() {
    let (_folder, place) = place();
    let (socket, relay) = sockets();
    let spoil = |memory: &File| memory.write_all_at(b"x", 3001).expect("memory");
    let _relay = serve(relay, 8, move |text, talk, file, memory| do_part(text, talk, file, memory, &spoil));
    let mut both = [0, 1].map(|number| client(socket, &place, "strided", number));
    act(&mut both, &place, "collective write");
    act(&mut both, &place, "collective read");
    let said = both[0].check_other(&place, OtherClient { number: 1, rank: 5, seed: seed_of(1) }).expect_err("a byte");
    assert!(said.is_corrupt() && said.to_string().contains("MPI_File_read_at_all read something else"), "{said}");
    assert!(said.to_string().contains("than what rank 5 wrote"), "{said}");
}

#[test]
fn what_mpi_says_fails_the_part_with_its_words() {
    let (_folder, place) = place();
    let (socket, relay) = sockets();
    let mut said =
        ["failed full no\x1bspace\n", "failed MPI_ERR_IO\n", "failed other rank 3 did not\n", "what\n", ""].into_iter();
    let _relay = serve(relay, 5, move |_, talk, _, _| {
        talk.write_all(said.next().unwrap_or_default().as_bytes()).expect("it listens");
    });
    let mut work = client(socket, &place, "strided", 0);
    let part = Part { index: 0, of: 12 };
    let mut told = || work.phase(&place, "collective write", part, &mut ()).expect_err("it fails");
    let full = told();
    assert!(full.room() == Room::Full && full.to_string().contains("no\\u{1b}space"), "{full}");
    let failed = told();
    assert!(failed.room() == Room::Enough && failed.to_string().contains(": MPI_ERR_IO; "), "{failed}");
    assert_eq!((failed.errno(), told().errno()), (None, Some(Errno::CANCELED.raw_os_error())));
    assert!(told().to_string().contains("`make mpi`") && told().to_string().contains("has ended"));
}

#[test]
fn who_is_ended_lets_go_and_the_others_are_told_by_that() {
    let (_folder, place) = place();
    let (socket, relay) = sockets();
    let stop: Arc<AtomicBool> = Arc::default();
    let ends = Arc::clone(&stop);
    let relay = serve(relay, 1, move |_, talk, _, _| {
        ends.store(true, Ordering::Relaxed);
        assert_eq!(BufReader::new(&*talk).lines().count(), 0, "its end is closed");
    });
    let clients = Clients { number: 0, reads: 1, of: 2 };
    let mut work = CollectiveWork::over(socket, &place, &collective("strided"), (1, clients), stop).expect("prepared");
    let told = work.phase(&place, "collective write", Part { index: 0, of: 12 }, &mut ()).err();
    assert!(matches!(told, Some(EngineError::Interrupted)), "{told:?}");
    relay.join().expect("it heard of it");
}

#[test]
fn without_mpi_it_is_refused() {
    let (_folder, place) = place();
    let told = CollectiveWork::prepare(&place, &collective("strided"), (1, Clients::ALONE), Arc::default()).err();
    assert!(told.is_some_and(|told| told.to_string().contains("mpirun -n 2 fairlane-mpi race")));
}
