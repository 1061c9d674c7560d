//! Screenings in every format: what matters is told of options, and nothing of lanes that are runs of a design.

use crate::common;

use common::{RECORD_PATH, record, screenings, told};
use model::event::Event;
use model::findings::{ConfirmationOutcome, ConfirmedRow, Findings, ScreeningFinding, Verdict};
use model::page::Language;
use model::screening::OptionClass;
use report::{Input, Render, Screen, ScreenOptions, Style};

fn rendered(finding: ScreeningFinding, format: &str) -> String {
    of_race(&screenings::screened(finding), format)
}

fn of_race(findings: &Findings, format: &str) -> String {
    let record = record(findings);
    let input = Input { findings: &told(findings), record: &record, record_path: Some(RECORD_PATH) };
    report::render(&input, format, &Style::default()).unwrap().replace('\u{a0}', " ")
}

fn memo(finding: ScreeningFinding, language: Language) -> String {
    let findings = screenings::screened(finding);
    let record = record(&findings);
    let input = Input { findings: &told(&findings), record: &record, record_path: None };
    let Render::Spoken(render) = report::format_named("memo").unwrap().render else { panic!("no memo") };
    one_line(&render(&input, language))
}

fn text(finding: &ScreeningFinding, width: usize) -> String {
    report::screening_text(finding, &Style { width, ..Style::default() }).replace('\u{a0}', " ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The places of parts of a text, in the order of the parts.
fn places(text: &str, parts: &[&str]) -> Vec<usize> {
    parts.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"))).collect()
}

#[test]
fn what_matters_stands_first_by_its_size_and_what_does_not_last() {
    let said = text(&screenings::finding(), 100);
    let commits = said.split("small files").next().unwrap_or_default();
    let order = ["journal    64M", "noatime    off", "lazytime   off", "dir_index  on"];
    assert!(places(commits, &order).is_sorted(), "{commits}");
    for part in
        ["+12 %   +9 to +15 %", "matters", "-5 %", "cannot tell yet", "does not (within 3 %)", "64M → 1G", "2.4x"]
    {
        assert!(commits.contains(part), "{part} is not in {commits}");
    }
}

#[test]
fn options_that_change_promises_stand_behind_the_others_under_what_they_change() {
    let said = text(&screenings::finding(), 100);
    let parts =
        ["dir_index  on", "these change what is promised after a power cut", "barrier    on", "data       ordered"];
    assert!(places(&said, &parts).is_sorted(), "{said}");
    assert!(said.contains("barrier off: a power cut can lose or mix up what was saved."), "{said}");
    let mut harmless = screenings::finding();
    harmless.factors.iter_mut().for_each(|factor| factor.class = OptionClass::Ordinary);
    assert!(!text(&harmless, 100).contains("these change"));
}

#[test]
fn options_of_no_table_stand_last_and_nothing_is_claimed_of_what_they_change() {
    let mut finding = screenings::finding();
    for factor in finding.factors.iter_mut().filter(|factor| factor.name == "barrier") {
        factor.class = OptionClass::Unknown;
    }
    finding.proposal.promises.push("data".to_owned());
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(finding.clone(), format));
        let commits = said.split("small files").next().unwrap_or_default().to_lowercase();
        let parts = ["these change what is promised", "ordered", "these are in no table", "2.4x"];
        assert!(places(&commits, &parts).is_sorted(), "{format}: {commits}");
        for part in [
            "Would gain, and not taken because it changes what is promised: data writeback.",
            "Would gain, and not taken because it is in no table, and nobody looked at what that changes: barrier off.",
        ] {
            assert!(said.contains(part), "{format}: {part} is not in {said}");
        }
    }
}

