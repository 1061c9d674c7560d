//! From the options of `fairlane screen` to the plan of its race.

use super::constraints::{self, Place, Room, Settled};
use super::{confirm, kernel, levels, rounds};
use crate::commands::planning::{self, PlanOnly, Tail};
use crate::commands::{contest, lane_failure, lane_size, race};
use crate::failure::Failure;
use crate::options::{Passes, Race, Screen};
use crate::terminal;
use lanes::custom::Custom;
use lanes::filesystems::{self, Home};
use lanes::{KernelLock, capacity, host, screened_options};
use model::Bytes;
use model::lane::{Contestant, LaneSpec, Venue};
use model::operations::Ability;
use model::plan::{Ground, Plan, Rounds};
use model::screening::{Factor, MOST_FACTORS, Screening, ScreeningRun};
use model::units::{human_bytes, human_seconds};
use model::workload::Workload;
use std::path::Path;

/// Lanes whose size nobody named grow in such steps.
const STEP_BYTES: u64 = 64 * Bytes::MIB;
/// Room beside the images, as the check of lanes keeps it.
const SPARE_BYTES: u64 = 64 * Bytes::MIB;
/// Lanes whose size nobody named are this large at least, where the disk has room: mkfs refuses the other levels of a log or a
/// journal on smaller ones (an allocation group of xfs is a quarter of such a lane).
const ROOMY_BYTES: u64 = Bytes::GIB;
/// The same with the further levels, which are tuned.
const ROOMY_TUNED_BYTES: u64 = 2 * Bytes::GIB;
/// Not even small lanes are screened in less, and raced again. Chosen.
const LEAST_BUDGET_SECONDS: f64 = 30.0;
/// A lane of this size tells what layers and copies leave of one.
const LOOKED_AT_BYTES: u64 = Bytes::GIB;

/// A screening that can be raced.
pub struct Planned {
    /// Its race. Rounds are `Auto` where the time is to choose them.
    pub plan: Plan,
    /// What had to differ from what was asked, one sentence each.
    pub notes: Vec<String>,
    /// Names of workloads, those that tell most first.
    pub most_telling: Vec<String>,
    /// What the plan says beside the notes.
    pub plan_only: PlanOnly,
    /// Held until the last race of the command is over; `None`: nothing sets the kernel.
    pub kernel: Option<KernelLock>,
}

