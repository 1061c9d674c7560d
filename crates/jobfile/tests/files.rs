//! Sizes, offsets and files: what they are called, how large they are, how they are made ready.

use crate::common;

use common::{io, jobs, notes, refused, refuses};
use model::Bytes;
use model::job::{Fallocate, FileService};

#[test]
fn sizes_offsets_and_amounts_are_fios() {
    let offset = io("offset=64k");
    assert_eq!((offset.size, offset.io_size, offset.region), (Bytes((1 << 20) + 65536), Some(Bytes(1 << 20)), None));
    let steps = io("offset_increment=1m\nnumjobs=3\nfilename=f");
    assert_eq!((steps.size, steps.io_size, steps.region), (Bytes(3 << 20), Some(Bytes(1 << 20)), Some(Bytes(1 << 20))));
    let parts = io("nrfiles=3");
    assert_eq!((parts.size, parts.nrfiles), (Bytes((1 << 20) / 3 * 3), 3));
    let own = io("filesize=64k\nnrfiles=2");
    assert_eq!((own.size, own.filesize, own.io_size), (Bytes(131_072), None, None));
    let less = io("filesize=4k-8m");
    assert_eq!(
        (less.size, less.filesize, less.io_size),
        (Bytes(8 << 20), Some((Bytes(4096), Bytes(8 << 20))), Some(Bytes(1 << 20)))
    );
    assert_eq!(io("io_limit=8k").io_size, Some(Bytes(8192)));
    assert_eq!(io("io_size=50%").io_size, Some(Bytes(524_288)));
    assert_eq!(io("number_ios=3").io_size, Some(Bytes(12288)));
    assert_eq!(io("number_ios=1000000").io_size, None);
    refuses("number_ios=3\nbssplit=4k/50:8k/50", "write io_size");
    refuses("offset=9223372036854775807", "2^63-1");
    refuses("offset=64k\nfilesize=4k", "past the end");
    refuses("offset=10%", "percentage");
    assert_eq!(io("numjobs=1024\noffset_increment=1p\nsync=0").numjobs, 1024);
    refuses("offset_increment=8000p\nnumjobs=1024", "2^63-1");
}

#[test]
fn files_are_named_inside_the_lane() {
    let named = io("filename=a:./b/c:/x/d\\:e\ndirectory=/elsewhere");
    assert_eq!((named.filename, named.nrfiles), (vec!["a".to_owned(), "b/c".to_owned(), "d:e".to_owned()], 3));
    notes("filename=/tmp/x", "filename: `/tmp/x` is `x` in the lane");
    notes("directory=/data", "the lane's directory stands in its place");
    refuses("filename=/dev/sda", "remove filename and give size");
    refuses("filename=//dev/./sda", "remove filename and give size");
    refuses("filename=../x", "`..`");
    refuses("filename=a/../../x", "`..`");
    refuses("filename=-", "no name");
    refuses("filename_format=../$jobnum", "`..`");
    assert!(refused("[../x]\nsize=1m\n").contains("`..`"));
    let two = "[a]\nsize=1m\nfilename=/x/f\n[b]\nsize=1m\ndirectory=/y\nfilename=f\n";
    assert_eq!(refused(two), "a.fio:7: `/x/f` and `/y/f` would be one file in the lane; give them different names");
}

#[test]
fn two_jobs_of_one_name_keep_fios_files_and_get_names_of_their_own() {
    let jobs = jobs("[global]\nsize=1m\n[a]\n[a]\n[b]\nname=c\n");
    let names: Vec<&str> = jobs.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "a#2", "c"]);
    assert_eq!(jobs.jobs[1].io.filename_format, "a.$jobnum.$filenum");
}

#[test]
fn files_are_prepared_as_asked() {
    let asked = io(
        "fallocate=1\noverwrite=1\npre_read=1\nfile_service_type=random:3\nnrfiles=4\nopenfiles=2\nunlink=1\ncreate_on_open=1\nfile_append=1",
    );
    assert_eq!(
        (asked.fallocate, asked.overwrite, asked.pre_read, asked.invalidate),
        (Fallocate::Posix, true, true, false)
    );
    assert_eq!((asked.file_service_type, asked.file_service_count, asked.openfiles), (FileService::Random, 3, Some(2)));
    assert!(asked.unlink && asked.create_on_open && asked.file_append);
    assert_eq!(io("openfiles=9").openfiles, None);
    refuses("fallocate=yes", "no fallocate");
    refuses("file_service_type=zipf:1.2", "roundrobin");
}

#[test]
fn names_that_no_filesystem_has_room_for_are_refused_at_their_line() {
    let long = "x".repeat(256);
    refuses(&format!("filename={long}"), "is a file name of 256 bytes, above 255");
    refuses(&format!("name={}", &long[..252]), "above 255");
    refuses(&format!("filename_format={long}.$jobnum"), "above 255");
    refuses(&format!("filename={}", format!("{}/", &long[..200]).repeat(16) + "x"), "is a path of");
    let error = refused(&format!("[{long}]\nsize=1m\n"));
    assert!(error.starts_with("a.fio:1: ") && error.contains("above 255; shorten it"), "{error}");
    // The name is the job's alone where a filename names the files.
    assert_eq!(jobs(&format!("[{long}]\nsize=1m\nfilename=x\n")).jobs[0].name, long);
    assert_eq!(io(&format!("filename={}", &long[..255])).filename.len(), 1);
    assert_eq!(jobs(&format!("[{}]\nsize=1m\n", &long[..251])).jobs.len(), 1);
}

#[test]
fn files_too_small_for_a_block_are_refused_where_their_number_is() {
    refuses("nrfiles=1000", "size leaves 1048 bytes for each of 1000 files, under one block of 4096");
    refuses("filename=a:b:c\nbs=512k", "under one block of 524288");
    assert_eq!(io("nrfiles=256").nrfiles, 256);
    assert_eq!(io("nrfiles=1000\nbs=1k").nrfiles, 1000);
    assert_eq!(io("nrfiles=1000\nioengine=null").nrfiles, 1000);
}
