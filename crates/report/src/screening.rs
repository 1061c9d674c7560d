//! What a screening found, for a terminal and as Markdown: which options matter, what to take, and what came of it.

mod tuning;

use crate::clean::{clean, columns, name, shell_line, shorten};
use crate::facts::TITLE_COLUMNS;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::{CLOSING_COLUMNS, command, with_sudo};
use crate::markdown::{code, escape, row};
use crate::words::{self, screening as wording};
use crate::{Style, figures};
use model::findings::{
    ConfirmationOutcome, ConfirmedRow, Effect, EffectVerdict, Interaction, ScreenedResult, ScreeningFinding, TunedFate,
    TunedLevel, Verdict,
};
use model::screening::{DesignKind, Factor, OptionClass, OptionLevel};

/// Columns of an option's name, and of one of its levels.
const OPTION_COLUMNS: usize = 40;
const LEVEL_COLUMNS: usize = 24;
/// Tables of effects, with what stands above those of options that are never proposed.
const CLASSES: [(OptionClass, &str); 3] =
    [(OptionClass::Ordinary, ""), (OptionClass::Promises, wording::PROMISES), (OptionClass::Unknown, wording::UNKNOWN)];

/// A screening for a terminal: SCREENING with a table for each figure, PROPOSAL, CONFIRMED, and the commands that set what was
/// confirmed. Whatever the finding holds, a line keeps to the style's width, but for those commands, which are to be copied.
/// Ends in a line break.
pub fn screening_text(finding: &ScreeningFinding, style: &Style) -> String {
    let mut out = String::new();
    block(&mut out, wording::SCREENING, &head(finding), style);
    tables(&mut out, finding, style);
    block(&mut out, "", &what_promises_change(finding), style);
    let left_out = left_out(finding);
    if !left_out.is_empty() {
        out.push('\n');
        block(&mut out, wording::LEFT_OUT, &left_out, style);
    }
    tuning::text(&mut out, finding, style);
    out.push('\n');
    block(&mut out, wording::PROPOSAL, &proposal(finding), style);
    out.push_str(&confirmation_text(finding, style));
    out
}

/// What stands behind the proposal of [`screening_text`]: what the race of it showed, with the commands.
pub fn confirmation_text(finding: &ScreeningFinding, style: &Style) -> String {
    let mut out = String::new();
    let confirmed = confirmed(finding);
    if !confirmed.is_empty() {
        out.push('\n');
        block(&mut out, wording::CONFIRMED, &confirmed, style);
        confirmed_rows(&mut out, finding, style);
    }
    if let Some(line) = more(finding) {
        command(&mut out, wording::RACE_MORE, &with_sudo(line, style), style);
    }
    let commands = commands(finding);
    if !commands.is_empty() {
        out.push('\n');
    }
    for (at, line) in commands.iter().enumerate() {
        command(&mut out, if at == 0 { wording::SET_IT } else { "" }, line, style);
    }
    out
}

