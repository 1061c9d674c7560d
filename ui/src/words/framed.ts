// What a frame of a flame graph is called, and what is said of it.
import type { LaneStacks } from "../types";
import { wordOf, type Ui } from "../ui";
import { shownName, type Frame } from "./flame";
import { name, say, text, type Said } from "./say";

/** A frame's name: a function's, or the page's own word for what is none. */
export function frameName(ui: Ui, frame: Frame): string {
  const w = ui.words.explain.flame;
  if (frame.role) return wordOf(w.roles, frame.role);
  if (frame.outside) return w.outside[frame.outside];
  return frame.name === "" ? w.all : shownName(frame.name);
}

/** How much more time, or less, with its sign. */
export function difference(ui: Ui, seconds: number): string {
  const w = ui.words.explain.flame;
  if (seconds === 0) return w.same;
  return seconds > 0 ? w.more(ui.figures.time(seconds)) : w.less(ui.figures.time(-seconds));
}

/** All of a frame: its name, its time and share, and how far it is from the other lane. */
export function frameSaid(ui: Ui, frame: Frame, root: Frame, against: LaneStacks | null): Said {
  const w = ui.words.explain.flame;
  const share = ui.figures.percent(root.seconds > 0 ? frame.seconds / root.seconds : 0, 1);
  const said = w.frame(text(frameName(ui, frame)), ui.figures.time(frame.seconds), share);
  return against ? say`${said}${w.than(difference(ui, frame.seconds - frame.other), name(against.lane))}` : said;
}
