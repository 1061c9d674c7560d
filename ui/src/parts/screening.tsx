// Which options of a filesystem matter: their effects beside chance, what to take of them, and what came of that.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { forest, forestHeight, type ForestRow } from "../charts/forest";
import { halfNormal, halfNormalHeight, sizeFigure, type HalfNormalMark } from "../charts/half-normal";
import type {
  Confirmation,
  ConfirmedRow,
  Effect,
  HalfNormal,
  RacePage,
  ScreenedResult,
  ScreeningFinding,
  TunedCombination,
  TuningRace,
} from "../types";
import { sentence, useUi, type Ui } from "../ui";
import {
  baseSaid,
  factorOf,
  gainOf,
  gainSaid,
  inOrder,
  isBeingTuned,
  levelSaid,
  markOf,
  openOptions,
  optionSaid,
  optionsSaid,
  screenedTitle,
  tells,
  titleSaid,
  tunedAlone,
  tunedOf,
  tunedSaid,
  whyUntold,
} from "../words/screened";
import { clean, joined, name, plain, say, shorten, shown, text, type Said } from "../words/say";
import { latencyOf } from "../words/told";
import { Command, Section, Speak } from "./basics";
import { Figure } from "./figure";

const ABSENT = "–";
/** Characters of a row's name in a chart. */
const ROW_NAME = 60;
/** Characters of an option that was left out. */
const LEFT_OUT = 64;
/** Characters of a level. */
const LEVEL = 24;
/** Characters of the name of a race's record. */
const RECORD = 64;

export function hasScreening(race: RacePage): boolean {
  return race.findings.screening != null;
}

export function Screening({ race }: { race: RacePage }) {
  const ui = useUi();
  const of = race.findings.screening;
  if (of == null) return null;
  const w = ui.words.screening;
  const rounds = of.results.map((result) => result.rounds);
  const raced = rounds.length === 0 ? w.rounds(0, 0) : w.rounds(Math.min(...rounds), Math.max(...rounds));
  const each = of.design === "full-factorial" ? of.lanes / of.full_factorial_lanes : 0;
  const combinations = w.combinations(Number.isInteger(each) ? each : 0, ui.figures.whole(of.full_factorial_lanes));
  const leftOut = of.left_out ?? [];
  return (
    <Section id="screening" title={w.title} note={w.legend(ui.figures.margin(of.margin), of.few_spare === true)}>
      <p>
        <Speak said={w.summary(baseSaid(ui, of), of.factors.length, of.lanes, combinations, raced)} />
      </p>
      <Lines said={unusualSaid(ui, of)} />
      {of.proposal.cut_short == null ? null : <p>{cutShortSaid(ui, of.proposal.cut_short)}</p>}
      {of.few_spare === true ? <p>{w.fewSpare}</p> : null}
      {of.loop_queue === true ? <p>{w.loopQueue}</p> : null}
      {of.results.map((result) => (
        <Result key={`${result.workload} ${result.group}`} race={race} of={of} result={result} />
      ))}
      {leftOut.length > 0 ? (
        <article class="result">
          <h3>{w.leftOut}</h3>
          <Lines said={leftOut.map((one) => w.because(text(shorten(one.option, LEFT_OUT)), sentence(ui, one.why)))} />
        </article>
      ) : null}
      <Tuned races={of.proposal.tuning?.races ?? []} />
      <article class="result">
        <h3>{w.proposal}</h3>
        <Lines said={proposalSaid(ui, race, of)} />
        {(of.anew ?? []).length > 0 && (of.confirmation?.more ?? []).length === 0 ? (
          <p class="next">
            <span class="label">{w.raceMore}</span>
            <Command words={of.anew ?? []} label={w.raceMore} />
          </p>
        ) : null}
      </article>
      <Confirmed race={race} of={of} />
    </Section>
  );
}

/** Options whose level in the default is not the usual one. */
function unusualSaid(ui: Ui, of: ScreeningFinding): Said[] {
  const unusual = of.factors.filter((factor) => (factor.table_usual ?? "").trim() !== "");
  return unusual.map((factor) =>
    ui.words.screening.unusual(name(factor.name), levelSaid(factor.usual), text(shorten(factor.table_usual ?? "", LEVEL))),
  );
}

