// Where the time of one operation went: a bar for each lane, what the largest shares are, and flame graphs on demand.
import { useId, useState } from "preact/hooks";
import type { Explanation, Part, RacePage, ResultFinding } from "../types";
import { known, resultTitle, sentence, useUi, type Ui } from "../ui";
import { hasGroups } from "../words/answer";
import { shownName, stacksOf } from "../words/flame";
import { name, plain, text, type Said } from "../words/say";
import { LaneName, Speak, Whose } from "./basics";
import { Flame } from "./flame";
import { PartKey, PARTS } from "./part-key";
import { FigureTable } from "./table";

/** A pass that was slower or faster by more says so, and from the second on that its shares may not be the rounds'. */
const TOLERATED = 0.1;
const VERY_DIFFERENT = 0.25;
/** With fewer samples shares of CPU time are rough. */
const FEW_SAMPLES = 100;
/** So many steps of a table show their bars at once; more of them on demand. */
const MOST_OPEN_STEPS = 8;
/** Causes and unknown functions that are named of a lane, and the least share of one. */
const MOST_CAUSES = 3;
const MOST_UNKNOWN = 2;
const LEAST_CAUSE = 0.02;

export function Explained({ race, result }: { race: RacePage; result: ResultFinding }) {
  const ui = useUi();
  const w = ui.words.explain;
  const [asTable, setAsTable] = useState(false);
  const [open, setOpen] = useState(false);
  const id = useId();
  const explained = (result.explanations ?? []).filter((of) => of.parts.length > 0);
  if (explained.length === 0) return <Unexplained result={result} />;
  const stacks = stacksOf(race, result);
  const shown = PARTS.filter((part) => explained.some((of) => shareOf(of, part) > 0));
  return (
    <div class="explained">
      <figure class="figure">
        <div class="figure-head">
          <h4 class="figure-title">{w.title}</h4>
          <div class="tools">
            <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
              {ui.words.figure.table}
              <Whose of={w.title} />
            </button>
            {stacks.length > 0 ? (
              <button type="button" class="quiet" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
                {w.flame.title}
                <Whose of={plain(resultTitle(ui, result, hasGroups(race.findings, result)))} />
              </button>
            ) : null}
          </div>
        </div>
        {asTable ? <SharesTable explained={explained} parts={shown} /> : <Bars race={race} explained={explained} parts={shown} />}
        <figcaption>
          <Speak said={[caption(ui, explained)]} /> <Speak said={remarks(ui, explained)} />
          {explained.some(isCounted) ? <Missing race={race} /> : null}
        </figcaption>
      </figure>
      <Details result={result} explained={explained} />
      <div id={id} hidden={!open}>
        {open ? <Flame race={race} result={result} stacks={stacks} /> : null}
      </div>
    </div>
  );
}

/** Why nothing is told of a result's time. */
function Unexplained({ result }: { result: ResultFinding }) {
  const ui = useUi();
  const why = result.unexplained ?? [];
  if (why.length === 0) return null;
  return (
    <div class="explained">
      <h4 class="figure-title">{ui.words.explain.title}</h4>
      <Why said={why} />
    </div>
  );
}

function Why({ said }: { said: readonly string[] }) {
  const ui = useUi();
  return (
    <ul class="notes">
      {said.map((why) => (
        <li key={why}>
          <Speak said={sentence(ui, why)} />
        </li>
      ))}
    </ul>
  );
}

/** Why no pass looked, where no warning says it. */
function Missing({ race }: { race: RacePage }) {
  const ui = useUi();
  const { findings } = race;
  const said = (findings.unexplained ?? []).filter((why) => !findings.warnings.includes(why));
  return (
    <>
      {said.map((why) => (
        <span key={why}>
          {" "}
          <Speak said={sentence(ui, why)} />
          {ui.words.end}
        </span>
      ))}
    </>
  );
}