#[test]
fn the_design_is_told_with_what_it_cannot_tell() {
    let said = one_line(&text(&screenings::finding(), 100));
    for part in [
        "6 options of ext4 in 16 lanes, where all combinations would take 64 lanes; 4 to 5 rounds.",
        "journal 1G and barrier off together: 1.08x (1.03x to 1.13x) of the product of what each brings alone; the design \
         cannot tell it from dir_index × data, lazytime × noatime.",
        "3 columns without an option: effects of 0.5 % (root mean square), which are chance",
        "By a test at 5 % the lanes differ by more than their rounds scatter",
        "LEFT OUT bigalloc on: mkfs.ext4 refuses it: invalid cluster size.",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

#[test]
fn a_design_with_too_few_columns_to_notice_lanes_that_differ_says_so() {
    let warning = "The design has fewer than 3 columns without an option, so that lanes that differ by themselves would not be \
                   noticed: what matters here, or changes another effect, may be such a difference, and what does not matter may \
                   be hidden by one.";
    let mut few = screenings::finding();
    for format in ["text", "markdown"] {
        few.few_spare = true;
        let said = one_line(&rendered(few.clone(), format));
        let parts = ["if lanes differ by nothing but their options", warning, "commit 4 KiB"];
        assert!(places(&said[said.find("6 options").unwrap_or(0)..], &parts).is_sorted(), "{format}: {said}");
        few.few_spare = false;
        assert!(!one_line(&rendered(few.clone(), format)).contains("fewer than 3 columns"), "{format}");
    }
}

#[test]
fn pairs_that_share_a_part_of_an_interaction_are_counted_and_not_named() {
    let mut finding = screenings::finding();
    let interaction = &mut finding.results[0].interactions[0];
    (interaction.partial, interaction.aliases) = (36, Vec::new());
    let said = one_line(&text(&finding, 100));
    assert!(said.contains("of the product of what each brings alone; 36 other pairs share a part of it."), "{said}");
    assert!(!said.contains("cannot tell it from"), "{said}");
    finding.results[0].interactions[0].partial = 1;
    assert!(one_line(&text(&finding, 100)).contains("alone; 1 other pair shares a part of it."));
}

#[test]
fn a_proposal_says_what_it_expects_what_it_costs_and_what_is_not_taken() {
    let said = one_line(&text(&screenings::finding(), 100));
    for part in [
        "PROPOSAL journal 1G instead of 64M.",
        "Expected: commit 4 KiB +12 %. The same figures chose these options, so that this is too high on average",
        "journal 1G: 1 GiB of the lane's room.",
        "Better with some work or options and worse with others, so not proposed: noatime on.",
        "Would gain, and not taken because it changes what is promised: barrier off.",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let kept = one_line(&text(&screenings::kept(), 100));
    assert!(kept.contains("Keep the default: nothing that was screened is better beyond doubt."), "{kept}");
    assert!(kept.contains("Nothing is told: effects need two rounds in which every lane has a figure."), "{kept}");
    assert!(!kept.contains("CONFIRMED"), "there was nothing to race: {kept}");
    let mut untold = screenings::kept();
    untold.results.truncate(1);
    let untold = one_line(&text(&untold, 100));
    let why = "Nothing is proposed, because no effect could be told: effects need two rounds in which every lane has";
    assert!(untold.contains(why), "{untold}");
    assert!(!untold.contains("beyond doubt"), "{untold}");
}

#[test]
fn each_end_of_a_confirmation_has_its_own_sentence_in_every_report() {
    let with = |outcome: Option<ConfirmationOutcome>| {
        let mut finding = screenings::finding();
        finding.confirmation =
            outcome.map(|outcome| model::findings::Confirmation { outcome, ..screenings::confirmation() });
        finding
    };
    for (outcome, answer, block, decision) in [
        (None, "journal 1G would gain by this screening", "Not yet: the proposal was not raced", "No decision yet"),
        (
            Some(ConfirmationOutcome::Confirmed),
            "ext4 with journal 1G: raced again, it is better than the default",
            "Confirmed: in a race of its own",
            "Take `ext4` with `journal 1G`",
        ),
        (
            Some(ConfirmationOutcome::Mixed),
            "better than the default in some of the work and found worse in other",
            "It gains in some and is found worse in others",
            "No decision for all work",
        ),
        (
            Some(ConfirmationOutcome::NotConfirmed),
            "keep the default. Raced again, journal 1G does not show beyond doubt the gain",
            "Not confirmed: keep the default.",
            "Keep the default of `ext4`",
        ),
        (
            Some(ConfirmationOutcome::Open),
            "keep the default for now. Raced again, journal 1G is not known to gain yet",
            "Open: the race of the proposal against the default is over and cannot tell.",
            "No decision yet: the race of `ext4` with `journal 1G`",
        ),
    ] {
        let said = one_line(&rendered(with(outcome), "text"));
        assert!(said.contains(answer) && said.contains(block), "{outcome:?}: {said}");
        let markdown = one_line(&rendered(with(outcome), "markdown")).replace(['`', '\\'], "");
        assert!(markdown.contains(answer) && markdown.contains(block), "{outcome:?}: {markdown}");
        let memo = memo(with(outcome), Language::En);
        assert!(memo.contains(decision), "{outcome:?}: {memo}");
    }
}

#[test]
fn a_confirmation_that_others_disturbed_says_so_in_every_report() {
    let mut finding = screenings::finding();
    let idle = "race again when the machine is idle before relying on this";
    assert!(!rendered(finding.clone(), "text").contains("when the machine is idle"));
    let confirmation = finding.confirmation.as_mut().unwrap();
    confirmation.disturbed = true;
    confirmation.warnings = vec!["other programs disturbed 20 of 20 trials".into()];
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(finding.clone(), format));
        assert_eq!(said.matches(idle).count(), 2, "in the answer and beside what is confirmed: {said}");
        assert!(said.contains("Of that race: other programs disturbed 20 of 20 trials."), "{said}");
    }
    for (language, says) in [
        (Language::En, idle),
        (Language::De, "Andere Programme störten die meisten dieser Runden"),
        (Language::Zh, "干扰"),
    ] {
        let said = memo(finding.clone(), language);
        assert!(said.replace(' ', "").contains(&says.replace(' ', "")), "{said}");
    }
}

#[test]
fn what_was_measured_stands_beside_what_was_expected() {
    let said = text(&screenings::finding(), 100);
    let row = |title: &str| {
        let confirmed = said.split("CONFIRMED").nth(1).unwrap_or_default();
        one_line(confirmed.lines().find(|line| line.trim_start().starts_with(title)).unwrap_or_default())
    };
    assert_eq!(row("commit"), "commit 4 KiB +12 % +9 % +6 to +12 % better 12 % / 12 % 2.1x / 1.25x");
    assert_eq!(row("small"), "small files - 0 % -2 to +3 % tie 12 % / 12 % 2.1x / 1.25x");
    let mut unpaired = screenings::finding();
    let row = &mut unpaired.confirmation.as_mut().unwrap().rows[0];
    (row.ratio, row.low, row.high, row.verdict) = (None, None, None, Verdict::None);
    (row.cpu_shares, row.written_per_byte) = (None, None);
    let said = one_line(&text(&unpaired, 100));
    assert!(said.contains("commit 4 KiB +12 % - - no verdict - -"), "{said}");
}

#[test]
fn shares_of_little_cpu_time_are_told_from_those_that_nobody_measured() {
    let mut little = screenings::finding();
    assert!(!text(&little, 100).contains("< 1 s"));
    let [commits, files] = little.confirmation.as_mut().unwrap().rows.as_mut_slice() else { panic!("two rows") };
    (commits.cpu_shares, commits.little_cpu) = (None, true);
    files.cpu_shares = None;
    let said = one_line(&text(&little, 100));
    assert!(said.contains("+6 to +12 % better < 1 s 2.1x / 1.25x"), "{said}");
    assert!(said.contains("-2 to +3 % tie - 2.1x / 1.25x"), "{said}");
    assert!(one_line(&text(&little, 50)).contains("verdict better, CPU share < 1 s, written"));
    let markdown = rendered(little, "markdown");
    let told = ["| better | &lt; 1 s | 2.1x / 1.25x |", "| tie | - | 2.1x / 1.25x |"];
    assert!(told.iter().all(|part| markdown.contains(part)), "{markdown}");
}

#[test]
fn nothing_is_said_of_lanes_that_are_runs_of_a_design() {
    for finding in [screenings::finding(), screenings::kept()] {
        for format in ["text", "markdown", "memo"] {
            let said = one_line(&rendered(finding.clone(), format));
            for wrong in ["No choice", "for this mix", "the disk was the limit", "NEXT", "against `default`", "run-07 "]
            {
                let is_figure = format == "markdown" && wrong.starts_with("run");
                assert!(is_figure || !said.contains(wrong), "{format}: {wrong} is in {said}");
            }
        }
        for language in [Language::De, Language::Zh] {
            let said = memo(finding.clone(), language);
            assert!(!said.contains("run-07"), "{said}");
        }
    }
    let text = rendered(screenings::finding(), "text");
    assert!(text.contains("15 more lanes: the runs of the design"), "{text}");
    assert!(text.contains("AGAIN     fairlane screen ext4 --workload commit --seed 42"), "{text}");
    let markdown = rendered(screenings::finding(), "markdown");
    assert!(markdown.contains("<summary>Figures per lane</summary>") && markdown.contains("`run-07`"), "{markdown}");
    assert!(!markdown.contains("Verdicts with their intervals"), "{markdown}");
}

#[test]
fn a_screening_that_was_interrupted_says_how_it_goes_on() {
    let mut findings = screenings::screened(screenings::kept());
    findings.outcome = "interrupted".to_owned();
    findings.screening.as_mut().unwrap().unfinished = true;
    for (format, says) in [
        ("text", "ANSWER ext4: cannot tell yet which of its options matter, because the race is not over."),
        ("text", "PROPOSAL Cannot tell yet: the race is not over"),
        ("markdown", "**Proposal:** Cannot tell yet: the race is not over"),
        ("memo", "which options of `ext4` matter cannot be told yet, because the race is not over."),
    ] {
        let said = one_line(&of_race(&findings, format));
        assert!(said.contains(says) && !said.to_lowercase().contains("keep the default"), "{format}: {said}");
    }
    let said = of_race(&findings, "text");
    assert!(said.contains("NEXT      fairlane screen ext4 --resume ~/.local/state"), "{said}");
    // No table knows the options of a file of one's own.
    let mut own = findings.clone();
    own.command_line = ["fairlane", "screen", "./my.toml", "--option", "delay=0|9", "--option", "-K", "--seed", "4"]
        .map(str::to_owned)
        .to_vec();
    own.screening.as_mut().unwrap().base = "./my.toml".to_owned();
    let said = of_race(&own, "text");
    let next = said.lines().find(|line| line.starts_with("NEXT")).expect("what to do next");
    assert!(next.contains("fairlane screen ./my.toml --resume ~/.local/state"), "{next}");
    assert!(next.ends_with(" --option 'delay=0|9' --option -K"), "{next}");
    // All that was measured was set aside to be run again.
    findings.answer = None;
    let estimates = findings.results.iter_mut().flat_map(|result| &mut result.estimates);
    estimates.for_each(|of| of.failure = Some("it has no round".into()));
    let set_aside = one_line(&of_race(&findings, "text"));
    findings.results.clear();
    for said in [set_aside, one_line(&of_race(&findings, "text"))] {
        assert!(said.contains("the race was interrupted before a round of it was done"), "{said}");
        assert!(!said.contains("the rounds that it finished"), "{said}");
    }
}

#[test]
fn the_screen_of_a_screening_shows_its_answer_and_no_verdict_meanwhile() {
    let findings = told(&screenings::screened(screenings::finding()));
    let options = ScreenOptions {
        progress: true,
        progress_width: 70,
        record_path: Some(RECORD_PATH.to_owned()),
        record_is_last: true,
        ..ScreenOptions::default()
    };
    let mut screen = Screen::new(Vec::new(), Vec::new(), options);
    screen.show(&Event::Verdicts(findings.results.clone())).unwrap();
    screen.show(&Event::Finished(Box::new(findings))).unwrap();
    let (data, progress) = screen.into_streams();
    assert_eq!(String::from_utf8(progress).unwrap(), "");
    let data = String::from_utf8(data).unwrap();
    assert!(data.contains("ANSWER    ext4 with journal 1G"), "{data}");
    // Its proposal is raced next: by then another record is the last one.
    assert!(data.contains(&format!("fairlane report {RECORD_PATH} --format markdown")), "{data}");
    assert!(!data.contains("run-07"), "{data}");
}

#[test]
fn what_was_raced_is_named_as_tuning_made_it() {
    let mut finding = screenings::finding();
    finding.proposal.expected.clear();
    let confirmation = finding.confirmation.as_mut().unwrap();
    confirmation.tuned = vec![screenings::tuned("journal", "512M", "")];
    (confirmation.gained, confirmation.counted) = (1, 2);
    for (format, says) in [
        ("text", "ANSWER ext4 with journal 512M: raced again"),
        ("text", "PROPOSAL As tuned: journal 512M instead of 64M; this was raced against the default."),
        ("text", "By the screening alone: journal 1G instead of 64M."),
        ("text", "better beyond doubt in 1 of 2 figures, and found worse nowhere."),
        ("markdown", "**Proposal:** As tuned: journal 512M instead of 64M"),
        ("memo", "Take `ext4` with `journal 512M`"),
    ] {
        let said = one_line(&rendered(finding.clone(), format));
        assert!(said.contains(says), "{format}: {says} is not in {said}");
    }
    let mut not = finding.clone();
    not.confirmation.as_mut().unwrap().outcome = ConfirmationOutcome::NotConfirmed;
    let loses = "It is found worse in some of the work, which is enough to keep the default.";
    assert!(!one_line(&rendered(not.clone(), "text")).contains(loses));
    let mut worse = not.clone();
    worse.confirmation.as_mut().unwrap().rows[0].verdict = Verdict::Slower;
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(worse.clone(), format));
        assert!(said.contains(loses), "{said}");
    }
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(not.clone(), format));
        let says = "what tuning made of the proposal does not show beyond doubt the gain that it was chosen for.";
        assert!(
            said.contains(says) && !said.contains("the proposal does not show beyond doubt the gain that was"),
            "{said}"
        );
    }
    finding.proposal.factors.clear();
    let said = one_line(&text(&finding, 100));
    assert!(!said.contains("By the screening alone") && !said.contains("Keep the default:"), "{said}");
}

