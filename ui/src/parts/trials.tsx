// Every trial: a table that is sorted, filtered and paged, and files with all of it.
import { useMemo, useState } from "preact/hooks";
import { save } from "../charts/save";
import type { Outcome, RacePage, ResultFinding, Trials as TrialsOf } from "../types";
import { known, sentence, useUi, type Ui } from "../ui";
import { csvCell } from "../words/csv";
import { clean } from "../words/say";
import { Name, Section, Speak } from "./basics";

const PAGE = 100;

type Key =
  | "workload"
  | "group"
  | "lane"
  | "round"
  | "attempt"
  | "outcome"
  | "started"
  | "value"
  | "operations"
  | "bytes"
  | "seconds"
  | "p99"
  | "remark";

const KEYS: Key[] = [
  "workload",
  "group",
  "lane",
  "round",
  "attempt",
  "outcome",
  "started",
  "value",
  "operations",
  "bytes",
  "seconds",
  "p99",
  "remark",
];
const TEXT: readonly Key[] = ["workload", "group", "lane", "outcome", "remark"];

function cell(trials: TrialsOf, row: number, key: Key): string | number | null {
  const named = (at: number | undefined) => trials.names[at ?? -1] ?? "";
  switch (key) {
    case "workload":
      return named(trials.workload[row]);
    case "group":
      return named(trials.group[row]);
    case "lane":
      return named(trials.lane[row]);
    case "round":
      return trials.round[row] ?? null;
    case "attempt":
      return trials.attempt[row] ?? null;
    case "outcome":
      return trials.outcome[row] ?? "";
    case "started":
      return trials.started_seconds[row] ?? null;
    case "value":
      return trials.value[row] ?? null;
    case "operations":
      return trials.operations[row] ?? null;
    case "bytes":
      return trials.bytes[row] ?? null;
    case "seconds":
      return trials.seconds[row] ?? null;
    case "p99":
      return trials.p99_ns[row] ?? null;
    case "remark":
      return trials.remarks[String(row)] ?? "";
  }
}