/** A race that its time ended, and what to do about it. */
function cutShortSaid(ui: Ui, of: { fewest: number; most: number; planned: number }): string {
  return ui.words.screening.cutShort(of.fewest === of.most ? String(of.most) : `${of.fewest}–${of.most}`, of.planned);
}

/** What came of each combination of levels that raced the default. */
function Tuned({ races }: { races: readonly TuningRace[] }) {
  const ui = useUi();
  const w = ui.words.screening;
  if (races.length === 0) return null;
  const combination = (of: TunedCombination, race: TuningRace): Said => {
    const levels = joined(of.levels.map(tunedSaid), ui.words.comma);
    const both = [of.mean, of.worst];
    const [mean, worst] = both.map((ratio) => (ratio == null ? null : gainSaid(ui, ratio, null, null, both)));
    // Nothing was chosen from.
    const fate = of.fate === "chosen" && race.combinations.length === 1 ? w.theOnlyOne : w.fates[of.fate];
    return w.combination(levels, mean ?? null, worst ?? null, fate);
  };
  return (
    <article class="result">
      <h3>{w.tuning}</h3>
      <p class="small">{w.tuningNote}</p>
      {races.map((race) => (
        <div key={race.record}>
          <h4>
            <Speak said={w.tuningRace(text(shorten(race.record, RECORD)), race.combinations.length, w.rounds(race.rounds, race.rounds))} />
          </h4>
          <Lines said={race.combinations.map((one) => combination(one, race))} />
        </div>
      ))}
    </article>
  );
}

function Lines({ said }: { said: readonly Said[] }) {
  if (said.length === 0) return null;
  return (
    <ul class="notes">
      {said.map((line, at) => (
        <li key={at}>
          <Speak said={line} />
        </li>
      ))}
    </ul>
  );
}

/** The effects on one figure. */
function Result({ race, of, result }: { race: RacePage; of: ScreeningFinding; result: ScreenedResult }) {
  const ui = useUi();
  const w = ui.words.screening;
  const title = screenedTitle(ui, race.findings, result);
  const latency = latencyOf(result.metric);
  const effects = inOrder(result.effects);
  const classOf = (effect: Effect) => factorOf(of, effect.factor)?.class ?? "ordinary";
  const plot = (race.half_normal ?? []).find((one) => one.workload === result.workload && one.group === result.group);
  const about = [
    ...(latency === null ? [] : [ui.words.latencies[latency]]),
    w.rounds(result.rounds, result.rounds),
    ...(result.deviation == null ? [] : [w.scatter(ui.figures.smallShare(result.deviation))]),
  ];
  const ordinary = effects.filter((effect) => classOf(effect) === "ordinary");
  const others = effects.filter((effect) => classOf(effect) === "promises");
  const unknown = effects.filter((effect) => classOf(effect) === "unknown");
  return (
    <article class="result">
      <header class="result-head">
        <h3>
          <Speak said={title} />
        </h3>
        <span class="result-rounds">{about.join(ui.words.semicolon)}</span>
      </header>
      <div class="charts charts-two">
        {ordinary.length > 0 ? (
          <Effects title={w.effects} of={of} result={result} effects={ordinary} file="effects" />
        ) : null}
        {plot === undefined ? null : <Chance of={of} result={result} plot={plot} />}
        {others.length > 0 ? (
          <Effects title={w.promises} of={of} result={result} effects={others} file="promises" />
        ) : null}
        {unknown.length > 0 ? (
          <Effects title={w.unknownOptions} of={of} result={result} effects={unknown} file="unknown" />
        ) : null}
        {(result.interactions ?? []).length > 0 ? <Together of={of} result={result} /> : null}
      </div>
      {others.length > 0 ? (
        <p class="small">
          {w.promisesNote} <Speak said={joined(costsSaid(ui, of, others.map((effect) => effect.factor)), " ")} />
        </p>
      ) : null}
      {unknown.length > 0 ? <p class="small">{w.unknownOptionsNote}</p> : null}
      <Lines said={notesSaid(ui, of, result)} />
    </article>
  );
}

function fileOf(result: ScreenedResult, what: string): string {
  return `fairlane-${result.workload}-${result.group}-${what}`.slice(0, 90);
}