#[test]
fn a_memo_tells_what_options_gained_in_percent_raced_again_and_alone() {
    let again = "`journal 1G` against the default, raced again (above 0 is better): commits +9 % (better; +6 to +12 %; \
                 expected +12 %); creating files 0 % (tie; -2 to +3 %).";
    let alone = "`journal 1G`, by the screening alone (too high on average, because the same figures chose it): \
                 commits +12 % (+9 to +15 %).";
    let said = memo(screenings::finding(), Language::En);
    assert!(places(&said, &["## What it brings", again, alone, "## How to set it"]).is_sorted(), "{said}");
    for (language, parts) in [
        (
            Language::De,
            [
                "Commits +9 % (besser; +6 bis +12 %; erwartet +12 %)",
                "nach der Prüfung allein (im Mittel zu hoch, weil dieselben Werte die Wahl trafen): Commits +12 %",
            ],
        ),
        (
            Language::Zh,
            ["提交写入 +9%（更好；+6% 到 +12%；预期 +12%）", "选它的正是这些数据）：提交写入 +12%（+9% 到 +15%）"],
        ),
    ] {
        let said = memo(screenings::finding(), language);
        // Chinese lines end anywhere.
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert!(places(&bare(&said), &parts.map(bare).each_ref().map(String::as_str)).is_sorted(), "{said}");
    }
    let kept = memo(screenings::kept(), Language::En);
    assert!(!kept.contains("What it brings"), "{kept}");
    let mut yet = screenings::finding();
    yet.confirmation = None;
    let said = memo(yet, Language::En);
    assert!(said.contains(alone) && !said.contains("raced again (above"), "{said}");
}