/// The same as Markdown.
pub(crate) fn markdown(out: &mut String, finding: &ScreeningFinding) {
    paragraph(out, wording::SCREENING_TITLE, &head(finding));
    for result in &finding.results {
        out.push_str(&format!("\n**{}**\n\n", escape(&heading(result))));
        for (class, above) in CLASSES {
            let rows = effects(finding, result, class);
            if rows.is_empty() {
                continue;
            }
            if !above.is_empty() {
                out.push_str(&format!("\n{}\n\n", escape(&sentence_case(above))));
            }
            row(out, &wording::EFFECT_COLUMNS.map(escape));
            row(out, &["---", "---", "---:", "---:", "---"].map(str::to_owned));
            for (cells, _) in rows {
                row(out, &cells.map(|cell| escape(&cell)));
            }
        }
        let said = sentences(finding, result);
        if !said.is_empty() {
            out.push('\n');
            said.iter().for_each(|line| out.push_str(&format!("- {}\n", escape(line))));
        }
    }
    let promises = what_promises_change(finding);
    if !promises.is_empty() {
        out.push('\n');
        promises.iter().for_each(|line| out.push_str(&format!("- {}\n", escape(line))));
    }
    let left_out = left_out(finding);
    if !left_out.is_empty() {
        paragraph(out, wording::LEFT_OUT_TITLE, &left_out);
    }
    tuning::markdown(out, finding);
    paragraph(out, wording::PROPOSAL_TITLE, &proposal(finding));
    let confirmed = confirmed(finding);
    if !confirmed.is_empty() {
        paragraph(out, wording::CONFIRMED_TITLE, &confirmed);
        let rows: Vec<_> = finding.confirmation.iter().flat_map(|of| &of.rows).map(confirmed_cells).collect();
        if !rows.is_empty() {
            out.push('\n');
            row(out, &wording::ROW_COLUMNS.map(escape));
            row(out, &["---", "---:", "---:", "---:", "---", "---:", "---:"].map(str::to_owned));
            rows.iter().for_each(|cells| row(out, &cells.each_ref().map(|cell| escape(cell))));
        }
    }
    if let Some(line) = more(finding) {
        out.push_str(&format!("\n**{}:** {}\n", wording::RACE_MORE_TITLE, code(&line, false)));
    }
    let commands = commands(finding);
    if !commands.is_empty() {
        out.push_str(&format!("\n**{}:**\n\n", wording::SET_IT_TITLE));
        commands.iter().for_each(|line| out.push_str(&format!("- {}\n", code(line, false))));
    }
}

fn paragraph(out: &mut String, title: &str, lines: &[String]) {
    out.push_str(&format!("\n**{title}:** {}\n", escape(&lines.join(" "))));
}

/// The name of the lane that was screened; `None`: nobody could have screened what the record calls it.
pub(crate) fn base(finding: &ScreeningFinding) -> Option<&str> {
    Some(finding.base.as_str()).filter(|base| !base.is_empty())
}

/// The answer of a screening in one sentence.
pub(crate) fn answer(finding: &ScreeningFinding) -> Phrase {
    let base = match base(finding) {
        Some(base) => Phrase::default().name(base),
        None => Phrase::new(wording::NO_LANE),
    };
    let options = taken(finding);
    let (open, all) = (finding.open_options().len(), finding.factors.len());
    let said = match (options.is_empty(), finding.unfinished, finding.tells()) {
        _ if finding.is_being_tuned() => base.say(wording::ANSWER_TUNING),
        (true, true, _) => base.say(wording::ANSWER_UNFINISHED),
        (true, false, true) => base.say(wording::answer_keep(open, all)),
        (true, false, false) => base.say(wording::answer_untold(why_untold(finding).as_deref())),
        (false, ..) => base.say(wording::answer(&options, finding.confirmation.as_ref().map(|of| of.outcome))),
    };
    if is_disturbed(finding) { said.say(" ").say(words::answer::DISTURBED) } else { said }
}

/// Whether other programs disturbed most rounds of what the answer rests on: of the race of the proposal, where there is one.
pub(crate) fn is_disturbed(finding: &ScreeningFinding) -> bool {
    finding.confirmation.as_ref().map_or(finding.disturbed, |of| of.disturbed)
}

/// The options that were raced against the default, each with its level; those that are proposed where nothing was.
pub(crate) fn taken(finding: &ScreeningFinding) -> Vec<String> {
    match finding.tuned() {
        [] => named(finding, &finding.proposal.factors),
        tuned => tuned.iter().map(tuned_option).collect(),
    }
}

/// What each of [`taken`] costs, in a few words; empty: no table tells it. Options that are none of the screening's have no
/// price.
pub(crate) fn prices(finding: &ScreeningFinding) -> Vec<(String, &str)> {
    let known = || finding.proposal.factors.iter().filter_map(|name| factor_named(finding, name));
    match finding.tuned() {
        [] => known().map(|factor| (option(factor), factor.costs.trim())).collect(),
        tuned => tuned.iter().map(|of| (tuned_option(of), of.costs.trim())).collect(),
    }
}

