// Ratios with their intervals, one below the other, around the line of no difference.
import type { Verdict } from "../types";
import type { Figures } from "../words/figures";
import { base, drawLine, reach, tip, valueAxis, type Canvas, type DrawApi, type DrawParams, type EChartsCoreOption } from "./echarts";

export interface ForestRow {
  name: string;
  ratio: number;
  low: number | null;
  high: number | null;
  verdict: Verdict;
  says: string;
}

export function forestHeight(rows: number): number {
  return rows * 24 + 40;
}

export function forest(on: Canvas, f: Figures, rows: readonly ForestRow[], description: string): EChartsCoreOption {
  const within = reach([1, ...rows.map((row) => row.ratio)]);
  const low = (row: ForestRow) => within(row.low ?? row.ratio);
  const high = (row: ForestRow) => within(row.high ?? row.ratio);
  const ends = rows.flatMap((row) => [row.ratio, low(row), high(row)]).filter((of) => of > 0);
  // The same distance to both sides, on a logarithmic scale: twice and half are equally far.
  const far = Math.max(1.1, ...ends.map((of) => Math.max(of, 1 / of)));
  const bound = Math.log(far * 1.03);
  const colour = (verdict: Verdict) =>
    verdict === "faster" ? on.ink.faster : verdict === "slower" ? on.ink.slower : on.ink.quiet;
  return {
    ...base(on, description),
    grid: { left: 6, right: 18, top: 6, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: valueAxis(on, (value) => f.times(Math.exp(value)), { min: -bound, max: bound, interval: bound / 2, scale: false }),
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map((row) => row.name),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: on.ink.text, fontSize: 12.5, interval: 0, width: Math.max(90, on.width * 0.38), overflow: "truncate" },
    },
    series: [
      {
        type: "custom",
        data: rows.map((row, at) => [
          Math.log(row.ratio),
          at,
          Math.log(low(row)),
          Math.log(high(row)),
        ]),
        encode: { x: [0, 2, 3], y: 1 },
        renderItem: (params: DrawParams, api: DrawApi) => {
          const row = rows[params.dataIndex];
          const of = colour(row?.verdict ?? "none");
          const [x = 0, y = 0] = api.coord([api.value(0), api.value(1)]);
          const [low = 0] = api.coord([api.value(2), api.value(1)]);
          const [high = 0] = api.coord([api.value(3), api.value(1)]);
          const [one = 0] = api.coord([0, api.value(1)]);
          const half = params.coordSys.height / rows.length / 2;
          const open = row?.verdict === "undecided" || row?.verdict === "none";
          return {
            type: "group",
            children: [
              drawLine(one, y - half, one, y + half, { stroke: on.ink.quiet, lineWidth: 1 }),
              drawLine(low, y, high, y, { stroke: of, lineWidth: 2 }),
              {
                type: row?.verdict === "tie" ? "rect" : "circle",
                shape: row?.verdict === "tie" ? { x: x - 4, y: y - 4, width: 8, height: 8 } : { cx: x, cy: y, r: 4.5 },
                style: { fill: open ? on.ink.paper : of, stroke: of, lineWidth: 1.8 },
              },
            ],
          };
        },
        tooltip: {
          formatter: (params: { dataIndex: number }) => {
            const row = rows[params.dataIndex];
            return tip(row?.name ?? "", [{ name: "", figure: row?.says ?? "" }]);
          },
        },
      },
    ],
  };
}
