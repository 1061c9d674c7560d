// A race that explains itself: shares of every lane, headlines, and stacks for flame graphs.
import type { Activity, Explanation, LaneStacks, Part, RacePage, Stack, ThreadRole } from "../src/types";
import { quick } from "./fixture";

type Shares = [Part, number][];

/** Shares of the first lane, of one with few parts, and of one with all. */
const PARTS: [Shares, Shares, Shares] = [
  [
    ["flush", 0.46],
    ["locks", 0.24],
    ["filesystem-cpu", 0.13],
    ["kernel", 0.1],
    ["not-explained", 0.07],
  ],
  [
    ["device", 0.88],
    ["filesystem-cpu", 0.118],
    ["fairlane", 0.002],
  ],
  [
    ["checksums", 0.22],
    ["device", 0.15],
    ["kernel-threads", 0.14],
    ["flush", 0.1],
    ["filesystem-cpu", 0.09],
    ["locks", 0.07],
    ["memory", 0.06],
    ["scheduler", 0.05],
    ["filesystem-process", 0.04],
    ["kernel", 0.03],
    ["kernel-cpu", 0.02],
    ["fairlane", 0.02],
    ["not-explained", 0.01],
  ],
];

function explanation(lane: string, basis: Explanation["basis"], seconds: number, parts: Shares): Explanation {
  return {
    lane,
    basis: basis ?? "profile",
    seconds_per_operation: seconds,
    operations_per_second: 1 / seconds,
    unprofiled_operations_per_second: basis === "counters" ? null : 1.25 / seconds,
    samples: basis === "counters" ? 0 : 4210,
    lost_events: 0,
    parts: parts.map(([part, share]) => ({ part, share })),
    causes:
      basis === "counters"
        ? []
        : [
            { cause: "waiting for the journal's commit", part: "flush", share: 0.4 },
            { cause: "waiting for the journal's commit", part: "locks", share: 0.2 },
            { cause: "finding blocks and inodes", part: "filesystem-cpu", share: 0.09 },
          ],
    unknown: basis === "counters" ? [] : [{ function: "some_new_function", share: 0.07 }],
  };
}

/** The first result with a profile, the second by counters, and headlines of three that have no limit. */
export function explained(): RacePage {
  const race = quick();
  const lanes = race.findings.lanes.map((lane) => lane.name);
  race.findings.results.forEach((result, at) => {
    result.explanations = lanes.map((lane, index) =>
      explanation(lane, at === 0 ? "profile" : "counters", 1e-4 * (index + 1), PARTS[index] ?? PARTS[0]),
    );
  });
  const [first, second, third, fourth] = race.findings.results;
  if (!first || !second || !third || !fourth) throw new Error("the fixture has four results");
  first.explained = [
    `in these passes an operation takes 100 us in ${lanes[0]} and 300 us in ${lanes[2]}; of the 200 us more, 61 % waiting for the journal's commit`,
  ];
  second.limit = "unattributed";
  second.headline = { lane: lanes[2] ?? "", basis: "counters", part: "flush", share: 0.62, not_explained: 0.07, at_most: true };
  third.limit = "unattributed";
  third.headline = { lane: lanes[2] ?? "", basis: "profile", share: 0.3, not_explained: 0.41 };
  fourth.limit = "unattributed";
  fourth.headline = { lane: lanes[2] ?? "", basis: "profile", share: 0.4, not_explained: 0.1 };
  race.stacks = {
    names: ["vfs_write", "ext4_file_write_iter", "ext4_map_blocks", "btrfs_do_write_iter", "crc32c", "do_fsync", "jbd2_log_wait_commit", "btrfs_sync_log"],
    lanes: lanes.map((lane, at): LaneStacks => {
      const stack = (role: ThreadRole, activity: Activity, part: Part, seconds: number, frames: number[]): Stack => ({ role, activity, part, seconds, frames });
      const own = at === 2 ? 3 : 1;
      return {
        workload: first.workload,
        group: first.group,
        lane,
        operations: 10_000,
        samples: 2000,
        left_out_seconds: 0.01,
        stacks: [
          stack("caller", "cpu", "filesystem-cpu", 0.3 + 0.1 * at, [0, own, 2]),
          stack("caller", "cpu", "kernel", 0.2, [0]),
          ...(at === 2 ? [stack("caller", "cpu", "checksums", 0.25, [0, 3, 4])] : []),
          stack("caller", "cpu", "fairlane", 0.1, []),
          stack("kernel", "cpu", "filesystem-cpu", 0.05, [2]),
          stack("caller", "wait", "locks", 0.8, [5, at === 2 ? 7 : 6]),
          stack("caller", "wait", "not-explained", 0.02, []),
        ],
      };
    }),
  };
  return race;
}

/** As many stacks as a page holds: ten lanes and results, each with 600 stacks of 30 frames, 100,000 samples in all. */
export function manyStacks(): RacePage {
  const race = explained();
  const first = race.findings.results[0];
  if (!first) throw new Error("the fixture has a result");
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const names = Array.from({ length: 3000 }, (_, at) => `function_${at}`);
  const stacks = (): Stack[] =>
    Array.from({ length: 600 }, () => ({
      role: "caller",
      activity: "cpu",
      part: "filesystem-cpu",
      seconds: (1 + random(32)) * 0.0005,
      frames: Array.from({ length: 30 }, (_, depth) => depth * 100 + random(depth < 4 ? 2 : 100)),
    }));
  const lanes = race.findings.lanes.map((lane) => lane.name);
  race.stacks = {
    names,
    lanes: Array.from({ length: 100 }, (_, at) => ({
      workload: at < lanes.length ? first.workload : `w${at}`,
      group: first.group,
      lane: lanes[at % lanes.length] ?? "",
      operations: 10_000,
      samples: 1000,
      left_out_seconds: 0,
      stacks: stacks(),
    })),
  };
  return race;
}
