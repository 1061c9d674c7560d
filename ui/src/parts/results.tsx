// Each result: its verdict in words, its rounds, its latency, what it cost, and the course of the system.
import { useMemo } from "preact/hooks";
import { cost, costHeight, type CostPanel } from "../charts/cost";
import { dots, dotsHeight, drawnCeiling, type DotsLane } from "../charts/dots";
import { latency, percentileAt, nines } from "../charts/latency";
import type { Detail, RacePage, ResultFinding } from "../types";
import { resultTitle, sentence, useUi, type Ui } from "../ui";
import { hasGroups, tableOf } from "../words/answer";
import { joined, name, plain, say, toned, type Said } from "../words/say";
import { laneRate, metricSaid, resultSaid } from "../words/told";
import { LaneKey, LimitMark, Section, Speak } from "./basics";
import { Courses } from "./course";
import { Estimates } from "./estimates";
import { Explained } from "./explained";
import { Figure } from "./figure";
import { resultId } from "./scoreboard";
import { evenly } from "./table";

/** Rows of a chart's table; the files that the page saves hold all. */
const TABLE_ROWS = 400;

export function Results({ race }: { race: RacePage }) {
  const ui = useUi();
  const { findings } = race;
  const alone = findings.results.filter((result) => tableOf(findings, result.workload) === null);
  if (alone.length === 0) return null;
  return (
    <Section id="results" title={ui.words.sections.results} note={<LaneKey lanes={findings.lanes.map((lane) => lane.name)} />}>
      {alone.map((result, at) => (
        <Result
          key={`${result.workload} ${result.group} ${result.metric}`}
          race={race}
          result={result}
          last={alone[at + 1]?.workload !== result.workload}
        />
      ))}
    </Section>
  );
}

function Result({ race, result, last }: { race: RacePage; result: ResultFinding; last: boolean }) {
  const ui = useUi();
  const { findings } = race;
  const id = resultId(findings, result);
  const title = resultTitle(ui, result, hasGroups(findings, result));
  const course = last ? race.courses.find((of) => of.workload === result.workload) : undefined;
  return (
    <article class="result" id={id} aria-labelledby={`${id}-title`}>
      <header class="result-head">
        <h3 id={`${id}-title`} tabIndex={-1}>
          <Speak said={title} />
        </h3>
        <LimitMark result={result} />
        <span class="result-rounds">{ui.words.results.rounds(result.rounds)}</span>
      </header>
      {(result.statements ?? []).length + (result.acts ?? []).length > 0 ? (
        <p class="verdict">
          <Speak said={resultSaid(ui, result)} />
        </p>
      ) : null}
      {result.ranking.length > 1 ? (
        <p class="ranking">
          <span class="label">{ui.words.results.ranking}</span> <Speak said={rankingSaid(result)} />
        </p>
      ) : null}
      <ResultFigures race={race} result={result} />
      <Explained race={race} result={result} />
      <Estimates lanes={findings.lanes.map((lane) => lane.name)} result={result} />
      {result.warnings.length > 0 ? (
        <ul class="notes">
          {result.warnings.map((warning) => (
            <li key={warning}>
              <Speak said={sentence(ui, warning)} />
            </li>
          ))}
        </ul>
      ) : null}
      {course ? <Courses course={course} lanes={findings.lanes.map((lane) => lane.name)} /> : null}
    </article>
  );
}

function rankingSaid(result: ResultFinding): Said {
  return joined(
    result.ranking.map((level) => joined(level.map(name), " = ")),
    " > ",
  );
}

/** The charts of one result. */
export function ResultFigures({ race, result }: { race: RacePage; result: ResultFinding }) {
  const ui = useUi();
  const { findings } = race;
  const detail = race.details[findings.results.indexOf(result)] ?? null;
  const hasLatency = detail?.lanes.some((lane) => lane.latency.length > 1) ?? false;
  const panels = useMemo(() => costPanels(ui, race, result), [ui, race, result]);
  return (
    <div class={`charts${hasLatency ? " charts-two" : ""}`}>
      <Rounds race={race} result={result} detail={detail} />
      {hasLatency && detail ? <Latency race={race} result={result} detail={detail} /> : null}
      {panels.length > 0 ? <Cost panels={panels} result={result} /> : null}
    </div>
  );
}

function fileOf(result: ResultFinding, what: string): string {
  return `fairlane-${result.workload}-${result.group}-${what}`.slice(0, 90);
}

