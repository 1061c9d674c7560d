//! What a race is about to do, for the lines that stand on the screen before anything is written.

use crate::Style;
use crate::words;

/// What a race is about to do, in the figures that a person decides by.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSummary {
    /// The lanes, gathered by the ground they live on, in the order of the command line.
    pub contestants: Vec<Contestants>,
    /// Bytes that the whole race writes, roughly; `None`: not known beforehand.
    pub written_bytes: Option<u64>,
    /// Free bytes that the images need; `None` or 0: none.
    pub needed_bytes: Option<u64>,
    /// Number of workloads.
    pub workloads: u32,
    /// Fewest and most rounds per workload; equal where the number is fixed.
    pub rounds: (u32, u32),
    /// How many of the planned rounds a screening is expected to race, whose time is too short for all of them; `None`: all, or
    /// it is no screening.
    pub fits: Option<u32>,
    /// Lanes are to be ranked by its rounds: it is no search, no calibration and not about one lane.
    pub ranks: bool,
    /// As many rounds as the time allows, whatever they decide (`fairlane calibrate`).
    pub rounds_until_the_time_is_up: bool,
    /// Seconds that the race takes, roughly.
    pub seconds: Option<f64>,
    /// Seconds that a round takes with all lanes, roughly; one per workload.
    pub seconds_per_round: Vec<f64>,
    /// What can be told in that time; `None`: nothing is compared, or nobody knows.
    pub resolves: Option<Foresight>,
    /// Seconds before its first round, in which images are written.
    pub setup_seconds: f64,
    /// Seconds until every workload had its first look; of a screening in the race of its proposal.
    pub first_look_seconds: f64,
    /// Seconds that the race may take at most.
    pub budget_seconds: Option<f64>,
    /// Images stay where the race fails (`--keep`).
    pub keep: bool,
    /// The article's own method, run once (`--as-published`).
    pub as_published: bool,
    /// Whether each workload is done once more behind the rounds, to see where its time goes.
    pub passes: PlannedPasses,
    /// What had to differ from what was asked, one sentence each.
    pub notes: Vec<String>,
}

/// Passes behind the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlannedPasses {
    /// None.
    #[default]
    No,
    /// As many as the time has room for.
    InTime,
    /// All, whatever the time is.
    All,
}

/// What a race can probably tell in the time it has.
#[derive(Debug, Clone, PartialEq)]
pub struct Foresight {
    /// The difference, as a share, that half of the workloads resolve, four times out of five; where no
    /// more than half reach a look, those that do.
    pub difference: f64,
    /// How many workloads reach a look, of how many, where that is no more than half.
    pub of: Option<(u32, u32)>,
    /// In so many seconds.
    pub seconds: f64,
    /// A smaller one, the seconds that it takes, and the rounds that it must be given where an adaptive race makes fewer;
    /// `None` where the time is enough for it too, or none would be.
    pub smaller: Option<(f64, f64, Option<u32>)>,
    /// Whose noise was taken.
    pub noise: KnownNoise,
}

/// Of which workloads a calibration knows the machine's noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownNoise {
    /// Of all.
    All,
    /// Of these, by their titles; of the others what is usual was taken.
    Of(Vec<String>),
    /// Of none.
    None,
}

/// Lanes that share a kind of ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Contestants {
    /// Names of the lanes.
    pub lanes: Vec<String>,
    /// Where they live.
    pub ground: Ground,
}

/// Where lanes live, as a person sees it.
#[derive(Debug, Clone, PartialEq)]
pub enum Ground {
    /// Image files, side by side.
    Images {
        /// The folder that holds them.
        directory: String,
        /// Size of each.
        lane_bytes: u64,
        /// Filesystem and disk under the folder: `ext4 on nvme0n1p3`; empty: not known.
        host: String,
    },
    /// Images that a small guest of its own mounts.
    Guest {
        /// The folder that holds them.
        directory: String,
        /// Size of each.
        lane_bytes: u64,
        /// What mounts them: `user-mode Linux 6.1.176, 1 CPU, 512MiB`.
        guest: String,
        /// Its figures tell of the filesystems' code alone: no disk and no flush is behind them.
        code_only: bool,
    },
    /// A block device that will be formatted.
    Device {
        /// `/dev/…`.
        path: String,
    },
    /// A directory, raced as it is.
    Directory {
        /// Its path.
        path: String,
    },
    /// Main memory (tmpfs).
    Memory,
}

