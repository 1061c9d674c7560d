// The frames of a flame graph: drawn, walked through by keys, zoomed by a click.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Drawing } from "../charts/flame";
import type { LaneStacks, Part } from "../types";
import { useUi, type Ui } from "../ui";
import { boxes, partOf, type Box, type Frame } from "../words/flame";
import { frameName, frameSaid } from "../words/framed";
import { name, plain, type Said } from "../words/say";
import { Speak } from "./basics";
import { PartKey, PARTS } from "./part-key";

/** Pixels of a row, and the narrowest box that is drawn. */
const ROW = 20;
const LEAST_WIDTH = 1.5;
/** Pixels of the narrowest box that holds a letter. */
const LEAST_NAMED = 30;
/** A difference of the whole from which on a frame is coloured, and where its colour is full. */
const LEAST_DIFFERENCE = 0.005;
const FULL_DIFFERENCE = 0.1;

interface GraphProps {
  root: Frame;
  /** The lane that it is held against. */
  against: LaneStacks | null;
  /** Lower case; empty: nothing is searched. */
  search: string;
  title: string;
  shows: Said;
  /** Where to put what makes a file of it. */
  drawing: { current: (() => Drawing) | null };
}

export function Graph({ root, against, search, title, shows, drawing }: GraphProps) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const [zoom, setZoom] = useState<readonly Frame[]>([root]);
  const [at, setAt] = useState<readonly Frame[]>([root]);
  const [pointed, setPointed] = useState<Frame | null>(null);
  const help = useId();
  // Of another tree it says nothing.
  const path = useMemo(() => (zoom[0] === root ? zoom : [root]), [zoom, root]);
  const drawn = useMemo(() => (width > 0 ? boxes(root, path, LEAST_WIDTH / width) : []), [root, path, width]);
  const places = useMemo(() => new Map(drawn.map((box, index) => [box.frame, index])), [drawn]);
  // What is drawn no more is stood in for by what is above it.
  const current = at.reduce((last, frame) => places.get(frame) ?? last, 0);
  const go = useFocus(place, drawn, current, (to) => {
    setPointed(null);
    setAt(pathTo(drawn, to));
  });
  const zoomTo = (to: number) => {
    setZoom(pathTo(drawn, to));
    go(to);
  };
  const keys = () => steps(drawn, current, go, zoomTo, () => (setZoom([root]), go(current)));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = keys()[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  };
  const boxOf = (event: Event) => {
    const box = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-box]") : null;
    return box ? Number(box.dataset["box"]) : -1;
  };
  const frames = useMemo(
    () => drawn.map((box, index) => frameBox(ui, drawn, box, index, { root, against, search, width })),
    [ui, drawn, root, against, search, width],
  );
  const rows = drawn.reduce((most, box) => Math.max(most, box.depth + 1), 0);
  const key = useMemo(() => (against ? [] : partsOf(drawn)), [against, drawn]);
  drawing.current = () => ({
    title,
    caption: plain(shows),
    dark: ui.dark,
    width,
    row: ROW,
    rows,
    boxes: drawn.map((box) => ({
      left: box.left * width,
      width: box.width * width,
      depth: box.depth,
      label: sign(box.frame, root, against) + frameName(ui, box.frame),
      told: plain(frameSaid(ui, box.frame, root, against)),
      look: look(box.frame, root, against),
    })),
    key: against
      ? DIFFERENCES.map(({ look: of, sign: mark, word }) => ({ look: of, label: `${mark} ${plain(w[word](name(against.lane)))}` }))
      : key.map((part) => ({ look: `part-${part}`, label: ui.words.explain.parts[part] })),
    place: place.current ?? document.body,
  });
  const told = pointed ?? drawn[current]?.frame;
  return (
    <>
      <p class="flame-told">{told ? <Speak said={frameSaid(ui, told, root, against)} /> : null}</p>
      <div
        ref={place}
        class="flame-graph"
        role="tree"
        aria-label={`${title}${ui.words.colon}${plain(shows)}`}
        aria-describedby={help}
        style={{ height: `${rows * ROW}px` }}
        onKeyDown={onKeyDown}
        onClick={(event) => drawn[boxOf(event)] && zoomTo(boxOf(event))}
        onFocusIn={(event) => drawn[boxOf(event)] && boxOf(event) !== current && setAt(pathTo(drawn, boxOf(event)))}
        onMouseOver={(event) => setPointed(drawn[boxOf(event)]?.frame ?? null)}
        onMouseLeave={() => setPointed(null)}
      >
        {frames}
      </div>
      {against ? <DifferenceKey against={against} /> : <PartKey parts={key} />}
      <p class="small flame-help" id={help}>
        {w.help}
      </p>
    </>
  );
}