function Effects(props: { title: string; of: ScreeningFinding; result: ScreenedResult; effects: Effect[]; file: string }) {
  const ui = useUi();
  const { of, effects } = props;
  const w = ui.words.screening;
  const margin = ui.figures.margin(of.margin);
  const levels = (effect: Effect): Said => {
    const factor = factorOf(of, effect.factor);
    return factor === null ? [] : say`${levelSaid(factor.usual)} → ${levelSaid(factor.other)}`;
  };
  const verdict = (effect: Effect) =>
    effect.verdict === "does-not" ? plain(say`${w.verdicts["does-not"]}${ui.words.brackets([w.within(margin)])}`) : w.verdicts[effect.verdict];
  const gain = (effect: Effect) => gainSaid(ui, effect.ratio, effect.low, effect.high);
  const rows = effects.map(
    (effect): ForestRow => ({
      name: shown(plain(say`${name(effect.factor)}${ui.words.colon}${levels(effect)}`), ROW_NAME),
      ratio: effect.ratio,
      low: effect.low,
      high: effect.high,
      verdict: markOf(effect),
      says: `${gain(effect)}, ${verdict(effect)}`,
      word: w.verdicts[effect.verdict],
    }),
  );
  const those = (which: Effect["verdict"]) => effects.filter((effect) => effect.verdict === which);
  const matter = those("matters").map((effect) => say`${optionSaid(of, effect.factor)} ${gain(effect)}`);
  const counts = w.counts(matter.length, those("does-not").length, those("open").length);
  const caption = w.effectsCaption(margin, counts, matter.length > 0 ? joined(matter, ui.words.semicolon) : null);
  return (
    <Figure
      title={props.title}
      caption={caption}
      file={fileOf(props.result, props.file)}
      height={() => forestHeight(rows.length)}
      of={[of, effects.length]}
      option={(on) =>
        forest(on, ui.figures, rows, plain(caption), { margin: of.margin, gains: true })
      }
      table={() => ({
        columns: [
          { label: w.option },
          { label: w.levels },
          { label: w.effect, numeric: true },
          { label: w.interval, numeric: true },
          { label: w.verdict },
        ],
        rows: effects.map((effect): (Said | string)[] => {
          const { size, interval } = gainOf(ui, effect.ratio, effect.low, effect.high);
          return [name(effect.factor), levels(effect), size, interval ?? ABSENT, verdict(effect)];
        }),
      })}
    />
  );
}

/** Pairs of options that change each other's effect. */
function Together({ of, result }: { of: ScreeningFinding; result: ScreenedResult }) {
  const ui = useUi();
  const w = ui.words.screening;
  const pairs = (result.interactions ?? []).map((one) => {
    const [first, second] = one.factors.map((factor) => optionSaid(of, factor));
    const [ratio, low, high] = [one.ratio, one.low, one.high].map((factor) => ui.figures.times(factor));
    return { ...one, said: w.pair(first ?? [], second ?? []), told: ratio ?? "", interval: w.to(low ?? "", high ?? "") };
  });
  const rows = pairs.map(
    (pair): ForestRow => ({
      name: shown(plain(pair.said), ROW_NAME),
      ratio: pair.ratio,
      low: pair.low,
      high: pair.high,
      verdict: pair.ratio > 1 ? "faster" : "slower",
      says: `${pair.told} (${pair.interval})`,
    }),
  );
  const told = pairs.map((pair) => say`${pair.said} ${pair.told} (${pair.interval})`);
  const caption = w.togetherCaption(joined(told, ui.words.semicolon));
  return (
    <Figure
      title={w.together}
      caption={caption}
      file={fileOf(result, "together")}
      height={() => forestHeight(rows.length)}
      of={[result]}
      option={(on) => forest(on, ui.figures, rows, plain(caption))}
      table={() => ({
        columns: [{ label: w.togetherPair }, { label: w.togetherRatio, numeric: true }, { label: w.interval, numeric: true }],
        rows: pairs.map((pair): (Said | string)[] => [pair.said, pair.told, pair.interval]),
      })}
    />
  );
}