/// Why no effect is told, where that is one reason for all figures; without a full stop.
pub(crate) fn why_untold(finding: &ScreeningFinding) -> Option<String> {
    finding.why_untold().map(words::sentence)
}

/// The options of which nothing is known yet, each with its other level.
pub(crate) fn open_options(finding: &ScreeningFinding) -> Vec<String> {
    named(finding, &finding.open_options())
}

/// The command that races a proposal against the default again, for longer, or screens anew with more rounds; `None`: nothing
/// is left that they may tell, or it is not over.
fn more(finding: &ScreeningFinding) -> Option<String> {
    let of_proposal = finding.confirmation.as_ref().map(|of| of.more.as_slice()).unwrap_or_default();
    let words = [of_proposal, &finding.anew].into_iter().find(|words| !words.is_empty())?;
    Some(clean(&shell_line(words)))
}

/// The commands that set what was confirmed, a line each, fit to be shown.
pub(crate) fn commands(finding: &ScreeningFinding) -> Vec<String> {
    finding.confirmation.iter().flat_map(|of| &of.commands).map(|line| clean(line)).collect()
}

/// Sentences below a label.
fn block(out: &mut String, label: &str, lines: &[String], style: &Style) {
    for (at, line) in lines.iter().enumerate() {
        hang(out, if at == 0 { label } else { "" }, CLOSING_COLUMNS, &Phrase::new(line), None, style);
    }
}

/// An option, its level in the default of a screening, and the one that is usual.
pub(crate) type Unusual = [String; 3];

/// The options whose level in the default of a screening is not the one that Fairlane's table has as usual.
pub(crate) fn unusual(finding: &ScreeningFinding) -> Vec<Unusual> {
    let is_known = |factor: &&Factor| !factor.table_usual.trim().is_empty();
    let words = |factor: &Factor| {
        let usual = shorten(&factor.table_usual, LEVEL_COLUMNS);
        [shorten(&factor.name, OPTION_COLUMNS), level(&factor.usual), usual]
    };
    finding.factors.iter().filter(is_known).map(words).collect()
}

/// What was screened, what the tables' words claim, and where that does not hold.
fn head(finding: &ScreeningFinding) -> Vec<String> {
    let few = finding.few_spare.then(|| wording::FEW_SPARE.to_owned());
    let queue = finding.loop_queue.then(|| wording::LOOP_QUEUE.to_owned());
    let cut = finding.proposal.cut_short.map(wording::cut_short);
    [summary(finding)]
        .into_iter()
        .chain(unusual(finding).iter().map(wording::unusual))
        .chain(cut)
        .chain([wording::legend(finding.margin, finding.few_spare)])
        .chain(few)
        .chain(queue)
        .collect()
}

fn summary(finding: &ScreeningFinding) -> String {
    let rounds = || finding.results.iter().map(|result| result.rounds);
    let rounds = (rounds().min().unwrap_or(0), rounds().max().unwrap_or(0));
    let base = base(finding).map_or_else(|| wording::NO_LANE.to_owned(), name);
    let full = (finding.full_factorial_lanes, finding.design == DesignKind::FullFactorial);
    wording::summary(finding.factors.len(), &base, finding.lanes, full, rounds)
}

