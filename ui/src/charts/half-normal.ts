// Effects of a screening against what chance alone would make them: what is chance lies on a line through zero.
import type { Verdict } from "../types";
import type { Figures } from "../words/figures";
import { base, drawLine, FONT, tip, valueAxis, type Canvas, type DrawApi, type DrawParams, type EChartsCoreOption } from "./echarts";
import { ratioMarks } from "./ratio-axis";

export interface HalfNormalMark {
  /** The option, or what stands for a column without one. */
  name: string;
  quantile: number;
  size: number;
  /** What the effect means; `null`: a column without an option. */
  verdict: Verdict | null;
  says: string;
}

export interface HalfNormalChart {
  marks: HalfNormalMark[];
  /** Names of the axes. */
  quantile: string;
  size: string;
  description: string;
}

/** Above and below the axes, and between two marks, pixels. */
const TOP = 26;
const BOTTOM = 22;
const MARK_GAP = 28;

export function halfNormalHeight(width: number): number {
  return Math.min(Math.max(width * 0.56, 220), 320);
}

/** The size of an effect without its side, as a percentage of the figure or, from twice on, as a factor. */
export function sizeFigure(f: Figures, size: number): string {
  const ratio = Math.exp(size);
  return f.isFactor([ratio]) ? f.times(ratio) : f.smallShare(ratio - 1);
}

export function halfNormal(on: Canvas, f: Figures, of: HalfNormalChart): EChartsCoreOption {
  const { marks } = of;
  const quantiles = Math.max(1, ...marks.map((mark) => mark.quantile)) * 1.12;
  const largest = Math.max(0.03, ...marks.map((mark) => mark.size));
  const sizes = largest * 1.12;
  // One axis has one unit.
  const asFactors = f.isFactor([Math.exp(largest)]);
  const label = (size: number) => (asFactors ? f.gainMark(Math.exp(size), true) : f.percent(Math.exp(size) - 1));
  const axisName = (name: string, align: "left" | "right") => ({
    name,
    nameLocation: "end",
    nameMoveOverlap: false,
    nameTextStyle: { color: on.ink.quiet, fontSize: 11.5, align },
  });
  return {
    ...base(on, of.description),
    grid: { left: 6, right: 18, top: TOP, bottom: BOTTOM, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: {
      ...valueAxis(on, (value) => f.number(value, 1), { min: 0, max: quantiles, scale: false, splitNumber: 4 }),
      // The name stands below the end of its axis.
      ...axisName(of.quantile, "right"),
      nameGap: 0,
      nameTextStyle: { color: on.ink.quiet, fontSize: 11.5, align: "right", verticalAlign: "top", padding: [22, 0, 0, 0] },
    },
    yAxis: {
      ...valueAxis(
        on,
        label,
        { min: 0, max: sizes, scale: false },
        // Sizes lie on one side of none.
        ratioMarks(Math.exp(sizes), 2 * (halfNormalHeight(on.width) - TOP - BOTTOM), MARK_GAP).map(Math.log).filter((size) => size >= 0),
      ),
      ...axisName(of.size, "left"),
      nameGap: 8,
    },
    series: [
      {
        type: "custom",
        data: marks.map((mark) => [mark.quantile, mark.size]),
        encode: { x: 0, y: 1 },
        renderItem: (params: DrawParams, api: DrawApi) => {
          const mark = marks[params.dataIndex];
          const [x = 0, y = 0] = api.coord([api.value(0), api.value(1)]);
          return { type: "group", children: drawn(on, params, mark ?? null, x, y) };
        },
        tooltip: {
          formatter: (params: { dataIndex: number }) => {
            const mark = marks[params.dataIndex];
            return tip(mark?.name ?? "", [{ name: "", figure: mark?.says ?? "" }]);
          },
        },
      },
    ],
  };
}

/** A cross for a column without an option, a square for what does not matter, a hollow circle for what is not told, and a
 * filled one with its name for what matters. */
function drawn(on: Canvas, params: DrawParams, mark: HalfNormalMark | null, x: number, y: number): object[] {
  const quiet = { stroke: on.ink.quiet, lineWidth: 1.6 };
  if (mark === null || mark.verdict === null) {
    return [drawLine(x - 4, y - 4, x + 4, y + 4, quiet), drawLine(x - 4, y + 4, x + 4, y - 4, quiet)];
  }
  if (mark.verdict === "tie") {
    return [{ type: "rect", shape: { x: x - 4, y: y - 4, width: 8, height: 8 }, style: { fill: on.ink.quiet } }];
  }
  const matters = mark.verdict === "faster" || mark.verdict === "slower";
  const colour = mark.verdict === "faster" ? on.ink.faster : mark.verdict === "slower" ? on.ink.slower : on.ink.quiet;
  const circle = {
    type: "circle",
    shape: { cx: x, cy: y, r: 4.5 },
    style: { fill: matters ? colour : on.ink.paper, stroke: colour, lineWidth: 1.8 },
  };
  if (!matters) return [circle];
  // In the right half the name stands to the left, where no edge cuts it.
  const right = x < params.coordSys.x + params.coordSys.width / 2;
  const label = {
    type: "text",
    style: {
      text: mark.name,
      x: right ? x + 9 : x - 9,
      y,
      align: right ? "left" : "right",
      verticalAlign: "middle",
      fill: on.ink.text,
      font: `12px ${FONT}`,
    },
  };
  return [circle, label];
}
