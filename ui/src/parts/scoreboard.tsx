// Workloads by lanes: the ratio to one lane with its interval, the verdict, and what limited it.
import { useMemo, useState } from "preact/hooks";
import type { Findings, OperationsFinding, RacePage, ResultFinding, Verdict } from "../types";
import { known, resultTitle, useUi } from "../ui";
import { hasGroups, tableOf } from "../words/answer";
import { pairOf } from "../words/pairs";
import { name, plain, say } from "../words/say";
import { laneRate } from "../words/told";
import { LaneName, LimitMark, Mark, Section, Speak } from "./basics";

/** The strip's scale reaches from a quarter to four times. */
const FAR = 4;

function place(ratio: number): number {
  const at = (Math.log(Math.max(ratio, 1e-9)) / Math.log(FAR) + 1) / 2;
  return Math.min(Math.max(at, 0), 1) * 100;
}

/** A ratio and its interval on a scale of its own, for the eye alone: the figures stand beside it. */
export function Strip({
  ratio,
  low,
  high,
  margin,
  verdict,
}: {
  ratio: number;
  low: number | null;
  high: number | null;
  margin: number;
  verdict: Verdict;
}) {
  const bar = low === null || high === null ? null : { from: place(low), to: place(high) };
  const band = place(1 / (1 + margin));
  return (
    <span class={`strip strip-${verdict}`} aria-hidden="true">
      <span class="strip-band" style={{ left: `${band}%`, width: `${place(1 + margin) - band}%` }} />
      <span class="strip-one" />
      {bar ? <span class="strip-bar" style={{ left: `${bar.from}%`, width: `${Math.max(bar.to - bar.from, 0.5)}%` }} /> : null}
      <span class="strip-dot" style={{ left: `${place(ratio)}%` }} />
    </span>
  );
}

/** Where the result's own part of the page is. */
export function resultId(findings: Findings, result: ResultFinding): string {
  return `result-${findings.results.indexOf(result)}`;
}