/** The bars of all steps of a table, one step below the other; a step that is opened has the rest. */
export function StepBars({ race, results }: { race: RacePage; results: readonly ResultFinding[] }) {
  const ui = useUi();
  const all = results.map((result) => ({ result, explained: (result.explanations ?? []).filter((of) => of.parts.length > 0) }));
  const shown = all.filter(({ result, explained }) => explained.length > 0 || (result.unexplained ?? []).length > 0);
  if (shown.length === 0) return null;
  const parts = PARTS.filter((part) => shown.some(({ explained }) => explained.some((of) => shareOf(of, part) > 0)));
  return (
    <details class="step-bars" open={shown.length <= MOST_OPEN_STEPS}>
      <summary>{ui.words.explain.ofSteps}</summary>
      {shown.map(({ result, explained }) => (
        <section key={result.group}>
          <h4 class="figure-title">
            <Speak said={known(ui, result.group)} />
          </h4>
          {explained.length > 0 ? <Rows race={race} explained={explained} parts={parts} /> : <Why said={result.unexplained ?? []} />}
        </section>
      ))}
      <PartKey parts={parts} />
    </details>
  );
}

function shareOf(of: Explanation, part: Part): number {
  const share = of.parts.find((one) => one.part === part)?.share ?? 0;
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0;
}

function isCounted(of: Explanation): boolean {
  return of.basis === "counters";
}

function Bars(of: { race: RacePage; explained: Explanation[]; parts: readonly Part[] }) {
  return (
    <>
      <Rows {...of} />
      <PartKey parts={of.parts} />
    </>
  );
}

function Rows({ race, explained, parts }: { race: RacePage; explained: Explanation[]; parts: readonly Part[] }) {
  const ui = useUi();
  return (
    <div class="bars">
      {explained.map((of) => (
        <div class="bar-row" key={of.lane}>
          <span class="bar-lane">
            <LaneName index={race.findings.lanes.findIndex((lane) => lane.name === of.lane)} name={of.lane} />
          </span>
          <span class="bar-time">{ui.figures.time(of.seconds_per_operation)}</span>
          <Bar of={of} parts={parts.filter((part) => shareOf(of, part) > 0)} />
        </div>
      ))}
    </div>
  );
}

function Bar({ of, parts }: { of: Explanation; parts: readonly Part[] }) {
  const ui = useUi();
  const w = ui.words.explain;
  const said = (part: Part) => w.share(w.parts[part], ui.figures.percent(shareOf(of, part)));
  return (
    <div class="bar" role="img" aria-label={parts.map(said).join(ui.words.comma)}>
      {parts.map((part) => (
        <span key={part} class={`segment part-${part}`} style={{ width: `${shareOf(of, part) * 100}%` }} title={said(part)}>
          {/* From the right to the left, and what has no room goes to a line that is not seen: the name first. */}
          <span class="segment-strut" />
          <span>{ui.figures.percent(shareOf(of, part))}</span>
          <span class="segment-name">{w.parts[part]}</span>
        </span>
      ))}
    </div>
  );
}

function SharesTable({ explained, parts }: { explained: Explanation[]; parts: readonly Part[] }) {
  const ui = useUi();
  const w = ui.words.explain;
  const columns = [
    { label: ui.words.results.lane },
    { label: w.perOperation, numeric: true },
    ...parts.map((part) => ({ label: w.parts[part], numeric: true })),
  ];
  const rows = explained.map((of): (Said | string)[] => [
    name(of.lane),
    ui.figures.time(of.seconds_per_operation),
    ...parts.map((part) => ui.figures.percent(shareOf(of, part), 1)),
  ]);
  return <FigureTable data={{ columns, rows }} label={w.title} />;
}

function caption(ui: Ui, explained: Explanation[]): string {
  return explained.every(isCounted) ? ui.words.explain.byCounters : ui.words.explain.byProfile;
}

