// Was darüber gesagt wird, was Schichten und mehrere Platten kosten, auf Deutsch.
import { say, type Said } from "../words/say";
import type { layers as english } from "./en_layers";

export const layers: typeof english = {
  title: "Was Schichten kosten",
  legend:
    "Geschrieben: Bytes an allen Platten je Byte der Anwendung, das Mittel der Zeilen, je Platte aufgeteilt, wie in den gemessenen Fenstern geschrieben wurde. CPU: des ganzen Systems je Operation, als Vielfaches derselben Bahn ohne Schichten, ohne Intervall. Schichten allein: wie schnell sie ohne Dateisystem sind, als Vielfaches einer bloßen Platte, einmal nachgesehen. –: nicht bekannt, oder keine solche Bahn lief mit.",
  columns: {
    lane: "Bahn",
    usable: "Nutzbar",
    written: "Geschrieben",
    byDisk: "Je Platte",
    cpu: "CPU",
    alone: "Schichten allein",
  },
  usable: (usable: string, all: string) => `${usable} von ${all}`,
  beside: (own: string, other: string, lane: Said) => say`${own} (${lane} ${other})`,
  cpu: (times: string, range: readonly [string, string] | null, lane: Said, rows: string, one: boolean) =>
    say`${times}${range === null ? "" : ` (${range[0]} bis ${range[1]})`} von ${lane}, ${rows} ${one ? "Zeile" : "Zeilen"}`,
  alone: (times: string, kinds: string, one: boolean) =>
    `${times} einer bloßen Platte, ${kinds} ${one ? "Art" : "Arten"} von Arbeit`,
  fromTo: (least: string, most: string) => `${least} bis ${most}`,
};