#[test]
fn a_memo_names_no_gain_of_the_screening_that_did_not_show_when_it_was_raced_again() {
    use ConfirmationOutcome::{Confirmed, Mixed, NotConfirmed, Open};
    for (outcome, is_told) in [(Confirmed, true), (Mixed, true), (NotConfirmed, false), (Open, false)] {
        let mut finding = screenings::finding();
        finding.confirmation.as_mut().unwrap().outcome = outcome;
        let said = memo(finding, Language::En);
        assert!(said.contains("raced again (above 0 is better): commits +9 %"), "{outcome:?}: {said}");
        assert_eq!(said.contains("by the screening alone"), is_told, "{outcome:?}: {said}");
    }
}

#[test]
fn a_memo_names_what_loses_before_other_work_and_no_more_than_a_list_holds() {
    let mut several = screenings::finding();
    let rows = &mut several.confirmation.as_mut().unwrap().rows;
    let lost = ConfirmedRow {
        workload: "mail".to_owned(),
        title: "mail".to_owned(),
        group: "mail".to_owned(),
        ratio: Some(0.4),
        low: Some(0.35),
        high: Some(0.45),
        verdict: Verdict::Slower,
        ..rows[1].clone()
    };
    rows.push(lost);
    // Work is known by itself, and not by what it is called.
    rows[1].title = "another title".to_owned();
    let said = memo(several.clone(), Language::En);
    let order = ["mail 0.4x (worse; 0.35x to 0.45x)", "commits +9 % (better;", "creating files 0 % (tie;"];
    assert!(places(&said, &order).is_sorted() && !said.contains("another title"), "{said}");
    let rows = &mut several.confirmation.as_mut().unwrap().rows;
    let more = vec![rows[0].clone(); 6];
    rows.extend(more);
    let said = memo(several.clone(), Language::En);
    assert!(said.contains("(above 0 is better, and as a ratio above 1x): mail 0.4x"), "{said}");
    assert!(said.contains("expected +12 %) and 3 more."), "{said}");
    several.confirmation.as_mut().unwrap().tuned = vec![screenings::tuned("journal", "512M", "")];
    let said = memo(several, Language::En);
    assert!(said.contains("`journal 512M` against the default") && !said.contains("by the screening alone"), "{said}");
}

