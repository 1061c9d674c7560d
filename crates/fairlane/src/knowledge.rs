//! What advice rests on beside the races, built in: the features of every filesystem and the scenarios. To add a
//! scenario: one file, and its row here.

use crate::commands;
use crate::commands::planning;
use crate::failure::Failure;
use crate::{owned, state, suites};
use lanes::filesystems::{self, FILESYSTEMS, Filesystem, Home};
use model::bounds::TOML_BYTES;
use model::features::Features;
use model::findings::{Advice, Findings};
use model::lane::{Contestant, Lane, LaneSpec};
use model::oltp::Server;
use model::operations::Ability;
use model::record::Record;
use model::scenario::{Need, Scenario};
use model::workload::{Kind, Workload};
use stats::advice::{Knowledge, KnownSuite, KnownWorkload, LEAST_MEASURED, Race, USUAL_LANE_BYTES};

/// The table of features begins with these; others follow in the order of the table of filesystems.
const SHOWN_FIRST: [&str; 13] =
    ["ext4", "ext3", "ext2", "xfs", "btrfs", "f2fs", "nilfs2", "jfs", "reiserfs", "exfat", "ntfs", "bcachefs", "zfs"];

/// What people run: name and TOML.
pub const SCENARIOS: &[(&str, &str)] = &[
    ("mysql", include_str!("../../../scenarios/mysql.toml")),
    ("postgresql", include_str!("../../../scenarios/postgresql.toml")),
    ("big-data", include_str!("../../../scenarios/big-data.toml")),
    ("web-server", include_str!("../../../scenarios/web-server.toml")),
    ("source-hosting", include_str!("../../../scenarios/source-hosting.toml")),
    ("container-images", include_str!("../../../scenarios/container-images.toml")),
    ("database-containers", include_str!("../../../scenarios/database-containers.toml")),
    ("logs", include_str!("../../../scenarios/logs.toml")),
    ("mail", include_str!("../../../scenarios/mail.toml")),
    ("video", include_str!("../../../scenarios/video.toml")),
    ("home-server", include_str!("../../../scenarios/home-server.toml")),
];

/// The whole table of features.
///
/// # Errors
/// When a built-in file is wrong.
pub fn features() -> Result<Vec<Features>, Failure> {
    let read = |row: &&Filesystem| {
        Features::from_toml(row.features)
            .map_err(|error| Failure::failed(format!("built-in features of {}: {error}", row.name)))
    };
    let mut rows = FILESYSTEMS.to_vec();
    rows.sort_by_key(|row| SHOWN_FIRST.iter().position(|name| *name == row.name).unwrap_or(usize::MAX));
    rows.iter().map(read).collect()
}

/// Every built-in scenario.
///
/// # Errors
/// When a built-in file is wrong.
pub fn scenarios() -> Result<Vec<Scenario>, Failure> {
    SCENARIOS.iter().map(|(name, text)| built_in(name, text)).collect()
}

fn built_in(name: &str, text: &str) -> Result<Scenario, Failure> {
    Scenario::from_toml(text).map_err(|error| Failure::failed(format!("built-in scenario {name}: {error}")))
}

/// Finds a scenario by its name, or reads it from a file.
///
/// # Errors
/// When there is no such scenario, or its TOML is wrong.
pub fn scenario(name: &str) -> Result<Scenario, Failure> {
    if let Some((name, text)) = SCENARIOS.iter().find(|(known, _)| *known == name) {
        return built_in(name, text);
    }
    if !std::path::Path::new(name).is_file() {
        let known: Vec<_> = SCENARIOS.iter().map(|(known, _)| *known).collect();
        return Err(Failure::usage(format!(
            "there is no scenario and no file `{name}`; the scenarios are: {}",
            known.join(", ")
        )));
    }
    let path = std::path::Path::new(name);
    if commands::trace::is_trace(path) {
        return built_in(name, &commands::trace::scenario(path)?);
    }
    let text = owned::text(path, TOML_BYTES)
        .map_err(|error| Failure::usage(format!("cannot read the scenario {name}: {error}")))?;
    Scenario::from_toml(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))
}

