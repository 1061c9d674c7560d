//! How large lanes are where nobody says it: by the time, the disk and its free space.

use super::forecast::{FAST, IN_GUEST, Rates, SPINNING};
use super::planning::in_guest;
use crate::failure::Failure;
use lanes::filesystems::{self, Home};
use lanes::host;
use model::Bytes;
use model::lane::{Contestant, LaneSpec, Venue};
use model::plan::Ground;

/// Where the time is short, or nobody says how long a race may take.
pub const USUAL: Bytes = Bytes(2 << 30);
/// The largest that is taken unasked. Chosen: mkfs.ext4 writes its inode tables and journal anew in each visit, 384 MiB
/// of 16 GiB, which an ordinary disk does in half a second; of larger lanes that would fill the rounds.
const LARGEST: Bytes = Bytes(16 << 30);
/// Shorter races are a first answer, whose images should not be waited for.
const SHORT_SECONDS: f64 = 600.0;
/// Of the time of a race so much may go into laying its images out.
const SHARE_OF_THE_TIME: f64 = 0.1;
/// Of what is free so much may be taken unasked.
const SHARE_OF_THE_ROOM: f64 = 0.5;

/// A size, and why it was taken; `None`: it was asked for, or no lane takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Of each lane.
    pub size: Bytes,
    /// One sentence for the plan.
    pub why: Option<String>,
}

/// What a size is chosen by.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Terms {
    images: u64,
    budget_seconds: Option<f64>,
    /// How fast the disk lays images out, roughly.
    bytes_per_second: f64,
    free_bytes: u64,
}

/// The size of the lanes of a race. `asked`: by the user or by the suite.
pub fn choose(
    asked: Option<Bytes>,
    budget_seconds: Option<f64>,
    lanes: &[LaneSpec],
    with_self: bool,
    on: &Ground,
) -> Chosen {
    if let Some(size) = asked {
        return Chosen { size, why: None };
    }
    let images = lanes.iter().filter(|lane| on_image(lane, on)).count() as u64;
    let Ground::Images(folder) = on else { return Chosen { size: USUAL, why: None } };
    // Lanes in memory have the size of the others, and memory is no disk to fill.
    if images == 0 || lanes.iter().any(in_memory) {
        return Chosen { size: USUAL, why: None };
    }
    // A past is lived on all of a lane: larger ones are taken where the work asks for them (`beside_pasts`).
    if lanes.iter().any(LaneSpec::has_past) {
        return Chosen { size: USUAL, why: None };
    }
    // Where the images cannot lie the check of lanes says why.
    let Ok(host) = host::find(folder) else { return Chosen { size: USUAL, why: None } };
    let rates = rates(host.disk.as_deref(), lanes.iter().any(in_guest));
    by(Terms {
        images: images + u64::from(with_self),
        budget_seconds,
        bytes_per_second: rates.sequential,
        free_bytes: host.free_bytes,
    })
}

/// The size of lanes that was chosen, or where pasts leave no room for the work there the next power of two that has it, and why.
///
/// # Errors
/// Where there is no such past.
pub fn beside_pasts(chosen: Bytes, lanes: &[LaneSpec], work_bytes: u64) -> Result<Chosen, Failure> {
    let (mut size, mut why) = (chosen, None);
    for lane in lanes {
        let Some(life) = super::age::of_lane(lane, USUAL)? else { continue };
        let needed = lanes::capacity::beside_a_past(life.full.unwrap_or(life.profile.settle[1]), work_bytes);
        if needed > size.get() {
            size = Bytes(needed.checked_next_power_of_two().unwrap_or(u64::MAX / 2 + 1));
            why = Some(format!(
                "lanes of {}: the work has room beside the past of {} there; --lane-size takes any other",
                model::units::human_bytes(size.get() as f64),
                lane.name
            ));
        }
    }
    Ok(Chosen { size, why })
}

/// The same figures as the forecast's.
fn rates(disk: Option<&str>, guests: bool) -> Rates {
    match disk {
        Some(disk) if spins(disk) => SPINNING,
        _ if guests => IN_GUEST,
        _ => FAST,
    }
}

/// A virtual disk is called rotational by default, whatever it stands on.
pub fn spins(disk: &str) -> bool {
    !disk.starts_with("vd") && host::describe_disk(disk).rotational
}

fn on_image(lane: &LaneSpec, on: &Ground) -> bool {
    match (&lane.contestant, &lane.venue) {
        (Contestant::Directory(_), _) | (_, Some(Venue::Device(_))) => false,
        (_, Some(_)) => true,
        (_, None) => matches!(on, Ground::Images(_)),
    }
}

fn in_memory(lane: &LaneSpec) -> bool {
    match &lane.contestant {
        Contestant::Filesystem(name) => filesystems::find(name).is_some_and(|row| row.home == Home::Memory),
        Contestant::Directory(_) | Contestant::Custom(_) => false,
    }
}