/// Options become a plan. They are tried on a small image, of a filesystem of the user's own by the commands of its file; nothing
/// else is touched.
///
/// # Errors
/// With the documented exit statuses.
pub fn planned(lane: &str, options: &Screen) -> Result<Planned, Failure> {
    check(options)?;
    let factors = factors(&screened(lane)?, options)?;
    let (mut notes, mut most_telling, mut plan_only) = (Vec::new(), Vec::new(), PlanOnly::default());
    let mut plan = race::plan(&as_race(lane, options), &mut notes, &mut most_telling, &mut plan_only)?;
    let Some(base) = plan.lanes.first().cloned() else {
        return Err(Failure::usage("name a filesystem to screen, such as xfs"));
    };
    check_here(&base)?;
    let on = options.terms.place();
    if let Some(said) = not_root(&screened(lane)?, &base, on).filter(|_| !options.terms.quiet) {
        terminal::say!("{said}");
    }
    let room = Room::new(&base, !options.options.is_empty(), options.tune.is_some());
    let is_size_chosen = options.lane_size.is_none() && on_images(&base, &plan.on);
    let most_lanes = stats::screening::lanes_of(factors.len()).min(room.lanes);
    let least = roomy(&plan, &base, most_lanes, options.tune.is_some());
    if is_size_chosen {
        plan.lane_size = size(&plan, least)?.0;
    }
    check_before_trial(&plan, &base, (&factors, room), options)?;
    // What another race set would be taken for what the kernel has by itself.
    let held = kernel::hold(&base, &factors)?;
    let place = Place { plan: &plan, terms: &options.terms };
    let (settled, more_notes) = constraints::settle_here(&base, factors, room, (place, !options.terms.quiet))?;
    if let Some(said) = constraints::named_and_left_out(&settled, room.are_named) {
        // With --quiet too: who names an option takes it for screened.
        terminal::say!("{}", report::clean_text(&said));
        notes.insert(0, said);
    }
    let Settled { factors, design, runs, left_out } = settled;
    notes.extend(more_notes);
    let kernel = held.filter(|_| kernel::is_set(&base, &factors));
    plan.lanes = lanes(&base, &factors, &runs)?;
    notes.extend(compression_note(&base, &plan));
    if is_size_chosen {
        (plan.lane_size, plan_only.of_size) = size(&plan, least)?;
    }
    check_room(&plan, &base, (plan.lanes.len(), factors.len()), room.are_named)?;
    let names = plan.lanes.iter().map(|lane| lane.name.clone());
    let runs = names.zip(runs).map(|(lane, at_other)| ScreeningRun { lane, at_other }).collect();
    let confirms = confirm::may_come(options.no_confirm, &factors);
    let screening = Screening { base: lane.to_owned(), design, factors, runs, left_out };
    // What no reader takes is not written.
    screening.check().map_err(|fact| Failure::usage(format!("{fact}; name fewer and shorter words")))?;
    plan.screening = Some(screening);
    let times = rounds::share_out(options.terms.budget, confirms);
    (plan.rounds, plan.budget_seconds) = match options.rounds {
        // A number of rounds is a promise: only an explicit budget may cut it.
        Some(rounds) => (Rounds::Fixed(rounds), options.terms.budget.map(|_| times.screening)),
        None => (Rounds::Auto, Some(times.screening)),
    };
    (plan.explain, plan.explain_in_time) = (false, false);
    plan.command_line = command_line(lane, options, &plan);
    Ok(Planned { plan, notes, most_telling, plan_only, kernel })
}

/// Refuses a time in which nothing can be screened.
///
/// # Errors
/// Says what is enough.
pub fn check_budget(budget: Option<f64>) -> Result<(), Failure> {
    match budget.filter(|seconds| *seconds < LEAST_BUDGET_SECONDS) {
        None => Ok(()),
        Some(budget) => Err(Failure::usage(format!(
            "in {} nothing can be screened, because each round makes all lanes anew; give --budget \
             {LEAST_BUDGET_SECONDS:.0}s or more",
            human_seconds(budget)
        ))),
    }
}

/// What no screening takes of what every race takes.
fn check(options: &Screen) -> Result<(), Failure> {
    if options.terms.with_self {
        return Err(Failure::usage(
            "a screening knows its noise by the lanes' own rounds, and races none twice; leave --with-self out",
        ));
    }
    check_budget(options.terms.budget)?;
    // No limit holds a colon.
    match options.terms.throttle.iter().any(|text| text.contains(':')) {
        true => Err(Failure::usage("all runs of a screening stand on equal disks; give --throttle without a lane")),
        false => Ok(()),
    }
}

/// What is said at once where nobody put the lane into a guest and it is in one all the same, because this is not root.
/// `typed`: as it was named; `on`: the place that was.
fn not_root(typed: &LaneSpec, base: &LaneSpec, on: Option<&Path>) -> Option<&'static str> {
    let is_asked_for = planning::in_guest(typed) || on.is_some_and(|on| planning::guest_venue(on).is_some());
    (planning::in_guest(base) && !is_asked_for).then_some(
        "not root: the lanes are in a guest with a kernel of its own; sudo fairlane screen … races on this machine's kernel",
    )
}

/// Refuses a filesystem of the user's own in a guest, whose programs are not those of this machine.
fn check_here(base: &LaneSpec) -> Result<(), Failure> {
    match matches!(base.contestant, Contestant::Custom(_)) && planning::in_guest(base) {
        true => Err(Failure::usage(format!(
            "lane {} is made by programs of your own, and its options are screened on this machine and in no guest; \
             leave the guest out, and run it with sudo",
            base.name.escape_debug()
        ))),
        false => Ok(()),
    }
}