/// The lines that a race prints before it writes anything, each ending in a line break.
pub fn plan_lines(plan: &PlanSummary, style: &Style) -> String {
    let mut out = String::new();
    for line in words::plan::writes(plan).wrap(style.columns()) {
        out.push_str(&line.paint(style));
        out.push('\n');
    }
    for line in words::plan::work(plan).wrap(style.columns()) {
        out.push_str(&line.paint(style));
        out.push('\n');
    }
    for said in words::plan::remarks(plan) {
        for line in said.wrap(style.columns()) {
            out.push_str(&line.paint(style));
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> PlanSummary {
        PlanSummary {
            contestants: vec![Contestants {
                lanes: ["ext4", "xfs", "btrfs"].map(str::to_owned).to_vec(),
                ground: Ground::Images {
                    directory: "/home/li".to_owned(),
                    lane_bytes: 2 << 30,
                    host: "ext4 on nvme0n1p3".to_owned(),
                },
            }],
            written_bytes: Some(30 << 30),
            needed_bytes: Some(6 << 30),
            workloads: 6,
            rounds: (6, 20),
            fits: None,
            ranks: true,
            rounds_until_the_time_is_up: false,
            seconds: Some(180.0),
            seconds_per_round: Vec::new(),
            resolves: None,
            setup_seconds: 8.0,
            first_look_seconds: 100.0,
            budget_seconds: Some(180.0),
            keep: false,
            as_published: false,
            passes: PlannedPasses::No,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_race_says_what_it_writes_and_for_how_long_before_it_does() {
        assert_eq!(
            plan_lines(&sample(), &Style { colour: false, width: 200, ..Style::default() }),
            "ext4, xfs, btrfs as 2 GiB images in /home/li (ext4 on nvme0n1p3). Formats no disk. \
             Writes about 30 GiB, needs 6 GiB free. Ctrl-C cleans up.\n\
             plan: 6 workloads, 6 to 20 rounds each, about 3 min\n"
        );
    }

    #[test]
    fn passes_are_told_before_they_are_done_and_that_they_may_exceed_the_budget() {
        let remark = |passes: PlannedPasses, budget_seconds: Option<f64>| {
            let plan = PlanSummary { passes, budget_seconds, ..sample() };
            let text = plan_lines(&plan, &Style { colour: false, width: 140, ..Style::default() });
            text.replace('\u{a0}', " ").lines().skip(2).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(remark(PlannedPasses::No, Some(180.0)), "");
        let all =
            "behind the rounds each workload is done once more in every lane, to see where its time goes (--explain)";
        assert_eq!(remark(PlannedPasses::All, None), format!("{all}; that comes on top."));
        let beyond = format!("{all}; where --budget has no room for it, that comes on top.");
        assert_eq!(remark(PlannedPasses::All, Some(180.0)), beyond);
        let within = "in what time has room for it, each workload is done once more behind the rounds, to see where its time goes.";
        assert_eq!(remark(PlannedPasses::InTime, Some(180.0)), within);
    }

    #[test]
    fn writing_the_images_counts_where_it_takes_its_share() {
        let lines = |plan: &PlanSummary| {
            plan_lines(plan, &Style { colour: false, width: 200, ..Style::default() }).replace('\u{a0}', " ")
        };
        let mut plan = sample();
        plan.setup_seconds = 60.0;
        assert!(lines(&plan).contains("about 3 min, after 60 s for the images\n"), "{}", lines(&plan));
        plan.budget_seconds = None;
        assert!(lines(&plan).contains("about 4 min\n"), "{}", lines(&plan));
        // A race that ends before its time is up takes no longer than that.
        (plan.budget_seconds, plan.seconds, plan.setup_seconds) = (Some(90.0), Some(85.0), 11.0);
        let said = "about 85 s, after 11 s for the images, at most 90 s (--budget)\n";
        assert!(lines(&plan).contains(said), "{}", lines(&plan));
        plan.setup_seconds = 5.0;
        assert!(lines(&plan).contains("about 85 s, at most 90 s (--budget)\n"), "{}", lines(&plan));
    }

    #[test]
    fn a_budget_that_does_not_reach_the_first_look_is_said_to() {
        let lines = |plan: &PlanSummary| {
            plan_lines(plan, &Style { colour: false, width: 300, ..Style::default() }).replace('\u{a0}', " ")
        };
        let mut plan = sample();
        assert_eq!(lines(&plan).lines().count(), 2);
        plan.first_look_seconds = 400.0;
        let said = "six rounds of all of it, the fewest that decide, take about 7 min: some of it will stay undecided; \
                    raise --budget or choose with --workload.\n";
        let text = lines(&plan).replace("\n--workload", " --workload");
        assert!(text.ends_with(said), "{text}");
    }

    #[test]
    fn no_more_rounds_are_promised_than_the_time_has_room_for() {
        let line = |plan: &PlanSummary| {
            let text = plan_lines(plan, &Style { colour: false, width: 300, ..Style::default() });
            text.replace('\u{a0}', " ").lines().nth(1).unwrap_or_default().to_owned()
        };
        // Six rounds of all six workloads take 216 s.
        let mut plan = PlanSummary { seconds_per_round: vec![6.0; 6], first_look_seconds: 216.0, ..sample() };
        let said = "plan: 6 workloads, with time for 6 rounds, the fewest that decide, of about 5 of them, about 3 min";
        assert_eq!(line(&plan), said);
        (plan.budget_seconds, plan.seconds) = (Some(31.0), Some(31.0));
        let said = "plan: 6 workloads, with time for about 5 rounds, and no verdict comes before six, about 31 s";
        assert!(line(&plan).starts_with(said), "{}", line(&plan));
        (plan.budget_seconds, plan.seconds) = (Some(1.0), Some(17.0));
        assert!(line(&plan).starts_with("plan: 6 workloads, with time for no whole round, about "), "{}", line(&plan));
        assert!(line(&plan).ends_with("ended after 1.0 s (--budget)"), "{}", line(&plan));
        (plan.budget_seconds, plan.first_look_seconds) = (Some(300.0), 216.0);
        assert!(line(&plan).contains("6 to 20 rounds each"), "{}", line(&plan));
    }

    #[test]
    fn a_screening_whose_time_is_short_says_how_many_of_its_rounds_are_raced() {
        let line = |rounds: u32, fits: Option<u32>, seconds: f64, setup_seconds: f64| {
            let (rounds, seconds) = ((rounds, rounds), Some(seconds));
            let (ranks, budget_seconds) = (false, Some(45.0));
            let plan = PlanSummary { rounds, fits, seconds, ranks, setup_seconds, budget_seconds, ..sample() };
            let text = plan_lines(&plan, &Style { colour: false, width: 300, ..Style::default() });
            text.replace('\u{a0}', " ").lines().nth(1).unwrap_or_default().to_owned()
        };
        for (rounds, fits, seconds, said) in [
            (3, Some(2), 48.0, "about 2 of 3 rounds each, about 48 s, beyond 45 s (--budget)"),
            (2, Some(2), 48.0, "2 rounds each, about 48 s, beyond 45 s (--budget)"),
            (50, Some(4), 45.0, "about 4 of 50 rounds each, ended after 45 s (--budget)"),
            (3, None, 40.0, "3 rounds each, about 40 s, at most 45 s (--budget)"),
        ] {
            assert!(line(rounds, fits, seconds, 0.0).ends_with(said), "{}", line(rounds, fits, seconds, 0.0));
        }
        let said = "about 4 of 50 rounds each, ended after 45 s (--budget), after 30 s for the images";
        assert!(line(50, Some(4), 45.0, 30.0).ends_with(said), "{}", line(50, Some(4), 45.0, 30.0));
    }

    #[test]
    fn rounds_that_cannot_decide_are_said_not_to_before_they_are_raced() {
        let lines = |plan: &PlanSummary| {
            let style = Style { colour: false, width: 300, ..Style::default() };
            let text = plan_lines(plan, &style).replace('\u{a0}', " ");
            text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
        };
        let mut plan = PlanSummary { budget_seconds: None, seconds_per_round: vec![4.0; 6], ..sample() };
        // What is done once is done once with six rounds too.
        (plan.rounds, plan.seconds) = ((1, 1), Some(24.0 + 40.0));
        let least = "--rounds 6 (about 3 min) is the least that usually decides.";
        assert_eq!(lines(&plan), [format!("one round gives no verdicts: {least}")]);
        (plan.rounds, plan.seconds) = ((3, 3), Some(72.0 + 40.0));
        assert_eq!(lines(&plan), [format!("3 rounds seldom decide: {least}")]);
        plan.rounds = (6, 6);
        assert!(lines(&plan).is_empty());
        plan.budget_seconds = Some(50.0);
        assert_eq!(lines(&plan), ["the time has room for about 2 of 6 rounds, and fewer than six seldom decide."]);
        plan.budget_seconds = Some(150.0);
        assert!(lines(&plan).is_empty());
        (plan.rounds, plan.ranks) = ((1, 1), false);
        assert!(lines(&plan).is_empty(), "a search and one lane have no verdicts");
    }

    #[test]
    fn what_a_race_resolves_says_of_how_much_work_and_by_whose_noise() {
        let lines = |plan: &PlanSummary| {
            let said =
                plan_lines(plan, &Style { colour: false, width: 400, ..Style::default() }).replace('\u{a0}', " ");
            said.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut plan = sample();
        let of = Foresight { difference: 0.06, of: None, seconds: 180.0, smaller: None, noise: KnownNoise::All };
        plan.resolves = Some(of.clone());
        let said = "in 3 min differences of about 6 % can be detected (the noise is this machine's, as calibrated).";
        assert!(lines(&plan).ends_with(said), "{}", lines(&plan));
        let noise = KnownNoise::Of(vec!["commit 4 KiB".to_owned(), "reads\u{1b}[2J".to_owned()]);
        plan.resolves = Some(Foresight { of: Some((2, 6)), noise, ..of.clone() });
        let said = "in 3 min differences of about 6 % can be detected in 2 of 6 workloads, and the others get too few rounds \
                    (the noise of commit 4 KiB and reads[2J is this machine's, as calibrated; ordinary noise is assumed \
                    of the rest).";
        assert!(lines(&plan).ends_with(said), "{}", lines(&plan));
        plan.resolves = Some(Foresight { difference: 1.61, smaller: Some((0.5, 600.0, Some(80))), ..of.clone() });
        let said = "in 3 min only differences above 2.6x can be detected; 50 % needs about 10 min with --rounds 80 (the noise is this \
                    machine's, as calibrated).";
        assert!(lines(&plan).ends_with(said), "{}", lines(&plan));
        plan.resolves = Some(Foresight { difference: 7.61, smaller: Some((0.5, 600.0, None)), ..of.clone() });
        let said = "in 3 min next to nothing can be detected; 50 % needs about 10 min (the noise is this machine's, as calibrated).";
        assert!(lines(&plan).ends_with(said), "{}", lines(&plan));
        plan.resolves = Some(Foresight { noise: KnownNoise::None, ..of });
        assert!(lines(&plan).contains("(ordinary noise is assumed; `fairlane calibrate`"), "{}", lines(&plan));
    }

    #[test]
    fn a_race_as_published_says_what_it_cannot_tell_and_what_was_made_smaller() {
        let mut plan = sample();
        plan.rounds = (1, 1);
        plan.as_published = true;
        plan.notes = vec!["random read: files of 1GiB where the article had 4GiB\u{1b}[2J".to_owned()];
        let lines = plan_lines(&plan, &Style { colour: false, width: 400, ..Style::default() });
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!(lines[2], "as published: the article's own method, run once; one round gives no verdicts.");
        assert_eq!(lines[3], "random read: files of 1GiB where the article had 4GiB[2J.");
        plan.rounds = (6, 6);
        assert!(!plan_lines(&plan, &Style { colour: false, width: 400, ..Style::default() }).contains("verdicts"));
    }

    #[test]
    fn a_device_that_will_be_formatted_is_never_called_safe() {
        let mut plan = sample();
        plan.contestants.push(Contestants {
            lanes: vec!["jfs".to_owned()],
            ground: Ground::Device { path: "/dev/sdb\u{1b}[2J2".to_owned() },
        });
        plan.rounds = (4, 4);
        let lines = plan_lines(&plan, &Style { colour: false, width: 400, ..Style::default() });
        assert!(lines.contains("FORMATS /dev/sdb[2J2: everything on it is lost."), "{lines}");
        assert!(!lines.contains("Formats no disk"), "{lines}");
        assert!(lines.contains("4 rounds each"), "{lines}");
    }
}
