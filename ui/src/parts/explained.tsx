// Where the time of one operation went: a bar for each lane, what the largest shares are, and flame graphs on demand.
import { useId, useState } from "preact/hooks";
import type { Explanation, Part, RacePage, ResultFinding } from "../types";
import { resultTitle, sentence, useUi, type Ui } from "../ui";
import { hasGroups } from "../words/answer";
import { shownName, stacksOf } from "../words/flame";
import { name, plain, text, type Said } from "../words/say";
import { LaneName, Speak, Whose } from "./basics";
import { Flame } from "./flame";
import { PartKey, PARTS } from "./part-key";
import { FigureTable } from "./table";

/** A pass that was slower or faster by more is said to be of other work. */
const TOLERATED = 0.1;
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
  if (explained.length === 0) return null;
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
        </figcaption>
      </figure>
      <Details result={result} explained={explained} />
      <div id={id} hidden={!open}>
        {open ? <Flame race={race} result={result} stacks={stacks} /> : null}
      </div>
    </div>
  );
}

function shareOf(of: Explanation, part: Part): number {
  const share = of.parts.find((one) => one.part === part)?.share ?? 0;
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0;
}

function isCounted(of: Explanation): boolean {
  return of.basis === "counters";
}

function Bars({ race, explained, parts }: { race: RacePage; explained: Explanation[]; parts: readonly Part[] }) {
  const ui = useUi();
  return (
    <>
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
      <PartKey parts={parts} />
    </>
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
  if (differences.length === 0 && profiled.length === 0) return null;
  return (
    <ul class="notes">
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
    </ul>
  );
}

/** The largest causes, and functions that no table knows. One cause may count for several parts. */
function causesOf(ui: Ui, of: Explanation): Said[] {
  const w = ui.words.explain;
  const sums = new Map<string, number>();
  for (const { cause, share } of of.causes) sums.set(cause, (sums.get(cause) ?? 0) + share);
  const told = (what: Said, share: number) => w.cause(what, ui.figures.percent(share));
  const causes = [...sums]
    .sort((x, y) => y[1] - x[1])
    .slice(0, MOST_CAUSES)
    .filter(([, share]) => share >= LEAST_CAUSE)
    .map(([cause, share]) => told(sentence(ui, cause), share));
  const unknown = (of.unknown ?? [])
    .slice(0, MOST_UNKNOWN)
    .filter(({ share }) => share >= LEAST_CAUSE)
    .map(({ function: called, share }) => told(text(shownName(called)), share));
  return unknown.length > 0 ? [...causes, w.unknown(unknown)] : causes;
}
