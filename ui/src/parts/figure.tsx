// A chart with its words: caption, table, and what saves it. Charts are drawn with the page, so that one which is
// photographed at once has them; where that would keep a reader waiting, the rest when they come near the screen, or
// all before the page is printed.
import { useCallback, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { canvas, init, type Canvas, type ECharts, type EChartsCoreOption } from "../charts/echarts";
import { savePng, saveSvg } from "../charts/save";
import { useUi } from "../ui";
import { plain, type Said } from "../words/say";
import { Speak } from "./basics";
import { FigureTable, type TableData } from "./table";

/** Widths of a chart on paper, alone and beside another, CSS pixels: it is scaled to fit, so that its letters are as small as
 * the others. */
const PAPER_WIDTH = 800;
const HALF_PAPER_WIDTH = 400;

/** So many charts are drawn before the browser shows anything, however slow the machine is: those of suite quick. Chosen:
 * one takes a few milliseconds. */
const AT_ONCE = 48;
/** More of them for so long, milliseconds. Chosen: a page opens within a second. */
const AT_ONCE_MS = 400;
/** How many were drawn since the browser last showed something, and how long they took. */
let drawn = { charts: 0, ms: 0 };

/** Draws at once where there is room left for it. */
function atOnce(draw: () => void): void {
  if (drawn.charts >= AT_ONCE && drawn.ms > AT_ONCE_MS) return;
  if (drawn.charts === 0) setTimeout(() => (drawn = { charts: 0, ms: 0 }));
  const begun = performance.now();
  draw();
  drawn.charts += 1;
  drawn.ms += performance.now() - begun;
}

interface Drawn {
  print(on: boolean): void;
}

/** Charts on the page that have to be drawn before it is printed. */
const onPage = new Set<Drawn>();
let printing = false;

function print(on: boolean) {
  if (printing === on) return;
  printing = on;
  for (const chart of onPage) chart.print(on);
}

export function watchPrinting(): void {
  addEventListener("beforeprint", () => print(true));
  const media = matchMedia("print");
  addEventListener("afterprint", () => print(media.matches));
  media.addEventListener("change", (event) => print(event.matches));
}

export interface FigureProps {
  title: string;
  caption: Said;
  /** What the file is called when it is saved. */
  file: string;
  height: (width: number) => number;
  option: (on: Canvas) => EChartsCoreOption;
  table: () => TableData;
  /** Names of the lanes, for the key of a saved picture; none: the chart names them itself. */
  lanes?: readonly string[];
  /** What the option is made of: it is made anew when one of these changes. */
  of: readonly unknown[];
  onChart?: (chart: ECharts | null) => void;
  level?: "h3" | "h4";
}

export function Figure(props: FigureProps) {
  const ui = useUi();
  const [asTable, setAsTable] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const id = useId();
  const Heading = props.level ?? "h4";
  const latest = useRef(props);
  latest.current = props;
  const dark = useRef(ui.dark);
  dark.current = ui.dark;

  const draw = useCallback((element: HTMLDivElement) => {
    const now = latest.current;
    const paper = printing;
    const width = paper ? (element.closest(".charts") ? HALF_PAPER_WIDTH : PAPER_WIDTH) : element.clientWidth;
    if (width < 40) return;
    const height = now.height(width);
    element.style.height = `${height}px`;
    if (!chart.current) {
      chart.current = init(element, null, { renderer: "svg", width, height });
      now.onChart?.(chart.current);
    } else {
      chart.current.resize({ width, height, silent: true });
    }
    chart.current.setOption(now.option(canvas(width, dark.current && !paper)), { notMerge: true });
    chart.current.getZr().flush();
    const picture = element.querySelector("svg");
    if (paper) picture?.setAttribute("viewBox", `0 0 ${width} ${height}`);
    else picture?.removeAttribute("viewBox");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", plain(now.caption));
    element.dataset["drawn"] = "true";
  }, []);

  // Before the browser shows the page: what looks at it then sees its charts.
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    element.style.height = `${latest.current.height(element.clientWidth || PAPER_WIDTH)}px`;
    const seen = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting) && !chart.current) draw(element);
      },
      { rootMargin: "400px" },
    );
    seen.observe(element);
    let width = element.clientWidth;
    const sized = new ResizeObserver(() => {
      if (printing || !chart.current || element.clientWidth === width || element.clientWidth === 0) return;
      width = element.clientWidth;
      draw(element);
    });
    sized.observe(element);
    const self: Drawn = {
      print: (on) => {
        // What is not on the page (a closed part, a chart shown as a table) is not drawn for paper either.
        if (element.clientWidth > 0 && (on || chart.current)) draw(element);
      },
    };
    onPage.add(self);
    atOnce(() => draw(element));
    return () => {
      onPage.delete(self);
      seen.disconnect();
      sized.disconnect();
      latest.current.onChart?.(null);
      chart.current?.dispose();
      chart.current = null;
    };
  }, [draw]);

  useLayoutEffect(() => {
    if (chart.current && place.current && !asTable) draw(place.current);
  }, [draw, asTable, ui.dark, ui.language, ...props.of]);

  const picture = () => {
    if (!chart.current && place.current) draw(place.current);
    return chart.current && { chart: chart.current, title: props.title, caption: plain(props.caption), lanes: props.lanes ?? [], dark: ui.dark };
  };
  // Heard alone, a button has to say whose it is.
  const of = (
    <span class="visually-hidden">
      {ui.words.colon}
      {props.title}
    </span>
  );
  return (
    <figure class="figure">
      <div class="figure-head">
        <Heading class="figure-title">{props.title}</Heading>
        <div class="tools">
          <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {ui.words.figure.table}
            {of}
          </button>
          <button type="button" class="quiet" title={ui.words.figure.save} disabled={asTable} onClick={() => saveSvg(picture(), props.file)}>
            {ui.words.figure.svg}
            {of}
          </button>
          <button
            type="button"
            class="quiet"
            title={ui.words.figure.save}
            disabled={asTable}
            onClick={() => void savePng(picture(), props.file)}
          >
            {ui.words.figure.png}
            {of}
          </button>
        </div>
      </div>
      <div ref={place} class="plot" hidden={asTable} />
      {asTable ? <FigureTable data={props.table()} label={props.title} /> : null}
      <figcaption id={id}>
        <Speak said={props.caption} />
      </figcaption>
    </figure>
  );
}
