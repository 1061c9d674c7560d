// Appenders: how late each lane's were, two panels of the machine for every lane, and how many writers a
// lane sustains.
import { axesOf, LINES, lineFigure, appenders, appendersHeight, type AppendersChart } from "../charts/appenders";
import type { LaneTimeline, Pair, RacePage, SearchFinding, SearchLane, AppendersFinding, AppendersRow } from "../types";
import { known, sentence, useUi, wordOf, type Ui } from "../ui";
import { name, plain, shown, text, type Said } from "../words/say";
import { LaneKey, LaneName, Section, Speak } from "./basics";
import { ends } from "./course";
import { Figure } from "./figure";
import { evenly } from "./table";

const TABLE_ROWS = 200;

export function hasAppenders(race: RacePage): boolean {
  return (race.findings.swarms ?? []).length + (race.findings.searches ?? []).length > 0;
}

export function Appenders({ race }: { race: RacePage }) {
  const ui = useUi();
  if (!hasAppenders(race)) return null;
  const lanes = race.findings.lanes.map((lane) => lane.name);
  return (
    <Section id="appenders" title={ui.words.appenders.title}>
      {(race.findings.searches ?? []).map((search) => (
        <Search key={search.workload} search={search} lanes={lanes} />
      ))}
      {(race.findings.swarms ?? []).length > 0 ? <p class="small">{ui.words.appenders.legend}</p> : null}
      {(race.findings.swarms ?? []).map((table) => (
        <AppendersTable key={table.workload} race={race} table={table} lanes={lanes} />
      ))}
    </Section>
  );
}

