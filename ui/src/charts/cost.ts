// What the work cost: bars from zero, one for each lane, a panel for each cost.
import { laneStyle } from "../lanes";
import { shown } from "../words/say";
import { base, drawPath, tip, valueAxis, type Canvas, type DrawApi, type DrawParams, type EChartsCoreOption } from "./echarts";

export interface CostPanel {
  title: string;
  format: (value: number) => string;
  lanes: { name: string; index: number; value: number }[];
}

const ROW = 24;
const HEAD = 26;
const FOOT = 30;

/** Panels stand side by side where there is room. */
function columns(on: { width: number }, panels: number): number {
  return on.width < 560 ? 1 : Math.min(panels, 2);
}

function panelHeight(panel: CostPanel): number {
  return HEAD + panel.lanes.length * ROW + FOOT;
}

export function costHeight(panels: readonly CostPanel[], width: number): number {
  const heights = panels.map(panelHeight);
  return columns({ width }, panels.length) === 1 ? heights.reduce((sum, of) => sum + of, 0) : Math.max(...heights);
}

export function cost(on: Canvas, panels: readonly CostPanel[], description: string): EChartsCoreOption {
  const side = columns(on, panels.length);
  let top = 0;
  const places = panels.map((panel, at) => {
    const place = { left: side === 1 ? 4 : `${(at * 100) / side + (at > 0 ? 2 : 0.4)}%`, top: side === 1 ? top : 0 };
    top += panelHeight(panel);
    return place;
  });
  return {
    ...base(on, description),
    grid: panels.map((panel, at) => ({
      left: places[at]?.left,
      top: (places[at]?.top ?? 0) + HEAD,
      width: side === 1 ? "92%" : `${100 / side - 5}%`,
      height: panel.lanes.length * ROW + FOOT - 10,
      outerBoundsMode: "same",
      outerBoundsContain: "axisLabel",
    })),
    xAxis: panels.map((panel, at) =>
      valueAxis(on, panel.format, {
        gridIndex: at,
        min: 0,
        scale: false,
        splitNumber: 3,
      }),
    ),
    yAxis: panels.map((panel, at) => ({
      type: "category",
      gridIndex: at,
      inverse: true,
      data: panel.lanes.map((lane) => shown(lane.name, 14)),
      axisLine: { show: true, onZero: true, lineStyle: { color: on.ink.line } },
      axisTick: { show: false },
      axisLabel: { color: on.ink.text, fontSize: 12.5, interval: 0 },
      name: panel.title,
      nameLocation: "start",
      nameGap: 8,
      nameTextStyle: { color: on.ink.text, fontSize: 12.5, fontWeight: 600, align: "left" },
      nameMoveOverlap: false,
    })),
    series: panels.map((panel, at) => ({
      type: "custom",
      xAxisIndex: at,
      yAxisIndex: at,
      data: panel.lanes.map((lane, row) => [lane.value, row]),
      encode: { x: 0, y: 1 },
      renderItem: (params: DrawParams, api: DrawApi) => {
        const lane = panel.lanes[params.dataIndex];
        const style = laneStyle(lane?.index ?? 0, on.dark);
        const [zero = 0, y = 0] = api.coord([0, api.value(1)]);
        const [end = 0] = api.coord([api.value(0), api.value(1)]);
        return {
          type: "group",
          children: [
            { type: "rect", shape: { x: zero, y: y - 4, width: Math.max(end - zero, 1), height: 8 }, style: { fill: style.colour, opacity: 0.55 } },
            drawPath(style, end, y, 10),
          ],
        };
      },
      tooltip: {
        formatter: (params: { dataIndex: number }) => {
          const lane = panel.lanes[params.dataIndex];
          return tip(panel.title, [
            { style: laneStyle(lane?.index ?? 0, on.dark), name: shown(lane?.name ?? "", 28), figure: panel.format(lane?.value ?? 0) },
          ]);
        },
      },
    })),
  };
}
