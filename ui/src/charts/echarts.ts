// What of ECharts the page uses, and what all its charts share.
import { CustomChart, LineChart } from "echarts/charts";
import {
  AriaComponent,
  AxisPointerComponent,
  DataZoomComponent,
  GridComponent,
  TooltipComponent,
} from "echarts/components";
import { connect, init, use, type EChartsCoreOption, type ECharts } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { LaneStyle } from "../lanes";

use([
  CustomChart,
  LineChart,
  AriaComponent,
  AxisPointerComponent,
  DataZoomComponent,
  GridComponent,
  TooltipComponent,
  SVGRenderer,
]);

export { connect, init, type EChartsCoreOption, type ECharts };

/** The colours of a chart's own lines and letters. */
export interface Ink {
  text: string;
  quiet: string;
  line: string;
  faint: string;
  paper: string;
  band: string;
  faster: string;
  slower: string;
}

export function ink(dark: boolean): Ink {
  return dark
    ? {
        text: "#ece8e1",
        quiet: "#b4aea4",
        line: "#57534d",
        faint: "#35322e",
        paper: "#191817",
        band: "#2b2926",
        faster: "#5cc3a2",
        slower: "#f19a76",
      }
    : {
        text: "#1d1b19",
        quiet: "#5f5a53",
        line: "#b9b2a7",
        faint: "#e6e1d8",
        paper: "#fffdf9",
        band: "#efebe3",
        faster: "#0b6b4f",
        slower: "#a8380f",
      };
}

export const FONT = "'Source Sans 3 Variable', 'Source Sans 3', system-ui, 'Noto Sans CJK SC', sans-serif";

/** What a chart is drawn for. */
export interface Canvas {
  width: number;
  dark: boolean;
  ink: Ink;
}

export function canvas(width: number, dark: boolean): Canvas {
  return { width, dark, ink: ink(dark) };
}

/** What every option begins with. */
export function base(on: Canvas, description: string): EChartsCoreOption {
  return {
    animation: false,
    textStyle: { fontFamily: FONT, color: on.ink.text, fontSize: 13 },
    aria: { enabled: true, label: { description } },
    // Tooltips are elements made of text nodes: no name becomes markup.
    tooltip: {
      trigger: "item",
      confine: true,
      transitionDuration: 0,
      className: "tip",
      backgroundColor: on.ink.paper,
      borderColor: on.ink.line,
      borderWidth: 1,
      padding: [6, 9],
      textStyle: { color: on.ink.text, fontFamily: FONT, fontSize: 13 },
      extraCssText: "box-shadow:none;border-radius:2px;",
    },
  };
}

/** The lines of a tooltip: a heading, and a swatch, a name and a figure each. */
export function tip(heading: string, lines: readonly { style?: LaneStyle | undefined; name: string; figure: string }[]): HTMLElement {
  const element = document.createElement("div");
  if (heading !== "") {
    const head = document.createElement("strong");
    head.textContent = heading;
    element.append(head);
  }
  for (const line of lines) {
    const row = document.createElement("div");
    row.className = "tip-row";
    if (line.style) {
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      mark.setAttribute("viewBox", "0 0 10 10");
      mark.setAttribute("width", "9");
      mark.setAttribute("height", "9");
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", line.style.path);
      path.setAttribute("fill", line.style.colour);
      mark.append(path);
      row.append(mark);
    }
    const name = document.createElement("bdi");
    name.textContent = line.name;
    const figure = document.createElement("span");
    figure.className = "tip-figure";
    figure.textContent = line.figure;
    row.append(name, figure);
    element.append(row);
  }
  return element;
}

/** An axis of values in the page's manner: thin lines, no ticks. `marks`: where it has lines and labels; none: where ECharts
 * chooses. */
export function valueAxis(on: Canvas, format: (value: number) => string, more: object = {}, marks?: readonly number[]): object {
  const at = marks === undefined ? {} : { customValues: marks };
  return {
    type: "value",
    scale: true,
    axisLine: { show: false },
    axisTick: { show: false, ...at },
    splitLine: { show: true, lineStyle: { color: on.ink.faint, width: 1 } },
    axisLabel: { color: on.ink.quiet, fontSize: 12, formatter: format, hideOverlap: true, ...at },
    ...more,
  };
}

/** Powers of ten around figures, for a logarithmic axis. */
export function decades(values: readonly number[]): { min: number; max: number } {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return { min: 1, max: 10 };
  const low = Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
  const high = Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
  return { min: 10 ** low, max: 10 ** Math.max(high, low + 1) };
}

/** Whether figures lie so far apart that a linear scale would press some together. */
export function farApart(values: readonly number[]): boolean {
  const positive = values.filter((value) => value > 0);
  return positive.length === values.length && positive.length > 0 && Math.max(...positive) / Math.min(...positive) > 8;
}

/** How far intervals are drawn: ten times beyond the figures themselves. An interval of two rounds may reach any
 * distance, and a scale that holds it would press all figures into one spot; its ends are told in words. */
export function reach(figures: readonly number[]): (end: number) => number {
  const positive = figures.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return (end) => end;
  const [low, high] = [Math.min(...positive) / 10, Math.max(...positive) * 10];
  return (end) => Math.min(Math.max(end, low), high);
}

/** What a function that draws one item of a custom series is given. */
export interface DrawApi {
  value(dimension: number): number;
  coord(data: readonly number[]): number[];
  size(data: readonly number[]): number[];
}
export interface DrawParams {
  dataIndex: number;
  coordSys: { x: number; y: number; width: number; height: number };
}

export function drawPath(style: LaneStyle, x: number, y: number, size: number, more: object = {}): object {
  return {
    type: "path",
    // Where it stands is the element's own place: of a shape that is drawn again only the outline is compared.
    x,
    y,
    shape: { pathData: style.path, x: -size / 2, y: -size / 2, width: size, height: size },
    style: { fill: style.colour, ...more },
  };
}

export function drawLine(x1: number, y1: number, x2: number, y2: number, style: object): object {
  return { type: "line", shape: { x1, y1, x2, y2 }, style };
}

/** Dashed lines from the bottom to the top, each with its word above. `beside`: any value of the other axis. */
export function upright(
  on: Canvas,
  lines: readonly { at: number; beside: number; says: string }[],
): object {
  return {
    type: "custom",
    silent: true,
    data: lines.map((line) => [line.at, line.beside]),
    encode: { x: 0 },
    tooltip: { show: false },
    renderItem: (params: DrawParams, api: DrawApi) => {
      const [x = 0] = api.coord([api.value(0), api.value(1)]);
      const { y, width, height } = params.coordSys;
      return {
        type: "group",
        children: [
          drawLine(x, y, x, y + height, { stroke: on.ink.quiet, lineWidth: 1.2, lineDash: [4, 3] }),
          {
            type: "text",
            style: {
              text: lines[params.dataIndex]?.says ?? "",
              x,
              y: y - 5,
              // Near an edge the word stands to the inside.
              align: x < params.coordSys.x + 60 ? "left" : x > params.coordSys.x + width - 60 ? "right" : "center",
              verticalAlign: "bottom",
              fill: on.ink.quiet,
              font: `11.5px ${FONT}`,
            },
          },
        ],
      };
    },
  };
}