export function Scoreboard({ race }: { race: RacePage }) {
  const ui = useUi();
  const { findings } = race;
  const w = ui.words.scoreboard;
  const lanes = findings.lanes.map((lane) => lane.name);
  const first = useMemo(() => {
    const references = findings.results.map((result) => result.reference).filter((lane) => lane != null);
    return references[0] ?? lanes[0] ?? "";
  }, [findings]);
  const [chosen, setChosen] = useState<string | null>(null);
  const reference = chosen !== null && lanes.includes(chosen) ? chosen : first;
  const alone = findings.results.filter((result) => tableOf(findings, result.workload) === null);
  return (
    <Section
      id="scoreboard"
      title={ui.words.sections.scoreboard}
      note={<Speak said={w.intro(name(reference), ui.figures.margin(findings.margin))} />}
    >
      {lanes.length > 2 ? (
        <p class="controls">
          <label>
            {w.against}{" "}
            <select value={reference} onChange={(event) => setChosen(event.currentTarget.value)}>
              {lanes.map((lane) => (
                <option key={lane} value={lane}>
                  {plain(name(lane))}
                </option>
              ))}
            </select>
          </label>
        </p>
      ) : null}
      <div class="scroll" tabIndex={0} role="group" aria-label={ui.words.sections.scoreboard}>
        <table class="board" role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">
                {w.workload}
              </th>
              {lanes.map((lane, at) => (
                <th key={lane} scope="col" role="columnheader" aria-label={plain(name(lane))}>
                  <LaneName index={at} name={lane} />
                </th>
              ))}
              <th scope="col" role="columnheader">
                {w.limit}
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {alone.map((result) => (
              <tr key={`${result.workload} ${result.group} ${result.metric}`} role="row">
                <th scope="row" role="rowheader">
                  <a href={ui.href(resultId(findings, result))}>
                    <Speak said={resultTitle(ui, result, hasGroups(findings, result))} />
                  </a>
                </th>
                {lanes.map((lane, at) => (
                  <Cell key={lane} result={result} lane={lane} index={at} reference={reference} margin={findings.margin} />
                ))}
                <td role="cell" class="board-limit">
                  <LimitMark result={result} />
                </td>
              </tr>
            ))}
            {(findings.operations ?? []).map((table) => (
              <TableRow key={table.workload} table={table} lanes={lanes} reference={reference} margin={findings.margin} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="small">{w.key}</p>
    </Section>
  );
}

/** The lane that a row's others stand against: where the chosen one has no figure, the row's own. */
export function rowReference(result: ResultFinding, chosen: string): string {
  const measured = result.estimates.some((of) => of.lane === chosen && of.failure == null);
  return measured ? chosen : (result.reference ?? chosen);
}

function Cell({
  result,
  lane,
  index,
  reference,
  margin,
}: {
  result: ResultFinding;
  lane: string;
  index: number;
  reference: string;
  margin: number;
}) {
  const ui = useUi();
  const { words, figures } = ui;
  const estimate = result.estimates.find((of) => of.lane === lane);
  const label = <LaneLabel index={index} lane={lane} />;
  if (!estimate || estimate.failure != null) {
    return (
      <td role="cell" class="board-cell">
        {label}
        <span class="board-none">{estimate ? words.verdict.failed : words.verdict.missing}</span>
      </td>
    );
  }
  const mean = figures.rate(result.unit, estimate.row_mean ?? estimate.mean);
  const against = rowReference(result, reference);
  const pair = lane === against ? null : pairOf(result, lane, against);
  const beside = against === reference || !pair ? null : <Speak said={say`${words.clause}${words.scoreboard.other(name(against))}`} />;
  if (!pair || pair.ratio === null || result.limit === "harness") {
    const verdict = pair ? words.verdict[pair.verdict] : words.verdict.none;
    return (
      <td role="cell" class="board-cell">
        {label}
        <span class="board-rate" title={laneRate(ui, result, estimate.mean, estimate.low, estimate.high)}>
          {mean}
        </span>
        <span class="board-small">
          {lane === against ? words.verdict.reference : verdict}
          {beside}
        </span>
      </td>
    );
  }
  const low = pair.interval ? figures.factor(pair.interval[0]) : null;
  const high = pair.interval ? figures.factor(pair.interval[1]) : null;
  const verdict = words.verdict[pair.verdict];
  const ratio = figures.times(pair.ratio);
  return (
    <td role="cell" class="board-cell">
      {label}
      <span class="visually-hidden">
        {words.scoreboard.cell(verdict, ratio, low, high)}
        {beside}
      </span>
      <span class="board-line" aria-hidden="true">
        <span class={`board-ratio tone-${pair.verdict}`}>
          <Mark verdict={pair.verdict} /> {ratio}
        </span>
        <Strip
          ratio={pair.ratio}
          low={pair.interval?.[0] ?? null}
          high={pair.interval?.[1] ?? null}
          margin={margin}
          verdict={pair.verdict}
        />
      </span>
      <span class="board-small" aria-hidden="true">
        {verdict}
        {low !== null && high !== null ? `${words.clause}${low}–${high}` : ""}
        {beside}
      </span>
    </td>
  );
}

/** The lane's name inside of its cell, where the table has no columns for want of room. */
function LaneLabel({ index, lane }: { index: number; lane: string }) {
  return (
    <span class="board-lane" aria-hidden="true">
      <LaneName index={index} name={lane} />
    </span>
  );
}

/** All steps of a table of operations in one row. */
function TableRow({
  table,
  lanes,
  reference,
  margin,
}: {
  table: OperationsFinding;
  lanes: readonly string[];
  reference: string;
  margin: number;
}) {
  const ui = useUi();
  const { words, figures } = ui;
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <a href={ui.href("operations")}>
          <Speak said={known(ui, table.title)} />
        </a>
        <span class="board-small">{words.scoreboard.table(table.rows.length)}</span>
      </th>
      {lanes.map((lane, index) => {
        const straight = table.pairs.find((pair) => pair.a === lane && pair.b === reference);
        const turned = table.pairs.find((pair) => pair.a === reference && pair.b === lane);
        // The floor shows what a step costs without a disk: it is no contestant.
        const floor = table.floor != null && (table.floor === lane || table.floor === reference);
        const pair = floor ? undefined : (straight ?? turned);
        const mean = pair?.geometric_mean ?? null;
        const total = table.totals.find((of) => of.lane === lane)?.seconds ?? null;
        if (lane === reference || !pair || mean === null) {
          return (
            <td key={lane} role="cell" class="board-cell">
              <LaneLabel index={index} lane={lane} />
              <span class="board-rate">{total === null ? words.verdict.missing : figures.time(total)}</span>
              <span class="board-small">{lane === reference ? words.verdict.reference : ""}</span>
            </td>
          );
        }
        const ratio = straight ? mean : 1 / mean;
        const [wins, losses] = straight ? [pair.wins, pair.losses] : [pair.losses, pair.wins];
        return (
          <td key={lane} role="cell" class="board-cell">
            <LaneLabel index={index} lane={lane} />
            <span class="board-line">
              <span class="board-ratio tone-tie">{figures.times(ratio)}</span>
              <Strip ratio={ratio} low={null} high={null} margin={margin} verdict="none" />
            </span>
            <span class="board-small">
              <span aria-hidden="true">
                {words.scoreboard.counts(wins, pair.ties, losses, pair.undecided, pair.without_verdict)}
              </span>
              <span class="visually-hidden">
                {words.operations.counts(wins, pair.ties, losses, pair.undecided, pair.without_verdict)}
              </span>
            </span>
          </td>
        );
      })}
      <td role="cell" class="board-limit" />
    </tr>
  );
}
