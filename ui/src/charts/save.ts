// A chart as a file: with its title, its lanes' key and its caption, so that it can stand alone.
import { laneStyle } from "../lanes";
import { shown } from "../words/say";
import { FONT, ink, type ECharts } from "./echarts";

export interface Picture {
  chart: ECharts;
  title: string;
  caption: string;
  lanes: readonly string[];
  dark: boolean;
}

const MARGIN = 16;

/** The picture as an SVG document. */
function document_(picture: Picture): { text: string; width: number; height: number } {
  const { chart, dark } = picture;
  const colours = ink(dark);
  const drawn = chart.getDom().querySelector("svg");
  // What the page shows, in XML's own escapes.
  const inner = drawn ? new XMLSerializer().serializeToString(drawn) : "";
  const width = chart.getWidth() + 2 * MARGIN;
  const caption = wrapped(picture.caption, Math.floor((width - 2 * MARGIN) / 6.2));
  const key = picture.lanes.length > 0 ? 24 : 0;
  const top = MARGIN + 24 + key;
  const height = top + chart.getHeight() + caption.length * 17 + MARGIN + 6;
  let x = MARGIN;
  const keys = picture.lanes.map((lane, at) => {
    const style = laneStyle(at, dark);
    const label = shown(lane, 28);
    const text = `<g transform="translate(${x} ${MARGIN + 24})"><path d="M0 5H30" stroke="${style.colour}" stroke-width="1.6" stroke-dasharray="${style.dash.join(" ")}"/><path d="${style.path}" fill="${style.colour}" transform="translate(10 0)"/><text x="36" y="9" font-size="12">${escaped(label)}</text></g>`;
    x += 52 + label.length * 7;
    return text;
  });
  const lines = caption.map(
    (line, at) => `<text x="${MARGIN}" y="${top + chart.getHeight() + 20 + at * 17}" font-size="12" fill="${colours.quiet}">${escaped(line)}</text>`,
  );
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}" fill="${colours.text}">` +
    `<title>${escaped(picture.title)}</title><desc>${escaped(picture.caption)}</desc>` +
    `<rect width="100%" height="100%" fill="${colours.paper}"/>` +
    `<text x="${MARGIN}" y="${MARGIN + 10}" font-size="15" font-weight="600">${escaped(picture.title)}</text>` +
    keys.join("") +
    `<svg x="${MARGIN}" y="${top}" width="${chart.getWidth()}" height="${chart.getHeight()}">${inner}</svg>` +
    `${lines.join("")}</svg>`;
  return { text, width, height };
}

/** Lines of at most so many columns. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  // Chinese has no spaces to break at: a character is as wide as two others.
  const wide = (of: string) => Array.from(of).reduce((sum, c) => sum + ((c.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1), 0);
  for (const word of text.split(/(?<= )|(?<=[\u2e80-\uffff])/u)) {
    if (line !== "" && wide(line) + wide(word) > columns) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
  }
  return line.trim() === "" ? lines : [...lines, line];
}

/** A text inside of XML, without the two characters that no document may hold. */
export function escaped(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, "").replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function saveSvg(picture: Picture | null, file: string): void {
  if (picture) save(new Blob([document_(picture).text], { type: "image/svg+xml" }), `${file}.svg`);
}

export async function savePng(picture: Picture | null, file: string): Promise<void> {
  if (!picture) return;
  const { text, width, height } = document_(picture);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * 2;
    canvas.height = height * 2;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(2, 2);
    context.drawImage(image, 0, 0, width, height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob) save(blob, `${file}.png`);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Hands the reader a file. */
export function save(blob: Blob, file: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 120);
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