fn by(terms: Terms) -> Chosen {
    let Some(budget) = terms.budget_seconds else { return Chosen { size: USUAL, why: None } };
    let lanes_of = |size: Bytes, why: String| Chosen {
        size,
        why: Some(format!(
            "lanes of {}: {why}; --lane-size takes any other",
            model::units::human_bytes(size.get() as f64)
        )),
    };
    if budget < SHORT_SECONDS {
        let longer = SHORT_SECONDS / 60.0;
        return lanes_of(USUAL, format!("the time is short (larger ones from --budget {longer:.0}m on)"));
    }
    let each = |bytes: f64| bytes / terms.images.max(1) as f64;
    let (by_time, by_room) =
        (each(SHARE_OF_THE_TIME * budget * terms.bytes_per_second), each(SHARE_OF_THE_ROOM * terms.free_bytes as f64));
    let (time, room) = (power_of_two(by_time), power_of_two(by_room));
    let rate = model::units::human_bandwidth(terms.bytes_per_second);
    match time.min(room) {
        size if room < time => lanes_of(
            size,
            format!(
                "more would take over half of the {} that are free",
                model::units::human_bytes(terms.free_bytes as f64)
            ),
        ),
        size if size == LARGEST => lanes_of(size, "the largest that is taken unasked".to_owned()),
        size => lanes_of(size, format!("a tenth of the time lays out no more, at the {rate} of such a disk")),
    }
}

/// The largest power of two that is no larger, between the usual size and the largest.
fn power_of_two(bytes: f64) -> Bytes {
    let bytes = bytes.clamp(USUAL.get() as f64, LARGEST.get() as f64) as u64;
    Bytes(1 << bytes.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn chosen_for(budget: Option<f64>, rate: f64, free: u64, images: u64) -> Chosen {
        by(Terms { images, budget_seconds: budget, bytes_per_second: rate, free_bytes: free })
    }

    #[test]
    fn a_short_race_and_one_without_a_budget_have_the_usual_size() {
        let quick = chosen_for(Some(240.0), 700e6, 1000 * GIB, 3);
        assert_eq!(quick.size, USUAL);
        assert_eq!(
            quick.why.as_deref(),
            Some("lanes of 2 GiB: the time is short (larger ones from --budget 10m on); --lane-size takes any other")
        );
        assert_eq!(chosen_for(Some(599.0), 7e9, 1000 * GIB, 1).size, USUAL);
        assert_eq!(chosen_for(None, 7e9, 1000 * GIB, 1), Chosen { size: USUAL, why: None });
    }

    #[test]
    fn lanes_have_room_for_the_work_beside_their_pasts() {
        let size = |lanes: &[&str], work: u64| {
            let lanes: Vec<LaneSpec> = lanes.iter().map(|lane| lane.parse().unwrap()).collect();
            beside_pasts(USUAL, &lanes, work).unwrap()
        };
        assert_eq!(size(&["ext4", "xfs"], GIB), Chosen { size: USUAL, why: None });
        assert_eq!(size(&["ext4", "ext4+aged"], 128 << 20).size, USUAL);
        // Of four fifths that are full a fifth is left, and 70 % of that is worked on.
        let half = size(&["ext4", "ext4+aged"], 512 << 20);
        assert_eq!(half.size, Bytes(4 * GIB));
        assert!(half.why.unwrap().contains("beside the past of ext4+aged"));
        assert_eq!(size(&["ext4+full=90%"], 512 << 20).size, Bytes(8 * GIB));
        assert!(beside_pasts(USUAL, &["ext4+aged=chrun".parse().unwrap()], 1).is_err());
    }

    #[test]
    fn a_tenth_of_the_time_lays_the_images_out_in_powers_of_two() {
        // 60 s at 700 MB/s are 39.1 GiB, 13.0 for each of three.
        let ten = chosen_for(Some(600.0), 700e6, 1000 * GIB, 3);
        assert_eq!(ten.size, Bytes(8 * GIB));
        assert!(ten.why.unwrap().contains("a tenth of the time lays out no more, at the 700 MB/s of such a disk"));
        // A disk that spins lays 7.26 GiB out in that time.
        assert_eq!(chosen_for(Some(600.0), 130e6, 1000 * GIB, 3).size, USUAL);
        assert_eq!(chosen_for(Some(1200.0), 130e6, 1000 * GIB, 3).size, Bytes(4 * GIB));
        let long = chosen_for(Some(36_000.0), 700e6, 1000 * GIB, 3);
        assert_eq!(long.size, LARGEST);
        assert!(long.why.unwrap().contains("the largest that is taken unasked"));
    }

    #[test]
    fn no_more_than_half_of_what_is_free_is_taken_unasked() {
        let full = chosen_for(Some(3600.0), 700e6, 30 * GIB, 3);
        assert_eq!(full.size, Bytes(4 * GIB));
        assert!(full.why.unwrap().contains("over half of the 30 GiB that are free"));
        // Less than the usual size is not taken: that the room is short is said by the check of it.
        assert_eq!(chosen_for(Some(3600.0), 700e6, GIB, 3).size, USUAL);
    }

    #[test]
    fn what_is_asked_for_is_taken_and_lanes_with_a_size_of_their_own_change_nothing() {
        let lanes = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<LaneSpec>>();
        let images = Ground::Images("/".into());
        let asked = choose(Some(Bytes(5 * GIB)), Some(3600.0), &lanes(&["ext4"]), false, &images);
        assert_eq!(asked, Chosen { size: Bytes(5 * GIB), why: None });
        for (texts, on) in [
            (vec!["/tmp", "/var"], images.clone()),
            (vec!["ext4", "xfs"], Ground::Device("/dev/null".into())),
            (vec!["ext4", "tmpfs"], images),
        ] {
            let chosen = choose(None, Some(3600.0), &lanes(&texts), false, &on);
            assert_eq!(chosen, Chosen { size: USUAL, why: None }, "{texts:?}");
        }
    }
}