#[test]
fn a_confirmed_proposal_has_its_commands_in_every_report_and_another_has_none() {
    let mut finding = screenings::finding();
    for format in ["text", "markdown", "memo"] {
        let said = rendered(finding.clone(), format);
        assert!(said.contains("mkfs   mkfs.ext4 -J size=1024 DEVICE"), "{format}: {said}");
    }
    finding.confirmation.as_mut().unwrap().commands = vec![format!("mount  {}\u{1b}[2J", "o".repeat(120))];
    let said = text(&finding, 80);
    // A command is to be copied: it stands in one line, and nothing of it is obeyed.
    assert!(said.contains(&"o".repeat(120)) && !said.contains('\u{1b}'), "{said}");
    finding.confirmation.as_mut().unwrap().commands.clear();
    assert!(!text(&finding, 100).contains("SET IT"));
}

#[test]
fn a_confirmation_that_is_left_out_says_why_and_gains_are_counted() {
    let mut finding = screenings::finding();
    finding.confirmation = None;
    finding.confirmation_left_out = Some("it ran on another disk".to_owned());
    let says = "Not yet: the record that lies beside as the race of the proposal is left out: it ran on another disk.";
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(finding.clone(), format));
        assert!(said.contains(says) && !said.contains("was not raced against the default, and before"), "{said}");
    }
    let mut several = screenings::finding();
    let confirmation = several.confirmation.as_mut().unwrap();
    (confirmation.gained, confirmation.counted) = (2, 3);
    let said = one_line(&text(&several, 100));
    assert!(said.contains("better beyond doubt in 2 of 3 figures where that was expected"), "{said}");
}