function AppendersTable({ race, table, lanes }: { race: RacePage; table: AppendersFinding; lanes: string[] }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.appenders;
  const several = table.rows.some((row) => row.group !== "append");
  const share = (value: number | null | undefined) => (value == null ? "–" : figures.percent(value, 1));
  const time = (ns: number | null | undefined) => (ns == null ? "–" : figures.time(ns * 1e-9));
  const columns: [string, (row: AppendersRow) => string][] = [
    [w.columns.lateWriters, (row) => share(row.late_writers_share)],
    [w.columns.lateRecords, (row) => share(row.late_share)],
    [w.columns.p50, (row) => time(row.p50_ns)],
    [w.columns.p99, (row) => time(row.p99_ns)],
    [w.columns.p999, (row) => time(row.p999_ns)],
    [w.columns.max, (row) => time(row.max_ns)],
    [w.columns.own, (row) => time(row.scheduling_p99_ns)],
    [w.columns.dirty, (row) => (row.dirty_bytes_max == null ? "–" : figures.bytes(row.dirty_bytes_max))],
    [w.columns.blocked, (row) => (row.blocked_tasks_max == null ? "–" : figures.count(row.blocked_tasks_max))],
  ];
  const courses = race.courses.find((of) => of.workload === table.workload)?.lanes ?? [];
  return (
    <article class="result">
      <h3>
        <Speak
          said={w.heading(
            known(ui, table.title),
            figures.count(table.writers),
            figures.count(table.files),
            figures.time(table.period_seconds),
            table.processes,
          )}
        />
      </h3>
      <div class="scroll" tabIndex={0} role="group" aria-label={plain(known(ui, table.title))}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{w.columns.lane}</th>
              {columns.map(([title]) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows
              .filter((row) => row.failure == null)
              .map((row) => (
                <tr key={`${row.lane} ${row.group}`}>
                  <th scope="row">
                    {several ? (
                      <Speak said={w.group(name(row.lane), known(ui, row.group))} />
                    ) : (
                      <LaneName index={lanes.indexOf(row.lane)} name={row.lane} />
                    )}
                  </th>
                  {columns.map(([title, of]) => (
                    <td key={title} class="number">
                      {of(row)}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      <ul class="notes">
        {remarks(ui, table).map((said) => (
          <li key={plain(said)}>
            <Speak said={said} />
          </li>
        ))}
      </ul>
      <Pictures courses={courses} workload={table.workload} />
    </article>
  );
}

function remarks(ui: Ui, table: AppendersFinding): Said[] {
  const w = ui.words.appenders;
  return table.rows.flatMap((row) => [
    ...(row.failure == null ? [] : [ui.words.statements.failed(name(row.lane), sentence(ui, row.failure))]),
    ...(row.backlog_rounds > 0
      ? [w.backlog(name(row.lane), ui.figures.count(row.backlog_rounds), ui.figures.count(row.rounds))]
      : []),
    ...(row.story == null ? [] : [[...sentence(ui, row.story), ui.words.end]]),
  ]);
}

/** Two panels for every lane, all with the same axes. */
function Pictures({ courses, workload }: { courses: readonly LaneTimeline[]; workload: string }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.appenders;
  const drawn = courses.filter((course) => (course.quantities["load_average"] ?? []).length > 0);
  if (drawn.length === 0) return null;
  const axes = axesOf(drawn);
  const names = LINES.map((line) => wordOf(w.lines, line));
  return (
    <>
      <LaneKey lanes={names} />
      {drawn.map((course) => {
        const told = LINES.map((line, at) => {
          const [low, high] = ends(course.quantities[line] ?? []).map((value) => lineFigure(figures, line, value));
          return w.between(names[at] ?? line, low ?? "", high ?? "");
        });
        const caption: Said = [...w.picture(name(course.lane)), " ", ...text(told.join(words.semicolon)), words.end];
        const chart: AppendersChart = {
          course,
          axes,
          description: plain(caption),
          names,
          roundName: (round) => `${words.results.round} ${round}`,
        };
        return (
          <Figure
            key={course.lane}
            title={w.pictureTitle(shown(course.lane))}
            caption={caption}
            file={`fairlane-${workload}-${course.lane.replace(/[^a-z0-9]+/gi, "-")}`}
            height={appendersHeight}
            lanes={names}
            of={[course]}
            option={(on) => appenders(on, figures, chart)}
            table={() => {
              const rows = course.seconds.map((second, point): (Said | string)[] => [
                String(course.rounds[point] ?? ""),
                figures.number(second, 2),
                ...LINES.map((line) => lineFigure(figures, line, course.quantities[line]?.[point] ?? Number.NaN)),
              ]);
              return {
                columns: [
                  { label: words.results.round },
                  { label: words.results.second, numeric: true },
                  ...names.map((label) => ({ label, numeric: true })),
                ],
                rows: evenly(rows, TABLE_ROWS),
                inAll: rows.length,
              };
            }}
          />
        );
      })}
    </>
  );
}

function Search({ search, lanes }: { search: SearchFinding; lanes: string[] }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.appenders;
  const number = (value: number | null | undefined) => (value == null ? "–" : figures.count(value));
  const writers = (lane: SearchLane) => (lane.at_least ? w.atLeast(number(lane.writers)) : number(lane.writers));
  return (
    <article class="result">
      <h3>{w.search}</h3>
      <p>
        <Speak
          said={w.searchHeading(
            known(ui, search.title),
            figures.count(search.files),
            figures.time(search.period_seconds),
            figures.count(search.passes),
          )}
        />{" "}
        {w.searchBy[search.criterion]}
      </p>
      <div class="scroll" tabIndex={0} role="group" aria-label={w.search}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{w.columns.lane}</th>
              <th scope="col" class="number">
                {w.writers}
              </th>
              <th scope="col" class="number">
                {w.interval}
              </th>
              <th scope="col">{w.edge}</th>
            </tr>
          </thead>
          <tbody>
            {search.lanes.map((lane) => {
              const why = lane.failure ?? lane.reason;
              return (
                <tr key={lane.lane}>
                  <th scope="row">
                    <LaneName index={lanes.indexOf(lane.lane)} name={lane.lane} />
                  </th>
                  <td class="number">{writers(lane)}</td>
                  <td class="number">{lane.low == null ? "–" : number(lane.low) === number(lane.high) ? number(lane.low) : `${number(lane.low)} – ${number(lane.high)}`}</td>
                  <td>{why == null ? null : <Speak said={sentence(ui, why)} />}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <ul class="plain pairs">
        {search.pairs.map((pair) => (
          <li key={`${pair.a} ${pair.b}`}>
            <Speak said={pairSaid(ui, pair)} />
            {words.end}
          </li>
        ))}
      </ul>
    </article>
  );
}

function pairSaid(ui: Ui, pair: Pair): Said {
  const w = ui.words.appenders;
  const [a, b] = [name(pair.a), name(pair.b)];
  const interval = pair.low == null || pair.high == null ? null : ([pair.low, pair.high] as const);
  const said = (): Said => {
    switch (pair.verdict) {
      case "faster":
      case "slower": {
        const more = pair.verdict === "faster";
        const gap = ui.figures.gap(pair.ratio ?? 1, interval, more);
        const within = gap.interval === null ? null : gap.interval.join("–");
        // A factor is told of the lane that carries more: "21 times fewer" is no number.
        if (gap.factor) return more ? w.times(a, b, gap.size, within) : w.times(b, a, gap.size, within);
        return w.more(a, b, gap.size, more, within);
      }
      case "tie":
        return w.tie(a, b);
      case "undecided":
        return w.noisy(a, b);
      default:
        return w.none(a, b);
    }
  };
  return pair.why == null ? said() : w.because(said(), sentence(ui, pair.why));
}
