// The records that are kept: filtered, opened, selected to be compared.
import { useState } from "preact/hooks";
import { Name } from "../parts/basics";
import { useUi, wordOf } from "../ui";
import { clean, shown } from "../words/say";
import type { Asked } from "./api";
import type { Live, RecordEntry, RecordList } from "../types";
import { href } from "./route";
import { Waiting } from "./waiting";

/** Records that the server compares at once. */
const MOST_COMPARED = 17;
/** Rows before "more" is asked for. */
const ROWS = 200;

export function Records({ asked, retry, live }: { asked: Asked<RecordList>; retry: () => void; live: Live | null }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const [filter, setFilter] = useState("");
  const [selected, setSelected] = useState<string[]>([]);
  const [rows, setRows] = useState(ROWS);
  const list = asked.value;
  if (!list) return <Waiting asked={asked} what={w.records} retry={retry} />;
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = list.records.filter((record) => {
    const text = `${record.name} ${record.suite} ${record.lanes.join(" ")} ${record.kernel} ${record.machine} ${record.outcome}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  // The list is asked for when a race begins and ends; meanwhile its progress knows better.
  const now = (record: RecordEntry): RecordEntry =>
    live?.kind === "running" && live.record === record.name ? { ...record, trials: Math.max(record.trials, live.trials) } : record;
  const toggle = (name: string) =>
    setSelected(selected.includes(name) ? selected.filter((of) => of !== name) : [...selected, name]);
  // The oldest one is what the others are held against, whichever was chosen first.
  const byAge = list.records.map((record) => record.name).filter((name) => selected.includes(name)).reverse();
  const [a, ...b] = byAge.slice(0, MOST_COMPARED);
  return (
    <section class="section" aria-labelledby="records-title">
      <div class="section-head">
        <h1 id="records-title" class="page-title">
          {w.records}
        </h1>
        <p class="section-note" role="status">
          {w.count(found.length, list.records.length)}
        </p>
      </div>
      <p class="controls">
        <label>
          <span class="visually-hidden">{w.filter}</span>
          <input type="search" value={filter} placeholder={w.filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        </label>
        {a !== undefined && b.length > 0 ? (
          <a class="button" href={href({ view: "compare", a, b })}>
            {w.compareSelected(b.length + 1)}
          </a>
        ) : (
          <span class="small">{w.compareSelected(byAge.length)}</span>
        )}
        {selected.length > 0 ? (
          <button type="button" class="quiet" onClick={() => setSelected([])}>
            {w.clear}
          </button>
        ) : null}
      </p>
      {list.records.length === 0 ? <p>{w.none}</p> : found.length === 0 ? <p>{w.noMatch}</p> : null}
      {found.length > 0 ? (
        <div class="scroll" tabIndex={0} role="group" aria-label={w.records}>
          <table class="figures records">
            <thead>
              <tr>
                <th scope="col">
                  <span class="visually-hidden">{w.columns.select}</span>
                </th>
                <th scope="col">{w.columns.started}</th>
                <th scope="col">{w.columns.suite}</th>
                <th scope="col">{w.columns.lanes}</th>
                <th scope="col">{w.columns.machine}</th>
                <th scope="col">{w.columns.outcome}</th>
                <th scope="col" class="number">
                  {w.columns.trials}
                </th>
              </tr>
            </thead>
            <tbody>
              {found.slice(0, rows).map((record) => (
                <Row key={record.name} record={now(record)} selected={selected.includes(record.name)} toggle={() => toggle(record.name)} />
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
      {found.length > rows ? (
        <p class="controls">
          <button type="button" onClick={() => setRows(rows + ROWS)}>
            {ui.words.trials.next}
          </button>
        </p>
      ) : null}
      {list.unreadable.length > 0 ? (
        <details>
          <summary>{w.unreadable}</summary>
          <ul class="notes">
            {list.unreadable.map((line) => (
              <li key={line}>
                <bdi lang="en">{clean(line).slice(0, 400)}</bdi>
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </section>
  );
}

function Row({ record, selected, toggle }: { record: RecordEntry; selected: boolean; toggle: () => void }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const when = ui.figures.shortDate(record.started);
  return (
    <tr class={selected ? "selected" : ""}>
      <td>
        <input type="checkbox" checked={selected} aria-label={w.select(shown(record.name, 80))} onChange={toggle} />
      </td>
      <th scope="row">
        <a href={href({ view: "race", record: record.name, section: null })} title={w.open(shown(record.name, 80))}>
          {when === "" ? shown(record.name, 40) : when}
        </a>
      </th>
      <td class="record-suite">
        <Name text={record.suite} />
      </td>
      <td class="record-lanes">
        {record.lanes.map((lane, at) => (
          <span key={lane}>
            {at > 0 ? ui.words.comma : ""}
            <Name text={lane} characters={24} />
          </span>
        ))}
      </td>
      <td class="record-machine">
        <Name text={record.machine} characters={70} />
      </td>
      <td class={`outcome outcome-${record.outcome === "complete" ? "complete" : "other"}`}>{wordOf(w.outcomes, record.outcome)}</td>
      <td class="number record-trials">{ui.figures.whole(record.trials)}</td>
    </tr>
  );
}