/// The tables of all figures, in columns of one width, so that the eye can run down them; row by row as sentences where
/// the terminal has no room for columns.
fn tables(out: &mut String, finding: &ScreeningFinding, style: &Style) {
    let header = wording::EFFECT_COLUMNS.map(str::to_owned);
    let tables: Vec<[Vec<Row>; 3]> =
        finding.results.iter().map(|result| CLASSES.map(|(class, _)| effects(finding, result, class))).collect();
    let rows = tables.iter().flatten().flatten().map(|(cells, _)| cells.to_vec());
    let all: Vec<Vec<String>> = std::iter::once(header.to_vec()).chain(rows).collect();
    let aligned = Some(align(&all)).filter(|lines| lines.iter().all(|line| columns(line) + 2 <= style.table_columns()));
    let mut lines = aligned.iter().flatten();
    let header = lines.next();
    for (result, blocks) in finding.results.iter().zip(&tables) {
        out.push('\n');
        hang(out, "", 0, &Phrase::new(heading(result)), None, style);
        if let Some(header) = header.filter(|_| blocks.iter().any(|rows| !rows.is_empty())) {
            out.push_str(&format!("  {}\n", Phrase::default().tone(Tone::Quiet, header).paint(style)));
        }
        for ((_, above), rows) in CLASSES.into_iter().zip(blocks) {
            if !above.is_empty() && !rows.is_empty() {
                hang(out, "", 2, &Phrase::default().tone(Tone::Quiet, above), None, style);
            }
            for (cells, tone) in rows {
                let [option, levels, effect, interval, verdict] = cells;
                match lines.next() {
                    // Only what it means has a colour; it stands last.
                    Some(line) => {
                        let before = line.strip_suffix(verdict.as_str()).unwrap_or(line);
                        let said = Phrase::new(before).tone(*tone, verdict).paint(style);
                        out.push_str(&format!("  {said}\n"));
                    }
                    None => {
                        let said = Phrase::new(format!("{option} {levels}: {effect} ({interval}), "));
                        hang(out, "", 2, &said.tone(*tone, verdict), None, style);
                    }
                }
            }
        }
        for line in sentences(finding, result) {
            hang(out, "", 2, &Phrase::new(line), None, style);
        }
    }
}

/// The cells of [`wording::EFFECT_COLUMNS`], and the tone of the last one.
type Row = ([String; 5], Tone);

/// The effects of the options of one class on one figure: what matters by its size, then what is open, then what does not.
fn effects(finding: &ScreeningFinding, result: &ScreenedResult, class: OptionClass) -> Vec<Row> {
    let factor = |effect: &Effect| finding.factors.iter().find(|factor| factor.name == effect.factor);
    let of_class = |effect: &&Effect| factor(effect).map_or(OptionClass::Ordinary, |factor| factor.class) == class;
    let mut sorted: Vec<&Effect> = result.effects.iter().filter(of_class).collect();
    let rank = |effect: &Effect| match effect.verdict {
        EffectVerdict::Matters => 0,
        EffectVerdict::Open => 1,
        EffectVerdict::DoesNot => 2,
    };
    let size = |effect: &Effect| effect.ratio.ln().abs();
    sorted.sort_by(|a, b| rank(a).cmp(&rank(b)).then(size(b).total_cmp(&size(a))));
    let row = |effect: &Effect| {
        let levels =
            factor(effect).map_or_else(String::new, |of| format!("{} → {}", level(&of.usual), level(&of.other)));
        let (gain, interval) = wording::gain(effect.ratio, Some((effect.low, effect.high)));
        let tone = match effect.verdict {
            EffectVerdict::Matters if effect.ratio > 1.0 => Tone::Faster,
            EffectVerdict::Matters => Tone::Slower,
            EffectVerdict::DoesNot => Tone::Tie,
            EffectVerdict::Open => Tone::Undecided,
        };
        let option = shorten(&effect.factor, OPTION_COLUMNS);
        let verdict = wording::verdict(effect.verdict, finding.margin);
        ([option, levels, gain, interval.unwrap_or_default(), verdict], tone)
    };
    sorted.into_iter().map(row).collect()
}

fn heading(result: &ScreenedResult) -> String {
    let title = if result.title.trim().is_empty() { &result.workload } else { &result.title };
    wording::figure(
        &shorten(title, TITLE_COLUMNS),
        words::latency(&result.metric),
        result.rounds,
        result.deviation.filter(|of| of.is_finite()),
    )
}