#[test]
fn behind_the_race_of_a_proposal_stands_what_it_showed_and_nothing_twice() {
    let finding = screenings::finding();
    let style = Style { width: 100, ..Style::default() };
    let (all, shown) = (report::screening_text(&finding, &style), report::confirmation_text(&finding, &style));
    assert!(all.ends_with(&shown) && shown.trim_start().starts_with("CONFIRMED"), "{shown}");
    assert!(shown.contains("SET IT") && !shown.contains("SCREENING") && !shown.contains("PROPOSAL"), "{shown}");
}

#[test]
fn a_default_that_is_not_as_usual_is_told_to_be_another_one() {
    let mut finding = screenings::finding();
    let says = "In the default of this screening lazytime is off; Fairlane's table has on as usual.";
    assert!(!one_line(&rendered(finding.clone(), "text")).contains("as usual"));
    finding.factors[2].table_usual = "on".to_owned();
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(finding.clone(), format));
        assert!(said.contains(says), "{format}: {said}");
    }
}

#[test]
fn lanes_that_are_no_design_and_queues_of_loop_devices_are_told() {
    let mut finding = screenings::kept();
    finding.loop_queue = true;
    for result in &mut finding.results {
        result.effects.clear();
        result.unknown = Some("the lanes are not the runs of a design".into());
    }
    for (format, says) in [
        ("text", "ANSWER ext4: no effect of its options could be told: the lanes are not the runs of a design."),
        ("text", "The disk's queue that was varied is that of the loop device of each image"),
        ("memo", "no effect of the options of `ext4` could be told: the lanes are not the runs of a design."),
    ] {
        let said = one_line(&rendered(finding.clone(), format));
        assert!(said.contains(says), "{format}: {says} is not in {said}");
    }
    assert!(!text(&screenings::finding(), 100).contains("loop device"));
}

