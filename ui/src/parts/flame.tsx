// A flame graph, from the threads at the top down to the functions that they call: of one lane, or of one against another.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { save } from "../charts/save";
import type { Activity, LaneStacks, Part, RacePage, ResultFinding } from "../types";
import { useUi, type Ui } from "../ui";
import { boxes, folded, found, functions, onlyOther, partOf, tree, type Box, type Frame } from "../words/flame";
import { clean, name, text, type Said } from "../words/say";
import { Speak } from "./basics";
import { FigureTable } from "./table";

/** Pixels of a row, and the narrowest box that is drawn. */
const ROW = 20;
const LEAST_WIDTH = 1.5;
/** Pixels of a letter, and of the narrowest box that holds any. */
const LETTER = 6.6;
const LEAST_NAMED = 34;
/** A difference of the whole from which on a frame is coloured, and where its colour is full. */
const LEAST_DIFFERENCE = 0.005;
const FULL_DIFFERENCE = 0.1;
const TABLE_ROWS = 50;
const MOST_ONLY = 10;

export function Flame({ race, result, stacks }: { race: RacePage; result: ResultFinding; stacks: LaneStacks[] }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const [lane, setLane] = useState(0);
  const [against, setAgainst] = useState(-1);
  const [activity, setActivity] = useState<Activity>("cpu");
  const [wanted, setWanted] = useState("");
  const [asTable, setAsTable] = useState(false);
  const shown = stacks[lane] ?? stacks[0];
  const other = against >= 0 && against !== lane ? (stacks[against] ?? null) : null;
  const root = useMemo(
    () => (shown && race.stacks ? tree(race.stacks, shown, other, activity) : null),
    [race, shown, other, activity],
  );
  if (!root || !shown || !race.stacks) return null;
  const search = wanted.trim().toLowerCase();
  const file = `fairlane-${result.workload}-${result.group}-${shown.lane}-${activity}`.slice(0, 90);
  const matching = search === "" ? 0 : found(root, search);
  return (
    <div class="flame">
      <p class="controls">
        <Choice label={w.lane} value={lane} onChange={setLane} options={stacks.map((of, at) => [at, clean(of.lane)])} />
        <Choice
          label={w.against}
          value={other ? against : -1}
          onChange={setAgainst}
          options={[[-1, w.nobody], ...stacks.flatMap((of, at): [number, string][] => (at === lane ? [] : [[at, clean(of.lane)]]))]}
        />
        <Choice
          label={w.activity}
          value={activity === "cpu" ? 0 : 1}
          onChange={(to) => setActivity(to === 0 ? "cpu" : "wait")}
          options={[
            [0, w.cpu],
            [1, w.wait],
          ]}
        />
        <label>
          <span class="visually-hidden">{w.search}</span>
          <input type="search" placeholder={w.search} value={wanted} onInput={(event) => setWanted(event.currentTarget.value.slice(0, 100))} />
        </label>
        <span class="tools">
          <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {ui.words.figure.table}
            <span class="visually-hidden">
              {ui.words.colon}
              {w.title}
            </span>
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => race.stacks && save(new Blob([folded(race.stacks, shown, activity)], { type: "text/plain" }), `${file}.txt`)}
          >
            {w.saveFolded}
          </button>
        </span>
      </p>
      <p class="small" aria-live="polite">
        {search === "" ? "" : w.matches(ui.figures.percent(root.seconds > 0 ? matching / root.seconds : 0, 1), ui.figures.time(matching))}
      </p>
      {root.seconds <= 0 ? <p>{w.nothing}</p> : null}
      {asTable ? (
        <Functions root={root} against={other} />
      ) : (
        <Graph key={`${lane} ${against} ${activity}`} root={root} against={other} search={search} file={file} />
      )}
      {other ? <Only root={root} lane={other.lane} /> : null}
    </div>
  );
}