function Rounds({ race, result, detail }: { race: RacePage; result: ResultFinding; detail: Detail | null }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.results;
  const lanes: DotsLane[] = race.findings.lanes.map((lane) => ({
    name: lane.name,
    estimate: result.estimates.find((of) => of.lane === lane.name) ?? null,
    detail: detail?.lanes.find((of) => of.lane === lane.name) ?? null,
  }));
  // Where its line would stand far beyond the lanes there is none, and the caption names none.
  const ceiling = drawnCeiling(detail?.ceiling ?? null, lanes);
  const metric = metricSaid(ui, result.metric);
  const told = lanes.flatMap(({ name: lane, estimate }) => {
    if (!estimate || estimate.failure != null) return [];
    const range =
      estimate.low != null && estimate.high != null ? figures.rates(result.unit, estimate.low, estimate.high) : null;
    return [w.laneFigure(name(lane), figures.rate(result.unit, estimate.mean), range)];
  });
  const ceilingRate = ceiling === null ? null : figures.rate(result.unit, ceiling);
  const caption = w.dotsCaption(figures, metric, result.rounds, told, ceilingRate);
  const kept = lanes.reduce((sum, lane) => sum + (lane.detail?.rounds.length ?? 0), 0);
  const all = lanes.reduce((sum, lane) => sum + (lane.detail?.rounds_in_all ?? 0), 0);
  const whole = kept < all ? say`${caption}${w.thinned(figures, kept, all)}` : caption;
  return (
    <Figure
      title={w.dots}
      caption={whole}
      file={fileOf(result, "rounds")}
      height={() => dotsHeight(lanes.length, ceiling !== null)}
      of={[result, detail]}
      option={(on) =>
        dots(on, figures, {
          result,
          lanes,
          ceiling,
          ceilingName: ceilingRate === null ? "" : w.bareDisk(ceilingRate),
          meanName: w.mean,
          roundName: (round) => `${w.round} ${round}`,
          description: plain(whole),
        })
      }
      table={() => {
        const rows = lanes.flatMap((lane) =>
          (lane.detail?.rounds ?? []).map((round): (Said | string)[] => [
            name(lane.name),
            String(round.round),
            figures.rate(result.unit, round.value),
          ]),
        );
        const means = lanes.flatMap(({ name: lane, estimate }): (Said | string)[][] =>
          estimate && estimate.failure == null
            ? [[name(lane), toned("strong", w.mean), laneRate(ui, result, estimate.mean, estimate.low, estimate.high)]]
            : [],
        );
        return {
          columns: [{ label: w.lane }, { label: w.round }, { label: metric, numeric: true }],
          rows: [...means, ...evenly(rows, TABLE_ROWS)],
          inAll: means.length + rows.length,
        };
      }}
    />
  );
}

function Latency({ race, result, detail }: { race: RacePage; result: ResultFinding; detail: Detail }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.results;
  const lanes = race.findings.lanes.flatMap((lane, index) => {
    const of = detail.lanes.find((one) => one.lane === lane.name);
    return of && of.latency.length > 1 ? [{ name: lane.name, index, detail: of }] : [];
  });
  const time = (ns: number) => figures.time(ns * 1e-9);
  const at = (of: (typeof lanes)[number], percentile: number) => {
    const point = of.detail.latency.find((one) => Math.abs(one.percentile - percentile) < 1e-6);
    return point ? time(point.ns) : null;
  };
  const caption = w.latencyCaption(
    lanes.map((lane) => {
      const last = lane.detail.latency[lane.detail.latency.length - 1];
      return w.latencyFigure(
        name(lane.name),
        at(lane, 50),
        at(lane, 99),
        time(last?.ns ?? 0),
        percentileAt(figures, nines(last?.percentile ?? 0)),
      );
    }),
  );
  return (
    <Figure
      title={w.latency}
      caption={caption}
      file={fileOf(result, "latency")}
      height={(width) => Math.min(Math.max(width * 0.62, 210), 340)}
      lanes={race.findings.lanes.map((lane) => lane.name)}
      of={[result, detail]}
      option={(on) => latency(on, figures, { lanes, description: plain(caption) })}
      table={() => {
        const percentiles = [...new Set(lanes.flatMap((lane) => lane.detail.latency.map((point) => point.percentile)))];
        percentiles.sort((x, y) => x - y);
        const shown = evenly(percentiles, TABLE_ROWS);
        return {
          columns: [{ label: w.percentile }, ...lanes.map((lane) => ({ label: plain(name(lane.name)), numeric: true }))],
          rows: shown.map((percentile) => [
            figures.number(percentile, 6),
            ...lanes.map((lane) => {
              const point = lane.detail.latency.find((one) => one.percentile === percentile);
              return point ? time(point.ns) : "–";
            }),
          ]),
          inAll: percentiles.length,
        };
      }}
    />
  );
}

/** The costs that at least one lane has a figure of. */
function costPanels(ui: Ui, race: RacePage, result: ResultFinding): CostPanel[] {
  const { words, figures } = ui;
  const w = words.results;
  type Key = "cpu_seconds_per_gib" | "cpu_seconds_per_operation" | "write_amplification";
  const panel = (title: string, key: Key, format: (value: number) => string): CostPanel[] => {
    const lanes = race.findings.lanes.flatMap((lane, index) => {
      const value = result.estimates.find((of) => of.lane === lane.name && of.failure == null)?.[key];
      return value == null ? [] : [{ name: lane.name, index, value }];
    });
    return lanes.length > 0 ? [{ title, format, lanes }] : [];
  };
  const time = (seconds: number) => figures.time(seconds);
  const perGib = panel(w.cpuOf.gib, "cpu_seconds_per_gib", time);
  const cpu = perGib.length > 0 ? perGib : panel(w.cpuOf.operation, "cpu_seconds_per_operation", time);
  return [...cpu, ...panel(w.amplification, "write_amplification", (value) => figures.times(value))];
}

function Cost({ panels, result }: { panels: CostPanel[]; result: ResultFinding }) {
  const ui = useUi();
  const w = ui.words.results;
  const caption = w.costCaption(
    panels.map((panel) =>
      w.costPart(
        panel.title,
        panel.lanes.map((lane) => w.laneFigure(name(lane.name), panel.format(lane.value), null)),
      ),
    ),
  );
  const lanes = [...new Map(panels.flatMap((panel) => panel.lanes.map((lane) => [lane.name, lane] as const))).values()];
  return (
    <Figure
      title={w.cost}
      caption={caption}
      file={fileOf(result, "cost")}
      height={(width) => costHeight(panels, width)}
      of={[result, panels]}
      option={(on) => cost(on, panels, plain(caption))}
      table={() => ({
        columns: [{ label: w.lane }, ...panels.map((panel) => ({ label: panel.title, numeric: true }))],
        rows: lanes.map((lane) => [
          name(lane.name),
          ...panels.map((panel) => {
            const value = panel.lanes.find((of) => of.name === lane.name)?.value;
            return value === undefined ? "–" : panel.format(value);
          }),
        ]),
      })}
    />
  );
}

