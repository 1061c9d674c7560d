// A race with appenders and a search, drawn from functions of time.
import type { LaneTimeline, RacePage, SearchFinding, AppendersFinding, AppendersRow } from "../src/types";
import { quick } from "./fixture";

const MIB = 1048576;

function course(lane: string, at: number): LaneTimeline {
  const points = 146;
  const list = (of: (second: number) => number) => Array.from({ length: points }, (_, point) => of((point + 1) * 0.48));
  const burst = (second: number) => (second % 30 > 24 ? 1 : 0);
  return {
    lane,
    seconds: list((second) => second),
    rounds: list((second) => 1 + Math.floor(second / 35.1)),
    quantities: {
      buffers_bytes: list((second) => (20 + second / 10) * MIB),
      cached_bytes: list((second) => (8000 + 3 * second * (at + 1)) * MIB),
      dirty_bytes: list((second) => ((second % 30) * 8 + 4) * MIB * (at + 1)),
      iowait_share: list((second) => 0.6 * burst(second)),
      iowait_average_share: list((second) => 0.12 + 0.01 * burst(second)),
      load_average: list((second) => 0.4 + second / 40 + at),
      blocked_tasks: list((second) => 200 * burst(second)),
    },
  };
}

function row(lane: string, p99: number): AppendersRow {
  return {
    lane,
    group: "append",
    rounds: 6,
    late_writers_share: 0.125,
    late_share: 0.004,
    p50_ns: 90e3,
    p99_ns: p99,
    p999_ns: 2 * p99,
    max_ns: 3 * p99,
    scheduling_p99_ns: 80e3,
    backlog_rounds: 0,
    dirty_bytes_max: 240 * MIB,
    iowait_share_max: 0.3,
    load_average_max: 2.2,
    blocked_tasks_max: 200,
    bursts: null,
    story: null,
  };
}

const APPENDERS: AppendersFinding = {
  workload: "appenders-4000",
  title: "4000 writers at 0.5 s",
  writers: 4000,
  files: 4,
  period_seconds: 0.5,
  processes: false,
  rows: [
    row("ext4", 2e6),
    row("xfs", 1e6),
    {
      ...row("btrfs", 900e6),
      backlog_rounds: 2,
      story: "btrfs writes every 30 s in bursts of 240 MiB; p99 lateness rises from 2 ms to 900 ms",
    },
  ],
};

const SEARCH: SearchFinding = {
  workload: "appenders-4000",
  title: "4000 writers at 0.5 s",
  criterion: "lateness",
  files: 4,
  period_seconds: 0.5,
  most_writers: 200_000,
  passes: 4,
  lanes: [
    { lane: "ext4", writers: 9440, low: 8780, high: 10_100, at_least: false, could_not_go_on: false, reason: "with 9900 writers the backlog grows, to 3 s at the end", passes: [] },
    { lane: "xfs", writers: 200_000, low: null, high: null, at_least: true, could_not_go_on: false, reason: null, passes: [] },
    { lane: "btrfs", writers: null, low: null, high: null, at_least: false, could_not_go_on: false, reason: null, passes: [], failure: "no pass of the search ended" },
  ],
  pairs: [
    { a: "xfs", b: "ext4", ratio: 21.2, low: 19, high: 23, verdict: "faster", why: null, minutes_to_settle: null },
    { a: "btrfs", b: "ext4", ratio: null, low: null, high: null, verdict: "none", why: "btrfs: no pass of the search ended", minutes_to_settle: null },
  ],
  ranking: [["xfs"], ["ext4"]],
  warnings: [],
};

export function appenders(): RacePage {
  const race = quick();
  return {
    ...race,
    findings: { ...race.findings, swarms: [APPENDERS], searches: [SEARCH], conclusion: { choice: { is: "searched" } } },
    courses: [
      ...race.courses,
      { workload: APPENDERS.workload, title: APPENDERS.title, lanes: ["ext4", "xfs", "btrfs"].map(course) },
    ],
  };
}