/// What has to be known beside the effects on one figure.
fn sentences(finding: &ScreeningFinding, result: &ScreenedResult) -> Vec<String> {
    // One reason for all figures stands in the proposal alone.
    let is_of_all = finding.results.len() > 1 && finding.why_untold().is_some();
    let unknown = match &result.unknown {
        Some(_) if is_of_all => None,
        Some(why) => Some(wording::unknown(&words::sentence(why))),
        None => (result.rounds == 0).then(|| wording::NO_ROUND.to_owned()),
    };
    let mut said: Vec<String> = unknown.into_iter().collect();
    said.extend(result.interactions.iter().map(|of| interaction(finding, of)));
    said.extend(result.lanes_differ.then(|| wording::LANES_DIFFER.to_owned()));
    let logs: Vec<f64> = result.spare.iter().map(|ratio| ratio.ln()).filter(|log| log.is_finite()).collect();
    let size = (logs.iter().map(|log| log * log).sum::<f64>() / logs.len().max(1) as f64).sqrt().exp();
    let size = wording::gain(size, None).0;
    said.extend((!logs.is_empty()).then(|| wording::spare(logs.len(), size.trim_start_matches('+'))));
    said
}

fn interaction(finding: &ScreeningFinding, of: &Interaction) -> String {
    let [one, other] = of.factors.each_ref().map(|factor| option_named(finding, factor));
    let pair = |pair: &[String; 2]| {
        let [one, other] = pair.each_ref().map(|factor| shorten(factor, OPTION_COLUMNS));
        wording::pair(&one, &other)
    };
    let aliases: Vec<String> = of.aliases.iter().map(pair).collect();
    let [ratio, low, high] = [of.ratio, of.low, of.high].map(figures::times);
    wording::interaction((&one, &other), &ratio, (&low, &high), (&aliases, of.partial))
}

/// What options that are never proposed change.
fn what_promises_change(finding: &ScreeningFinding) -> Vec<String> {
    let told = |factor: &&Factor| factor.class != OptionClass::Ordinary && !factor.costs.trim().is_empty();
    finding.factors.iter().filter(told).map(costs).collect()
}

fn left_out(finding: &ScreeningFinding) -> Vec<String> {
    let of = |left: &model::screening::LeftOutOption| {
        wording::left_out(&shorten(&left.option, OPTION_COLUMNS + LEVEL_COLUMNS), &words::sentence(&left.why))
    };
    finding.left_out.iter().map(of).collect()
}

/// What to take, what it should bring and cost, and what is not taken although it gains.
fn proposal(finding: &ScreeningFinding) -> Vec<String> {
    let proposal = &finding.proposal;
    let (mixed, promises) = (named(finding, &proposal.mixed), named(finding, &proposal.promises));
    let instead = |name: &str, option: String| match factor_named(finding, name) {
        Some(factor) => wording::instead(&option, &level(&factor.usual)),
        None => option,
    };
    let proposed: Vec<String> =
        proposal.factors.iter().map(|name| instead(name, option_named(finding, name))).collect();
    let tuned: Vec<String> = finding.tuned().iter().map(|of| instead(&of.factor, tuned_option(of))).collect();
    let mut said = Vec::new();
    if !tuned.is_empty() {
        said.push(wording::tuned(&tuned, finding.confirmation.is_some()));
        said.extend(tuned_untold(finding));
    }
    if finding.is_being_tuned() {
        said.push(wording::TUNING_UNFINISHED.to_owned());
    }
    match (proposed.as_slice(), tuned.is_empty()) {
        ([], true) if finding.is_being_tuned() => {}
        (proposed, _) if finding.is_being_tuned() => said.push(wording::untuned(proposed)),
        ([], true) if finding.unfinished => said.push(wording::UNFINISHED.to_owned()),
        ([], true) if !finding.tells() => said.push(wording::untold(why_untold(finding).as_deref())),
        ([], true) => {
            said.push(wording::keep(!mixed.is_empty() || !promises.is_empty()).to_owned());
            let open = open_options(finding);
            said.extend(
                (!open.is_empty())
                    .then(|| wording::open_options(&open, finding.factors.len(), finding.hidden_by_lanes)),
            );
        }
        ([], false) => {}
        (proposed, true) => said.push(wording::take(proposed)),
        (proposed, false) => said.push(wording::untuned(proposed)),
    }
    said.extend((finding.unfinished && !proposed.is_empty()).then(|| wording::SO_FAR.to_owned()));
    let gain = |of: &model::findings::ExpectedGain| {
        format!("{} {}", shorten(&of.title, TITLE_COLUMNS), wording::gain(of.ratio, None).0)
    };
    let gains: Vec<String> = proposal.expected.iter().map(gain).collect();
    // Of what tuning made of it nothing is expected.
    said.extend((!gains.is_empty() && tuned.is_empty()).then(|| wording::expected(&gains)));
    said.extend(prices(finding).iter().map(|(option, costs)| cost(option, costs)));
    said.extend((!mixed.is_empty()).then(|| wording::mixed(&mixed)));
    said.extend(not_taken(finding));
    said
}

