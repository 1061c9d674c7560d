// The course of one quantity: lanes laid over each other, or side by side with the same axes.
import { laneStyle } from "../lanes";
import type { LaneTimeline } from "../types";
import type { Figures } from "../words/figures";
import { shown } from "../words/say";
import { base, tip, valueAxis, type Canvas, type EChartsCoreOption } from "./echarts";

export interface CourseChart {
  quantity: string;
  lanes: { name: string; index: number; course: LaneTimeline }[];
  /** Side by side; otherwise over each other. */
  apart: boolean;
  /** The chart that carries the slider. */
  slider: boolean;
  description: string;
  roundName: (round: number) => string;
  /** Longest course of all lanes, seconds. */
  seconds: number;
  /** What is shown of it, in percent. */
  zoomed: () => { start: number; end: number };
}

/** What a value of a quantity is called. */
export function quantityFigure(f: Figures, quantity: string, value: number): string {
  if (quantity.endsWith("_share")) return f.percent(value, value < 0.0995 ? 1 : 0);
  if (quantity.endsWith("bytes_per_second")) return f.bandwidth(value);
  if (quantity === "device_iops") return f.iops(value);
  if (quantity.endsWith("_per_second")) return f.count(value);
  if (quantity.endsWith("_bytes")) return f.bytes(value);
  return f.significant(value);
}

const PLOT = 116;

/** Rows and columns of panels. */
function panels(of: CourseChart, width: number): { columns: number; rows: number } {
  if (!of.apart) return { columns: 1, rows: 1 };
  const columns = Math.max(1, Math.min(of.lanes.length, Math.floor(width / 260)));
  return { columns, rows: Math.ceil(of.lanes.length / columns) };
}

export function courseHeight(of: CourseChart, width: number): number {
  const { rows } = panels(of, width);
  return rows * (PLOT + (of.apart ? 20 : 6)) + (of.slider ? 36 : 4);
}

export function course(on: Canvas, f: Figures, of: CourseChart): EChartsCoreOption {
  const { columns, rows } = panels(of, on.width);
  const count = of.apart ? of.lanes.length : 1;
  const values = of.lanes.map((lane) => lane.course.quantities[of.quantity] ?? []);
  let most = 0;
  for (const list of values) for (const value of list) if (value > most) most = value;
  const figure = (value: number) => quantityFigure(f, of.quantity, value);
  // Labels of the axis take their room on the left alone: panels in a row share them.
  const left = 66;
  const gap = 14;
  const width = (on.width - left - 14 - gap * (columns - 1)) / columns;
  const head = of.apart ? 20 : 6;
  const place = (at: number) => ({ column: at % columns, row: Math.floor(at / columns) });
  const share = of.quantity.endsWith("_share");
  return {
    ...base(on, of.description),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    grid: Array.from({ length: count }, (_, at) => {
      const { column, row } = place(at);
      return { left: left + column * (width + gap), top: row * (PLOT + head) + head, width, height: PLOT - 22, outerBoundsMode: "none" };
    }),
    xAxis: Array.from({ length: count }, (_, at) =>
      valueAxis(on, (value) => f.number(value, 1), {
        gridIndex: at,
        min: 0,
        max: of.seconds,
        scale: false,
        splitNumber: 4,
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
    yAxis: Array.from({ length: count }, (_, at) =>
      valueAxis(on, figure, {
        gridIndex: at,
        min: 0,
        max: share ? Math.min(1, niceMost(most)) : niceMost(most),
        scale: false,
        interval: (share ? Math.min(1, niceMost(most)) : niceMost(most)) / 2,
        axisLabel: { show: place(at).column === 0, color: on.ink.quiet, fontSize: 11.5, formatter: figure },
        name: of.apart ? shown(of.lanes[at]?.name ?? "", 22) : "",
        nameLocation: "end",
        nameGap: 6,
        nameMoveOverlap: false,
        nameTextStyle: { color: on.ink.text, fontSize: 12.5, align: "left" },
      }),
    ),
    dataZoom: [
      {
        type: "inside",
        ...of.zoomed(),
        xAxisIndex: "all",
        filterMode: "none",
        // The wheel alone scrolls the page.
        zoomOnMouseWheel: "ctrl",
        moveOnMouseMove: true,
        moveOnMouseWheel: false,
        preventDefaultMouseMove: false,
      },
      ...(of.slider
        ? [
            {
              type: "slider",
              ...of.zoomed(),
              xAxisIndex: "all",
              filterMode: "none",
              left,
              right: 14,
              height: 18,
              top: rows * (PLOT + head) + 8,
              showDetail: false,
              showDataShadow: false,
              brushSelect: false,
              borderColor: on.ink.line,
              fillerColor: on.dark ? "rgba(255,255,255,0.08)" : "rgba(0,0,0,0.06)",
              handleStyle: { color: on.ink.paper, borderColor: on.ink.quiet },
              moveHandleSize: 0,
            },
          ]
        : []),
    ],
    series: of.lanes.map((lane, at) => {
      const style = laneStyle(lane.index, on.dark);
      const list = values[at] ?? [];
      return {
        type: "line",
        name: shown(lane.name, 28),
        xAxisIndex: of.apart ? at : 0,
        yAxisIndex: of.apart ? at : 0,
        data: lane.course.seconds.map((second, point) => [second, list[point] ?? null]),
        showSymbol: false,
        lineStyle: { color: style.colour, width: 1.3, type: style.dash.length > 0 && !of.apart ? style.dash : "solid" },
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
        const lane = of.lanes[first?.seriesIndex ?? 0];
        const round = lane?.course.rounds[first?.dataIndex ?? 0];
        const at = `${f.number(first?.value[0] ?? 0, 2)}\u00a0s`;
        return tip(
          round === undefined ? at : `${at}, ${of.roundName(round)}`,
          params.map((param) => {
            const of_ = of.lanes[param.seriesIndex];
            return {
              style: laneStyle(of_?.index ?? 0, on.dark),
              name: shown(of_?.name ?? "", 28),
              figure: param.value[1] === null ? "–" : figure(param.value[1]),
            };
          }),
        );
      },
    },
  };
}

/** The next round number above. */
export function niceMost(most: number): number {
  if (!(most > 0)) return 1;
  const scale = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 4, 5, 6, 8, 10].find((of) => of * scale >= most * (1 - 1e-9)) ?? 10;
  return step * scale;
}
