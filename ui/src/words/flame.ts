// Stacks of a lane become a tree of functions with their time for one operation, beside those of another lane.
import type { Activity, LaneStacks, Part, RacePage, ResultFinding, Stacks, ThreadRole } from "../types";
import { clean, shorten } from "./say";

/** A function below those that called it; times are seconds of one operation. */
export interface Frame {
  name: string;
  /** What the threads are to the lane; of a function `null`. */
  role: ThreadRole | null;
  /** Of a stack without functions what it did. */
  outside: Activity | null;
  seconds: number;
  /** The part of it in no function below. */
  own: number;
  /** The same of the lane that it is held against. */
  other: number;
  otherOwn: number;
  /** Seconds by what the table of causes counts them for. */
  parts: Map<Part, number>;
  children: Map<string, Frame>;
}

/** A frame that is drawn: places are shares of the width. */
export interface Box {
  frame: Frame;
  depth: number;
  left: number;
  width: number;
  parent: number;
  /** Its place among those that lie below its parent. */
  among: number;
  /** Places of what lies below it, from left to right. */
  below: number[];
}

/** Frames below one another that are drawn at most; no kernel's stacks have more. */
const MOST_DEPTH = 72;
/** Boxes that are drawn at most, the widest first. */
const MOST_BOXES = 6000;
/** Characters of a function's name. */
const MOST_NAME = 120;

function made(name: string, role: ThreadRole | null = null, outside: Activity | null = null): Frame {
  return { name, role, outside, seconds: 0, own: 0, other: 0, otherOwn: 0, parts: new Map(), children: new Map() };
}

/** The lanes' stacks of a result. */
export function stacksOf(race: RacePage, result: ResultFinding): LaneStacks[] {
  const lanes = race.stacks?.lanes ?? [];
  const place = (of: LaneStacks) => race.findings.lanes.findIndex((lane) => lane.name === of.lane);
  return lanes
    .filter((of) => of.workload === result.workload && (of.group === result.group || of.group === "") && of.operations > 0)
    .sort((x, y) => place(x) - place(y));
}

/** The share of the lane's time in stacks that the page does not hold. */
export function leftOut(lane: LaneStacks): number {
  const gone = Number.isFinite(lane.left_out_seconds) ? Math.max(lane.left_out_seconds, 0) : 0;
  const kept = lane.stacks.reduce((sum, of) => sum + (of.seconds > 0 ? of.seconds : 0), 0);
  return gone > 0 ? gone / (gone + kept) : 0;
}

/** The tree of a lane, on CPUs or off them, held against another. */
export function tree(stacks: Stacks, lane: LaneStacks, against: LaneStacks | null, activity: Activity): Frame {
  const root = made("");
  add(root, stacks.names, lane, activity, false);
  if (against) add(root, stacks.names, against, activity, true);
  return root;
}

function add(root: Frame, names: readonly string[], lane: LaneStacks, activity: Activity, other: boolean): void {
  for (const stack of lane.stacks) {
    const seconds = stack.seconds / lane.operations;
    if (stack.activity !== activity || !(seconds > 0) || !Number.isFinite(seconds)) continue;
    let frame = root;
    const pass = (below: Frame) => {
      frame = below;
      if (other) frame.other += seconds;
      else {
        frame.seconds += seconds;
        frame.parts.set(stack.part, (frame.parts.get(stack.part) ?? 0) + seconds);
      }
    };
    pass(root);
    pass(child(frame, ` ${stack.role}`, () => made("", stack.role)));
    let functions = 0;
    for (const place of stack.frames.slice(0, MOST_DEPTH)) {
      const name = names[place];
      // One without a name tells nothing.
      if (!name) continue;
      functions += 1;
      pass(child(frame, name, () => made(name)));
    }
    if (functions === 0) pass(child(frame, " ", () => made("", null, activity)));
    if (other) frame.otherOwn += seconds;
    else frame.own += seconds;
  }
}

function child(of: Frame, key: string, make: () => Frame): Frame {
  const known = of.children.get(key);
  if (known) return known;
  const frame = make();
  of.children.set(key, frame);
  return frame;
}

/** What most of its time counts for. */
export function partOf(frame: Frame): Part | null {
  let most: Part | null = null;
  for (const [part, seconds] of frame.parts) if (most === null || seconds > (frame.parts.get(most) ?? 0)) most = part;
  return most;
}

/** A frame that could be drawn. */
interface Wanted {
  frame: Frame;
  width: number;
  depth: number;
}

/** What is wide enough to be drawn; of too many the widest, and of equal ones those above. */
function drawable(root: Frame, zoom: readonly Frame[], least: number): ReadonlySet<Frame> {
  const all: Wanted[] = [];
  const look = (frame: Frame, depth: number, width: number): void => {
    if (width < least || depth > MOST_DEPTH) return;
    all.push({ frame, width, depth });
    const next = zoom[depth + 1];
    if (next && zoom[depth] === frame) return look(next, depth + 1, 1);
    for (const below of frame.children.values()) look(below, depth + 1, shareOf(below, frame) * width);
  };
  look(root, 0, 1);
  if (all.length > MOST_BOXES) all.sort((x, y) => y.width - x.width || x.depth - y.depth);
  return new Set(all.slice(0, MOST_BOXES).map((of) => of.frame));
}