/** Sizes of effects against what chance alone would make them. */
function Chance({ of, result, plot }: { of: ScreeningFinding; result: ScreenedResult; plot: HalfNormal }) {
  const ui = useUi();
  const w = ui.words.screening;
  const effectOf = (factor: string | null | undefined) => result.effects.find((one) => one.factor === factor) ?? null;
  const label = (factor: string | null | undefined): Said => (factor == null ? [w.noOption] : optionSaid(of, factor));
  const marks = plot.points.map((point): HalfNormalMark => {
    const effect = effectOf(point.factor);
    const size = sizeFigure(ui.figures, point.size);
    return {
      name: shown(plain(label(point.factor)), ROW_NAME),
      quantile: point.quantile,
      size: point.size,
      verdict: effect === null ? null : markOf(effect),
      says: effect === null ? size : `${size}, ${w.verdicts[effect.verdict]}`,
    };
  });
  const options = plot.points.filter((point) => point.factor != null).length;
  const largest = plot.points[plot.points.length - 1];
  const told = largest === undefined ? [] : say`${label(largest.factor)} ${sizeFigure(ui.figures, largest.size)}`;
  const caption = w.halfNormalCaption(options, plot.points.length - options, told);
  return (
    <Figure
      title={w.halfNormal}
      caption={caption}
      file={fileOf(result, "half-normal")}
      height={halfNormalHeight}
      of={[plot]}
      option={(on) =>
        halfNormal(on, ui.figures, { marks, quantile: w.quantile, size: w.size, description: plain(caption) })
      }
      table={() => ({
        columns: [
          { label: w.option },
          { label: w.quantile, numeric: true },
          { label: w.size, numeric: true },
          { label: w.verdict },
        ],
        rows: plot.points.map((point): (Said | string)[] => {
          const effect = effectOf(point.factor);
          const verdict = effect === null ? ABSENT : w.verdicts[effect.verdict];
          return [label(point.factor), ui.figures.fixed(point.quantile, 2), sizeFigure(ui.figures, point.size), verdict];
        }),
      })}
    />
  );
}

/** What has to be known beside the effects on one figure. */
function notesSaid(ui: Ui, of: ScreeningFinding, result: ScreenedResult): Said[] {
  const w = ui.words.screening;
  // One reason for all figures stands in the proposal alone.
  const ofAll = of.results.length > 1 && result.unknown != null && whyUntold(of) !== null;
  const unknown =
    result.unknown != null
      ? ofAll
        ? []
        : [w.unknown(sentence(ui, result.unknown))]
      : result.rounds === 0
        ? [[w.noRound]]
        : [];
  const pair = ([one, other]: string[]): Said => w.pair(name(one ?? ""), name(other ?? ""));
  const interactions = (result.interactions ?? []).map((one) => {
    const [first, second] = one.factors.map((factor) => optionSaid(of, factor));
    const [ratio, low, high] = [one.ratio, one.low, one.high].map((factor) => ui.figures.times(factor));
    const aliases = (one.aliases ?? []).map(pair);
    const cannot = aliases.length === 0 ? null : joined(aliases, ui.words.comma);
    return w.interaction(first ?? [], second ?? [], ratio ?? "", low ?? "", high ?? "", cannot, one.partial ?? 0);
  });
  const spare = (result.spare ?? []).filter((ratio) => Number.isFinite(Math.log(ratio)));
  const squares = spare.reduce((sum, ratio) => sum + Math.log(ratio) ** 2, 0);
  const size = gainSaid(ui, Math.exp(Math.sqrt(squares / Math.max(spare.length, 1))), null, null).replace(/^\+/, "");
  return [
    ...unknown,
    ...interactions,
    ...(result.lanes_differ === true ? [[w.lanesDiffer]] : []),
    ...(spare.length > 0 ? [[w.spare(spare.length, size)]] : []),
  ];
}

function costsSaid(ui: Ui, of: ScreeningFinding, factors: readonly string[]): Said[] {
  return factors.flatMap((factor): Said[] => {
    const costs = factorOf(of, factor)?.costs ?? "";
    return costs.trim() === "" ? [] : [ui.words.screening.because(optionSaid(of, factor), sentence(ui, costs))];
  });
}

/** What each option that is taken costs, or that no table tells it. */
function pricesSaid(ui: Ui, of: ScreeningFinding): Said[] {
  const w = ui.words.screening;
  const price = (option: Said, costs: string | null | undefined): Said =>
    w.because(option, (costs ?? "").trim() === "" ? [w.costsUntold] : sentence(ui, costs ?? ""));
  const tuned = tunedOf(of);
  if (tuned.length > 0) return tuned.map((one) => price(tunedSaid(one), one.costs));
  return of.proposal.factors.flatMap((factor) => {
    const known = factorOf(of, factor);
    return known === null ? [] : [price(optionSaid(of, factor), known.costs)];
  });
}

