// What is said of appenders, in English.
import { joined, say, toned, type Said } from "../words/say";

export const appenders = {
  title: "Appenders: how late, and how many",
  heading: (title: Said, writers: string, files: string, period: string, processes: boolean) =>
    say`${title}: ${writers} writers with ${files} files each, every ${period}${processes ? ", a process each" : ""}.`,
  legend:
    "Lateness counts from when a record was due to when it was appended. A writer is late where something of it was late by a whole period or more. Own lateness is the harness’s and the scheduler’s part of it.",
  columns: {
    lane: "Lane",
    lateWriters: "Late writers",
    lateRecords: "Late records",
    p50: "p50",
    p99: "p99",
    p999: "p99.9",
    max: "Max",
    own: "Own p99",
    dirty: "Dirty, most",
    blocked: "Blocked tasks, most",
  },
  group: (lane: Said, group: Said) => say`${lane}, ${group}`,
  backlog: (lane: Said, rounds: string, of: string) => say`${lane} fell behind in ${rounds} of ${of} rounds: its backlog grew.`,
  picture: (lane: Said) => say`The machine under ${lane}: memory above, iowait and load below. Every lane has the same axes.`,
  pictureTitle: (lane: string) => `Memory, iowait and load: ${lane}`,
  lines: {
    buffers_bytes: "Buffers",
    cached_bytes: "Cached",
    dirty_bytes: "Dirty",
    iowait_share: "iowait",
    iowait_average_share: "iowait, mean of 10 s",
    load_average: "Load",
  } as { [line: string]: string },
  between: (line: string, low: string, high: string) => `${line} ${low} to ${high}`,
  search: "Writers that each lane sustains",
  searchBy: {
    lateness: "Sustained: p99 lateness under one period, and no growing backlog.",
    load: "Sustained: a load average, of the step alone, of at most the number of CPUs.",
  },
  searchHeading: (title: Said, files: string, period: string, passes: string) =>
    say`${title}, varied: ${files} files each, every ${period}; ${passes} passes.`,
  writers: "Writers",
  interval: "95 % interval",
  edge: "At its edge",
  atLeast: (writers: string) => `at least ${writers}`,
  times: (a: Said, b: Said, size: string, interval: string | null) =>
    say`${a} sustains ${toned("faster", `${size}×`)} as many writers as ${b}${interval === null ? "" : ` (${interval}×)`}`,
  more: (a: Said, b: Said, size: string, more: boolean, interval: string | null) =>
    say`${a} sustains ${toned(more ? "faster" : "slower", `${size} ${more ? "more" : "fewer"}`)} writers than ${b}${interval === null ? "" : ` (${interval})`}`,
  tie: (a: Said, b: Said) => say`${a} and ${b} ${toned("tie", "tie")}`,
  noisy: (a: Said, b: Said) => say`${a} and ${b}: ${toned("undecided", "undecided")}`,
  none: (a: Said, b: Said) => say`${a} and ${b}: ${toned("none", "no verdict")}`,
  because: (said: Said, why: Said) => say`${said}: ${why}`,
  and: (parts: readonly Said[]) => joined(parts, "; "),
  metrics: {
    lateness_p50_ns: "Median lateness",
    lateness_p99_ns: "p99 lateness",
    late_share: "Late records",
    late_writers_share: "Writers that were late",
  } as { [metric: string]: string },
  quantities: {
    buffers_bytes: "Page cache of block devices (Buffers)",
    cached_bytes: "Page cache of files (Cached)",
    writeback_bytes: "On its way to a disk (Writeback)",
    iowait_average_share: "CPU idle while I/O was outstanding, mean of 10 s",
    load_average: "Load average of one minute",
    blocked_tasks: "Tasks that wait uninterruptibly (state D)",
    kworker_share: "CPU of the kernel’s workers, of all CPUs",
    device_reads_per_second: "Reads completed by the device per second",
    device_writes_per_second: "Writes completed by the device per second",
  } as { [quantity: string]: string },
};