function shareOf(below: Frame, frame: Frame): number {
  return frame.seconds > 0 ? below.seconds / frame.seconds : 0;
}

/** The boxes of a tree, zoomed to a frame: those above it are as wide as all. `least`: the smallest share that is drawn. */
export function boxes(root: Frame, zoom: readonly Frame[], least: number): Box[] {
  const wanted = drawable(root, zoom, least);
  const drawn: Box[] = [];
  const put = (frame: Frame, depth: number, left: number, width: number, parent: number): void => {
    if (!wanted.has(frame)) return;
    const place = drawn.length;
    const beside = drawn[parent]?.below ?? [];
    drawn.push({ frame, depth, left, width, parent, among: beside.length, below: [] });
    beside.push(place);
    const next = zoom[depth + 1];
    if (next && zoom[depth] === frame) return put(next, depth + 1, 0, 1, place);
    let at = left;
    for (const below of widest(frame)) {
      const wide = shareOf(below, frame) * width;
      put(below, depth + 1, at, wide, place);
      at += wide;
    }
  };
  put(root, 0, 0, 1, -1);
  return drawn;
}

/** What lies below a frame, the widest first. */
function widest(frame: Frame): Frame[] {
  return [...frame.children.values()].filter((of) => of.seconds > 0).sort((x, y) => y.seconds - x.seconds);
}

/** Seconds of one operation in functions whose name holds the text; below one that matches nothing counts again. */
export function found(frame: Frame, text: string): number {
  if (text === "") return 0;
  if (frame.name.toLowerCase().includes(text)) return frame.seconds;
  let sum = 0;
  for (const below of frame.children.values()) sum += found(below, text);
  return sum;
}

/** A function wherever it stands. */
export interface Function {
  name: string;
  own: number;
  seconds: number;
  otherOwn: number;
}

/** Functions by their own time, that of the other lane too, the largest first. */
export function functions(root: Frame): Function[] {
  const all = new Map<string, Function>();
  const above = new Set<string>();
  const walk = (frame: Frame) => {
    const again = above.has(frame.name);
    if (frame.name !== "") {
      const of = all.get(frame.name) ?? { name: frame.name, own: 0, seconds: 0, otherOwn: 0 };
      of.own += frame.own;
      of.otherOwn += frame.otherOwn;
      // One that calls itself is counted once.
      if (!again) of.seconds += frame.seconds;
      all.set(frame.name, of);
      above.add(frame.name);
    }
    for (const below of frame.children.values()) walk(below);
    if (!again) above.delete(frame.name);
  };
  walk(root);
  return [...all.values()].sort((x, y) => Math.max(y.own, y.otherOwn) - Math.max(x.own, x.otherOwn));
}

/** Functions that only the other lane calls, with all that they call in turn, the largest first. */
export function onlyOther(root: Frame, most: number): { name: string; seconds: number }[] {
  const own = new Set<string>();
  const collect = (frame: Frame) => {
    if (frame.seconds > 0) own.add(frame.name);
    for (const below of frame.children.values()) collect(below);
  };
  collect(root);
  const sums = new Map<string, number>();
  const walk = (frame: Frame) => {
    if (frame.other <= 0) return;
    if (frame.name === "" || own.has(frame.name)) for (const below of frame.children.values()) walk(below);
    // What it calls is told with it.
    else sums.set(frame.name, (sums.get(frame.name) ?? 0) + frame.other);
  };
  walk(root);
  const all = [...sums].map(([name, seconds]) => ({ name, seconds }));
  return all.sort((x, y) => y.seconds - x.seconds).slice(0, most);
}

/** A function's name as it is shown. */
export function shownName(name: string): string {
  const short = shorten(name, MOST_NAME);
  return short.trim() === "" ? "?" : short;
}

/** Stacks as flamegraph.pl and its like take them: a line each, with microseconds; names as `fairlane explain` writes them. */
export function folded(stacks: Stacks, lane: LaneStacks, activity: Activity): string {
  const plain = (text: string) => shorten(text, MOST_NAME).replace(/[\s;]/g, "_") || "_";
  return lane.stacks
    .filter((stack) => stack.activity === activity && stack.seconds > 0 && Number.isFinite(stack.seconds))
    .map((stack) => {
      const frames = stack.frames.map((place) => stacks.names[place]).filter((name) => name !== undefined);
      const named = frames.length > 0 ? frames.map(plain).join(";") : "[outside]";
      return `${clean(stack.role)};${named} ${Math.round(stack.seconds * 1e6)}\n`;
    })
    .join("");
}
