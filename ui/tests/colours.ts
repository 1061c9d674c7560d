// How far apart two colours look, to every sight of colour, and how well letters stand on them.

type Three = [number, number, number];
type Matrix = [Three, Three, Three];

/** What people see who lack one kind of cone (Machado, Oliveira and Fernandes 2009), in linear sRGB. */
const SIGHTS: { [sight: string]: Matrix } = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Oklab (Ottosson 2020). */
const CONES: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const LAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

const times = (matrix: Matrix, of: Three): Three => matrix.map((row) => row[0] * of[0] + row[1] * of[1] + row[2] * of[2]) as Three;

/** Linear parts of `rgb(…)`. */
function linear(colour: string): Three {
  const parts = (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => Number(part) / 255);
  return parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as Three;
}

function seen(colour: Three, sight: Matrix): Three {
  const light = times(sight, colour).map((part) => Math.min(Math.max(part, 0), 1)) as Three;
  return times(LAB, times(CONES, light).map(Math.cbrt) as Three);
}

/** The least distance of two of the colours to any sight; 100 lies between black and white. */
export function nearest(colours: readonly string[]): number {
  let least = Infinity;
  for (const sight of Object.values(SIGHTS)) {
    const all = colours.map((colour) => seen(linear(colour), sight));
    all.forEach((one, at) => {
      for (const other of all.slice(0, at)) least = Math.min(least, 100 * Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]));
    });
  }
  return least;
}

/** Contrast of two colours (WCAG 2). */
export function contrast(one: string, other: string): number {
  const light = (colour: string) => {
    const [red, green, blue] = linear(colour);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const [low, high] = [light(one), light(other)].sort((x, y) => x - y);
  return (high ?? 1) / (low ?? 1);
}
