// Pages as Rust makes them: findings of the report's golden files, and what lies behind them drawn from a
// seeded generator with the figures of those findings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  Advice,
  Timeline,
  Detail,
  Findings,
  Language,
  OperationsFinding,
  Page,
  PercentilePoint,
  PublishedComparison,
  RacePage,
  ResultFinding,
  Trials,
  Work,
} from "../src/types";

const ROOT = join(process.cwd(), "..");
export const GOLDEN = join(ROOT, "crates/report/tests/golden");

/** Numbers between 0 and 1 from a seed (Park and Miller 1988). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(Math.max(next(), 1e-12))) * Math.cos(2 * Math.PI * next());
}

export function golden(name: "three" | "hostile"): Findings {
  return JSON.parse(readFileSync(join(GOLDEN, `json-${name}.txt`), "utf8")) as Findings;
}

function latency(next: () => number, median: number, spread: number, most: number): PercentilePoint[] {
  const points: PercentilePoint[] = [];
  const percentiles = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999];
  let before = 0;
  for (const percentile of percentiles.filter((of) => of <= most)) {
    const tail = -Math.log10(1 - Math.min(percentile, 99.9999) / 100);
    before = Math.max(before, median * Math.exp(spread * (tail - 0.3)) * (1 + 0.03 * next()));
    points.push({ percentile, ns: before });
  }
  return points;
}

export function details(findings: Findings, rounds: number, seed = 7): Detail[] {
  const next = generator(seed);
  return findings.results.map((result) => ({
    ceiling: result.unit === "operations/s" ? Math.max(...result.estimates.map((of) => of.mean)) * 1.4 : null,
    lanes: findings.lanes.map((lane, at) => {
      const estimate = result.estimates.find((of) => of.lane === lane.name && of.failure == null);
      const count = estimate ? Math.min(rounds, 2000) : 0;
      const median = result.metric === "bandwidth_bytes_per_second" ? 1.9e6 : 1e9 / Math.max(estimate?.mean ?? 1, 1);
      return {
        lane: lane.name,
        rounds: Array.from({ length: count }, (_, round) => ({
          round: round + 1,
          value: (estimate?.mean ?? 0) * Math.exp(0.035 * normal(next)),
        })),
        rounds_in_all: estimate ? rounds : 0,
        latency: estimate && result.group !== "delete" ? latency(next, median, 0.55 + 0.25 * at, 99.99) : [],
      };
    }),
  }));
}

export function courses(findings: Findings, points: number, seed = 11): Timeline[] {
  const next = generator(seed);
  const workloads = [...new Map(findings.results.map((result) => [result.workload, result])).values()];
  return workloads.map((result) => ({
    workload: result.workload,
    title: result.title,
    lanes: findings.lanes.map((lane, at) => {
      const mean = result.estimates.find((of) => of.lane === lane.name)?.mean ?? 0;
      const iops = result.unit === "B/s" ? mean / 1048576 : mean;
      const wave = (scale: number, of: number) => scale * Math.max(0, 1 + 0.08 * normal(next) + 0.12 * Math.sin(of / 9 + at));
      const list = (scale: number) => Array.from({ length: points }, (_, of) => wave(scale, of));
      return {
        lane: lane.name,
        seconds: Array.from({ length: points }, (_, of) => (of + 1) * 0.1),
        rounds: Array.from({ length: points }, (_, of) => 1 + Math.floor((of * 8) / points)),
        quantities: {
          operations_per_second: list(iops),
          cpu_share: list(0.2 + 0.1 * at),
          iowait_share: list(0.15),
          device_write_bytes_per_second: list(iops * 4096 * (1 + at)),
          device_read_bytes_per_second: list(iops * 512),
          device_iops: list(iops * (1 + at * 0.4)),
          device_flushes_per_second: list(40 * (at + 1)),
          device_queue: list(3 + at),
          device_busy_share: list(0.6),
          dirty_bytes: list(64e6),
          pressure_io_share: list(0.3),
        },
      };
    }),
  }));
}

export function trials(findings: Findings, rounds: number, most = 20_000, seed = 13): Trials {
  const next = generator(seed);
  const names: string[] = [""];
  const index = (name: string) => {
    const at = names.indexOf(name);
    return at >= 0 ? at : names.push(name) - 1;
  };
  const table: Trials = {
    in_all: 0,
    names,
    workload: [],
    group: [],
    lane: [],
    round: [],
    attempt: [],
    outcome: [],
    started_seconds: [],
    value: [],
    operations: [],
    bytes: [],
    seconds: [],
    p99_ns: [],
    remarks: {},
  };
  let at = 0;
  for (let round = 1; round <= rounds; round += 1) {
    for (const result of findings.results) {
      for (const estimate of result.estimates) {
        table.in_all += 1;
        if (table.round.length >= most) continue;
        at += 0.4 + 0.2 * next();
        const repeated = round === 3 && result.workload === "commit" && estimate.lane === findings.lanes[1]?.name;
        const row = table.round.length;
        table.workload.push(index(result.workload));
        table.group.push(index(result.group));
        table.lane.push(index(estimate.lane));
        table.round.push(round);
        table.attempt.push(1);
        table.outcome.push(repeated ? "repeated" : "ok");
        table.started_seconds.push(at);
        table.value.push(repeated ? null : estimate.mean * Math.exp(0.035 * normal(next)));
        table.operations.push(Math.round(estimate.mean * 0.4));
        table.bytes.push(Math.round(estimate.mean * 0.4 * 4096));
        table.seconds.push(0.4);
        table.p99_ns.push(result.group === "delete" ? null : 2.1e6 * (1 + 0.1 * next()));
        if (repeated) table.remarks[String(row)] = "other programs wrote 12 MiB to the disk beside the lane's 48 MiB";
      }
    }
  }
  return table;
}

const ADVICE: Advice[] = [
  {
    scenario: "mysql",
    title: "MySQL",
    lane: "xfs",
    level_with: [],
    no_advice: null,
    why: [
      { what: "random writes", share: 0.15, series: ["quick/random-write/write"], against: "btrfs", ratio: 3.3, at_least: true },
      { what: "commits", share: 0.2, series: ["quick/commit/write"], against: "btrfs", ratio: 2.1, at_least: true },
      { what: "commits", share: 0.2, series: ["quick/commit/write"], against: "ext4", ratio: 1.06, at_least: true },
    ],
    leads: [
      { against: "ext4", ratio: 1.04 },
      { against: "btrfs", ratio: 2.4 },
    ],
    equal: [{ what: "random reads", share: 0.15, because: "device" }],
    excluded: [],
    share_of_resampled_races: 0.94,
    flips_if: [
      { kind: "weight", what: "commits", share: 0.2, at: 0.12, lane: "ext4" },
      { kind: "with", needs: ["checksums|snapshots"], lane: "btrfs", ratio: 0.41 },
    ],
    measured_share: 0.55,
    own_share: 0.4,
    own_suite: "database",
    not_measured: [
      { what: "transactions", share: 0.4, suite: null },
      { what: "latency of reads under load", share: 0.05, suite: "latency" },
    ],
    next: ["race", "ext4", "xfs", "btrfs", "--suite", "latency"],
    raced_without: [],
    notes: [{ lanes: ["xfs"], text: "it does not checksum data", source: "docs/advice.md, the table" }],
  },
  {
    scenario: "home-server",
    title: "home server",
    lane: "btrfs",
    level_with: [],
    no_advice: null,
    why: [],
    leads: [],
    equal: [],
    excluded: ["ext4", "xfs"].map((lane) => ({
      lane,
      constraint: "checksums|snapshots",
      why: "keeps the only copy for years: damage must be noticed, or a mistake be taken back",
      facts: [
        { need: "checksums", is: "no", with: null, note: "metadata alone is checksummed" },
        { need: "snapshots", is: "no", with: null, note: "LVM below it can take them" },
      ],
      source: "ext4(5), metadata_csum; mkfs.xfs(8), -m crc",
    })),
    share_of_resampled_races: null,
    flips_if: [{ kind: "without", need: "checksums|snapshots", lane: "xfs", ratio: 1.51 }],
    measured_share: 1,
    own_share: 1,
    own_suite: "general",
    not_measured: [],
    next: [],
    raced_without: [{ need: "quota", with: "btrfs quota enable", source: "btrfs-quota(8), DESCRIPTION" }],
    notes: [],
  },
  {
    scenario: "web-server",
    title: "web server",
    lane: "ext4",
    level_with: ["xfs"],
    no_advice: null,
    why: [{ what: "reads of small files", share: 0.35, series: ["quick/small-files/read"], against: "btrfs", ratio: 1.12, at_least: true }],
    leads: [
      { against: "xfs", ratio: 1.01 },
      { against: "btrfs", ratio: 1.14 },
    ],
    equal: [{ what: "file creations", share: 0.1, because: "undecided" }],
    excluded: [],
    share_of_resampled_races: 0.997,
    flips_if: [{ kind: "undecided", what: "file creations", lane: "btrfs" }],
    measured_share: 0.6,
    own_share: 0,
    own_suite: "applications",
    not_measured: [{ what: "appends", share: 0.4, suite: "operations" }],
    next: [],
    raced_without: [],
    notes: [],
  },
  {
    scenario: "logs",
    title: "logs",
    lane: null,
    level_with: [],
    no_advice: "too-little-measured",
    why: [],
    leads: [],
    equal: [],
    excluded: [],
    share_of_resampled_races: null,
    flips_if: [],
    measured_share: 0.45,
    not_measured: [{ what: "appends", share: 0.55, suite: "operations" }],
    next: ["race", "ext4", "xfs", "btrfs", "--suite", "operations"],
    raced_without: [],
    notes: [],
  },
];

const PUBLISHED: PublishedComparison = {
  schema: 1,
  record: "2026-07-01T100000Z-quick",
  started: "2026-07-01T10:00:00Z",
  published: "openeuler",
  title: "ext4, XFS and Btrfs on openEuler",
  source: { site: "a blog", author: null, year: 2024, language: "Chinese" },
  lanes: [
    { published: "ext4", yours: "ext4" },
    { published: "xfs", yours: "xfs" },
  ],
  rows: [
    {
      workload: "random-write",
      title: "random write 4 KiB",
      group: "write",
      metric: "operations_per_second",
      higher_is_better: true,
      lanes: [
        { lane: "ext4", yours: 70100, published: 8050, qualifier: "about", note: "the disk's own cap" },
        { lane: "xfs", yours: 69800, published: 8049 },
      ],
      pairs: [{ a: "xfs", b: "ext4", yours: 0.996, published: 1.0 }],
    },
  ],
  differences: [{ subject: "hardware", what: "the article's disk was capped at 151 MiB/s and 8,050 IOPS" }],
  caveats: ["single runs without an interval"],
  warnings: ["small files: the article measured the start of processes"],
};

/** Translations as Rust hands them along, of two sentences. */
const SENTENCES: RacePage["sentences"] = {
  zh: {
    "flushes took 71 % of the time, about 2 per commit": "刷盘占去 71% 的时间,每次提交约 2 次",
    "lanes of 2 GiB: mkfs chooses other sizes on a large disk (journal, allocation groups)":
      "泳道为 2 GiB:在大磁盘上 mkfs 会选用别的大小(日志、分配组)",
  },
  de: {
    "flushes took 71 % of the time, about 2 per commit": "Flushes nahmen 71 % der Zeit ein, etwa 2 je Commit",
    "lanes of 2 GiB: mkfs chooses other sizes on a large disk (journal, allocation groups)":
      "Bahnen von 2 GiB: mkfs wählt auf großen Platten andere Größen (Journal, Allocation Groups)",
  },
};