/** Pixels that an element is wide. */
function useWidth(place: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(place.current?.clientWidth ?? 0), [place]);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    // On paper boxes keep their shares; there is nothing to draw anew.
    const observer = new ResizeObserver(() => element.clientWidth > 0 && setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return width;
}

/** One box can be reached by the tabulator; answers how to go to another one. */
function useFocus(place: { current: HTMLElement | null }, drawn: readonly Box[], current: number, set: (to: number) => void) {
  const moved = useRef(false);
  const before = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const element = place.current?.querySelector<HTMLElement>(`[data-box="${current}"]`) ?? null;
    // Here and not in the boxes: thousands would be looked at for two.
    if (before.current && before.current !== element) before.current.tabIndex = -1;
    if (element) element.tabIndex = 0;
    before.current = element;
    if (!moved.current) return;
    moved.current = false;
    element?.focus();
  });
  return (to: number | undefined) => {
    if (to === undefined || !drawn[to]) return;
    moved.current = true;
    set(to);
  };
}

/** What keys do. */
function steps(
  drawn: readonly Box[],
  current: number,
  go: (to: number | undefined) => void,
  zoomTo: (to: number) => void,
  zoomOut: () => void,
): { [key: string]: () => void } {
  const box = drawn[current];
  if (!box) return {};
  const beside = drawn[box.parent]?.below ?? [];
  return {
    ArrowDown: () => go(box.below[0]),
    ArrowUp: () => go(box.parent),
    ArrowRight: () => go(beside[box.among + 1]),
    ArrowLeft: () => go(beside[box.among - 1]),
    Home: () => go(0),
    Enter: () => zoomTo(current),
    " ": () => zoomTo(current),
    Escape: zoomOut,
  };
}

interface Look {
  root: Frame;
  against: LaneStacks | null;
  search: string;
  width: number;
}

function frameBox(ui: Ui, drawn: readonly Box[], box: Box, index: number, { root, against, search, width }: Look) {
  const { frame } = box;
  const matches = search !== "" && frame.name.toLowerCase().includes(search);
  return (
    <div
      key={index}
      data-box={index}
      role="treeitem"
      aria-level={box.depth + 1}
      aria-posinset={box.among + 1}
      aria-setsize={drawn[box.parent]?.below.length ?? 1}
      aria-expanded={frame.children.size > 0 ? box.below.length > 0 : undefined}
      aria-label={plain(frameSaid(ui, frame, root, against))}
      tabIndex={-1}
      class={`frame ${look(frame, root, against)}${matches ? " matches" : ""}`}
      style={{ left: `${box.left * 100}%`, width: `${box.width * 100}%`, top: `${box.depth * ROW}px` }}
    >
      {box.width * width < LEAST_NAMED ? "" : sign(frame, root, against) + frameName(ui, frame)}
    </div>
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

/** How far a frame is from the other lane, as a share of all; zero: too little to be shown. */
function apart(frame: Frame, root: Frame, against: LaneStacks | null): number {
  if (!against) return 0;
  const share = (frame.seconds - frame.other) / Math.max(root.seconds, root.other, Number.MIN_VALUE);
  return Math.abs(share) < LEAST_DIFFERENCE ? 0 : share;
}

/** The sign that is never told by colour alone. */
function sign(frame: Frame, root: Frame, against: LaneStacks | null): string {
  const share = apart(frame, root, against);
  return share === 0 ? "" : share > 0 ? "+ " : "− ";
}

/** The class that gives a frame its colour. */
function look(frame: Frame, root: Frame, against: LaneStacks | null): string {
  if (!against) {
    const part = coloured(frame) ? partOf(frame) : null;
    return part ? `part-${part}` : "part-none";
  }
  const share = apart(frame, root, against);
  if (share === 0) return "part-none";
  return `${share > 0 ? "more" : "less"}-${Math.abs(share) >= FULL_DIFFERENCE ? 2 : 1}`;
}

/** Threads are no part of the time; what they do is. */
function coloured(frame: Frame): boolean {
  return frame.name !== "" || frame.outside !== null;
}

function partsOf(drawn: readonly Box[]): Part[] {
  const all = new Set(drawn.filter(({ frame }) => coloured(frame)).map(({ frame }) => partOf(frame)));
  return PARTS.filter((part) => all.has(part));
}

const DIFFERENCES = [
  { look: "more-2", sign: "+", word: "moreThan" },
  { look: "less-2", sign: "−", word: "lessThan" },
] as const;

/** Which colour is more and which is less. */
function DifferenceKey({ against }: { against: LaneStacks }) {
  const w = useUi().words.explain.flame;
  return (
    <ul class="key part-key">
      {DIFFERENCES.map(({ look: of, sign: mark, word }) => (
        <li key={word}>
          <span class={`part-swatch ${of}`} aria-hidden="true" /> {mark} <Speak said={w[word](name(against.lane))} />
        </li>
      ))}
    </ul>
  );
}
