// One figure over many records, lane by lane, with marks where machine or kernel change.
import type { TrendPoint } from "../types";
import { laneStyle } from "../lanes";
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

export interface TrendChart {
  records: { name: string; started: string }[];
  lanes: string[];
  points: TrendPoint[];
  unit: string;
  /** Before which record, by its place, and what changes there. */
  changes: { at: number; says: string }[];
  description: string;
}

export function trend(on: Canvas, f: Figures, of: TrendChart): EChartsCoreOption {
  const rate = (value: number) => f.rate(of.unit, value);
  const place = new Map(of.records.map((record, at) => [record.name, at]));
  const within = reach(of.points.map((point) => point.mean));
  const rows = of.points.map((point) => [
    place.get(point.record) ?? 0,
    point.mean,
    within(point.low ?? point.mean),
    within(point.high ?? point.mean),
    of.lanes.indexOf(point.lane),
  ]);
  const values = rows.flatMap((row) => [row[1] ?? 0, row[2] ?? 0, row[3] ?? 0]);
  const style = (at: number) => laneStyle(at, on.dark);
  // Records of one day are told apart by the time.
  const days = new Set(of.records.map((record) => f.day(record.started)));
  const when = (started: string) => (days.size === of.records.length ? f.day(started) : f.shortDate(started));
  // Lanes of one record stand beside each other, so that their intervals do not cover.
  const beside = (lane: number) => (lane - (of.lanes.length - 1) / 2) * 0.09;
  return {
    ...base(on, of.description),
    grid: { left: 6, right: 14, top: of.changes.length > 0 ? 34 : 10, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: {
      type: "value",
      min: -0.5,
      max: Math.max(of.records.length - 0.5, 0.5),
      axisLine: { show: true, onZero: false, lineStyle: { color: on.ink.line } },
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: {
        color: on.ink.quiet,
        fontSize: 11.5,
        hideOverlap: true,
        customValues: of.records.map((_, at) => at),
        formatter: (value: number) => {
          const record = of.records[Math.round(value)];
          return record ? when(record.started) : "";
        },
      },
    },
    yAxis: farApart(values) ? valueAxis(on, rate, { type: "log", ...decades(values) }) : valueAxis(on, rate),
    series: [
      upright(
        on,
        of.changes.map((change) => ({ at: change.at - 0.5, beside: of.points[0]?.mean ?? 1, says: shown(change.says, 24) })),
      ),
      ...of.lanes.map((lane, at) => ({
        type: "line",
        name: shown(lane, 28),
        data: rows.filter((row) => row[4] === at).map((row) => [(row[0] ?? 0) + beside(at), row[1]]),
        symbol: "none",
        silent: true,
        lineStyle: { color: style(at).colour, width: 1.4, type: style(at).dash.length > 0 ? style(at).dash : "solid", opacity: 0.7 },
        emphasis: { disabled: true },
      })),
      {
        type: "custom",
        data: rows,
        encode: { x: 0, y: [1, 2, 3] },
        z: 5,
        renderItem: (_: DrawParams, api: DrawApi) => {
          const lane = api.value(4);
          const at = api.value(0) + beside(lane);
          const [x = 0, y = 0] = api.coord([at, api.value(1)]);
          const [, low = 0] = api.coord([at, api.value(2)]);
          const [, high = 0] = api.coord([at, api.value(3)]);
          return {
            type: "group",
            children: [
              drawLine(x, low, x, high, { stroke: style(lane).colour, lineWidth: 2 }),
              drawPath(style(lane), x, y, 11, { stroke: on.ink.paper, lineWidth: 1 }),
            ],
          };
        },
        tooltip: {
          formatter: (params: { dataIndex: number }) => {
            const point = of.points[params.dataIndex];
            if (!point) return tip("", []);
            const range = point.low != null && point.high != null ? ` (${f.rates(of.unit, point.low, point.high)})` : "";
            return tip(f.shortDate(point.started), [
              { style: style(of.lanes.indexOf(point.lane)), name: shown(point.lane, 28), figure: rate(point.mean) + range },
              { name: shown(point.record, 60), figure: "" },
              { name: shown(`${point.machine}`, 60), figure: "" },
            ]);
          },
        },
      },
    ],
  };
}