/// Names of the options that tuning set and of which the screening does not say that they matter.
pub(crate) fn tuned_alone(finding: &ScreeningFinding) -> Vec<String> {
    finding.tuned_alone().map(|of| shorten(&of.factor, OPTION_COLUMNS)).collect()
}

/// That the screening does not say of options that tuning set whether they matter; `None`: it says so of each.
fn tuned_untold(finding: &ScreeningFinding) -> Option<String> {
    let names = tuned_alone(finding);
    (!names.is_empty()).then(|| wording::tuned_untold(&names))
}

/// What would gain and is never taken, and why.
fn not_taken(finding: &ScreeningFinding) -> impl Iterator<Item = String> {
    let is_unknown = |name: &String| factor_named(finding, name).is_some_and(|of| of.class == OptionClass::Unknown);
    let (unknown, promises) = finding.proposal.promises.iter().cloned().partition::<Vec<String>, _>(is_unknown);
    let [unknown, promises] = [unknown, promises].map(|names| named(finding, &names));
    let promises = (!promises.is_empty()).then(|| wording::promises(&promises));
    promises.into_iter().chain((!unknown.is_empty()).then(|| wording::not_in_a_table(&unknown)))
}

/// What the race of the proposal showed; nothing where there was nothing to race.
fn confirmed(finding: &ScreeningFinding) -> Vec<String> {
    let left_out =
        finding.confirmation_left_out.as_deref().map(|why| wording::confirmation_left_out(&words::sentence(why)));
    match &finding.confirmation {
        Some(of) => {
            let chosen_by = (!finding.proposal.expected.is_empty(), !of.tuned.is_empty());
            let outcome = wording::outcome(of.outcome, (of.unfinished, of.because), (of.gained, of.counted), chosen_by);
            let is_worse = of.outcome == ConfirmationOutcome::NotConfirmed
                && of.rows.iter().any(|row| row.verdict == Verdict::Slower);
            let loses = is_worse.then(|| wording::LOSES.to_owned());
            let raced = wording::raced(&name(&of.lane), &name(&of.default_lane), of.seed);
            let disturbed = of.disturbed.then(|| words::answer::DISTURBED.to_owned());
            let warnings = of.warnings.iter().map(|warning| wording::of_its_race(&words::sentence(warning)));
            std::iter::once(outcome).chain(loses).chain(disturbed).chain([raced]).chain(warnings).collect()
        }
        None if left_out.is_none() && !finding.is_being_tuned() && !taken(finding).is_empty() => {
            vec![wording::NOT_RACED.to_owned()]
        }
        None => left_out.into_iter().collect(),
    }
}

/// The rows of the confirmation for a terminal, as sentences where it has no room for columns.
fn confirmed_rows(out: &mut String, finding: &ScreeningFinding, style: &Style) {
    let rows: Vec<&ConfirmedRow> = finding.confirmation.iter().flat_map(|of| &of.rows).collect();
    if rows.is_empty() {
        return;
    }
    let cells: Vec<[String; 7]> = rows.iter().map(|row| confirmed_cells(row)).collect();
    let header = std::iter::once(wording::ROW_COLUMNS.map(str::to_owned).to_vec());
    let lines = align(&header.chain(cells.iter().map(|cells| cells.to_vec())).collect::<Vec<_>>());
    if lines.iter().all(|line| columns(line) + 2 <= style.table_columns()) {
        for (at, line) in lines.iter().enumerate() {
            let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
            out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
        }
        return;
    }
    for (row, [title, cells @ ..]) in rows.iter().zip(&cells) {
        let known = wording::ROW_COLUMNS[1..].iter().zip(cells).filter(|(_, cell)| cell.as_str() != wording::ABSENT);
        let known: Vec<String> = known.map(|(label, cell)| format!("{label} {cell}")).collect();
        let said = Phrase::new(format!("{title}: ")).tone(tone(row.verdict), known.join(", "));
        hang(out, "", 2, &said, None, style);
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Faster,
        Verdict::Slower => Tone::Slower,
        Verdict::Tie => Tone::Tie,
        Verdict::Undecided => Tone::Undecided,
        Verdict::None => Tone::NoVerdict,
    }
}