/// Refuses before options are tried what a race of their lanes would be refused for behind that.
fn check_before_trial(
    plan: &Plan,
    base: &LaneSpec,
    (factors, room): (&[Factor], Room),
    options: &Screen,
) -> Result<(), Failure> {
    contest::check(plan, &options.terms)?;
    let Settled { factors, runs, .. } = constraints::untried(base, factors.to_vec(), room, &plan.on)?;
    check_room(plan, base, (runs.len(), factors.len()), room.are_named)
}

/// A lane that is formatted anew for each run: of a filesystem of the table, or of a file of the user's own.
///
/// # Errors
/// For every other lane.
pub fn screened(lane: &str) -> Result<LaneSpec, Failure> {
    let spec: LaneSpec = lane.parse().map_err(|error: model::lane::LaneError| Failure::usage(error.to_string()))?;
    let name = match &spec.contestant {
        Contestant::Filesystem(name) => name,
        Contestant::Custom(_) => return Ok(spec),
        Contestant::Directory(_) => {
            return Err(Failure::usage(format!(
                "lane {} is made by nobody here, and a screening makes its lanes anew with other options; name a \
                 filesystem of Fairlane's table, such as ext4, xfs or btrfs, or a file of your own, as ./myfs.toml",
                spec.name.escape_debug()
            )));
        }
    };
    match filesystems::find(name) {
        Some(row) if row.home == Home::Block => Ok(spec),
        Some(row) => {
            let why = match row.home {
                Home::Memory => "stands in memory and not on a block device",
                Home::Library => "is a library that no kernel mounts",
                Home::Pool | Home::Block => "stands in a pool that its own tools make",
            };
            Err(Failure::usage(format!(
                "{} {why}, and a screening varies options of mkfs, mount and the disk of lanes that it makes anew on block \
                 devices; name another filesystem, such as ext4, xfs or btrfs",
                row.name
            )))
        }
        None if name.ends_with(".toml") => Err(Failure::usage(format!(
            "no filesystem is called `{0}`; a file of your own is named by its path: ./{0}",
            name.escape_debug()
        ))),
        None => {
            let near = filesystems::nearest(name).map(|near| format!("did you mean {near}? "));
            Err(Failure::usage(format!(
                "no filesystem is called `{}`; {}`fairlane doctor` lists those that there are",
                name.escape_debug(),
                near.unwrap_or_default()
            )))
        }
    }
}

/// What is to be screened: the options that were named, or the usual ones of the table.
fn factors(lane: &LaneSpec, options: &Screen) -> Result<Vec<Factor>, Failure> {
    let table = screened_options::table_of(lane);
    let mut factors = match options.options.as_slice() {
        [] if matches!(lane.contestant, Contestant::Custom(_)) => {
            return Err(Failure::usage(format!(
                "lane {} is of a file of your own, whose options are in no table; name them, each with its usual level \
                 first: --option 'delay=0|100' --option '-b 1024|4096'",
                lane.name.escape_debug()
            )));
        }
        [] => table.iter().filter(|option| option.by_itself).map(screened_options::factor).collect::<Vec<_>>(),
        typed => typed
            .iter()
            .map(|text| screened_options::parse_option(lane, text).map_err(lane_failure))
            .collect::<Result<_, _>>()?,
    };
    for (at, name) in options.without.iter().enumerate() {
        if options.without[..at].contains(name) {
            continue;
        }
        let count = factors.len();
        factors.retain(|factor| factor.name != *name);
        if factors.len() == count {
            let remedy = if name.contains(',') { "; name each with a --without of its own" } else { "" };
            return Err(Failure::usage(format!(
                "--without {}: that is none of the options to be screened: {}{remedy}",
                report::clean_text(name),
                names(&factors)
            )));
        }
    }
    for (at, factor) in factors.iter().enumerate() {
        if factors[..at].iter().any(|earlier| earlier.name == factor.name) {
            return Err(Failure::usage(format!("option {} is named twice; name it once", factor.name)));
        }
    }
    match factors.len() {
        0 if !options.without.is_empty() => Err(Failure::usage(format!(
            "--without leaves out every option of {} that was to be screened; leave one of them in",
            lane.name.escape_debug()
        ))),
        0 => Err(Failure::usage(format!(
            "Fairlane has no table of options of {}, so that none is screened by itself; name some: --option \
             'NAME=USUAL|OTHER' (`fairlane doctor` says whether this machine can make it)",
            lane.name.escape_debug()
        ))),
        count if count > MOST_FACTORS => Err(Failure::usage(format!(
            "{count} options are more than the largest design has room for, which is {MOST_FACTORS}; name fewer \
             with --option"
        ))),
        _ => Ok(factors),
    }
}

