// What the machine did while one lane carried appenders, as two panels: memory above, iowait and load
// below. Every lane has the same axes.
import { laneStyle } from "../lanes";
import type { LaneTimeline } from "../types";
import type { Figures } from "../words/figures";
import { niceMost } from "./course";
import { base, tip, valueAxis, type Canvas, type EChartsCoreOption } from "./echarts";

/** The lines, in the order of their styles; the first three stand above. */
export const LINES = [
  "buffers_bytes",
  "cached_bytes",
  "dirty_bytes",
  "iowait_share",
  "iowait_average_share",
  "load_average",
] as const;

/** Largest values that the axes show. */
export interface Axes {
  seconds: number;
  memory: number;
  dirty: number;
  load: number;
}

export interface AppendersChart {
  course: LaneTimeline;
  axes: Axes;
  description: string;
  /** What the lines are called. */
  names: readonly string[];
  roundName: (round: number) => string;
}

const PLOT = 150;
const HEAD = 26;
const FOOT = 26;

export function appendersHeight(): number {
  return 2 * (HEAD + PLOT) + FOOT;
}

/** The same axes for all lanes. */
export function axesOf(courses: readonly LaneTimeline[]): Axes {
  const most = (...quantities: string[]) => {
    let found = 0;
    for (const course of courses) {
      for (const quantity of quantities) {
        for (const value of course.quantities[quantity] ?? []) if (value > found) found = value;
      }
    }
    return niceMost(found);
  };
  return {
    seconds: Math.max(0.001, ...courses.map((course) => course.seconds[course.seconds.length - 1] ?? 0)),
    memory: most("buffers_bytes", "cached_bytes"),
    dirty: most("dirty_bytes"),
    load: most("load_average"),
  };
}

/** What a value of a line is called. */
export function lineFigure(f: Figures, line: string, value: number): string {
  if (line.endsWith("_share")) return f.percent(value, value < 0.0995 ? 1 : 0);
  return line.endsWith("_bytes") ? f.bytes(value) : f.significant(value);
}

/** Left and right axis of each panel, by the line: two to a panel. */
const AXIS: { [line in (typeof LINES)[number]]: number } = {
  buffers_bytes: 0,
  cached_bytes: 0,
  dirty_bytes: 1,
  iowait_share: 2,
  iowait_average_share: 2,
  load_average: 3,
};

export function appenders(on: Canvas, f: Figures, of: AppendersChart): EChartsCoreOption {
  const left = 66;
  const right = 66;
  const width = on.width - left - right;
  const { axes } = of;
  const y = (at: number, max: number, format: (value: number) => string) =>
    valueAxis(on, format, {
      gridIndex: Math.floor(at / 2),
      position: at % 2 === 0 ? "left" : "right",
      min: 0,
      max,
      scale: false,
      interval: max / 2,
      splitLine: { show: at % 2 === 0, lineStyle: { color: on.ink.faint, width: 1 } },
      name: LINES.flatMap((line, index) => (AXIS[line] === at ? [of.names[index] ?? ""] : [])).join(", "),
      nameLocation: "end",
      nameGap: 6,
      nameMoveOverlap: false,
      nameTextStyle: { color: on.ink.quiet, fontSize: 11.5, align: at % 2 === 0 ? "left" : "right" },
    });
  return {
    ...base(on, of.description),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    grid: [0, 1].map((row) => ({ left, width, top: HEAD + row * (PLOT + HEAD), height: PLOT - 22, outerBoundsMode: "none" })),
    xAxis: [0, 1].map((row) =>
      valueAxis(on, (value) => f.number(value, 1), {
        gridIndex: row,
        min: 0,
        max: axes.seconds,
        scale: false,
        splitNumber: 5,
        axisLabel: {
          show: true,
          color: on.ink.quiet,
          fontSize: 11.5,
          hideOverlap: true,
          showMaxLabel: false,
          formatter: (value: number) => `${f.number(value, 1)}\u00a0s`,
        },
        axisLine: { show: true, lineStyle: { color: on.ink.line } },
        splitLine: { show: false },
      }),
    ),
    yAxis: [
      y(0, axes.memory, (value) => f.bytes(value)),
      y(1, axes.dirty, (value) => f.bytes(value)),
      y(2, 1, (value) => f.percent(value, 0)),
      y(3, axes.load, (value) => f.significant(value)),
    ],
    series: LINES.map((line, index) => {
      const style = laneStyle(index, on.dark);
      const list = of.course.quantities[line] ?? [];
      return {
        type: "line",
        name: of.names[index] ?? line,
        xAxisIndex: AXIS[line] < 2 ? 0 : 1,
        yAxisIndex: AXIS[line],
        data: of.course.seconds.map((second, point) => [second, list[point] ?? null]),
        showSymbol: false,
        lineStyle: { color: style.colour, width: 1.4, type: style.dash.length > 0 ? style.dash : "solid" },
        itemStyle: { color: style.colour },
        emphasis: { disabled: true },
        connectNulls: false,
      };
    }),
    tooltip: {
      ...(base(on, "").tooltip as object),
      trigger: "axis",
      axisPointer: { type: "line", lineStyle: { color: on.ink.quiet, width: 1, type: "solid" } },
      formatter: (params: { seriesIndex: number; dataIndex: number; value: [number, number | null] }[]) => {
        const first = params[0];
        const round = of.course.rounds[first?.dataIndex ?? 0];
        const at = `${f.number(first?.value[0] ?? 0, 2)}\u00a0s`;
        return tip(
          round === undefined ? at : `${at}, ${of.roundName(round)}`,
          params.map((param) => ({
            style: laneStyle(param.seriesIndex, on.dark),
            name: of.names[param.seriesIndex] ?? "",
            figure: param.value[1] === null ? "–" : lineFigure(f, LINES[param.seriesIndex] ?? "", param.value[1]),
          })),
        );
      },
    },
  };
}
