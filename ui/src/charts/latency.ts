// Latency by percentile: one more nine at each step to the right, nanoseconds on a logarithmic axis.
import { laneStyle } from "../lanes";
import type { LaneDetail } from "../types";
import type { Figures } from "../words/figures";
import { shown } from "../words/say";
import { base, decades, tip, valueAxis, type Canvas, type EChartsCoreOption } from "./echarts";

/** How many nines: 90 is 1, 99 is 2, 99.9 is 3. */
export function nines(percentile: number): number {
  return -Math.log10(Math.max(1 - percentile / 100, 1e-12));
}

/** The percentile at so many nines, as people write it. */
export function percentileAt(f: Figures, at: number): string {
  if (at <= 0) return f.percent(0);
  const digits = Math.max(Math.ceil(at - 1e-9) - 2, 0);
  return f.percent(1 - 10 ** -at, digits);
}

export interface Latencies {
  lanes: { name: string; index: number; detail: LaneDetail }[];
  description: string;
}

export function latency(on: Canvas, f: Figures, of: Latencies): EChartsCoreOption {
  const points = of.lanes.map((lane) =>
    lane.detail.latency.filter((point) => point.percentile < 100 && point.ns > 0).map((point) => [nines(point.percentile), point.ns]),
  );
  const all = points.flat();
  const far = Math.max(1, ...all.map((point) => point[0] ?? 0));
  const time = (ns: number) => f.time(ns * 1e-9);
  return {
    ...base(on, of.description),
    grid: { left: 6, right: 22, top: 12, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: valueAxis(on, (value) => (Number.isInteger(value) ? percentileAt(f, value) : ""), {
      min: 0,
      max: Math.ceil(far * 10) / 10,
      interval: 1,
      scale: false,
    }),
    yAxis: valueAxis(on, time, { type: "log", ...decades(all.map((point) => point[1] ?? 0)) }),
    series: of.lanes.map((lane, at) => {
      const style = laneStyle(lane.index, on.dark);
      return {
        type: "line",
        name: shown(lane.name, 28),
        data: points[at],
        showSymbol: true,
        // A symbol at each nine: dots on every point would cover the line.
        symbol: (value: number[]) => (atNine(points[at] ?? [], value) ? `path://${style.path}` : "none"),
        symbolSize: 9,
        symbolKeepAspect: true,
        lineStyle: { color: style.colour, width: 1.8, type: style.dash.length > 0 ? style.dash : "solid" },
        itemStyle: { color: style.colour },
        emphasis: { disabled: true },
        triggerLineEvent: false,
        z: 3,
      };
    }),
    tooltip: {
      ...(base(on, "").tooltip as object),
      trigger: "axis",
      axisPointer: { type: "line", lineStyle: { color: on.ink.quiet, width: 1, type: "solid" } },
      formatter: (params: { seriesIndex: number; value: number[] }[]) => {
        const first = params[0]?.value[0] ?? 0;
        return tip(
          percentileAt(f, first),
          params.map((param) => {
            const lane = of.lanes[param.seriesIndex];
            return {
              style: laneStyle(lane?.index ?? 0, on.dark),
              name: shown(lane?.name ?? "", 28),
              figure: time(param.value[1] ?? 0),
            };
          }),
        );
      },
    },
  };
}

/** Whether it is the first point at or beyond a whole number of nines. */
function atNine(points: readonly number[][], value: readonly number[]): boolean {
  const here = value[0] ?? 0;
  const at = points.findIndex((point) => point[0] === here);
  const before = points[at - 1]?.[0] ?? -1;
  return Math.floor(here + 1e-9) > Math.floor(before + 1e-9);
}
