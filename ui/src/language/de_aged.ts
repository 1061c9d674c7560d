// Was von Bahnen mit einer Vergangenheit gesagt wird, auf Deutsch.
import { say, type Said } from "../words/say";
import type { aged as english } from "./en_aged";

type Pair = readonly [Said | string, Said | string];

export const aged: typeof english = {
  title: "Was das Alter tat",
  legend:
    "Geschrieben: vom Leben vor dem Rennen, in Größen der Bahn; abgelehnt: Schritte, für die kein Platz war. Extents je Datei (FIEMAP) und Layout-Wert (Anteil der Blöcke einer Datei, die auf den vorigen folgen, Smith und Seltzer) gelten dem gealterten Baum vor dem Rennen. Gang-Wert: dasselbe für alle Blöcke in der Reihenfolge eines Gangs durch den Baum. Alt/frisch: unter 1 ist die alte Bahn langsamer; in Klammern das Intervall, ein Stern, wo es entschieden ist. –: nicht bekannt, oder keine solche Bahn lief mit.",
  columns: {
    lane: "Bahn",
    written: "Geschrieben",
    refused: "Abgelehnt",
    files: "Dateien",
    used: "Belegt",
    extents: "Extents je Datei",
    layout: "Layout-Wert",
    walk: "Gang-Wert",
    split: "Geteilte Ordner",
    free: "Freier Platz",
    cold: "Kalt gelesen",
  },
  beside: "Alt neben frisch",
  work: "Arbeit",
  ratio: (ratio: string, interval: readonly [string, string] | null, decided: boolean) =>
    `${ratio}${decided ? "*" : ""}${interval === null ? "" : ` (${interval[0]} bis ${interval[1]})`}`,
  free: (all: string, pieces: string, small: string) => `${all} in ${pieces} Stücken, ${small} davon unter 64 KiB`,
  cold: (aged: string, fresh: string, ratio: string, share: string, disk: string) => {
    const place = disk === "" ? "" : ` auf ${disk}`;
    return `${aged} je GiB, eine frische Kopie ${fresh}: ${ratio} so lange (${share} der Dateien, je einmal gelesen${place}, als das Abbild entstand)`;
  },
  state: (lane: Said, known: readonly string[]) => say`${lane}: ${known.join("; ")}.`,
  filled: (reached: string, byLife: string) => `Dateien belegen ${reached} der Bahn, nach ihrem Leben ${byLife}`,
  taken: (held: string, taken: string) => `die Dateien enthalten ${held} und belegen ${taken}`,
  differing: (files: string) => `Dateien, die nicht so sind, wie ihr Leben sagt: ${files}`,
  sizes: (share: string, probability: string) =>
    `${share} der Dateien lägen in einem anderen Leben desselben Profils in einer anderen Größenklasse (Chi-Quadrat, p ${probability})`,
  ages: (share: string, probability: string) =>
    `${share} der Dateien lägen in einem anderen Leben desselben Profils in einer anderen Altersklasse (Chi-Quadrat, p ${probability})`,
  below: (probability: string) => `unter ${probability}`,
  alone: (lane: Said) =>
    say`${lane}: dieselbe Bahn lief nicht frisch mit, also ist nicht bekannt, was das Alter ihr tat.`,
  withoutRows: (lane: Said, fresh: Said) => say`${lane} / ${fresh}: keine Zeile hat Zahlen von beiden.`,
  ranks: (flips: string, decided: string, open: string) =>
    `Vergleiche, die frisch und alt entschieden sind, auch als gleich: ${decided}; Ränge, die sich umkehren: ${flips}; frisch, alt oder beides nicht entschieden: ${open}.`,
  unequal: (pairs: string) =>
    `Paare von Bahnen einer Vergangenheit, die hier fehlen, weil sie nicht gleich voll sind: ${pairs}.`,
  flip: (title: Said | string, fresh: Pair, aged: Pair) =>
    say`${title}: frisch liegt ${fresh[0]} vor ${fresh[1]}, alt ${aged[0]} vor ${aged[1]}.`,
};
