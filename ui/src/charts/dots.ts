// One result: a dot for every round, the mean and its interval for every lane, on one axis.
import { laneStyle } from "../lanes";
import type { Estimate, LaneDetail, ResultFinding } from "../types";
import type { Figures } from "../words/figures";
import { shown } from "../words/say";
import {
  base,
  decades,
  drawLine,
  drawPath,
  farApart,
  reach,
  tip,
  valueAxis,
  type Canvas,
  type DrawApi,
  type DrawParams,
  type EChartsCoreOption,
  upright,
} from "./echarts";

export interface DotsLane {
  name: string;
  estimate: Estimate | null;
  detail: LaneDetail | null;
}

export interface Dots {
  result: ResultFinding;
  lanes: DotsLane[];
  /** The bare disk's rate, as `drawnCeiling` lets it through. */
  ceiling: number | null;
  ceilingName: string;
  meanName: string;
  roundName: (round: number) => string;
  description: string;
}

export const DOTS_ROW = 46;

export function dotsHeight(lanes: number, ceiling: boolean): number {
  return lanes * DOTS_ROW + (ceiling ? 60 : 44);
}

/** What is drawn: rounds as [value, lane, round], means as [mean, lane, low, high] within reach of the rounds, and
 * whether each end of the interval lies within it; an end that there is not is no number. */
function drawn(lanes: readonly DotsLane[]) {
  const rounds = lanes.flatMap((lane, at) => (lane.detail?.rounds ?? []).map((round) => [round.value, at, round.round]));
  const within = reach([...rounds.map((row) => row[0] ?? 0), ...lanes.map((lane) => lane.estimate?.mean ?? 0)]);
  const means = lanes.flatMap((lane, at) => {
    const estimate = lane.estimate;
    if (!estimate || estimate.failure != null) return [];
    const { mean, low, high } = estimate;
    if (low == null || high == null) return [[mean, at, Number.NaN, Number.NaN, 0, 0]];
    const [from, to] = [within(low), within(high)];
    return [[mean, at, from, to, Number(from === low), Number(to === high)]];
  });
  const values = [...rounds.map((row) => row[0] ?? 0), ...means.flatMap((row) => [row[0], row[2], row[3]])].filter(
    (value): value is number => value !== undefined && Number.isFinite(value),
  );
  return { rounds, means, values };
}

/** The bare disk's rate where it stands near enough to the lanes to be drawn without pressing them together. */
export function drawnCeiling(ceiling: number | null, lanes: readonly DotsLane[]): number | null {
  const { values } = drawn(lanes);
  return ceiling !== null && values.length > 0 && ceiling < Math.max(...values) * 4 ? ceiling : null;
}

export function dots(on: Canvas, f: Figures, of: Dots): EChartsCoreOption {
  const { result, lanes, ceiling: near } = of;
  const rate = (value: number) => f.rate(result.unit, value);
  const { rounds, means, values } = drawn(lanes);
  const all = near === null ? values : [...values, near];
  const log = farApart(all);
  const style = (at: number) => laneStyle(at, on.dark);
  // The figure's own title names the unit of counts.
  const label = result.unit === "operations/s" ? (value: number) => f.count(value) : rate;
  const axis = log
    ? { ...valueAxis(on, label, { type: "log" }), ...decades(all) }
    : valueAxis(on, label, { splitNumber: on.width < 640 ? 3 : 6 });
  return {
    ...base(on, of.description),
    grid: { left: 6, right: 18, top: near === null ? 8 : 24, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: axis,
    yAxis: {
      type: "category",
      inverse: true,
      data: lanes.map((lane) => shown(lane.name, 16)),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: on.ink.text, fontSize: 13, interval: 0 },
      splitLine: { show: false },
    },
    series: [
      ...(near === null ? [] : [upright(on, [{ at: near, beside: means[0]?.[1] ?? 0, says: of.ceilingName }])]),
      {
        type: "custom",
        name: "rounds",
        data: rounds,
        silent: false,
        encode: { x: 0, y: 1 },
        renderItem: (_: DrawParams, api: DrawApi) => {
          const at = api.value(1);
          const [x = 0, y = 0] = api.coord([api.value(0), at]);
          // The place beside the line says nothing: it keeps rounds of one speed from covering each other.
          const beside = (((api.value(2) * 0.618034) % 1) - 0.5) * 22;
          return { type: "circle", shape: { cx: x, cy: y + beside, r: 2.6 }, style: { fill: style(at).colour, opacity: 0.38 } };
        },
        tooltip: {
          formatter: (params: { value: number[] }) => {
            const [value = 0, at = 0, round = 0] = params.value;
            return tip("", [
              { style: style(at), name: `${shown(lanes[at]?.name ?? "", 28)}, ${of.roundName(round)}`, figure: rate(value) },
            ]);
          },
        },
      },
      {
        type: "custom",
        name: "means",
        data: means,
        z: 5,
        encode: { x: [0, 2, 3], y: 1 },
        renderItem: (_: DrawParams, api: DrawApi) => {
          const at = api.value(1);
          const [x = 0, y = 0] = api.coord([api.value(0), at]);
          const bounded = Number.isFinite(api.value(2));
          const [low = 0] = bounded ? api.coord([api.value(2), at]) : [x];
          const [high = 0] = bounded ? api.coord([api.value(3), at]) : [x];
          const stroke = { stroke: style(at).colour, lineWidth: 2.5 };
          const cap = { stroke: style(at).colour, lineWidth: 1.5 };
          return {
            type: "group",
            children: [
              ...(bounded ? [drawLine(low, y, high, y, stroke)] : []),
              // An end without its cross lies further out.
              ...(api.value(4) === 1 ? [drawLine(low, y - 5, low, y + 5, cap)] : []),
              ...(api.value(5) === 1 ? [drawLine(high, y - 5, high, y + 5, cap)] : []),
              drawPath(style(at), x, y, 13, { stroke: on.ink.paper, lineWidth: 1.5 }),
            ],
          };
        },
        tooltip: {
          formatter: (params: { value: number[] }) => {
            const [mean = 0, at = 0] = params.value;
            const { low, high } = lanes[at]?.estimate ?? {};
            const range = low != null && high != null ? ` (${f.rates(result.unit, low, high)})` : "";
            return tip(`${shown(lanes[at]?.name ?? "", 28)}, ${of.meanName}`, [
              { style: style(at), name: "", figure: rate(mean) + range },
            ]);
          },
        },
      },
    ],
  };
}