/// Advice for scenarios from races.
///
/// # Errors
/// When the table of features is wrong.
pub fn advise(races: &[Race], scenarios: &[Scenario], needs: &[Need]) -> Result<Vec<Advice>, Failure> {
    let features = features()?;
    let suites = known_suites()?;
    let (others, broken) = (filesystems(), state::broken_lanes());
    let known = Knowledge { features: &features, suites: &suites, others: &others, lacks, broken: &broken };
    Ok(scenarios.iter().map(|scenario| stats::advice::advise(races, scenario, needs, &known)).collect())
}

/// The built-in suites, with what decides whether lanes can race them.
fn known_suites() -> Result<Vec<KnownSuite>, Failure> {
    let known = |(name, _): &(&str, &str)| {
        let suite = suites::find(name)?;
        Ok(KnownSuite {
            workloads: suite.workload.iter().map(known_workload).collect(),
            lane_bytes: suite.lane_size.map_or(USUAL_LANE_BYTES, |size| size.get()),
            own_lanes: suite.lane_size.is_some(),
            name: suite.name,
        })
    };
    suites::BUILT_IN.iter().map(known).collect()
}

fn known_workload(workload: &Workload) -> KnownWorkload {
    let mut kind = workload.kind.clone();
    if let Kind::Oltp(oltp) = &mut kind {
        // Scenarios ask for servers, which own their files.
        oltp.server = Server::Mariadb;
    }
    let kind = kind.traits();
    KnownWorkload {
        name: workload.name.clone(),
        title: workload.title.clone(),
        work_bytes: workload.working_set_bytes(),
        in_library: kind.runs_in_a_library(),
        in_guest: !kind.starts_programs(),
        asks: kind.asks_for().into_iter().map(|asked| asked.ability).collect(),
    }
}

/// What the table of filesystems says that a lane lacks.
fn lacks(lane: &LaneSpec) -> Vec<Ability> {
    let Contestant::Filesystem(name) = &lane.contestant else { return Vec::new() };
    let row = filesystems::find(name);
    let lacks = row.map(|row| (row.lacks)(&lane.mkfs_options, &lane.mount_options)).unwrap_or_default();
    lacks.into_iter().map(|lack| lack.ability).collect()
}

/// Filesystems that can be raced on a disk, as lanes without options: those that a race takes by itself first.
fn filesystems() -> Vec<Lane> {
    let mut rows = FILESYSTEMS.to_vec();
    let usual = |name: &str| planning::DEFAULT_LANES.iter().position(|usual| *usual == name);
    rows.retain(|row| row.home == Home::Block);
    rows.sort_by_key(|row| usual(row.name).unwrap_or(usize::MAX));
    rows.into_iter().map(bare_lane).collect()
}

/// A lane of a filesystem without options, as small as it takes.
pub fn bare_lane(row: &Filesystem) -> Lane {
    Lane {
        spec: row.name.to_owned(),
        mkfs_command: row.mkfs_command(&[]),
        mount_options: row.all_mount_options(&[]),
        ground: "images".to_owned(),
        size_bytes: row.minimum_bytes,
        promises: (row.promises)(&[], &[]),
        ..Lane::new(row.name, row.mounted_as(), "image")
    }
}

/// The findings of a record, with advice for the scenarios of which it measured at least half.
///
/// # Errors
/// When a built-in file is wrong.
pub fn findings(record: &Record) -> Result<Findings, Failure> {
    advised(record, stats::judge::findings(record))
}