fn names(factors: &[Factor]) -> String {
    factors.iter().map(|factor| factor.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A race of the lane alone, whose plan is a screening's but for its lanes.
fn as_race(lane: &str, options: &Screen) -> Race {
    Race {
        lanes: vec![lane.to_owned()],
        suite: options.suite.clone(),
        replay: options.replay.clone(),
        speed: options.speed,
        workloads: options.workloads.clone(),
        ranks: Vec::new(),
        lane_size: options.lane_size,
        rounds: options.rounds.map(Rounds::Fixed),
        as_published: false,
        set: options.set.clone(),
        data: options.data.clone(),
        state: None,
        explain: Some(Passes::No),
        find_max: None,
        most_writers: 1,
        resume: None,
        output: None,
        no_report: true,
        terms: options.terms.clone(),
    }
}

/// What a run's lane is called: the first one is the default.
fn name(run: usize) -> String {
    if run == 0 { "default".to_owned() } else { format!("r{:02}", run + 1) }
}

fn lanes(base: &LaneSpec, factors: &[Factor], runs: &[Vec<bool>]) -> Result<Vec<LaneSpec>, Failure> {
    let lane = |(at, run): (usize, &Vec<bool>)| {
        levels::lane(base, &name(at), factors, &levels::combination_of_run(run)).map_err(lane_failure)
    };
    runs.iter().enumerate().map(lane).collect()
}

/// Where an option compresses and the lane itself does not: what the data of this race lets it show.
fn compression_note(base: &LaneSpec, plan: &Plan) -> Option<String> {
    let compresses = |lane: &&LaneSpec| !planning::compressing(std::slice::from_ref(*lane)).is_empty();
    let found = plan.lanes.iter().find(compresses).filter(|_| !compresses(&base))?;
    let found = LaneSpec { name: "lanes of an option".to_owned(), ..found.clone() };
    planning::compression_note(&[found], &plan.workloads, &[])
}

/// Whether the lanes stand on images, whose size is chosen.
fn on_images(base: &LaneSpec, on: &Ground) -> bool {
    !matches!(base.venue, Some(Venue::Device(_))) && (base.venue.is_some() || matches!(on, Ground::Images(_)))
}

/// Bytes that lanes have at least, so that the levels of options fit; 0: the disk has no room for so many of that size.
fn roomy(plan: &Plan, base: &LaneSpec, lanes: usize, is_tuned: bool) -> u64 {
    let Ground::Images(folder) = &plan.on else { return 0 };
    let free = host::find(folder).map_or(0, |host| host.free_bytes);
    let disks = u64::from(base.disks()).saturating_mul(lanes as u64);
    roomy_bytes(needed_bytes(base, &plan.workloads), disks, free, is_tuned)
}

fn roomy_bytes(needed: u64, disks: u64, free: u64, is_tuned: bool) -> u64 {
    let fits = |bytes: &u64| needed.max(*bytes).saturating_mul(disks).saturating_add(SPARE_BYTES) <= free;
    let mut sizes = is_tuned.then_some(ROOMY_TUNED_BYTES).into_iter().chain([ROOMY_BYTES]);
    sizes.find(fits).unwrap_or(0)
}

/// The smallest lanes that filesystem, options and work take, because all of them lie side by side; and the sentence that says
/// so. `least`: bytes that they have in any case.
fn size(plan: &Plan, least: u64) -> Result<(Bytes, Option<String>), Failure> {
    let needed = plan.lanes.iter().map(|lane| needed_bytes(lane, &plan.workloads)).max().unwrap_or(STEP_BYTES);
    let asks = match needed < least {
        true => "larger logs and journals have room there",
        false => "neither the filesystem nor the work asks for more",
    };
    let needed = needed.max(least);
    let size = Bytes(needed.checked_next_multiple_of(STEP_BYTES).unwrap_or(u64::MAX));
    let work = plan.workloads.iter().map(Workload::working_set_bytes).max().unwrap_or(0);
    let lane_size::Chosen { size, why } = lane_size::beside_pasts(size, &plan.lanes, work)?;
    let usual = format!(
        "lanes of {}: {} of them lie side by side, and {asks}; --lane-size takes any other",
        human_bytes(size.get() as f64),
        plan.lanes.len()
    );
    Ok((size, Some(why.unwrap_or(usual))))
}

/// Bytes of each disk of a lane: what its filesystem is comfortable with, and twice what the work keeps on it.
fn needed_bytes(lane: &LaneSpec, workloads: &[Workload]) -> u64 {
    let Some((own, has_holes)) = of_filesystem(lane) else { return lane_size::USUAL.get() };
    let bytes = |workload: &Workload| {
        let holes = if has_holes { 0 } else { workload.traits().hole_bytes() };
        workload.working_set_bytes().saturating_add(holes)
    };
    let work = workloads.iter().map(bytes).max().unwrap_or(0);
    // Layers and copies leave less of a disk.
    let (device, room) = capacity::of_lane(lane, LOOKED_AT_BYTES);
    let of_disk = |bytes: u64, left: u64| {
        let bytes = (u128::from(bytes) * u128::from(LOOKED_AT_BYTES)).div_ceil(u128::from(left.max(1)));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    of_disk(own, device).max(of_disk(work.saturating_mul(2), room))
}

/// Bytes that a lane's filesystem is comfortable with, and whether its files have holes; `None`: nobody knows.
fn of_filesystem(lane: &LaneSpec) -> Option<(u64, bool)> {
    match &lane.contestant {
        Contestant::Filesystem(name) => {
            let row = filesystems::find(name)?;
            let lacks = (row.lacks)(&lane.mkfs_options, &lane.mount_options);
            let own = row.comfortable.map_or(0, |(bytes, _)| bytes).max(row.minimum_bytes);
            Some((own, !lacks.iter().any(|lack| lack.ability == Ability::Holes)))
        }
        // What it lacks is known by trying alone.
        Contestant::Custom(file) => Some((Custom::read(file).ok()?.minimum_size.map_or(0, Bytes::get), true)),
        Contestant::Directory(_) => None,
    }
}

/// Refuses what the disk has no room for, with how many options less would do. `are_named`: by whoever screens.
fn check_room(plan: &Plan, base: &LaneSpec, (lanes, factors): (usize, usize), are_named: bool) -> Result<(), Failure> {
    let Ground::Images(folder) = &plan.on else { return Ok(()) };
    // Where the images cannot lie the check of lanes says why.
    let (true, Ok(host)) = (on_images(base, &plan.on), host::find(folder)) else { return Ok(()) };
    let disks = u64::from(base.disks());
    let needed = |lanes: usize| {
        let each = plan.lane_size.get().saturating_mul(disks);
        each.saturating_mul(lanes as u64).saturating_add(SPARE_BYTES)
    };
    if needed(lanes) <= host.free_bytes {
        return Ok(());
    }
    let fits = |factors: &usize| needed(stats::screening::lanes_of(*factors)) <= host.free_bytes;
    let fewer = match (1..factors).rev().find(fits) {
        Some(fit) if are_named => format!("name {fit} of the {factors} options"),
        Some(fit) => format!("leave {} of {factors} options out (--without NAME)", factors - fit),
        None => "free some space".to_owned(),
    };
    Err(Failure::failed(format!(
        "{} has {} free, and {lanes} lanes of {} need {}; {fewer}, lower --lane-size or choose another place with --on DIR",
        folder.display(),
        human_bytes(host.free_bytes as f64),
        plan.lane_size,
        human_bytes(needed(lanes) as f64)
    )))
}

/// The command that screens again.
fn command_line(lane: &str, options: &Screen, plan: &Plan) -> Vec<String> {
    let mut line = vec!["fairlane".to_owned(), "screen".to_owned(), lane.to_owned()];
    let mut push = |name: &str, value: String| line.extend([name.to_owned(), value]);
    match &options.replay {
        Some(trace) => {
            push("--replay", trace.display().to_string());
            options.speed.iter().for_each(|speed| push("--speed", speed.to_string()));
        }
        None => push("--suite", options.suite.clone()),
    }
    options.workloads.iter().for_each(|name| push("--workload", name.clone()));
    options.data.iter().for_each(|data| push("--data", data.clone()));
    options.set.iter().for_each(|assignment| push("--set", assignment.clone()));
    let factors = plan.screening.as_ref().map(|screening| screening.factors.as_slice()).unwrap_or_default();
    options_again(options, factors).into_iter().for_each(|(name, value)| push(name, value));
    options.tune.iter().for_each(|seconds| push("--tune", format!("{seconds}s")));
    if options.no_confirm {
        line.push("--no-confirm".to_owned());
    }
    let throttles = plan.throttles();
    Tail {
        terms: &options.terms,
        lanes: &plan.lanes,
        throttles: &throttles,
        on: &plan.on,
        lane_size: plan.lane_size,
        rounds: plan.rounds,
        seed: plan.seed,
    }
    .append_to(&mut line);
    line
}

/// Options of the command that screens the same options again, each of them named: a later table may have others by itself.
fn options_again(options: &Screen, factors: &[Factor]) -> Vec<(&'static str, String)> {
    if options.options.is_empty() {
        // Those of the table that are left.
        return factors.iter().map(|factor| ("--option", factor.name.clone())).collect();
    }
    let typed = options.options.iter().map(|text| ("--option", text.clone()));
    typed.chain(options.without.iter().map(|name| ("--without", name.clone()))).collect()
}

#[cfg(test)]
mod refusal_tests;

#[cfg(test)]
mod tests {
    use super::super::levels::tests::factor;
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;
    use model::screening::OptionClass;

    #[test]
    fn who_screens_again_names_every_option_that_is_screened() {
        let factors = [factor("logbsize", &["32k", "256k"]), factor("noatime", &["off", "on"])];
        for (typed, again) in [
            ("xfs", "--option logbsize --option noatime"),
            ("xfs --without reflink", "--option logbsize --option noatime"),
            ("xfs --option logbsize=32k|64k", "--option logbsize=32k|64k"),
            ("xfs --option -K --option noatime --without noatime", "--option -K --option noatime --without noatime"),
        ] {
            let words = ["fairlane", "screen"].into_iter().chain(typed.split(' '));
            let Command::Screen(options) = Options::try_parse_from(words).unwrap().command else { panic!("{typed}") };
            let words: Vec<String> =
                options_again(&options, &factors).into_iter().map(|(name, value)| format!("{name} {value}")).collect();
            assert_eq!(words.join(" "), again, "{typed}");
        }
    }

    #[test]
    fn lanes_that_nobody_formats_anew_are_not_screened() {
        for lane in ["ext4", "xfs@qemu", "ext4/crypt", "btrfs,noatime", "./mine.toml", "a=./mine.toml(-b 1024)/crypt"] {
            assert_eq!(screened(lane).unwrap(), lane.parse::<LaneSpec>().unwrap());
        }
        for (lane, says) in [
            ("/mnt/a", "makes its lanes anew"),
            ("/mnt/a", "name a filesystem of Fairlane's table, such as ext4, xfs or btrfs, or a file of your own"),
            ("tmpfs", "stands in memory and not on a block device"),
            ("rsext4", "is a library that no kernel mounts"),
            ("zfs", "stands in a pool that its own tools make"),
            ("exr4", "no filesystem is called `exr4`; did you mean ext4?"),
            ("myfs.toml", "named by its path: ./myfs.toml"),
            ("ext4,,noatime", "empty option"),
        ] {
            let message = screened(lane).unwrap_err().message;
            assert!(message.contains(says), "{lane}: {message}");
        }
        let here = |lane: &str| check_here(&lane.parse().unwrap()).map_err(|failure| failure.message);
        for lane in ["xfs@uml", "./mine.toml", "./mine.toml@image"] {
            assert_eq!(here(lane), Ok(()), "{lane}");
        }
        for lane in ["./mine.toml@uml", "./mine.toml@qemu"] {
            assert!(here(lane).unwrap_err().contains("in no guest; leave the guest out"), "{lane}");
        }
    }

    #[test]
    fn options_of_a_file_of_ones_own_are_named() {
        let factors_of = |typed: &str| {
            let words = ["fairlane", "screen"].into_iter().chain(typed.split(' '));
            let Command::Screen(options) = Options::try_parse_from(words).unwrap().command else { panic!("{typed}") };
            factors(&screened(options.lane.as_deref().unwrap()).unwrap(), &options).map_err(|failure| failure.message)
        };
        for typed in ["./no-such.toml", "./no-such.toml --without noatime"] {
            let said = factors_of(typed).unwrap_err();
            assert!(said.contains("in no table; name them") && said.contains("--option 'delay=0|100'"), "{said}");
        }
        let said = factors_of("./no-such.toml --option fast").unwrap_err();
        assert!(said.contains("no-such.toml"), "{said}");
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/myfs.toml");
        let factors = factors_of(&format!("{example} --option commit=5|30 --option -b4096|1024")).unwrap();
        assert_eq!(factors.iter().map(|factor| factor.name.as_str()).collect::<Vec<_>>(), ["commit", "-b"]);
        assert!(factors.iter().all(|factor| factor.class == OptionClass::Unknown));
        let ordinary = factors_of(&format!("{example} --option queue:read_ahead=128K|4M")).unwrap();
        assert_eq!(ordinary[0].class, OptionClass::Ordinary);
    }

    #[test]
    fn lanes_have_room_for_larger_logs_where_the_disk_has_it() {
        let of_free = |gib: u64, is_tuned: bool| roomy_bytes(300 * Bytes::MIB, 24, gib * Bytes::GIB, is_tuned);
        for (free, plain, tuned) in [(60, 1, 2), (30, 1, 1), (24, 0, 0), (0, 0, 0)] {
            let wanted = [plain, tuned].map(|gib: u64| gib * Bytes::GIB);
            assert_eq!([of_free(free, false), of_free(free, true)], wanted, "{free}");
        }
        // Not even the work has room.
        assert_eq!(roomy_bytes(4 * Bytes::GIB, 8, 30 * Bytes::GIB, false), 0);
    }

    #[test]
    fn lanes_are_as_small_as_filesystem_and_work_let_them_be() {
        let workload = |size: &str| -> Workload {
            let text = format!(
                "name = \"w\"\ntitle = \"w\"\nkind = \"io\"\nrw = \"write\"\nbs = \"1MiB\"\nsize = \"{size}\"\nslices = 2\n\
                 slice_seconds = 0.1"
            );
            toml::from_str(&text).unwrap()
        };
        let needed = |lane: &str, size: &str| needed_bytes(&lane.parse().unwrap(), &[workload(size)]);
        // A journal as on a larger disk.
        assert_eq!(needed("ext4", "16MiB"), Bytes::GIB);
        assert_eq!(needed("ext4", "1GiB"), 2 * Bytes::GIB);
        assert_eq!(needed("xfs", "16MiB"), 300 * Bytes::MIB);
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/myfs.toml");
        assert_eq!([needed(example, "16MiB"), needed(example, "1GiB")], [64 * Bytes::MIB, 2 * Bytes::GIB]);
        // Each of two disks holds half, and what the array keeps for itself.
        let half = needed("xfs/raid0:2", "1GiB");
        assert!((Bytes::GIB..Bytes::GIB + STEP_BYTES).contains(&half), "{half}");
    }
}
