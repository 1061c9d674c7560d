// A flame graph as an SVG document: with its title, what it is of, and its key, so that it can stand alone.
import { FONT, ink } from "./echarts";
import { escaped, wrapped } from "./save";

export interface Drawing {
  title: string;
  caption: string;
  dark: boolean;
  /** Pixels of the graph, and of a row. */
  width: number;
  row: number;
  rows: number;
  boxes: DrawnBox[];
  key: { label: string; look: string }[];
  /** Where style sheets know the looks. */
  place: HTMLElement;
}

export interface DrawnBox {
  /** Pixels. */
  left: number;
  width: number;
  depth: number;
  label: string;
  /** What a reader is told who points at it. */
  told: string;
  /** Class that gives it its colour. */
  look: string;
}

const MARGIN = 16;
const LINE = 17;
/** Pixels of a letter of 12 pixels, as wide as the widest alphabets have it, and of the narrowest box that holds any. */
const LETTER = 6.6;
const LEAST_NAMED = 34;
const HATCHED = "part-not-explained";

export function flameSvg(of: Drawing): Blob {
  const colours = ink(of.dark);
  const width = of.width + 2 * MARGIN;
  const caption = wrapped(of.caption, Math.floor(of.width / 6.2));
  const key = keyed(of);
  const top = MARGIN + 26 + caption.length * LINE;
  const below = top + of.rows * of.row + 8;
  const height = below + key.rows * LINE + MARGIN;
  const fill = colour(of.place);
  const lines = caption.map((line, at) => `<text x="${MARGIN}" y="${MARGIN + 30 + at * LINE}" fill="${colours.quiet}">${escaped(line)}</text>`);
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}" font-size="12" fill="${colours.text}">` +
    `<title>${escaped(of.title)}</title><desc>${escaped(of.caption)}</desc>` +
    `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M1 0V6" stroke="${colours.line}" stroke-opacity="0.6" stroke-width="1.5"/></pattern></defs>` +
    `<rect width="100%" height="100%" fill="${colours.paper}"/>` +
    `<text x="${MARGIN}" y="${MARGIN + 10}" font-size="15" font-weight="600">${escaped(of.title)}</text>` +
    lines.join("") +
    `<g transform="translate(${MARGIN} ${top})">${of.boxes.map((box) => boxed(box, of.row, fill)).join("")}</g>` +
    `<g transform="translate(${MARGIN} ${below})">${key.items.map((item) => filled(item, 11, 11, fill) + label(item.x + 15, item.y + 10, item.label)).join("")}</g></svg>`;
  return new Blob([text], { type: "image/svg+xml" });
}

function boxed(box: DrawnBox, row: number, fill: (look: string) => string): string {
  const y = box.depth * row;
  const rect = filled({ x: box.left, y, look: box.look }, Math.max(box.width - 0.5, 0.5), row - 1, fill);
  const name = fitted(box.label, box.width);
  return `<g><title>${escaped(box.told)}</title>${rect}${name === "" ? "" : label(box.left + 3, y + 14, name)}</g>`;
}

function label(x: number, y: number, text: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}">${escaped(text)}</text>`;
}

function filled(at: { x: number; y: number; look: string }, width: number, height: number, fill: (look: string) => string): string {
  const rect = (of: string) => `<rect x="${at.x.toFixed(1)}" y="${at.y}" width="${width.toFixed(1)}" height="${height}" fill="${of}"/>`;
  return rect(fill(at.look)) + (at.look === HATCHED ? rect("url(#hatch)") : "");
}

/** The colour of a look, as the style sheet has it. */
function colour(place: HTMLElement): (look: string) => string {
  const known = new Map<string, string>();
  return (look) => {
    const before = known.get(look);
    if (before !== undefined) return before;
    const probe = document.createElement("span");
    probe.className = look;
    place.append(probe);
    const of = getComputedStyle(probe).backgroundColor;
    probe.remove();
    known.set(look, of);
    return of;
  };
}

/** Places of the key's entries, in as many rows as they need. */
function keyed(of: Drawing): { items: { x: number; y: number; label: string; look: string }[]; rows: number } {
  let [x, row] = [0, 0];
  const items = of.key.map(({ label: said, look }) => {
    const wide = 32 + pixels(said);
    if (x > 0 && x + wide > of.width) [x, row] = [0, row + 1];
    const item = { x, y: row * LINE, label: said, look };
    x += wide;
    return item;
  });
  return { items, rows: items.length > 0 ? row + 1 : 0 };
}

/** As many letters as there is room for. */
function fitted(of: string, room: number): string {
  if (room < LEAST_NAMED) return "";
  if (pixels(of) <= room - 6) return of;
  const letters = Array.from(of);
  while (letters.length > 0 && pixels(letters.join("")) > room - 6 - LETTER) letters.pop();
  return letters.length > 0 ? `${letters.join("")}…` : "";
}

/** About how wide a text is: letters of Chinese are as wide as high. */
function pixels(of: string): number {
  return Array.from(of).reduce((sum, c) => sum + ((c.codePointAt(0) ?? 0) > 0x2e7f ? 12 : LETTER), 0);
}
