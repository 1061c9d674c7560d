// Ratios with their intervals, one below the other, around the line of no difference.
import type { Verdict } from "../types";
import type { Figures } from "../words/figures";
import {
  base,
  drawLine,
  FONT,
  reach,
  tip,
  valueAxis,
  type Canvas,
  type DrawApi,
  type DrawParams,
  type EChartsCoreOption,
} from "./echarts";
import { ratioMarks } from "./ratio-axis";

/** A chart from this width on has room for a word behind each row, pixels. */
const WORDS_FROM = 460;
/** What such words take. */
const WORDS = 132;
/** Between two marks of the axis, pixels: their labels have room. */
const MARK_GAP = 40;

export interface ForestRow {
  name: string;
  ratio: number;
  low: number | null;
  high: number | null;
  verdict: Verdict;
  says: string;
  /** What the row means, in a word or two. */
  word?: string;
  /** What was expected of it. */
  expected?: number | null;
}

export interface ForestMore {
  /** A band to both sides of one, as a share; none: there is no such band. */
  margin?: number;
  /** Its rows are gains: the axis has percentages where none of them is half or twice; otherwise it has factors. */
  gains?: boolean;
}

export function forestHeight(rows: number): number {
  return rows * 24 + 40;
}

export function forest(
  on: Canvas,
  f: Figures,
  rows: readonly ForestRow[],
  description: string,
  more: ForestMore = {},
): EChartsCoreOption {
  const within = reach([1, ...rows.map((row) => row.ratio)]);
  const low = (row: ForestRow) => within(row.low ?? row.ratio);
  const high = (row: ForestRow) => within(row.high ?? row.ratio);
  const ends = rows.flatMap((row) => [row.ratio, low(row), high(row), row.expected ?? 1]).filter((of) => of > 0);
  // The same distance to both sides, on a logarithmic scale: twice and half are equally far.
  const far = Math.max(1.1, ...ends.map((of) => Math.max(of, 1 / of)));
  const reached = far * 1.03;
  const bound = Math.log(reached);
  const colour = (verdict: Verdict) =>
    verdict === "faster" ? on.ink.faster : verdict === "slower" ? on.ink.slower : on.ink.quiet;
  const words = on.width >= WORDS_FROM && rows.some((row) => row.word !== undefined);
  const nameWidth = Math.max(90, on.width * 0.38);
  const right = words ? WORDS : 18;
  const axisWidth = Math.max(on.width - right - nameWidth - 6, 60);
  // One axis has one unit, whatever each row is told in.
  const asFactors = more.gains !== true || f.isFactor(ends);
  return {
    ...base(on, description),
    grid: { left: 6, right, top: 6, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: valueAxis(
      on,
      (value) => f.gainMark(Math.exp(value), asFactors),
      { min: -bound, max: bound, scale: false },
      ratioMarks(reached, axisWidth, MARK_GAP).map(Math.log),
    ),
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map((row) => row.name),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: on.ink.text, fontSize: 12.5, interval: 0, width: nameWidth, overflow: "truncate" },
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
          const at = (ratio: number) => api.coord([Math.log(ratio), api.value(1)])[0] ?? 0;
          return {
            type: "group",
            children: [
              ...(more.margin === undefined ? [] : [band(on, at(1 / (1 + more.margin)), at(1 + more.margin), y, half)]),
              drawLine(one, y - half, one, y + half, { stroke: on.ink.quiet, lineWidth: 1 }),
              drawLine(low, y, high, y, { stroke: of, lineWidth: 2 }),
              {
                type: row?.verdict === "tie" ? "rect" : "circle",
                shape: row?.verdict === "tie" ? { x: x - 4, y: y - 4, width: 8, height: 8 } : { cx: x, cy: y, r: 4.5 },
                style: { fill: open ? on.ink.paper : of, stroke: of, lineWidth: 1.8 },
              },
              ...(row?.expected == null
                ? []
                : [drawLine(at(row.expected), y - 8, at(row.expected), y + 8, { stroke: on.ink.text, lineWidth: 1.4, lineDash: [3, 2] })]),
              ...(words && row?.word !== undefined ? [word(on, row.word, params.coordSys.x + params.coordSys.width + 8, y)] : []),
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

/** A piece of the band, as high as a row. */
function band(on: Canvas, from: number, to: number, y: number, half: number): object {
  return { type: "rect", shape: { x: from, y: y - half, width: to - from, height: 2 * half }, style: { fill: on.ink.band } };
}

function word(on: Canvas, text: string, x: number, y: number): object {
  return {
    type: "text",
    style: { text, x, y, align: "left", verticalAlign: "middle", fill: on.ink.quiet, font: `12px ${FONT}` },
  };
}