/// A finding in which one string stands wherever a string may stand.
fn filled_with(text: &str) -> ScreeningFinding {
    let mut finding = screenings::finding();
    finding.base = text.to_owned();
    for factor in &mut finding.factors {
        factor.name.push_str(text);
        factor.usual.label = text.to_owned();
        factor.other.label = text.to_owned();
        factor.costs = text.to_owned();
    }
    for result in &mut finding.results {
        result.title = text.to_owned();
        result.unknown = Some(text.into());
        result.effects.iter_mut().for_each(|effect| effect.factor.push_str(text));
        result.interactions.iter_mut().for_each(|of| of.aliases.push([text.to_owned(), text.to_owned()]));
    }
    finding.left_out[0].option = text.to_owned();
    finding.left_out[0].why = text.to_owned();
    finding.proposal.factors = vec![text.to_owned(), format!("journal{text}")];
    finding.proposal.expected[0].title = text.to_owned();
    let confirmation = finding.confirmation.as_mut().unwrap();
    confirmation.lane = text.to_owned();
    confirmation.tuned = vec![screenings::tuned(text, text, text)];
    confirmation.commands.clear();
    confirmation.rows[0].title = text.to_owned();
    let mut tuning = screenings::tuning(text);
    let combinations = tuning.races.iter_mut().flat_map(|race| &mut race.combinations);
    combinations.flat_map(|of| &mut of.levels).for_each(|of| of.factor.push_str(text));
    finding.proposal.tuning = Some(tuning);
    finding
}

#[test]
fn no_string_of_a_screening_is_obeyed_or_ends_a_cell() {
    let long = "wide 文字 ".repeat(60);
    for hostile in ["\u{1b}[2J\u{202e}", "</details><script>", "|\\|`\n", "@all [x](http://y)", "", long.as_str()] {
        for width in [40, 63, 100, 140] {
            let said = text(&filled_with(hostile), width);
            for line in said.lines() {
                let columns = unicode_width::UnicodeWidthStr::width(line);
                assert!(columns <= width, "{columns} > {width}: {line:?}");
                assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line:?}");
            }
        }
        let markdown = rendered(filled_with(hostile), "markdown");
        // Before it stands the answer, with the name of what was screened as code.
        let section = markdown.split("**Which options matter").nth(1).unwrap_or_default();
        assert!(section.contains("**Proposal:**"), "{markdown}");
        assert!(!section.contains("<script>") && !section.contains("[x]("), "{markdown}");
        let rows = |from: &str| -> Vec<usize> {
            let table = section.lines().skip_while(|line| !line.starts_with(from));
            table.take_while(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect()
        };
        assert_eq!(rows("| option"), [6; 6], "{markdown}");
        assert_eq!(rows("| work |"), [8; 4], "{markdown}");
        assert_eq!(rows("| combination |"), [5; 5], "{markdown}");
    }
}