export function race(findings: Findings, rounds: number, points: number): RacePage {
  return {
    record: "~/.local/state/fairlane/runs/2026-07-01T100000Z-quick.jsonl",
    findings,
    details: details(findings, rounds),
    courses: courses(findings, points),
    trials: trials(findings, rounds),
    published: [],
    notes: ["both directories are on vda, but their fill and position on it differ"],
    self_check: null,
    sentences: SENTENCES,
  };
}

/** Three lanes at the suite `quick`, with advice and an article beside it. */
export function quick(): RacePage {
  const findings = { ...golden("three"), advice: ADVICE };
  return { ...race(findings, 8, 240), published: [PUBLISHED] };
}

/** Names and sentences that somebody made to break a page. */
export function hostile(): RacePage {
  return race(golden("hostile"), 3, 20);
}

/** A record of a hundred thousand trials, thinned as Rust thins it. */
export function large(): RacePage {
  const findings = golden("three");
  return race({ ...findings, trials: { ...findings.trials, ok: 100_000 } }, 4200, 2000);
}

/** A table of file operations beside ordinary results. */
export function operations(): RacePage {
  const findings = golden("three");
  const next = generator(17);
  const lanes = findings.lanes.map((lane) => lane.name);
  const steps: [string, string][] = [
    ...["create 100 x 1 KiB", "create 50 x 4 KiB", "read 100 x 1 KiB"].map((of): [string, string] => ["small files", of]),
    ...["create 10 MiB", "write 50 MiB by 4 KiB", "read 100 MiB"].map((of): [string, string] => ["large files", of]),
    ...["mkdir 50", "list 176", "stat 100", "rename 50"].map((of): [string, string] => ["metadata", of]),
    ...["delete 50 x 1 KiB", "delete 100 MiB"].map((of): [string, string] => ["delete", of]),
  ];
  const table: OperationsFinding = {
    workload: "operations",
    title: "operations on files",
    reference: lanes[0] ?? "",
    floor: null,
    rounds: 8,
    passes: 5,
    rows: [],
    totals: lanes.map((lane, at) => ({ lane, seconds: 0.4 + 0.1 * at, steps: steps.length, sync_seconds: 0.03, unmount_seconds: 0.012 })),
    pairs: [
      { a: "xfs", b: "ext4", geometric_mean: 1.06, steps: 12, wins: 4, ties: 5, losses: 1, undecided: 2, without_verdict: 0, why: null },
      { a: "btrfs", b: "ext4", geometric_mean: 0.71, steps: 12, wins: 0, ties: 4, losses: 6, undecided: 2, without_verdict: 0, why: null },
      { a: "btrfs", b: "xfs", geometric_mean: 0.67, steps: 12, wins: 0, ties: 3, losses: 7, undecided: 2, without_verdict: 0, why: null },
    ],
    process_startup_share: null,
    warnings: [],
  };
  const results = steps.map(([section, group], at): ResultFinding => {
    const base = 2e-3 * (1 + next());
    const ratios = lanes.map((_, lane) => (lane === 0 ? 1 : lane === 1 ? 1 + 0.25 * (next() - 0.4) : 0.5 + 0.6 * next()));
    table.rows.push({
      section,
      group,
      operation: group.split(" ")[0] ?? "",
      figures: lanes.map((lane, of) => {
        const seconds = base / (ratios[of] ?? 1);
        return { lane, seconds, low: seconds * 0.97, high: seconds * 1.03, operations: 100, bytes: 102400, operations_per_second: 100 / seconds, bandwidth_bytes_per_second: 102400 / seconds };
      }),
    });
    const pair = (a: number, b: number) => {
      const ratio = (ratios[a] ?? 1) / (ratios[b] ?? 1);
      const [low, high] = [ratio * 0.95, ratio * 1.05];
      const verdict = low > 1 ? ("faster" as const) : high < 1 ? ("slower" as const) : at % 4 === 0 ? ("undecided" as const) : ("tie" as const);
      return { a: lanes[a] ?? "", b: lanes[b] ?? "", ratio, low, high, verdict, why: null, minutes_to_settle: verdict === "undecided" ? 4 : null };
    };
    return {
      workload: "operations",
      title: "operations on files",
      group,
      section,
      metric: "operations_per_second",
      unit: "operations/s",
      higher_is_better: true,
      rounds: 8,
      limit: group.startsWith("read") ? "cache" : "unattributed",
      limit_reason: group.startsWith("read") ? "the device read 0 % of what the application read" : "no thread was near one core",
      estimates: lanes.map((lane, of) => {
        const mean = (100 / base) * (ratios[of] ?? 1);
        return { lane, mean, low: mean * 0.97, high: mean * 1.03, rounds: 8, cpu_seconds_per_operation: 2e-5 * (1 + of) };
      }),
      pairs: [pair(1, 0), pair(2, 0), pair(2, 1)],
      ranking: [],
      warnings: [],
    };
  });
  const whole: Findings = { ...findings, suite: "operations", results, operations: [table], ceilings: [] };
  whole.answer = {
    choose: ["ext4", "xfs"],
    reasons: [{ lane: "btrfs", against: "ext4", title: "operations on files", workload: "operations", group: steps[0]?.[1] ?? "", ratio: 0.62, at_least: 0.66 }],
    undecided: results.filter((of) => of.pairs.some((pair) => pair.verdict === "undecided")).map((of) => `operations on files: ${of.group}`),
    cannot_tell: results.filter((of) => of.limit === "cache").map((of) => `operations on files: ${of.group}`),
    not_ranked: [],
    not_tested: ["fsync", "cold caches"],
    next: ["race", "ext4", "xfs", "--rounds", "30"],
  };
  const stepsOf = (found: (of: ResultFinding) => boolean): Work => ({ of: "steps", table: 0, count: results.filter(found).length });
  const cached = stepsOf((of) => of.limit === "cache");
  whole.conclusion = {
    choice: { is: "chosen" },
    claims: [{ lane: "btrfs", claims: [{ reason: 0, against: "ext4", gain: false, result: 0 }] }],
    undecided: [stepsOf((of) => of.pairs.some((pair) => pair.verdict === "undecided"))],
    cannot_tell: [cached],
    limited: [{ limit: "cache", results: results.filter((of) => of.limit === "cache").length, works: [cached] }],
  };
  return race(whole, 8, 60);
}

export function page(of: RacePage, language: Language = "en"): Page {
  return { schema: 1, version: "0.1.0", language, show: { kind: "race", race: of } };
}
