// What the system did while one workload was raced: a small chart for each quantity, all of them linked.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { course, courseHeight, quantityFigure, type CourseChart } from "../charts/course";
import { connect, type ECharts } from "../charts/echarts";
import type { Timeline } from "../types";
import { useUi, wordOf } from "../ui";
import { name, plain, type Said } from "../words/say";
import { LaneKey } from "./basics";
import { Figure } from "./figure";
import { evenly } from "./table";

const ORDER = [
  "operations_per_second",
  "device_read_bytes_per_second",
  "device_write_bytes_per_second",
  "device_iops",
  "device_reads_per_second",
  "device_writes_per_second",
  "device_flushes_per_second",
  "device_queue",
  "device_busy_share",
  "cpu_share",
  "iowait_share",
  "steal_share",
  "iowait_average_share",
  "load_average",
  "blocked_tasks",
  "kworker_share",
  "buffers_bytes",
  "cached_bytes",
  "dirty_bytes",
  "writeback_bytes",
  "pressure_io_share",
];
const TABLE_ROWS = 200;
/** Lanes side by side at most; more are laid over each other at first. */
const MOST_APART = 4;

export function Courses({ course: of, lanes }: { course: Timeline; lanes: readonly string[] }) {
  const ui = useUi();
  const w = ui.words.results;
  const [open, setOpen] = useState(false);
  const known = [...new Set(of.lanes.flatMap((lane) => Object.keys(lane.quantities)))].sort(byOrder);
  if (known.length === 0) return null;
  // A quantity that is nothing throughout is one sentence, not a chart of empty panels.
  const nothing = (quantity: string) =>
    of.lanes.every((lane) => (lane.quantities[quantity] ?? []).every((value) => value === 0));
  return (
    <details class="course" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{w.courseOpen}</summary>
      {open ? (
        <>
          <Charts of={of} lanes={lanes} quantities={known.filter((quantity) => !nothing(quantity))} />
          <Nothing quantities={known.filter(nothing)} />
        </>
      ) : null}
    </details>
  );
}

function Nothing({ quantities }: { quantities: readonly string[] }) {
  const ui = useUi();
  const w = ui.words.results;
  if (quantities.length === 0) return null;
  return <p class="small">{w.courseNothing(quantities.map((quantity) => wordOf(w.quantities, quantity)).join(ui.words.comma))}</p>;
}

function byOrder(x: string, y: string): number {
  const place = (of: string) => (ORDER.includes(of) ? ORDER.indexOf(of) : ORDER.length);
  return place(x) - place(y);
}

function Charts({ of, lanes, quantities }: { of: Timeline; lanes: readonly string[]; quantities: string[] }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.results;
  const [apart, setApart] = useState(lanes.length <= MOST_APART);
  const charts = useRef(new Map<string, ECharts>());
  const group = useMemo(() => `course-${of.workload}-${Math.random().toString(36).slice(2)}`, [of]);
  const zoomed = useRef({ start: 0, end: 100 });
  useEffect(() => {
    connect(group);
  }, [group]);
  const seconds = Math.max(0.001, ...of.lanes.map((lane) => lane.seconds[lane.seconds.length - 1] ?? 0));
  const onChart = (quantity: string) => (chart: ECharts | null) => {
    if (!chart) {
      charts.current.delete(quantity);
      return;
    }
    chart.group = group;
    charts.current.set(quantity, chart);
    // Zoomed by hand on any chart: the buttons go on from there.
    chart.on("datazoom", () => {
      const [now] = (chart.getOption() as { dataZoom?: { start?: number; end?: number }[] }).dataZoom ?? [];
      if (now?.start !== undefined && now.end !== undefined) zoomed.current = { start: now.start, end: now.end };
    });
  };
  const zoom = (start: number, end: number) => {
    const width = Math.min(Math.max(end - start, 1), 100);
    const from = Math.min(Math.max(start, 0), 100 - width);
    zoomed.current = { start: from, end: from + width };
    // Linked charts follow the first.
    const [first] = charts.current.values();
    first?.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, ...zoomed.current });
  };
  const move = (factor: number, shift: number) => {
    const { start, end } = zoomed.current;
    const width = (end - start) * factor;
    const middle = (start + end) / 2 + shift * (end - start);
    zoom(middle - width / 2, middle + width / 2);
  };
  return (
    <div class="course-body">
      <p class="controls">
        <button type="button" onClick={() => setApart(!apart)}>
          {apart ? w.courseOverlay : w.courseApart}
        </button>
        <span class="zoom" role="group">
          <button type="button" onClick={() => move(0.5, 0)}>
            {w.zoomIn}
          </button>
          <button type="button" onClick={() => move(2, 0)}>
            {w.zoomOut}
          </button>
          <button type="button" onClick={() => move(1, -0.5)}>
            {w.earlier}
          </button>
          <button type="button" onClick={() => move(1, 0.5)}>
            {w.later}
          </button>
          <button type="button" onClick={() => zoom(0, 100)}>
            {w.zoomAll}
          </button>
        </span>
      </p>
      <p class="small">{w.courseHelp}</p>
      {apart ? null : <LaneKey lanes={lanes} />}
      {quantities.map((quantity, at) => {
        const title = wordOf(w.quantities, quantity);
        const shown = of.lanes
          .map((lane) => ({ name: lane.lane, index: lanes.indexOf(lane.lane), course: lane }))
          .filter((lane) => (lane.course.quantities[quantity] ?? []).length > 0);
        const figure = (value: number) => quantityFigure(figures, quantity, value);
        const told = shown.map((lane) => {
          // Of many points the smallest and the largest of each stretch are kept: no middle can be told of them.
          const [low, high] = ends(lane.course.quantities[quantity] ?? []).map(figure) as [string, string];
          return low === high ? w.courseSame(name(lane.name), low) : w.courseFigure(name(lane.name), low, high);
        });
        const caption = w.courseCaption(title, told);
        const chart: CourseChart = {
          quantity,
          lanes: shown,
          apart,
          slider: at === quantities.length - 1,
          description: plain(caption),
          roundName: (round) => `${w.round} ${round}`,
          seconds,
          zoomed: () => zoomed.current,
        };
        return (
          <Figure
            key={quantity}
            title={title}
            caption={caption}
            file={`fairlane-${of.workload}-${quantity}`}
            height={(width) => courseHeight(chart, width)}
            lanes={apart ? [] : lanes}
            of={[of, apart]}
            onChart={onChart(quantity)}
            option={(on) => course(on, figures, chart)}
            table={() => {
              const rows = shown.flatMap((lane) =>
                lane.course.seconds.map((second, point): (Said | string)[] => [
                  name(lane.name),
                  String(lane.course.rounds[point] ?? ""),
                  figures.number(second, 2),
                  figure(lane.course.quantities[quantity]?.[point] ?? Number.NaN),
                ]),
              );
              return {
                columns: [{ label: w.lane }, { label: w.round }, { label: w.second, numeric: true }, { label: title, numeric: true }],
                rows: evenly(rows, TABLE_ROWS),
                inAll: rows.length,
              };
            }}
          />
        );
      })}
    </div>
  );
}

/** The smallest and the largest; a list may be longer than a call takes arguments. */
export function ends(values: readonly number[]): [number, number] {
  const first = values[0] ?? 0;
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [first, first] as [number, number]);
}