/** What a pass rests on, and how far it was from the rounds. */
function remarks(ui: Ui, explained: Explanation[]): Said {
  const w = ui.words.explain;
  const profiled = explained.filter((of) => !isCounted(of));
  if (profiled.length === 0) return [];
  const passes = profiled.map((of) => {
    const rounds = of.unprofiled_operations_per_second ?? 0;
    const ratio = rounds > 0 ? of.operations_per_second / rounds : 1;
    const lost = of.lost_events ?? 0;
    return w.pass(
      name(of.lane),
      ui.figures.whole(of.samples),
      lost > 0 ? ui.figures.whole(lost) : null,
      ratio < 1 - TOLERATED ? ui.figures.percent(1 - ratio) : null,
      ratio > 1 + TOLERATED ? ui.figures.percent(ratio - 1) : null,
    );
  });
  const counted = explained.filter(isCounted).map((of) => name(of.lane));
  const atMost = profiled.filter((of) => of.device_by_counters === true).map((of) => name(of.lane));
  return [
    ...w.passes(passes),
    ...(counted.length > 0 ? [" ", ...w.mixed(counted)] : []),
    ...(atMost.length > 0 ? [" ", ...w.deviceAtMost(atMost)] : []),
  ];
}

/** What makes lanes differ, and the largest causes of each. */
function Details({ result, explained }: { result: ResultFinding; explained: Explanation[] }) {
  const ui = useUi();
  const w = ui.words.explain;
  const profiled = explained.filter((of) => !isCounted(of));
  const differences = result.explained ?? [];
  const unexplained = result.unexplained ?? [];
  if (differences.length === 0 && profiled.length === 0 && unexplained.length === 0) return null;
  return (
    <ul class="notes">
      {unexplained.map((said) => (
        <li key={said}>
          <Speak said={sentence(ui, said)} />
        </li>
      ))}
      {differences.map((said) => (
        <li key={said}>
          <Speak said={sentence(ui, said)} />
        </li>
      ))}
      {profiled.map((of) => {
        const causes = causesOf(ui, of);
        return causes.length > 0 ? (
          <li key={of.lane} class="quiet-note">
            <Speak said={w.causes(name(of.lane), causes)} />
          </li>
        ) : null;
      })}
      {profiled.flatMap((of) => cautions(ui, of)).map((said) => (
        <li key={plain(said)} class="quiet-note">
          <Speak said={said} />
        </li>
      ))}
    </ul>
  );
}

/** Why a pass's shares are to be taken with care. */
function cautions(ui: Ui, of: Explanation): Said[] {
  const w = ui.words.explain;
  const rounds = of.unprofiled_operations_per_second ?? 0;
  const differs = rounds > 0 && Math.abs(of.operations_per_second / rounds - 1) > VERY_DIFFERENT;
  return [
    ...(differs ? [w.differs(name(of.lane))] : []),
    ...(of.samples < FEW_SAMPLES ? [w.fewSamples(name(of.lane), ui.figures.whole(of.samples))] : []),
  ];
}

/** The largest causes, and functions that no table knows. One cause may count for several parts, which are then named. */
function causesOf(ui: Ui, of: Explanation): Said[] {
  const w = ui.words.explain;
  const sums = new Map<string, { share: number; parts: string[] }>();
  for (const { cause, part, share } of of.causes) {
    const sum = sums.get(cause) ?? { share: 0, parts: [] };
    sum.parts.push(w.share(w.parts[part], ui.figures.percent(share)));
    sums.set(cause, { ...sum, share: sum.share + share });
  }
  const told = (what: Said, share: number, parts: readonly string[]) => w.cause(what, ui.figures.percent(share), parts);
  const causes = [...sums]
    .sort((x, y) => y[1].share - x[1].share)
    .slice(0, MOST_CAUSES)
    .filter(([, { share }]) => share >= LEAST_CAUSE)
    .map(([cause, { share, parts }]) => told(sentence(ui, cause), share, parts.length > 1 ? parts : []));
  const unknown = (of.unknown ?? [])
    .slice(0, MOST_UNKNOWN)
    .filter(({ share }) => share >= LEAST_CAUSE)
    .map(({ function: called, share }) => told(text(shownName(called)), share, []));
  return unknown.length > 0 ? [...causes, w.unknown(unknown)] : causes;
}
