//! On what lanes were raced, as the answer says it.

use crate::statements::{disk as statement, name};
use model::Sentence;
use model::lane::Lane;
use model::sentence::Value;

/// `Raced on fresh filesystems of 2 GiB.`; `None`: nothing was.
pub(crate) fn raced(lanes: &[&Lane]) -> Option<Sentence> {
    let mut places: Vec<Sentence> = Vec::new();
    let directories: Vec<&str> = venue(lanes, "directory").map(|lane| lane.ground.as_str()).collect();
    let alone = directories.iter().all(|path| *path == directories[0]);
    for lane in lanes {
        let size = || Value::Bytes(lane.size_bytes as f64);
        let is_device = std::path::Path::new(&lane.ground).starts_with("/dev");
        let in_guest = |guest: &str| match lane.aged.is_some() {
            true => statement::on_filesystems_with_a_past_of_in(size(), name(guest)),
            false => statement::on_fresh_filesystems_of_in(size(), name(guest)),
        };
        let place = match lane.venue.as_str() {
            "image" if lane.aged.is_some() => statement::on_filesystems_with_a_past_of(size()),
            "device" => statement::on_fresh_filesystems_on(name(&lane.ground)),
            "library" if is_device => statement::on_fresh_filesystems_on(name(&lane.ground)),
            "image" | "library" => statement::on_fresh_filesystems_of(size()),
            "qemu" => in_guest("QEMU"),
            "uml" => in_guest("user-mode Linux"),
            "directory" if alone => statement::in_a_directory_as_it_is(name(&lane.ground)),
            "directory" => statement::in_directories_as_they_are(),
            "memory" => statement::in_memory_alone(),
            _ => continue,
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let places: Vec<Value> = places.into_iter().map(Value::from).collect();
    (!places.is_empty()).then(|| statement::raced_there(Value::List(places)))
}

fn venue<'a>(lanes: &'a [&'a Lane], venue: &'a str) -> impl Iterator<Item = &'a Lane> {
    lanes.iter().copied().filter(move |lane| lane.venue == venue)
}