/** What to take, what it should bring and cost, and what is not taken although it gains. */
function proposalSaid(ui: Ui, race: RacePage, of: ScreeningFinding): Said[] {
  const w = ui.words.screening;
  const { factors, mixed = [], promises = [], expected = [] } = of.proposal;
  const instead = (factor: string, option: Said): Said => {
    const known = factorOf(of, factor);
    return known === null ? option : w.instead(option, levelSaid(known.usual));
  };
  const proposed = factors.map((factor) => instead(factor, optionSaid(of, factor)));
  const tuned = tunedOf(of).map((one) => instead(one.factor, tunedSaid(one)));
  const untold = tunedAlone(of);
  const listed = (options: Said[]) => ui.words.list(options, "and");
  const why = whyUntold(of);
  const open = openOptions(of);
  const kept: Said[] = [
    [mixed.length + promises.length > 0 ? w.keepOthers : w.keep],
    ...(open.length > 0
      ? [w.openOptions(open.length, of.factors.length, joined(open.map((factor) => optionSaid(of, factor)), ui.words.comma), of.hidden_by_lanes === true)]
      : []),
  ];
  const keep: Said[] =
    of.unfinished === true ? [[w.unfinished]] : !tells(of) ? [w.untold(why === null ? null : sentence(ui, why))] : kept;
  const tuning = isBeingTuned(of);
  const alone = proposed.length === 0 ? (tuning ? [] : keep) : [tuning ? w.untuned(listed(proposed)) : w.take(listed(proposed))];
  const isUnknown = (factor: string) => factorOf(of, factor)?.class === "unknown";
  const [known, unknown] = [promises.filter((factor) => !isUnknown(factor)), promises.filter(isUnknown)];
  const gains = expected.map((one) => w.gain(titleSaid(ui, race.findings, one), gainSaid(ui, one.ratio, null, null)));
  return [
    ...(tuning ? [[w.tuningUnfinished]] : []),
    ...(tuned.length > 0 ? [w.tuned(listed(tuned), of.confirmation != null)] : alone),
    ...(untold.length > 0 ? [w.tunedAlone(listed(untold.map((factor) => name(factor))), untold.length === 1)] : []),
    ...(tuned.length > 0 && proposed.length > 0 ? [w.untuned(listed(proposed))] : []),
    ...(of.unfinished === true && proposed.length > 0 ? [[w.soFar]] : []),
    ...(gains.length > 0 && tuned.length === 0 ? [w.expected(joined(gains, ui.words.semicolon))] : []),
    ...pricesSaid(ui, of),
    ...(mixed.length > 0 ? [w.mixed(optionsSaid(ui, of, mixed))] : []),
    ...(known.length > 0 ? [w.notTaken(optionsSaid(ui, of, known), known.length === 1)] : []),
    ...(unknown.length > 0 ? [w.notInATable(optionsSaid(ui, of, unknown), unknown.length === 1)] : []),
  ];
}

/** What the race of the proposal showed; nothing where there was nothing to race. */
function Confirmed({ race, of }: { race: RacePage; of: ScreeningFinding }) {
  const ui = useUi();
  const w = ui.words.screening;
  const confirmation = of.confirmation ?? null;
  const leftOut = of.confirmation_left_out ?? null;
  const nothing = isBeingTuned(of) || (of.proposal.factors.length === 0 && tunedOf(of).length === 0);
  if (confirmation === null && leftOut === null && nothing) return null;
  const commands = confirmation?.commands ?? [];
  const more = confirmation?.more ?? [];
  const isWorse = (of: Confirmation) => of.outcome === "not-confirmed" && of.rows.some((row) => row.verdict === "slower");
  const outcome = (of: Confirmation, expected: boolean) => {
    if (of.outcome === "confirmed") return w.confirmedIn(of.gained ?? 0, of.counted ?? 0, expected);
    if (of.outcome === "not-confirmed" && (of.tuned ?? []).length > 0) return w.notConfirmedTuned;
    if (of.outcome === "open" && of.unfinished !== true && of.because != null) return w.openBecause(w.whyOpen[of.because]);
    return of.outcome === "open" && of.unfinished === true ? w.openRunning : w.outcomes[of.outcome];
  };
  return (
    <article class="result">
      <h3>{w.confirmed}</h3>
      {confirmation === null ? (
        <p>{leftOut === null ? w.notRaced : <Speak said={w.confirmationLeftOut(sentence(ui, leftOut))} />}</p>
      ) : (
        <>
          <p class="verdict">{outcome(confirmation, (of.proposal.expected ?? []).length > 0)}</p>
          {isWorse(confirmation) ? <p>{w.loses}</p> : null}
          {confirmation.disturbed === true ? <p>{ui.words.answer.disturbed}</p> : null}
          <p class="small">
            <Speak said={w.raced(name(confirmation.lane), name(confirmation.default_lane), String(confirmation.seed))} />
          </p>
          <Lines said={(confirmation.warnings ?? []).map((one) => w.ofItsRace(sentence(ui, one)))} />
          {confirmation.rows.length > 0 ? <ConfirmedRows race={race} of={confirmation} /> : null}
          {more.length > 0 ? (
            <p class="next">
              <span class="label">{w.raceMore}</span>
              <Command words={more} label={w.raceMore} />
            </p>
          ) : null}
          {commands.length > 0 ? (
            <>
              <h4>{w.setIt}</h4>
              <ul class="notes">
                {commands.map((line, at) => (
                  <li key={at}>
                    <code class="breaks">{clean(line)}</code>
                  </li>
                ))}
              </ul>
            </>
          ) : null}
        </>
      )}
    </article>
  );
}