function Choice({ label, value, options, onChange }: { label: string; value: number; options: [number, string][]; onChange: (to: number) => void }) {
  return (
    <label>
      {label}{" "}
      <select value={String(value)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {options.map(([of, title]) => (
          <option key={of} value={String(of)}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Graph({ root, against, search, file }: { root: Frame; against: LaneStacks | null; search: string; file: string }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [zoom, setZoom] = useState<Frame[]>([root]);
  const [at, setAt] = useState(0);
  const [pointed, setPointed] = useState<Box | null>(null);
  const moved = useRef(false);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const sized = () => setWidth(element.clientWidth);
    sized();
    const observer = new ResizeObserver(sized);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const drawn = useMemo(() => (width > 0 ? boxes(root, zoom, LEAST_WIDTH / width) : []), [root, zoom, width]);
  const depth = drawn.reduce((most, box) => Math.max(most, box.depth), 0);
  const current = Math.min(at, Math.max(drawn.length - 1, 0));
  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    place.current?.querySelector<HTMLElement>(`[data-box="${current}"]`)?.focus();
  }, [current, drawn]);
  const go = (to: number | undefined) => {
    if (to === undefined || to < 0 || to >= drawn.length) return;
    moved.current = true;
    setAt(to);
  };
  const zoomTo = (to: number) => {
    const path = pathTo(drawn, to);
    moved.current = true;
    setZoom(path);
    // Those above it are drawn first, one in each row.
    setAt(path.length - 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const box = drawn[current];
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    const beside = drawn[box.parent]?.below ?? [0];
    const among = beside.indexOf(current);
    const steps: { [key: string]: () => void } = {
      ArrowDown: () => go(box.below[0]),
      ArrowUp: () => go(box.parent),
      ArrowRight: () => go(beside[among + 1]),
      ArrowLeft: () => go(beside[among - 1]),
      Home: () => go(0),
      Enter: () => zoomTo(current),
      " ": () => zoomTo(current),
      Escape: () => zoomTo(0),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  };
  const told = pointed ?? drawn[current];
  return (
    <>
      <p class="flame-told">{told ? said(ui, told.frame, root, against) : ""}</p>
      <div
        ref={place}
        class="flame-graph"
        role="tree"
        aria-label={w.title}
        style={{ height: `${(depth + 1) * ROW}px` }}
        onKeyDown={onKeyDown}
        onMouseLeave={() => setPointed(null)}
      >
        {drawn.map((box, index) => (
          <div
            key={index}
            data-box={index}
            role="treeitem"
            aria-level={box.depth + 1}
            aria-expanded={box.frame.children.size > 0 ? box.below.length > 0 : undefined}
            aria-label={said(ui, box.frame, root, against)}
            tabIndex={index === current ? 0 : -1}
            class={`frame ${colour(box.frame, root, against)}${search !== "" && box.frame.name.toLowerCase().includes(search) ? " matches" : ""}`}
            style={{ left: `${box.left * 100}%`, width: `${box.width * 100}%`, top: `${box.depth * ROW}px` }}
            onClick={() => zoomTo(index)}
            onFocus={() => setAt(index)}
            onMouseEnter={() => setPointed(box)}
          >
            {box.width * width < LEAST_NAMED ? "" : label(ui, box.frame)}
          </div>
        ))}
      </div>
      <p class="small">
        {w.help} <Speak said={against ? w.differential(name(against.lane)) : [w.coloured]} />{" "}
        <button type="button" class="quiet" onClick={() => save(picture(ui, drawn, width, depth, root, against, place.current), `${file}.svg`)}>
          {ui.words.figure.svg}
          <span class="visually-hidden">
            {ui.words.colon}
            {w.title}
          </span>
        </button>
      </p>
    </>
  );
}

/** Frames from the root to a box. */
function pathTo(drawn: readonly Box[], to: number): Frame[] {
  const path: Frame[] = [];
  for (let at = to; at >= 0; at = drawn[at]?.parent ?? -1) {
    const box = drawn[at];
    if (box) path.unshift(box.frame);
  }
  return path;
}

function label(ui: Ui, frame: Frame): string {
  const w = ui.words.explain.flame;
  if (frame.role) return w.roles[frame.role] ?? clean(frame.role);
  if (frame.outside) return w.outside[frame.outside];
  return frame.name === "" ? w.all : clean(frame.name);
}

/** As many letters as there is room for. */
function fitted(label: string, pixels: number): string {
  if (pixels < LEAST_NAMED) return "";
  const letters = Math.floor((pixels - 6) / LETTER);
  return label.length <= letters ? label : `${label.slice(0, Math.max(letters - 1, 1))}…`;
}

function difference(ui: Ui, seconds: number): string {
  const w = ui.words.explain.flame;
  if (seconds === 0) return w.same;
  return seconds > 0 ? w.more(ui.figures.time(seconds)) : w.less(ui.figures.time(-seconds));
}

function said(ui: Ui, frame: Frame, root: Frame, against: LaneStacks | null): string {
  const w = ui.words.explain.flame;
  const share = ui.figures.percent(root.seconds > 0 ? frame.seconds / root.seconds : 0, 1);
  const than = against ? w.than(difference(ui, frame.seconds - frame.other), clean(against.lane)) : null;
  return w.frame(label(ui, frame), ui.figures.time(frame.seconds), share, than);
}

function colour(frame: Frame, root: Frame, against: LaneStacks | null): string {
  if (!against) {
    const part: Part | null = frame.children.size === 0 || frame.name !== "" ? partOf(frame) : null;
    return part ? `part-${part}` : "part-none";
  }
  const apart = (frame.seconds - frame.other) / Math.max(root.seconds, root.other, Number.MIN_VALUE);
  if (Math.abs(apart) < LEAST_DIFFERENCE) return "part-none";
  const step = Math.abs(apart) >= FULL_DIFFERENCE ? 2 : 1;
  return apart > 0 ? `more-${step}` : `less-${step}`;
}

function Functions({ root, against }: { root: Frame; against: LaneStacks | null }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const all = useMemo(() => functions(root), [root]);
  const columns = [
    { label: w.columns.name },
    { label: w.columns.own, numeric: true },
    { label: w.columns.total, numeric: true },
    ...(against ? [{ label: w.columns.difference, numeric: true }] : []),
  ];
  const rows = all.slice(0, TABLE_ROWS).map((of): (Said | string)[] => [
    text(of.name),
    ui.figures.time(of.own),
    ui.figures.time(of.seconds),
    ...(against ? [difference(ui, of.own - of.otherOwn)] : []),
  ]);
  return <FigureTable data={{ columns, rows }} label={w.title} />;
}

/** What only the other lane does. */
function Only({ root, lane }: { root: Frame; lane: string }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const found = useMemo(() => onlyOther(root, MOST_ONLY), [root]);
  const only = found.map((of) => w.function(text(of.name), ui.figures.time(of.otherOwn)));
  return only.length === 0 ? null : (
    <p class="small">
      <Speak said={w.only(name(lane), only)} />
    </p>
  );
}

/** What is drawn, as an SVG document that stands alone. */
function picture(ui: Ui, drawn: readonly Box[], width: number, depth: number, root: Frame, against: LaneStacks | null, place: HTMLElement | null): Blob {
  const escaped = (of: string) => of.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const rows = drawn.map((box, index) => {
    const element = place?.querySelector(`[data-box="${index}"]`);
    const style = element ? getComputedStyle(element) : null;
    const [x, y, wide] = [box.left * width, box.depth * ROW, Math.max(box.width * width - 0.5, 0.5)];
    return (
      `<g><title>${escaped(said(ui, box.frame, root, against))}</title>` +
      `<rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${ROW - 1}" fill="${style?.backgroundColor ?? "#ddd"}"/>` +
      `<text x="${(x + 3).toFixed(1)}" y="${y + 14}" fill="${style?.color ?? "#000"}">${escaped(fitted(label(ui, box.frame), wide))}</text></g>`
    );
  });
  const height = (depth + 1) * ROW;
  const document_ =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="sans-serif" font-size="12"><title>${escaped(ui.words.explain.flame.title)}</title>${rows.join("")}</svg>`;
  return new Blob([document_], { type: "image/svg+xml" });
}