export function Trials({ race }: { race: RacePage }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.trials;
  const { trials } = race;
  const count = trials.round.length;
  const [sort, setSort] = useState<{ key: Key; down: boolean } | null>(null);
  const [workload, setWorkload] = useState("");
  const [lane, setLane] = useState("");
  const [outcome, setOutcome] = useState("");
  const [page, setPage] = useState(0);
  const rows = useMemo(() => {
    const kept: number[] = [];
    for (let row = 0; row < count; row += 1) {
      if (workload !== "" && cell(trials, row, "workload") !== workload) continue;
      if (lane !== "" && cell(trials, row, "lane") !== lane) continue;
      if (outcome !== "" && cell(trials, row, "outcome") !== outcome) continue;
      kept.push(row);
    }
    return sort ? sorted(trials, kept, sort.key, sort.down, figures.locale) : kept;
  }, [trials, workload, lane, outcome, sort, figures.locale]);
  const pages = Math.max(Math.ceil(rows.length / PAGE), 1);
  const at = Math.min(page, pages - 1);
  const shown = rows.slice(at * PAGE, at * PAGE + PAGE);
  const choose = (set: (value: string) => void) => (value: string) => {
    set(value);
    setPage(0);
  };
  const names = (of: number[]) => [...new Set(of)].map((index) => trials.names[index] ?? "");
  return (
    <Section id="trials" title={words.sections.trials} note={w.all(figures, count, trials.in_all)}>
      <p class="controls">
        <Choice label={w.columns.workload} every={w.every} value={workload} values={names(trials.workload)} onChange={choose(setWorkload)} />
        <Choice label={w.columns.lane} every={w.every} value={lane} values={names(trials.lane)} onChange={choose(setLane)} />
        <Choice label={w.columns.outcome} every={w.every} value={outcome} values={[...new Set(trials.outcome)]} onChange={choose(setOutcome)} />
        <button type="button" onClick={() => save(new Blob([csv(race)], { type: "text/csv" }), `${fileName(race)}.csv`)}>
          {w.csv}
        </button>
        <button type="button" onClick={() => save(new Blob([json(race)], { type: "application/json" }), `${fileName(race)}.json`)}>
          {w.json}
        </button>
      </p>
      <div class="scroll tall" tabIndex={0} role="group" aria-label={w.table}>
        <table class="figures">
          <thead>
            <tr>
              {KEYS.map((key) => (
                <th
                  key={key}
                  scope="col"
                  class={TEXT.includes(key) ? "" : "number"}
                  aria-sort={sort?.key === key ? (sort.down ? "descending" : "ascending") : "none"}
                >
                  <button
                    type="button"
                    class="sort"
                    aria-label={w.sortBy(w.columns[key])}
                    onClick={() => setSort({ key, down: sort?.key === key ? !sort.down : false })}
                  >
                    {w.columns[key]}
                    <span aria-hidden="true">{sort?.key === key ? (sort.down ? " ↓" : " ↑") : ""}</span>
                  </button>
                  <span class="print-only">{w.columns[key]}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row}>
                {KEYS.map((key) => (
                  <td key={key} class={TEXT.includes(key) ? "" : "number"}>
                    <Shown ui={ui} race={race} row={row} of={key} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 ? <p>{w.none}</p> : null}
      </div>
      {pages > 1 ? (
        <p class="controls pager">
          <button type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>
            {w.previous}
          </button>
          <span aria-live="polite">
            {w.page(figures.whole(at * PAGE + 1), figures.whole(at * PAGE + shown.length), figures.whole(rows.length))}
          </span>
          <button type="button" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            {w.next}
          </button>
        </p>
      ) : null}
    </Section>
  );
}

function Choice({
  label,
  every,
  value,
  values,
  onChange,
}: {
  label: string;
  every: string;
  value: string;
  values: string[];
  onChange: (value: string) => void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{every}</option>
        {values.map((one) => (
          <option key={one} value={one}>
            {clean(one).slice(0, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Shown({ ui, race, row, of }: { ui: Ui; race: RacePage; row: number; of: Key }) {
  const { figures } = ui;
  const value = cell(race.trials, row, of);
  if (value === null || value === "") return <>{typeof value === "string" ? "" : "–"}</>;
  if (typeof value === "string") {
    switch (of) {
      case "outcome":
        return <>{ui.words.trials.outcomes[value as Outcome] ?? value}</>;
      case "remark":
        return <Speak said={sentence(ui, value)} />;
      case "lane":
        return <Name text={value} characters={28} />;
      default:
        return <Speak said={known(ui, value)} />;
    }
  }
  switch (of) {
    case "value": {
      const result = resultAt(race, row);
      return <>{result ? figures.rate(result.unit, value) : figures.significant(value)}</>;
    }
    case "bytes":
      return <>{figures.bytes(value)}</>;
    case "started":
    case "seconds":
      return <>{figures.time(value)}</>;
    case "p99":
      return <>{figures.time(value * 1e-9)}</>;
    default:
      return <>{figures.whole(value)}</>;
  }
}

function resultAt(race: RacePage, row: number): ResultFinding | undefined {
  const [workload, group] = [cell(race.trials, row, "workload"), cell(race.trials, row, "group")];
  return race.findings.results.find((result) => result.workload === workload && result.group === group);
}

function sorted(trials: TrialsOf, rows: number[], key: Key, down: boolean, locale: string): number[] {
  const collator = new Intl.Collator(locale, { numeric: true });
  const keyed = rows.map((row) => ({ row, value: cell(trials, row, key) }));
  keyed.sort((x, y) => {
    // Without a figure comes last, whichever way.
    if (x.value === null || y.value === null) return Number(x.value === null) - Number(y.value === null) || x.row - y.row;
    const order =
      typeof x.value === "number" && typeof y.value === "number"
        ? x.value - y.value
        : collator.compare(String(x.value), String(y.value));
    return (down ? -order : order) || x.row - y.row;
  });
  return keyed.map((one) => one.row);
}

function fileName(race: RacePage): string {
  return `fairlane-${race.findings.suite}-${race.findings.started}`.slice(0, 100);
}

const FILE_COLUMNS: { [key in Key]: string } = {
  workload: "workload",
  group: "group",
  lane: "lane",
  round: "round",
  attempt: "attempt",
  outcome: "outcome",
  started: "started_seconds",
  value: "value",
  operations: "operations",
  bytes: "bytes",
  seconds: "seconds",
  p99: "p99_ns",
  remark: "remark",
};

/** All rows as RFC 4180 says; what a spreadsheet would take for a formula is marked as text. */
function csv(race: RacePage): string {
  const head = [...KEYS.map((key) => FILE_COLUMNS[key]), "metric", "unit"].join(",");
  const lines = race.trials.round.map((_, row) => {
    const result = resultAt(race, row);
    const cells = KEYS.map((key) => csvCell(cell(race.trials, row, key)));
    return [...cells, csvCell(result?.metric ?? ""), csvCell(result?.unit ?? "")].join(",");
  });
  return [head, ...lines, ""].join("\r\n");
}

function json(race: RacePage): string {
  const rows = race.trials.round.map((_, row) =>
    Object.fromEntries(KEYS.map((key) => [FILE_COLUMNS[key], cell(race.trials, row, key)])),
  );
  return JSON.stringify(rows, null, 1) + "\n";
}