/// Whether a row of the confirmation tells what was expected and measured as ratios: one of them is told so.
pub(crate) fn is_in_ratios(row: &ConfirmedRow) -> bool {
    row.expected.is_some_and(|ratio| wording::is_factor(ratio, None))
        || row.ratio.is_some_and(|ratio| wording::is_factor(ratio, row.low.zip(row.high)))
}

/// The cells of [`wording::ROW_COLUMNS`].
fn confirmed_cells(row: &ConfirmedRow) -> [String; 7] {
    let absent = || wording::ABSENT.to_owned();
    let ends = row.low.zip(row.high);
    let is_factor = is_in_ratios(row);
    let measured = row.ratio.map(|ratio| wording::gain_as(ratio, ends, is_factor));
    let (measured, interval) = measured.map_or((None, None), |(size, interval)| (Some(size), interval));
    let little = || row.little_cpu.then(|| wording::LITTLE_CPU.to_owned());
    let shares = row.cpu_shares.map(|shares| shares.map(figures::small_share).join(" / ")).or_else(little);
    [
        shorten(&row.title, TITLE_COLUMNS),
        row.expected.map_or_else(absent, |ratio| wording::gain_as(ratio, None, is_factor).0),
        measured.unwrap_or_else(absent),
        interval.unwrap_or_else(absent),
        wording::row_verdict(row.verdict).to_owned(),
        shares.unwrap_or_else(absent),
        row.written_per_byte.map_or_else(absent, |written| written.map(figures::times).join(" / ")),
    ]
}

fn factor_named<'a>(finding: &'a ScreeningFinding, name: &str) -> Option<&'a Factor> {
    finding.factors.iter().find(|factor| factor.name == name)
}

/// Options by their names, each with its other level.
fn named(finding: &ScreeningFinding, names: &[String]) -> Vec<String> {
    names.iter().map(|name| option_named(finding, name)).collect()
}

/// An option by its name, with its other level.
pub(crate) fn option_named(finding: &ScreeningFinding, name: &str) -> String {
    factor_named(finding, name).map_or_else(|| shorten(name, OPTION_COLUMNS), option)
}

/// `logbsize 64k`, of a level that tuning chose.
fn tuned_option(of: &TunedLevel) -> String {
    format!("{} {}", shorten(&of.factor, OPTION_COLUMNS), shorten(&of.level, LEVEL_COLUMNS))
}

/// `logbsize 256k`.
fn option(factor: &Factor) -> String {
    format!("{} {}", shorten(&factor.name, OPTION_COLUMNS), level(&factor.other))
}

fn level(level: &OptionLevel) -> String {
    shorten(&level.label, LEVEL_COLUMNS)
}

fn costs(factor: &Factor) -> String {
    cost(&option(factor), &factor.costs)
}

/// `costs`: of an option; empty: no table tells them.
fn cost(option: &str, costs: &str) -> String {
    match costs.trim() {
        "" => wording::costs(option, wording::COSTS_UNTOLD),
        costs => wording::costs(option, &words::sentence(costs)),
    }
}

fn tone_of_fate(fate: TunedFate) -> Tone {
    match fate {
        TunedFate::Chosen => Tone::Faster,
        TunedFate::GoesOn => Tone::Plain,
        TunedFate::Dropped => Tone::Quiet,
        TunedFate::Open => Tone::Undecided,
    }
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
