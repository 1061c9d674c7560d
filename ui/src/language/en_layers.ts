// What is said of the cost of layers and of several disks, in English.
import { say, type Said } from "../words/say";

export const layers = {
  title: "What layers cost",
  legend:
    "Written: bytes at all disks per byte of the application, the mean of the rows, split by disk as the measured windows were. CPU: of the whole system per operation, as a multiple of the same lane’s without layers, without an interval. Layers alone: how fast they are without a filesystem, as a multiple of a bare disk, looked at once. –: not known, or no such lane was raced.",
  columns: {
    lane: "Lane",
    usable: "Usable",
    written: "Written",
    byDisk: "By disk",
    cpu: "CPU",
    alone: "Layers alone",
  },
  usable: (usable: string, all: string) => `${usable} of ${all}`,
  beside: (own: string, other: string, lane: Said) => say`${own} (${lane} ${other})`,
  cpu: (times: string, range: readonly [string, string] | null, lane: Said, rows: string, one: boolean) =>
    say`${times}${range === null ? "" : ` (${range[0]} to ${range[1]})`} of ${lane}, ${rows} ${one ? "row" : "rows"}`,
  alone: (times: string, kinds: string, one: boolean) =>
    `${times} of a bare disk, ${kinds} ${one ? "kind" : "kinds"} of work`,
  fromTo: (least: string, most: string) => `${least} to ${most}`,
};