/// The same, where the findings are known but for the advice, and for what power cuts and damage showed of the
/// lanes on this machine.
///
/// # Errors
/// When a built-in file is wrong.
pub fn advised(record: &Record, mut findings: Findings) -> Result<Findings, Failure> {
    // The lanes of a screening are runs of a design, and none of them is there to be chosen.
    if record.header.plan.screening.is_none() {
        let mut advice = advise(&[Race { record, findings: &findings }], &scenarios()?, &[])?;
        advice.retain(|advice| advice.measured_share >= LEAST_MEASURED);
        findings.advice = advice;
    }
    findings.warnings.extend(stats::durability::warnings(&record.header, &state::broken_lanes()));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::features::{Feature, UNKNOWN};
    use model::scenario::Matcher;

    #[test]
    fn every_file_is_sound_and_carries_its_own_name() {
        for row in FILESYSTEMS {
            assert_eq!(Features::from_toml(row.features).unwrap().filesystem, row.mounted_as());
        }
        for (row, scenario) in SCENARIOS.iter().zip(scenarios().unwrap()) {
            assert_eq!(row.0, scenario.name);
        }
    }

    #[test]
    fn no_file_is_forgotten() {
        let folder = |name: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
            let mut names: Vec<String> = std::fs::read_dir(path)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap().trim_end_matches(".toml").to_owned())
                .collect();
            names.sort();
            names
        };
        let rows = |table: &[(&str, &str)]| {
            let mut names: Vec<String> = table.iter().map(|(name, _)| (*name).to_owned()).collect();
            names.sort();
            names
        };
        let mut known: Vec<&str> = FILESYSTEMS.iter().map(|row| row.mounted_as()).collect();
        known.sort_unstable();
        assert_eq!(folder("features"), known);
        assert_eq!(folder("scenarios"), rows(SCENARIOS));
    }

    #[test]
    fn every_filesystem_that_can_be_raced_is_in_the_table() {
        let known = features().unwrap();
        for row in FILESYSTEMS {
            assert!(known.iter().any(|of| of.filesystem == row.mounted_as()), "{} has no features", row.name);
        }
        // Most cells are known; what is not says so, and never carries a value.
        let cells = known.iter().flat_map(|of| of.feature.values());
        let unknown = cells.clone().filter(|cell| cell.fact.is == UNKNOWN).count();
        assert!(unknown * 10 < cells.count(), "{unknown} cells are unknown");
    }

    #[test]
    fn the_table_says_of_data_checksums_what_lanes_promise() {
        let features = features().unwrap();
        let table = stats::advice::facts::Table { features: &features, kernel: "6.18", broken: &[] };
        let mut compared = 0;
        for row in FILESYSTEMS.iter().filter(|row| row.home != Home::Pool) {
            for option in ["", ",nodatacow", ",nodatasum", ",nodatasum,datasum", ",noatime"] {
                let line = format!("{}{option}", row.name);
                let spec: LaneSpec = line.parse().unwrap();
                let promises = (row.promises)(&spec.mkfs_options, &spec.mount_options);
                let lane = Lane {
                    mkfs_command: row.mkfs_command(&spec.mkfs_options),
                    mount_options: row.all_mount_options(&spec.mount_options),
                    ground: "images".to_owned(),
                    size_bytes: 1 << 30,
                    promises,
                    ..Lane::new(&line, row.mounted_as(), "image")
                };
                let fact = table.fact(&lane, Feature::DataChecksums);
                assert_eq!(fact.is == "yes", promises.data_checksums, "{line}: {fact:?}");
                compared += 1;
            }
        }
        assert!(compared > 50, "{compared}");
    }

    fn with_server(workload: &Workload, server: Server) -> Workload {
        let mut workload = workload.clone();
        if let Kind::Oltp(oltp) = &mut workload.kind {
            oltp.server = server;
        }
        workload
    }

    #[test]
    fn scenarios_name_series_of_suites_that_exist() {
        let fits = |series: &Matcher| {
            let Ok(Some(suite)) = suites::find_built_in(&series.suite) else { return false };
            // A database's groups begin with the server that is chosen.
            let servers = [Server::Sqlite, Server::Mariadb, Server::Mysql, Server::Postgresql];
            suite.workload.iter().flat_map(|of| servers.map(|server| with_server(of, server))).any(|workload| {
                workload.groups().iter().any(|group| series.matches(&suite.name, &workload.name, group))
            })
        };
        for scenario in scenarios().unwrap() {
            for series in scenario.weight.iter().flat_map(|weight| &weight.series) {
                assert!(fits(series), "{}: no workload for {series:?}", scenario.name);
            }
        }
    }
}
