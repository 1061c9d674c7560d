// How a lane looks in every chart and table: a colour that people with any sight of colour tell apart, and
// besides it a symbol and a dash of its own.

export interface LaneStyle {
  colour: string;
  /** Outline in a square of 10 by 10. */
  path: string;
  /** Lengths of dashes and gaps; none: a whole line. */
  dash: number[];
}

const LIGHT = ["#0a5fa5", "#b84a00", "#007a5e", "#9a3f80", "#7a5c00", "#3f4a8c", "#5b5b5b", "#8c1d40"];
const DARK = ["#6fb4ee", "#f0904f", "#45c49d", "#e39ac8", "#d9b24a", "#a3aef0", "#b8b8b8", "#f08aa4"];

const PATHS = [
  "M5 1a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
  "M1.4 1.4h7.2v7.2h-7.2z",
  "M5 .8l4.6 8.2h-9.2z",
  "M5 .2l4.8 4.8l-4.8 4.8l-4.8-4.8z",
  "M5 9.2l-4.6-8.2h9.2z",
  "M3.5 .8h3v2.7h2.7v3h-2.7v2.7h-3v-2.7h-2.7v-3h2.7z",
  "M2.6 .9h4.8l2.4 4.1l-2.4 4.1h-4.8l-2.4-4.1z",
  "M5 .3l1.4 3.2l3.4.4l-2.5 2.3l.7 3.4l-3-1.7l-3 1.7l.7-3.4l-2.5-2.3l3.4-.4z",
];

const DASHES = [[], [7, 3], [2, 2.5], [8, 3, 2, 3], [12, 4], [5, 2, 1.5, 2, 1.5, 2], [3, 3], [14, 3, 3, 3]];

/** The colour in a style sheet's terms, for light and dark and paper alike. */
export function laneColour(index: number): string {
  return `light-dark(${laneStyle(index, false).colour}, ${laneStyle(index, true).colour})`;
}

export function laneStyle(index: number, dark: boolean): LaneStyle {
  const at = Math.max(index, 0);
  const colours = dark ? DARK : LIGHT;
  // The colour comes round with the lanes; from then on the dashes are shifted, so that no two lanes are alike.
  const around = Math.floor(at / colours.length);
  return {
    colour: colours[at % colours.length] ?? "#000",
    path: PATHS[at % PATHS.length] ?? "",
    dash: DASHES[(at + around * 3) % DASHES.length] ?? [],
  };
}
