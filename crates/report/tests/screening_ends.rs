//! How a screening ends: what cannot be told yet, a time that was up, tuning, and a confirmation that is open.

use crate::common;

use common::{RECORD_PATH, record, screenings, told};
use model::findings::{
    Confirmation, ConfirmationOutcome, CutShort, EffectVerdict, Findings, ScreeningFinding, TunedFate, Tuning,
    Undecided,
};
use model::machine::untold_identity;
use model::page::Language;
use report::{Input, Render, Style};

fn rendered(finding: &ScreeningFinding, format: &str) -> String {
    let findings = screenings::screened(finding.clone());
    let record = record(&findings);
    let input = Input { findings: &told(&findings), record: &record, record_path: Some(RECORD_PATH) };
    one_line(&report::render(&input, format, &Style::default()).unwrap())
}

fn memo(finding: &ScreeningFinding, language: Language) -> String {
    let findings = screenings::screened(finding.clone());
    let record = record(&findings);
    let input = Input { findings: &told(&findings), record: &record, record_path: None };
    let Render::Spoken(render) = report::format_named("memo").unwrap().render else { panic!("no memo") };
    one_line(&render(&input, language))
}

fn text(finding: &ScreeningFinding) -> String {
    one_line(&report::screening_text(finding, &Style::default()))
}

