// A screening of six options, two of them promises, over two figures of the golden race; its proposal was confirmed.
import type {
  Effect,
  EffectVerdict,
  Factor,
  HalfNormal,
  OptionClass,
  RacePage,
  ScreenedResult,
  ScreeningFinding,
  Tuning,
} from "../src/types";
import { quick } from "./fixture";

function factor(name: string, usual: string, other: string, kind: OptionClass, costs = ""): Factor {
  return { name, usual: { label: usual }, other: { label: other }, class: kind, costs };
}

function effect(factor: string, ratio: number, low: number, high: number, verdict: EffectVerdict): Effect {
  return { factor, ratio, low, high, p: 0.01, verdict };
}

function result(workload: string, title: string, group: string, effects: Effect[]): ScreenedResult {
  return { workload, title, group, metric: "operations_per_second", higher_is_better: true, rounds: 5, deviation: 0.021, effects };
}

/** Points as Rust makes them; their quantiles matter to no test. */
function plot(of: ScreenedResult): HalfNormal {
  const sizes = [
    ...of.effects.map((one) => ({ factor: one.factor, size: Math.abs(Math.log(one.ratio)) })),
    ...(of.spare ?? []).map((ratio) => ({ factor: null, size: Math.abs(Math.log(ratio)) })),
  ];
  sizes.sort((a, b) => a.size - b.size);
  return { workload: of.workload, group: of.group, points: sizes.map((point, at) => ({ ...point, quantile: (at + 0.5) / 3 })) };
}

const COMMIT: ScreenedResult = {
  ...result("commit", "commit 4 KiB", "write", [
    effect("dir_index", 1.002, 0.98, 1.025, "does-not"),
    effect("journal", 1.12, 1.09, 1.15, "matters"),
    effect("lazytime", 1.03, 0.97, 1.09, "open"),
    effect("noatime", 0.95, 0.93, 0.97, "matters"),
    effect("barrier", 2.4, 2.2, 2.6, "matters"),
    effect("data", 1.01, 0.96, 1.06, "open"),
  ]),
  interactions: [
    { factors: ["journal", "barrier"], ratio: 1.08, low: 1.03, high: 1.13, aliases: [["dir_index", "data"]] },
  ],
  spare: [1.006, 0.995, 1.002],
};

const CREATE: ScreenedResult = {
  ...result("small-files", "small files: create", "create", [
    effect("dir_index", 0.8, 0.77, 0.83, "matters"),
    effect("journal", 1.01, 0.99, 1.028, "does-not"),
    effect("lazytime", 1.01, 0.98, 1.04, "open"),
    effect("noatime", 1, 0.98, 1.02, "does-not"),
    effect("barrier", 1.004, 0.985, 1.024, "does-not"),
    effect("data", 1, 0.975, 1.026, "does-not"),
  ]),
  lanes_differ: true,
};

export function finding(): ScreeningFinding {
  return structuredClone({
    base: "ext4",
    design: "folded-plackett-burman" as const,
    lanes: 16,
    full_factorial_lanes: 64,
    factors: [
      factor("dir_index", "on", "off", "ordinary"),
      factor("journal", "64M", "1G", "ordinary", "1 GiB of the lane's room"),
      factor("lazytime", "off", "on", "ordinary"),
      factor("noatime", "off", "on", "ordinary"),
      factor("barrier", "on", "off", "promises", "a power cut can lose or mix up what was saved"),
      factor("data", "ordered", "writeback", "promises"),
    ],
    left_out: [{ option: "bigalloc on", why: "mkfs.ext4 refuses it: invalid cluster size" }],
    margin: 0.03,
    results: [COMMIT, CREATE],
    proposal: {
      factors: ["journal"],
      mixed: ["noatime"],
      promises: ["barrier"],
      expected: [{ workload: "commit", group: "write", title: "commit 4 KiB", ratio: 1.12 }],
    },
    confirmation: {
      lane: "proposal",
      default_lane: "default",
      seed: 43,
      rows: [
        { workload: "commit", title: "commit 4 KiB", group: "write", expected: 1.12, ratio: 1.09, low: 1.06, high: 1.12, verdict: "faster" as const, cpu_shares: [0.121, 0.117], written_per_byte: [2.13, 1.25] },
        { workload: "small-files", title: "small files: create", group: "create", ratio: 1.004, low: 0.98, high: 1.03, verdict: "tie" as const },
      ],
      counted: 1,
      gained: 1,
      outcome: "confirmed" as const,
      commands: ["mkfs   mkfs.ext4 -J size=1024 DEVICE", "mount  mount DEVICE /mnt"],
    },
  });
}

/** Tuning in one race: the better of two combinations was chosen. */
export function tuning(): Tuning {
  const journal = { factor: "journal", level: "512M" };
  const combinations = [
    { levels: [journal], mean: 1.2, worst: 1.04, fate: "chosen" as const },
    { levels: [{ factor: "lazytime", level: "on" }], fate: "dropped" as const },
  ];
  return { races: [{ record: "s-tune1.jsonl", rounds: 3, combinations }], chosen: [{ ...journal, costs: "half a GiB" }] };
}

/** The page of a screening; its lanes have figures, and no pair of them is judged. */
export function screening(of: ScreeningFinding = finding()): RacePage {
  const race = quick();
  return {
    ...race,
    half_normal: of.results.filter((one) => one.effects.length > 0).map(plot),
    findings: {
      ...race.findings,
      screening: of,
      conclusion: { choice: { is: "screened" } },
      results: race.findings.results.map((one) => ({ ...one, pairs: [], statements: [], acts: [], ranking: [] })),
    },
  };
}
