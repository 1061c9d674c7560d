// What is said of lanes with a past, in English.
import { say, type Said } from "../words/say";

type Pair = readonly [Said | string, Said | string];

export const aged = {
  title: "What age did",
  legend:
    "Written: by the life before the race, in sizes of the lane; refused: acts for which there was no room. Extents per file (FIEMAP) and layout score (share of a file’s blocks that follow the one before, Smith and Seltzer) are of the aged tree before the race. Walk score: the same for all blocks in the order of a walk. Aged/fresh: below 1 the aged lane is slower; in brackets the interval, a star where it is decided. –: not known, or no such lane was raced.",
  columns: {
    lane: "Lane",
    written: "Written",
    refused: "Refused",
    files: "Files",
    used: "Used",
    extents: "Extents per file",
    layout: "Layout score",
    walk: "Walk score",
    split: "Folders split",
    free: "Free space",
    cold: "Read cold",
  },
  beside: "Aged beside fresh",
  work: "Work",
  ratio: (ratio: string, interval: readonly [string, string] | null, decided: boolean) =>
    `${ratio}${decided ? "*" : ""}${interval === null ? "" : ` (${interval[0]} to ${interval[1]})`}`,
  free: (all: string, pieces: string, small: string) => `${all} in ${pieces} pieces, ${small} of it below 64 KiB`,
  cold: (aged: string, fresh: string, ratio: string, share: string, disk: string) => {
    const place = disk === "" ? "" : ` on ${disk}`;
    return `${aged} for a GiB, a fresh copy ${fresh}: ${ratio} as long (${share} of the files, each read once${place}, when the image was made)`;
  },
  state: (lane: Said, known: readonly string[]) => say`${lane}: ${known.join("; ")}.`,
  filled: (reached: string, byLife: string) => `files take ${reached} of the lane, by its life ${byLife}`,
  taken: (held: string, taken: string) => `the files hold ${held} and take ${taken}`,
  differing: (files: string) => `files that are not as its life says: ${files}`,
  sizes: (share: string, probability: string) =>
    `${share} of the files would be in another class of size in another life of its profile (chi-squared, p ${probability})`,
  ages: (share: string, probability: string) =>
    `${share} of the files would be in another class of age in another life of its profile (chi-squared, p ${probability})`,
  below: (probability: string) => `below ${probability}`,
  alone: (lane: Said) => say`${lane}: the same lane fresh was not raced, so what age did to it is not known.`,
  withoutRows: (lane: Said, fresh: Said) => say`${lane} / ${fresh}: no row has figures of both.`,
  ranks: (flips: string, decided: string, open: string) =>
    `Comparisons decided both fresh and aged, ties among them: ${decided}; ranks that flip: ${flips}; not decided fresh, aged or both: ${open}.`,
  unequal: (pairs: string) =>
    `Pairs of lanes of one past that are left out of this, because they are not equally full: ${pairs}.`,
  flip: (title: Said | string, fresh: Pair, aged: Pair) =>
    say`${title}: fresh ${fresh[0]} is ahead of ${fresh[1]}, aged ${aged[0]} of ${aged[1]}.`,
};