/// Without line breaks and the marks of Markdown.
fn one_line(text: &str) -> String {
    text.replace('\u{a0}', " ").replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text holds another one, wherever lines end: in Chinese between any two characters.
fn holds(text: &str, part: &str) -> bool {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    bare(text).contains(&bare(part))
}

/// What tuning made of a proposal that was not raced since.
fn tuned(tuning: Tuning) -> ScreeningFinding {
    let mut finding = screenings::finding();
    finding.confirmation = None;
    finding.proposal.tuning = Some(tuning);
    finding
}

#[test]
fn options_that_cannot_be_told_yet_are_counted_and_named_where_nothing_is_proposed() {
    let kept = screenings::kept();
    let open = "keep the default for now, because nothing is proposed. Of 6 options 2 cannot be told yet.";
    for format in ["text", "markdown"] {
        assert!(rendered(&kept, format).contains(open), "{format}");
    }
    assert!(text(&kept).contains("Of 6 options 2 cannot be told yet: dir_index off, lazytime on. A screening with"));
    for (language, says) in [
        (Language::En, "of 6 options 2 cannot be told yet (`dir_index off`, `lazytime on`)."),
        (Language::De, "von 6 Optionen sind 2 noch offen (`dir_index off`, `lazytime on`)."),
        (Language::Zh, "`dir_index off`、`lazytime on`）。"),
    ] {
        assert!(holds(&memo(&kept, language), says), "{}", memo(&kept, language));
    }
    let mut sure = kept.clone();
    for effect in sure.results.iter_mut().flat_map(|result| &mut result.effects) {
        effect.verdict = EffectVerdict::DoesNot;
    }
    let answer = "ANSWER ext4: keep the default. Of what was screened nothing is proposed.";
    assert!(rendered(&sure, "text").contains(answer), "{}", rendered(&sure, "text"));
    assert!(!text(&sure).contains("cannot be told yet"), "{}", text(&sure));
    let named = "screened (`dir_index`, `journal`, `lazytime`, `noatime`, `barrier`, `data`) nothing is proposed.";
    assert!(memo(&sure, Language::En).contains(named), "{}", memo(&sure, Language::En));
    let mut one = kept;
    one.factors.truncate(1);
    assert!(text(&one).contains("Its one option cannot be told yet: dir_index off."), "{}", text(&one));
    // What lanes hide that differ by themselves no number of rounds shows.
    one.hidden_by_lanes = true;
    let said = text(&one);
    assert!(said.contains("hide what is left: more rounds may not help.") && !said.contains("may tell"), "{said}");
}

#[test]
fn what_a_suite_does_not_test_is_said_of_a_screening_too() {
    let mut finding = screenings::finding();
    for (format, says) in [
        ("text", "UNTESTED power cut, aging, your database."),
        ("markdown", "**Untested:** power cut, aging, your database."),
        ("memo", "- power cut, aging, your database."),
    ] {
        let said = rendered(&finding, format);
        assert!(holds(&said, says), "{format}: {said}");
    }
    assert!(!memo(&finding, Language::En).contains("The suite does not say"));
    finding.not_tested.clear();
    assert!(memo(&finding, Language::En).contains("The suite does not say"));
    assert!(!rendered(&finding, "text").contains("UNTESTED"));
}

#[test]
fn a_screening_that_other_programs_disturbed_says_so_beside_its_answer() {
    let mut finding = screenings::kept();
    let busy = "Other programs disturbed most of these rounds";
    let says = |finding: &ScreeningFinding| -> Vec<bool> {
        let formats = ["text", "markdown", "memo"].map(|format| rendered(finding, format).to_lowercase());
        formats.iter().map(|said| said.contains(&busy.to_lowercase())).collect()
    };
    assert_eq!(says(&finding), [false; 3]);
    finding.disturbed = true;
    assert_eq!(says(&finding), [true; 3]);
    // Where the proposal was raced, the answer rests on that race.
    finding = ScreeningFinding { disturbed: true, ..screenings::finding() };
    assert_eq!(says(&finding), [false; 3]);
}

#[test]
fn a_time_that_was_up_is_said_once_with_what_it_leaves_untold() {
    let mut finding = screenings::kept();
    let why = "one round has a figure of every lane, and effects need two";
    for result in &mut finding.results {
        (result.rounds, result.unknown) = (1, Some(why.into()));
        result.effects.clear();
    }
    assert!(!text(&finding).contains("--budget"));
    finding.proposal.cut_short = Some(CutShort { fewest: 1, most: 1, planned: 2 });
    let said = text(&finding);
    for once in [why, "The time was up (--budget) after 1 of 2 planned rounds.", "again with a larger --budget"] {
        assert_eq!(said.matches(once).count(), 1, "{once}: {said}");
    }
    assert!(!said.contains("Nothing is told"), "{said}");
    finding.proposal.cut_short = Some(CutShort { fewest: 0, most: 1, planned: 2 });
    assert!(rendered(&finding, "markdown").contains("after 0 to 1 of 2 planned rounds."));
    // Where figures differ in why, each has its own reason.
    finding.results[1].unknown = Some("run-03 stood still".into());
    let said = text(&finding);
    assert!(said.contains(&format!("Nothing is told: {why}.")) && said.contains("told: run-03 stood still."), "{said}");
}

#[test]
fn what_tuning_chose_is_the_proposal_before_it_is_raced_too() {
    let mut finding = tuned(screenings::tuning("s-tune1.jsonl"));
    for taken in [true, false] {
        if !taken {
            finding.proposal.factors.clear();
        }
        let said = text(&finding);
        assert!(said.contains("PROPOSAL As tuned: journal 512M instead of 64M. "), "{said}");
        assert!(said.contains("journal 512M: half a GiB. "), "{said}");
        assert!(said.contains("CONFIRMED Not yet: the proposal was not raced against the default"), "{said}");
        for wrong in ["Keep the default", "this was raced", "Expected:", "1 GiB of the lane's room"] {
            assert!(!said.contains(wrong), "{wrong}: {said}");
        }
        assert_eq!(said.contains("By the screening alone: journal 1G instead of 64M."), taken, "{said}");
        assert!(rendered(&finding, "text").contains("ANSWER ext4 with journal 512M would gain by this screening"));
    }
}

#[test]
fn an_effect_is_told_in_one_way_in_every_report() {
    let mut finding = screenings::finding();
    let effect = finding.results[0].effects.iter_mut().find(|of| of.factor == "journal").unwrap();
    (effect.ratio, effect.low, effect.high) = (2.6, 2.4, 2.9);
    let row = &mut finding.confirmation.as_mut().unwrap().rows[0];
    // Of the row only what was expected is twice and more.
    (row.expected, row.ratio, row.low, row.high) = (Some(2.6), Some(1.79), Some(1.7), Some(1.9));
    for format in ["text", "markdown"] {
        let said = one_line(&rendered(&finding, format).replace('|', " "));
        for part in ["2.6x 2.4x to 2.9x matters", "commit 4 KiB 2.6x 1.79x 1.7x to 1.9x better"] {
            assert!(said.contains(part), "{format}: {part} is not in {said}");
        }
    }
    for (language, again, alone) in [
        (Language::En, "commits 1.79x (better; 1.7x to 1.9x; expected 2.6x)", "commits 2.6x (2.4x to 2.9x)"),
        (Language::De, "Commits 1,79x (besser; 1,7x bis 1,9x; erwartet 2,6x)", "Commits 2,6x (2,4x bis 2,9x)"),
        (Language::Zh, "提交写入 1.79x（更好；1.7x 到 1.9x；预期 2.6x）", "提交写入 2.6x（2.4x 到 2.9x）"),
    ] {
        let said = memo(&finding, language);
        assert!(holds(&said, again) && holds(&said, alone), "{said}");
    }
    let row = &mut finding.confirmation.as_mut().unwrap().rows[0];
    (row.low, row.high) = (Some(0.001), Some(20_000.0));
    let said = memo(&finding, Language::En);
    assert!(said.contains("commits 1.79x (better; too few rounds to tell; expected 2.6x)"), "{said}");
}

#[test]
fn what_tuning_alone_chose_is_said_in_every_report() {
    let mut finding = screenings::finding();
    let confirmation = finding.confirmation.as_mut().unwrap();
    confirmation.tuned = vec![screenings::tuned("journal", "512M", ""), screenings::tuned("lazytime", "on", "")];
    for format in ["text", "markdown"] {
        let said = rendered(&finding, format);
        let says = "The screening could not tell whether lazytime matters: it is tuning alone that chose so.";
        assert!(said.contains(says), "{format}: {said}");
    }
    for (language, says) in [
        (Language::En, "Tuning alone chose the level of `lazytime`: the screening could not tell whether the option"),
        (Language::De, "Die Stufe von `lazytime` hat allein die Feinabstimmung gewählt"),
        (Language::Zh, "`lazytime` 的取值仅由调优选定"),
    ] {
        assert!(holds(&memo(&finding, language), says), "{}", memo(&finding, language));
    }
    finding.confirmation.as_mut().unwrap().tuned.truncate(1);
    assert!(!rendered(&finding, "text").contains("tuning alone"));
    assert!(!memo(&finding, Language::En).contains("Tuning alone"));
}

#[test]
fn each_combination_of_each_race_of_tuning_stands_in_a_table() {
    let finding = tuned(screenings::tuning("s-tune1.jsonl"));
    let said = text(&finding);
    let wide = [
        "TUNING combinations of levels raced the default.",
        "s-tune1.jsonl: 3 combinations and the default, 3 rounds",
        "journal 512M +20 % +4 % chosen",
        "journal 1G, lazytime on +10 % -10 % dropped",
        "lazytime on - - dropped",
        "PROPOSAL",
    ];
    let places: Vec<usize> =
        wide.iter().map(|part| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"))).collect();
    assert!(places.is_sorted(), "{said}");
    let narrow = one_line(&report::screening_text(&finding, &Style { width: 50, ..Style::default() }));
    assert!(narrow.contains("journal 1G, lazytime on: mean +10 %, worst -10 %, dropped"), "{narrow}");
    let markdown = rendered(&finding, "markdown");
    assert!(markdown.contains("| journal 512M | +20 % | +4 % | chosen |"), "{markdown}");
    assert!(!text(&screenings::finding()).contains("TUNING"));
}

#[test]
fn tuning_that_is_not_done_is_said_and_nothing_is_kept_or_taken_before() {
    let mut tuning = screenings::tuning("s-tune1.jsonl");
    (tuning.unfinished, tuning.chosen) = (true, Vec::new());
    tuning.races[0].combinations.iter_mut().for_each(|of| of.fate = TunedFate::Open);
    let mut finding = tuned(tuning);
    for taken in [true, false] {
        if !taken {
            finding.proposal.factors.clear();
        }
        for (format, says) in [
            ("text", "ANSWER ext4: cannot tell yet what to take, because tuning is not done."),
            ("text", "PROPOSAL Tuning is not done, and what it makes of the proposal is not known yet."),
            ("text", "journal 512M +20 % +4 % not over"),
            ("markdown", "**Proposal:** Tuning is not done"),
            ("text", "NEXT fairlane screen ext4 --resume ~/.local/state"),
            ("memo", "tuning their levels is not done."),
        ] {
            let said = rendered(&finding, format);
            assert!(said.contains(says), "{format}: {says} is not in {said}");
            assert!(!said.to_lowercase().contains("keep the default"), "{format}: {said}");
        }
        assert_eq!(text(&finding).contains("By the screening alone: journal 1G instead of 64M."), taken);
    }
    assert!(holds(&memo(&finding, Language::De), "Feinabstimmung ihrer Stufen ist nicht zu Ende"));
    assert!(holds(&memo(&finding, Language::Zh), "调优尚未完成"));
}

#[test]
fn an_option_whose_cost_no_table_tells_says_so() {
    let mut finding = screenings::finding();
    finding.proposal.factors.push("lazytime".to_owned());
    let said = text(&finding);
    let costs = "journal 1G: 1 GiB of the lane's room. lazytime on: what this level costs is told by no table.";
    assert!(said.contains(costs), "{said}");
    // What is not proposed has no price.
    assert!(!said.contains("data writeback: what this level costs"), "{said}");
}

#[test]
fn an_open_confirmation_says_whether_it_is_over_and_which_race_tells_more() {
    let with = |unfinished: bool, more: &[&str]| {
        let mut finding = screenings::finding();
        finding.confirmation = Some(Confirmation {
            outcome: ConfirmationOutcome::Open,
            unfinished,
            more: more.iter().map(|&word| word.to_owned()).collect(),
            ..screenings::confirmation()
        });
        finding
    };
    let running = with(true, &[]);
    let over = with(false, &["fairlane", "race", "default=ext4", "proposal=ext4(-J size=1024)", "--rounds", "24"]);
    let line = "fairlane race default=ext4 'proposal=ext4(-J size=1024)' --rounds 24";
    for format in ["text", "markdown"] {
        let said = rendered(&running, format);
        assert!(said.contains("Open: the race of the proposal against the default is not over."), "{said}");
        assert!(!said.to_lowercase().contains("race more"), "{said}");
        assert_eq!(said.matches("fairlane screen ext4 --resume ~/.local/state").count(), 1, "{said}");
        let said = rendered(&over, format);
        assert!(said.contains("Open: the race of the proposal against the default is over and cannot tell."), "{said}");
        assert!(said.to_lowercase().contains("race more") && said.contains(line), "{format}: {said}");
    }
    // Who is not root types what formats and mounts with sudo, but for lanes in guests.
    let sudo = Style { sudo: true, ..Style::default() };
    let said = one_line(&report::screening_text(&over, &sudo));
    assert!(said.contains(&format!("RACE MORE sudo {line}")), "{said}");
    let in_guest = with(false, &["fairlane", "race", "default=ext4@uml", "proposal=ext4,commit=30@uml"]);
    let said = one_line(&report::screening_text(&in_guest, &sudo));
    assert!(said.contains("RACE MORE fairlane race"), "{said}");
    for (language, is_running, is_over) in [
        (Language::En, "is not over;", "is over and cannot tell;"),
        (Language::De, "ist nicht zu Ende.", "ist zu Ende und lässt nichts erkennen."),
        (Language::Zh, "尚未结束", "已经结束，但无法断定"),
    ] {
        assert!(holds(&memo(&running, language), is_running), "{}", memo(&running, language));
        assert!(holds(&memo(&over, language), is_over), "{}", memo(&over, language));
    }
}

#[test]
fn a_confirmation_that_is_over_and_cannot_tell_says_why() {
    let mut finding = screenings::finding();
    let confirmation = finding.confirmation.as_mut().unwrap();
    (confirmation.outcome, confirmation.because) = (ConfirmationOutcome::Open, Some(Undecided::OutOfBudget));
    for format in ["text", "markdown"] {
        let said = rendered(&finding, format);
        assert!(said.contains("is over and cannot tell: its time was up before a verdict. Keep the default"), "{said}");
    }
    for (language, says) in [
        (Language::En, "cannot tell: the time was up before the race could tell; the report names a longer one"),
        (Language::De, "lässt nichts erkennen: die Zeit war um"),
        (Language::Zh, "无法断定：对比还没能判定，时间就用完了"),
    ] {
        assert!(holds(&memo(&finding, language), says), "{}", memo(&finding, language));
    }
}

#[test]
fn what_goes_on_with_a_screening_names_the_options_that_its_record_may_not_choose() {
    let mut findings = screenings::screened(screenings::finding());
    findings.outcome = "interrupted".to_owned();
    let of_screening = findings.screening.as_mut().unwrap();
    let option = |at: usize| of_screening.factors[at].clone();
    let mut options = [option(0), option(1), option(2), option(3)];
    // A word for mount is named as an option of the table is.
    (options[1].name, options[1].usual.label, options[1].other.label) =
        ("ssd_spread".to_owned(), "default".to_owned(), "on".to_owned());
    (options[2].name, options[2].other.vm) = ("dirty_ratio".to_owned(), vec!["dirty_ratio=5".to_owned()]);
    options[3].name = "commit".to_owned();
    of_screening.factors = options.to_vec();
    for (typed, again) in [
        ("--option dir_index", ""),
        ("--option dir_index --option ssd_spread --seed 4", " --option ssd_spread"),
        ("--option dirty_ratio --option commit=5|60", " --option dirty_ratio --option 'commit=5|60'"),
        ("--option --erase --on uml", " --option --erase"),
        ("--option dir_index --erase 4711 --on /mnt/a --set server=mariadb", " --erase 4711 --on /mnt/a"),
    ] {
        let words = ["fairlane", "screen", "ext4"].into_iter().chain(typed.split(' '));
        findings.command_line = words.map(str::to_owned).collect();
        let record = record(&findings);
        let input = Input { findings: &told(&findings), record: &record, record_path: Some("~/r.jsonl") };
        let said = report::render(&input, "text", &Style::default()).unwrap();
        let next = said.lines().find(|line| line.starts_with("NEXT")).expect("what to do next");
        assert_eq!(next, format!("NEXT      fairlane screen ext4 --resume ~/r.jsonl{again}"), "{typed}");
        let words = report::words_to_go_on(&findings);
        assert_eq!(words[..4], ["screen", "ext4", "--resume", "RECORD"]);
        assert_eq!(report::shell_line(&words[4..]), again.trim_start(), "the page has the same words");
    }
    findings.screening = None;
    assert!(report::words_to_go_on(&findings).is_empty());
}

#[test]
fn a_record_that_was_shared_names_no_command_that_goes_on_with_it() {
    let mut findings = screenings::screened(screenings::kept());
    findings.outcome = "interrupted".to_owned();
    findings.screening.as_mut().unwrap().unfinished = true;
    let goes_on = |findings: &Findings, format: &str| {
        let record = record(findings);
        let input = Input { findings: &told(findings), record: &record, record_path: Some("~/r.jsonl") };
        report::render(&input, format, &Style::default()).unwrap().contains("--resume")
    };
    for format in ["text", "markdown"] {
        assert!(goes_on(&findings, format), "{format}");
    }
    findings.machine.machine_id_hash = untold_identity("t", 1);
    for format in ["text", "markdown", "memo"] {
        assert!(!goes_on(&findings, format), "{format}");
    }
    assert!(report::words_to_go_on(&findings).is_empty(), "nor does the page");
    // Nor does what came behind its race, of which the record itself is over.
    let mut open = screenings::finding();
    let confirmation = screenings::confirmation();
    open.confirmation = Some(Confirmation { outcome: ConfirmationOutcome::Open, unfinished: true, ..confirmation });
    let mut tuning = screenings::tuning("s-tune1.jsonl");
    (tuning.unfinished, tuning.chosen) = (true, Vec::new());
    for finding in [open, tuned(tuning)] {
        let mut behind = screenings::screened(finding);
        for is_shared in [false, true] {
            if is_shared {
                behind.machine.machine_id_hash = untold_identity("t", 1);
            }
            for format in ["text", "markdown"] {
                assert_eq!(goes_on(&behind, format), !is_shared, "{format}");
            }
        }
    }
    // Of another race it is the same.
    findings.screening = None;
    assert!(!goes_on(&findings, "text"));
}

#[test]
fn what_nobody_could_have_screened_has_no_name_and_no_command_that_goes_on() {
    let mut finding = screenings::kept();
    finding.base.clear();
    finding.results.iter_mut().for_each(|result| {
        result.effects.clear();
        result.unknown = Some("the lanes of this record are not the runs of a design".into());
    });
    for format in ["text", "markdown"] {
        let said = rendered(&finding, format);
        assert!(said.contains("a lane that cannot be screened: no effect of its options could be told"), "{said}");
        assert!(said.contains("6 options of a lane that cannot be screened in"), "{said}");
        assert!(!said.contains("unnamed"), "{said}");
    }
    for (language, says) in [
        (Language::En, "no effect of the options of a lane that cannot be screened could be told"),
        (Language::De, "Von den Optionen von Bahnen ohne gültigen Namen ließ sich"),
        (Language::Zh, "一条无法筛选的赛道 各选项的效果都未能测出"),
    ] {
        let memo = memo(&finding, language);
        assert!(holds(&memo, says) && !memo.contains("unnamed"), "{memo}");
    }
    let mut findings = screenings::screened(finding);
    findings.outcome = "interrupted".to_owned();
    assert!(report::words_to_go_on(&findings).is_empty());
}

#[test]
fn a_memo_says_what_options_that_are_taken_cost() {
    let mut finding = screenings::finding();
    finding.proposal.factors.push("lazytime".to_owned());
    for (language, says) in [
        (
            Language::En,
            "## What it costs - `journal 1G`: 1 GiB of the lane's room. - `lazytime on`: what this level costs is told by no \
             table. ##",
        ),
        (
            Language::De,
            "## Was es kostet - `journal 1G`: 1 GiB of the lane's room. - `lazytime on`: was diese Stufe kostet,",
        ),
        (Language::Zh, "## 代价是什么 - `journal 1G`：1 GiB of the lane's room。 - `lazytime on`：这一取值的代价"),
    ] {
        assert!(holds(&memo(&finding, language), says), "{}", memo(&finding, language));
    }
    let tuned = memo(&tuned(screenings::tuning("s-tune1.jsonl")), Language::En);
    assert!(tuned.contains("- `journal 512M`: half a GiB.") && !tuned.contains("of the lane's room"), "{tuned}");
    // Who keeps the default pays nothing.
    finding.confirmation.as_mut().unwrap().outcome = ConfirmationOutcome::NotConfirmed;
    assert!(!memo(&finding, Language::En).contains("What it costs"));
}

#[test]
fn a_memo_says_where_less_was_raced_than_was_planned_and_what_would_not_be_noticed() {
    let cut = CutShort { fewest: 1, most: 2, planned: 6 };
    type Change = fn(&mut ScreeningFinding, CutShort);
    let told: [(Change, [&str; 3]); 4] = [
        (
            |of, cut| of.proposal.cut_short = Some(cut),
            [
                "after 1–2 of 6 planned rounds.",
                "Gelaufen sind 1–2 von 6 geplanten Runden.",
                "计划的 6 轮中只进行了 1–2 轮。",
            ],
        ),
        (
            |of, _| of.few_spare = true,
            [
                "would not be noticed if lanes differed by themselves",
                "Bei so wenigen Optionen fiele nicht auf",
                "选项这么少",
            ],
        ),
        (
            |of, _| of.factors[2].table_usual = "on".to_owned(),
            ["Fairlane's table has `on` as usual", "üblich ist nach Fairlanes Tabelle `on`", "按 Fairlane 的表"],
        ),
        (
            |of, _| of.loop_queue = true,
            [
                "is that of the loop device of each image",
                "Warteschlange des Loop-Geräts jedes Abbilds",
                "回环设备的队列",
            ],
        ),
    ];
    for (change, says) in told {
        let mut finding = screenings::kept();
        for (language, says) in [Language::En, Language::De, Language::Zh].into_iter().zip(says) {
            assert!(!holds(&memo(&screenings::kept(), language), says), "{says}");
            change(&mut finding, cut);
            assert!(holds(&memo(&finding, language), says), "{says}: {}", memo(&finding, language));
        }
    }
}

#[test]
fn what_is_left_to_do_has_its_command_in_every_report() {
    // Proposed, and not raced against the default yet.
    let yet = ScreeningFinding { confirmation: None, ..screenings::finding() };
    let kept = screenings::kept();
    let done = screenings::finding();
    for (finding, goes_on) in [(&yet, true), (&kept, false), (&done, false)] {
        assert_eq!(finding.goes_on(), goes_on);
        let mut findings = screenings::screened(finding.clone());
        assert_eq!(!report::words_that_are_next(&findings).is_empty(), goes_on, "of the page");
        findings.outcome = "running".to_owned();
        assert!(report::words_that_are_next(&findings).is_empty(), "somebody is at it");
        for format in ["text", "markdown", "memo"] {
            let said = rendered(finding, format);
            assert_eq!(said.contains("fairlane screen ext4 --resume"), goes_on, "{format}: {said}");
        }
    }
    // More rounds may tell what is open.
    let words = ["fairlane", "screen", "ext4", "--rounds", "12"].map(str::to_owned).to_vec();
    let open = ScreeningFinding { anew: words, ..screenings::kept() };
    assert!(text(&open).contains("RACE MORE fairlane screen ext4 --rounds 12"), "{}", text(&open));
    assert!(rendered(&open, "markdown").contains("fairlane screen ext4 --rounds 12"));
    assert!(!text(&kept).contains("RACE MORE"));
    // One option is not counted.
    let mut one = kept;
    one.factors.truncate(1);
    let said = memo(&one, Language::En);
    assert!(said.contains("its one option cannot be told yet") && !said.contains("1 options"), "{said}");
}