function ConfirmedRows({ race, of }: { race: RacePage; of: Confirmation }) {
  const ui = useUi();
  const w = ui.words.screening;
  const title = (row: ConfirmedRow) => titleSaid(ui, race.findings, row);
  const measured = (row: ConfirmedRow) => (row.ratio == null ? ABSENT : gainSaid(ui, row.ratio, row.low, row.high, [row.expected]));
  const verdict = (row: ConfirmedRow) => w.rowVerdicts[row.verdict];
  const rows = of.rows.flatMap((row): ForestRow[] =>
    row.ratio == null
      ? []
      : [
          {
            name: shown(plain(title(row)), ROW_NAME),
            ratio: row.ratio,
            low: row.low ?? null,
            high: row.high ?? null,
            verdict: row.verdict,
            says: `${measured(row)}, ${verdict(row)}`,
            word: verdict(row),
            expected: row.expected ?? null,
          },
        ],
  );
  const told = of.rows.map((row) => w.row(title(row), measured(row), verdict(row)));
  const caption = w.confirmationCaption(say`${joined(told, ui.words.semicolon)}${ui.words.end}`);
  return (
    <Figure
      title={w.confirmation}
      caption={caption}
      file="fairlane-screening-confirmed"
      height={() => forestHeight(rows.length)}
      of={[of]}
      option={(on) =>
        forest(on, ui.figures, rows, plain(caption), { gains: true })
      }
      table={() => ({
        columns: [
          { label: w.work },
          { label: w.expectedColumn, numeric: true },
          { label: w.measured, numeric: true },
          { label: w.lookInterval, numeric: true },
          { label: w.rowVerdict },
          { label: w.cpu, numeric: true },
          { label: w.written, numeric: true },
        ],
        rows: of.rows.map((row): (Said | string)[] => {
          const gain = row.ratio == null ? null : gainOf(ui, row.ratio, row.low, row.high, [row.expected]);
          const ends = row.low == null || row.high == null ? [] : [row.low, row.high];
          const expected = row.expected == null ? null : gainOf(ui, row.expected, null, null, [row.ratio, ...ends]);
          const shares = (row.cpu_shares ?? []).map((share) => ui.figures.smallShare(share)).join(" / ");
          return [
            title(row),
            expected?.size ?? ABSENT,
            gain?.size ?? ABSENT,
            gain?.interval ?? ABSENT,
            verdict(row),
            shares !== "" ? shares : row.little_cpu === true ? w.littleCpu : ABSENT,
            row.written_per_byte == null ? ABSENT : row.written_per_byte.map((times) => ui.figures.times(times)).join(" / "),
          ];
        }),
      })}
    />
  );
}

/** What every race shows of its lanes: of a screening it is made when somebody asks for it. */
export function LanesOfDesign({ children }: { children: ComponentChildren }) {
  const ui = useUi();
  const w = ui.words.screening;
  const [open, setOpen] = useState(false);
  return (
    <Section id="lanes" title={w.lanes} note={w.lanesNote}>
      <details class="lanes-of-design" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{w.lanesOpen}</summary>
        {open ? children : null}
      </details>
    </Section>
  );
}
