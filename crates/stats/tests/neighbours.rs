//! What other lanes do on the disk beside a trial.

use crate::common::{small_files, trial};
use model::trial::{DeviceUse, SystemUse};

#[test]
fn lanes_beside_a_trial_count_from_two_percent_of_its_own_bytes_in_any_group() {
    const MIB: u64 = 1 << 20;
    let system = |own: u64, others: u64, seconds: f64| SystemUse {
        window_seconds: seconds,
        device: DeviceUse { write_bytes: own, ..Default::default() },
        neighbours: DeviceUse { write_bytes: others, ..Default::default() },
        ..Default::default()
    };
    let mut trial = trial("xfs", &small_files(), 1, 1000.0);
    trial.system = system(45 * MIB, 2 * MIB, 0.6);
    let said = stats::noise::neighbours(&trial).unwrap();
    assert_eq!(said, "other lanes moved 2 MiB on the disk beside xfs's 45 MiB (2 % is tolerated)");
    for (own, others, seconds) in [(200 * MIB, 3 * MIB, 0.6), (MIB, 64 << 10, 0.1), (0, MIB, 30.0), (MIB, 0, 1.0)] {
        trial.system = system(own, others, seconds);
        assert_eq!(stats::noise::neighbours(&trial), None, "{own} {others} {seconds}");
    }
    // What is much beside one phase is little beside all of them.
    trial.system = system(200 * MIB, MIB, 2.0);
    trial.groups[0].system = Some(system(20 * MIB, MIB, 0.1));
    let said = stats::noise::neighbours(&trial).unwrap();
    assert!(said.starts_with(&format!("{}: other lanes moved", trial.groups[0].name)), "{said}");
}
