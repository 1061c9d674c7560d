// A workload of file operations as one table, section by section, each step with its details.
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { Findings, OperationFigure, OperationRow, OperationsFinding, RacePage, ResultFinding } from "../types";
import { known, sentence, useUi, type Ui } from "../ui";
import { name, plain, say } from "../words/say";
import { pairOf } from "../words/pairs";
import { resultSaid } from "../words/told";
import { LaneName, LimitMark, Mark, Section, Speak } from "./basics";
import { Courses } from "./course";
import { Estimates } from "./estimates";
import { Explained, StepBars } from "./explained";
import { ResultFigures } from "./results";

/** Steps from which on a reader is told how many verdicts chance alone may make, and the error of each. */
const MANY_STEPS = 10;
const ERROR_PER_STEP = 0.05;

export function Operations({ race }: { race: RacePage }) {
  const ui = useUi();
  const tables = race.findings.operations ?? [];
  if (tables.length === 0) return null;
  return (
    <Section id="operations" title={ui.words.sections.operations}>
      {tables.map((table) => (
        <Table key={table.workload} race={race} table={table} several={tables.length > 1} />
      ))}
    </Section>
  );
}

function Table({ race, table, several }: { race: RacePage; table: OperationsFinding; several: boolean }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.operations;
  const { findings } = race;
  const all = findings.lanes.map((lane) => lane.name);
  const lanes = table.totals.map((total) => total.lane);
  const sections = [...new Set(table.rows.map((row) => row.section))];
  const decided = table.pairs.some((pair) => pair.wins + pair.losses > 0);
  const course = race.courses.find((of) => of.workload === table.workload);
  const floorOf = (lane: string) => table.floor === lane;
  const reasons = missing(table);
  const steps = Math.max(0, ...table.totals.map((total) => total.steps));
  const below: { label: string; of: (at: number) => number | null | undefined }[] = [
    { label: w.total(steps, table.rows.length), of: (at) => table.totals[at]?.seconds },
    { label: w.sync, of: (at) => table.totals[at]?.sync_seconds },
    { label: w.unmount, of: (at) => table.totals[at]?.unmount_seconds },
  ];
  return (
    <article class="result">
      {several ? (
        <header class="result-head">
          <h3>
            <Speak said={known(ui, table.title)} />
          </h3>
        </header>
      ) : null}
      <p>
        <Speak
          said={w.heading(figures, table.rows.length, table.rounds, table.passes, lanes.length > 1 ? name(table.reference) : null)}
        />
      </p>
      {table.process_startup_share != null ? (
        <p class="warning">{w.startupWarning(figures.percent(table.process_startup_share))}</p>
      ) : null}
      <ul class="plain pairs">
        {table.pairs
          .filter((pair) => !floorOf(pair.a) && !floorOf(pair.b))
          .map((pair) => {
            const mean = pair.geometric_mean == null ? null : figures.times(pair.geometric_mean);
            const why = pair.why != null && pair.without_verdict > 0 ? say`${words.colon}${sentence(ui, pair.why)}` : [];
            return (
              <li key={`${pair.a} ${pair.b}`}>
                <Speak
                  said={say`${w.pair(name(pair.a), name(pair.b), mean, pair.steps)}${words.semicolon}${w.counts(pair.wins, pair.ties, pair.losses, pair.undecided, pair.without_verdict)}${why}${words.end}`}
                />
              </li>
            );
          })}
      </ul>
      <div class="scroll steps-scroll" tabIndex={0} role="group" aria-label={plain(known(ui, table.title))}>
        <table class="figures steps">
          <thead>
            <tr>
              <th scope="col">{w.step}</th>
              {lanes.map((lane) => (
                <th key={lane} scope="col" class="number">
                  <LaneName index={all.indexOf(lane)} name={lane} />
                </th>
              ))}
              <th scope="col">{words.scoreboard.limit}</th>
            </tr>
          </thead>
          {sections.map((section) => (
            <tbody key={section}>
              {sections.length > 1 ? (
                <tr class="section-row">
                  <th scope="colgroup" colSpan={lanes.length + 2}>
                    {section.trim() === "" ? w.unnamed : <Speak said={known(ui, section)} />}
                  </th>
                </tr>
              ) : null}
              {table.rows
                .filter((row) => row.section === section)
                .map((row) => (
                  <Step key={row.group} race={race} table={table} row={row} lanes={lanes} />
                ))}
            </tbody>
          ))}
          <tbody class="totals">
            {below
              .filter((row) => lanes.some((_, at) => row.of(at) != null))
              .map((row) => (
                <tr key={row.label}>
                  <th scope="row">{row.label}</th>
                  {lanes.map((lane, at) => {
                    const seconds = row.of(at);
                    return (
                      <td key={lane} class="number">
                        {seconds == null ? "–" : figures.time(seconds)}
                      </td>
                    );
                  })}
                  <td />
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      <StepBars race={race} results={table.rows.flatMap((row) => resultOf(findings, table, row) ?? [])} />
      <ul class="notes">
        {reasons.map(({ lane, why, some }) => (
          <li key={`${lane} ${why}`}>
            <Speak said={some ? w.missing(name(lane), sentence(ui, why)) : words.statements.failed(name(lane), sentence(ui, why))} />
          </li>
        ))}
        {table.floor != null ? (
          <li>
            <Speak said={w.floorNote(name(table.floor))} />
          </li>
        ) : null}
        {table.rows.length >= MANY_STEPS && decided ? (
          <li>{w.byChance(figures, Math.ceil(table.rows.length * ERROR_PER_STEP), table.rows.length)}</li>
        ) : null}
        {table.warnings.map((warning) => (
          <li key={warning}>
            <Speak said={sentence(ui, warning)} />
          </li>
        ))}
      </ul>
      {course ? <Courses course={course} lanes={all} /> : null}
    </article>
  );
}

/** Whether a lane did some of the steps. */
function didSome(table: OperationsFinding, lane: string): boolean {
  return table.rows.some((row) => row.figures.some((figure) => figure.lane === lane && figure.seconds != null));
}

/** Why lanes have no figure in some step, each reason once; `some`: the lane did others. */
export function missing(table: OperationsFinding): { lane: string; why: string; some: boolean }[] {
  const found = new Map<string, { lane: string; why: string; some: boolean }>();
  for (const { lane, failure } of table.rows.flatMap((row) => row.figures)) {
    if (failure == null) continue;
    const key = JSON.stringify([lane, failure]);
    if (!found.has(key)) found.set(key, { lane, why: failure, some: didSome(table, lane) });
  }
  return [...found.values()];
}

function resultOf(findings: Findings, table: OperationsFinding, row: OperationRow): ResultFinding | null {
  return findings.results.find((result) => result.workload === table.workload && result.group === row.group) ?? null;
}

function Step({ race, table, row, lanes }: { race: RacePage; table: OperationsFinding; row: OperationRow; lanes: string[] }) {
  const ui = useUi();
  const { words } = ui;
  const [open, setOpen] = useState(false);
  const result = resultOf(race.findings, table, row);
  const title = known(ui, row.group);
  return (
    <Fragment>
      <tr>
        <th scope="row">
          {result ? (
            <>
              <button
                type="button"
                class="step-open"
                aria-expanded={open}
                aria-label={words.operations.open(plain(title))}
                onClick={() => setOpen(!open)}
              >
                <Speak said={title} />
              </button>
              <span class="print-only">
                <Speak said={title} />
              </span>
            </>
          ) : (
            <Speak said={title} />
          )}
        </th>
        {lanes.map((lane) => {
          const figure = row.figures.find((of) => of.lane === lane);
          return (
            <td key={lane} class="number step-cell">
              {figure ? stepCell(ui, table, result, figure) : "–"}
            </td>
          );
        })}
        <td>{result ? <LimitMark result={result} /> : null}</td>
      </tr>
      {open && result ? (
        <tr class="step-detail">
          <td colSpan={lanes.length + 2}>
            <div class="step-inside">
              <p class="verdict">
                <Speak said={resultSaid(ui, result)} />
              </p>
              <ResultFigures race={race} result={result} />
              <Explained race={race} result={result} />
              <Estimates result={result} lanes={race.findings.lanes.map((of) => of.name)} />
            </div>
          </td>
        </tr>
      ) : null}
    </Fragment>
  );
}

function stepCell(ui: Ui, table: OperationsFinding, result: ResultFinding | null, figure: OperationFigure) {
  const { words, figures } = ui;
  const w = words.operations;
  if (figure.seconds == null) {
    // What a filesystem cannot do is no failure of it; why stands below the table.
    return <>{figure.failure == null || didSome(table, figure.lane) ? "–" : words.verdict.failed}</>;
  }
  const rate =
    figure.bandwidth_bytes_per_second != null
      ? figures.bandwidth(figure.bandwidth_bytes_per_second)
      : figure.operations_per_second != null
        ? `${figures.count(figure.operations_per_second)}${w.perSecond}`
        : "";
  const pair =
    result && figure.lane !== table.reference && figure.lane !== table.floor ? pairOf(result, figure.lane, table.reference) : null;
  const floor =
    figure.floor_share == null ? "" : figure.floor_share < 0.995 ? w.floor(figures.percent(figure.floor_share)) : w.noFloor;
  const shown = pair && pair.ratio !== null && result?.limit !== "harness";
  const interval = shown && pair.interval ? `${figures.factor(pair.interval[0])}–${figures.factor(pair.interval[1])}×` : "";
  const small = [[interval, rate].filter((part) => part !== "").join(" · "), floor, figure.process_startup_share == null ? "" : w.startup(figures.percent(figure.process_startup_share))];
  return (
    <>
      {shown ? (
        <span class={`step-verdict tone-${pair.verdict}`} title={words.verdict[pair.verdict]}>
          <Mark verdict={pair.verdict} /> {figures.times(pair.ratio ?? 1)}
          <span class="visually-hidden">
            {" "}
            {words.verdict[pair.verdict]}
            {words.clause}
          </span>
        </span>
      ) : null}
      {figures.time(figure.seconds)}
      {small
        .filter((part) => part !== "")
        .map((part) => (
          <span key={part} class="board-small">
            {part}
          </span>
        ))}
    </>
  );
}
