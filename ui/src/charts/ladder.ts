// One kind of work by growing numbers of ranks: a line for every lane, and a dotted one of what as many ranks of the first
// number would do. Both axes are logarithmic, so that what grows with the ranks is a straight line.
import { laneStyle } from "../lanes";
import type { LadderFinding } from "../types";
import type { Figures } from "../words/figures";
import { shown } from "../words/say";
import { base, decades, drawLine, drawPath, reach, tip, valueAxis, type Canvas, type DrawApi, type DrawParams, type EChartsCoreOption } from "./echarts";

export interface LadderChart {
  ladder: LadderFinding;
  /** Places of the lanes among those of the race. */
  places: readonly number[];
  /** Names of the axis and of a number of ranks. */
  ranks: string;
  ofRanks: (ranks: number) => string;
  description: string;
}

export function ladderHeight(width: number): number {
  return Math.min(Math.max(width * 0.5, 220), 320);
}

export function ladder(on: Canvas, f: Figures, of: LadderChart): EChartsCoreOption {
  const { unit, lanes } = of.ladder;
  const rate = (value: number) => f.rate(unit, value);
  const style = (lane: number) => laneStyle(of.places[lane] ?? lane, on.dark);
  const all = lanes.flatMap((lane, at) => lane.rows.map((row) => ({ row, at })));
  const within = reach(all.map(({ row }) => row.mean));
  // Numbers of ranks mostly double: each time is one step.
  const place = (ranks: number) => Math.log2(Math.max(ranks, 1));
  const points = all.map(({ row, at }) => [place(row.ranks), row.mean, within(row.low ?? row.mean), within(row.high ?? row.mean), at]);
  const numbers = [...new Set(all.map(({ row }) => row.ranks))].sort((a, b) => a - b);
  const most = numbers[numbers.length - 1] ?? 1;
  const ideal = lanes.map((lane) => {
    const first = lane.rows[0];
    return first === undefined ? [] : [first, ...lane.rows.slice(-1)].map((row) => [place(row.ranks), (first.mean * row.ranks) / first.ranks]);
  });
  const values = [...points.flatMap((point) => point.slice(1, 4)), ...ideal.flat().map((point) => point[1] ?? 0)];
  const line = (at: number, data: readonly number[][], more: object) => ({
    type: "line",
    name: shown(lanes[at]?.lane ?? "", 28),
    data,
    symbol: "none",
    silent: true,
    emphasis: { disabled: true },
    lineStyle: { color: style(at).colour, ...more },
  });
  return {
    ...base(on, of.description),
    grid: { left: 6, right: 18, top: 10, bottom: 22, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: {
      ...valueAxis(on, (value) => f.whole(value), { min: place(numbers[0] ?? 1) - 0.3, max: place(most) + 0.3, scale: false }),
      name: of.ranks,
      nameLocation: "end",
      nameGap: 0,
      nameTextStyle: { color: on.ink.quiet, fontSize: 11.5, align: "right", verticalAlign: "top", padding: [22, 0, 0, 0] },
      axisLabel: {
        color: on.ink.quiet,
        fontSize: 12,
        hideOverlap: true,
        customValues: numbers.map(place),
        formatter: (value: number) => f.whole(Math.round(2 ** value)),
      },
    },
    yAxis: valueAxis(on, rate, { type: "log", ...decades(values) }),
    series: [
      ...lanes.map((_, at) => line(at, ideal[at] ?? [], { width: 1, type: "dotted", opacity: 0.6 })),
      ...lanes.map((lane, at) =>
        line(
          at,
          lane.rows.map((row) => [place(row.ranks), row.mean]),
          { width: 1.6, type: style(at).dash.length > 0 ? style(at).dash : "solid" },
        ),
      ),
      {
        type: "custom",
        data: points,
        encode: { x: 0, y: [1, 2, 3] },
        z: 5,
        renderItem: (_: DrawParams, api: DrawApi) => {
          const at = api.value(4);
          const [x = 0, y = 0] = api.coord([api.value(0), api.value(1)]);
          const [, low = 0] = api.coord([api.value(0), api.value(2)]);
          const [, high = 0] = api.coord([api.value(0), api.value(3)]);
          return {
            type: "group",
            children: [
              drawLine(x, low, x, high, { stroke: style(at).colour, lineWidth: 2 }),
              drawPath(style(at), x, y, 11, { stroke: on.ink.paper, lineWidth: 1 }),
            ],
          };
        },
        tooltip: {
          formatter: (params: { dataIndex: number }) => {
            const point = all[params.dataIndex];
            if (point === undefined) return tip("", []);
            const { row, at } = point;
            const range = row.low != null && row.high != null ? ` (${f.rates(unit, row.low, row.high)})` : "";
            return tip(of.ofRanks(row.ranks), [{ style: style(at), name: shown(lanes[at]?.lane ?? "", 28), figure: rate(row.mean) + range }]);
          },
        },
      },
    ],
  };
}
