// Everything that the page says, in English. The other languages have the type of this object: a key that
// one of them lacks does not compile.
import type { Undecided } from "../types";
import type { Figures, Gap } from "../words/figures";
import { joined, say, toned, type Said } from "../words/say";
import { dashboard } from "./en_dashboard";
import { knowledge } from "./en_knowledge";
import { appenders } from "./en_appenders";
import { explain } from "./en_explain";
import { aged } from "./en_aged";
import { layers } from "./en_layers";
import { io500, ladder, ranks } from "./en_ranks";
import { screening } from "./en_screening";
import { transactions } from "./en_transactions";

/** A difference of one lane to another, as sentences take it. */
export interface Difference {
  gap: Gap;
  other: Said;
  /** The latency that is compared; `null`: rates. */
  latency: Latency | null;
}

/** One end of what an undecided difference may be: how far, and whether above one. */
export interface End {
  size: string;
  more: boolean;
}

export type Latency = "p50" | "p99" | "p999" | "mean" | "other";

export interface WorkDifference extends Difference {
  work: Said;
  /** What holds over the whole race: at least so much, or the sign alone. */
  sure: "at-least" | "sign";
  /** The other lane was named just before. */
  again: boolean;
}

const list = (parts: readonly Said[], last: "and" | "or"): Said => {
  const before = parts.slice(0, -1);
  const end = parts[parts.length - 1] ?? [];
  return before.length === 0 ? end : say`${joined(before, ", ")} ${last} ${end}`;
};
const plural = (count: number, one: string, many: string) => (count === 1 ? one : many);
const latencies: Record<Latency, string> = {
  p50: "median latency",
  p99: "p99 latency",
  p999: "p99.9 latency",
  mean: "mean latency",
  other: "latency",
};
const size = (of: Difference & Partial<WorkDifference>): Said => {
  const { gap, latency, sure } = of;
  const word = latency === null ? (gap.faster ? "faster" : "slower") : gap.faster ? "lower" : "higher";
  if (sure === "sign") {
    const told = toned(gap.faster ? "faster" : "slower", latency === null ? word : `a ${word}`);
    return latency === null ? told : say`${told} ${latencies[latency]}`;
  }
  const amount = `${sure === undefined ? "" : "at least "}${gap.factor ? `${gap.size}×` : gap.size}`;
  // Of latencies the gap is told of the times themselves, the faster one has the lower.
  if (latency === null) return toned(gap.faster ? "faster" : "slower", `${amount} ${gap.faster ? "faster" : "slower"}`);
  return say`${toned(gap.faster ? "faster" : "slower", `${amount} ${gap.faster ? "lower" : "higher"}`)} ${latencies[latency]}`;
};
const interval = (gap: Gap): string =>
  gap.interval === null ? "" : ` (${gap.interval[0]}–${gap.interval[1]}${gap.factor ? "×" : ""})`;

/** Why lanes have no verdict yet, as the head of a sentence. */
const because: Record<Undecided, string> = {
  noise: "too noisy to rank",
  "too-few-rounds": "too few rounds to rank",
  interrupted: "interrupted before a verdict",
  "out-of-budget": "out of time before a verdict",
  "machine-busy": "disturbed by other programs",
};

/** Why there is no choice yet, as the beginning of a sentence. */
const notYet: Record<Undecided, string> = {
  noise: "What was measured is too noisy",
  "too-few-rounds": "Too few rounds were raced",
  interrupted: "The race was interrupted before it could tell",
  "out-of-budget": "The time was up before the race could tell",
  "machine-busy": "Other programs disturbed most of what was measured",
};

export const en = {
  name: "English",
  locale: "en-GB",
  units: { operations: "ops/s" },
  list,
  end: ".",
  colon: ": ",
  semicolon: "; ",
  comma: ", ",
  /** Between parts of a sentence that are no list. */
  clause: ", ",
  /** What stands in brackets behind a word. */
  brackets: (inside: Said): Said => say` (${inside})`,
  latencies,
  ...dashboard,
  ...knowledge,

  page: {
    report: "Fairlane report",
    skip: "Skip to the answer",
    contents: "Contents",
    language: "Language",
    theme: "Appearance",
    themes: { auto: "As the system", light: "Light", dark: "Dark" },
    print: "Print",
    copy: "Copy",
    copied: "Copied",
    madeBy: (version: string) => `Made by Fairlane ${version}. This file asks nothing of any network.`,
    noData: "This page holds no data. `fairlane report --format html` writes one that does.",
    noInflate:
      "This report's data is compressed, and this browser cannot decompress it (DecompressionStream is missing). Open it in a browser of 2023 or later.",
    badData: (why: string) => `The data of this page cannot be read (${why}). Write the report again.`,
    otherSchema: (schema: number) =>
      `This data has schema ${schema}, which this page does not know. Write the report again with one version of Fairlane.`,
    unnamed: "(unnamed)",
  },

  sections: {
    answer: "Answer",
    scoreboard: "Scoreboard",
    advice: "Which one for which work",
    results: "Results",
    operations: "Operations on files",
    ceilings: "What the bare disk can do",
    guestCeilings: "What the guest's bare disk can do",
    published: "Beside published figures",
    ground: "Machine, lanes, how to repeat it",
    trials: "All trials",
  },

  appenders,
  explain,
  aged,
  io500,
  ladder,
  layers,
  ranks,
  screening,
  transactions,

  verdict: {
    faster: "faster",
    slower: "slower",
    tie: "tie",
    undecided: "undecided",
    none: "no verdict",
    reference: "reference",
    failed: "failed",
    missing: "no figure",
  },

  limits: {
    device: { mark: "disk", says: "The disk was measured: this test cannot tell these filesystems apart." },
    "own-disk": { mark: "own disks", says: "Each lane’s own disk was measured: the verdict is of filesystem and disk together." },
    "write-amplification": { mark: "extra writes", says: "The disk was full, and the lanes write different amounts to it." },
    "filesystem-cpu": { mark: "CPU", says: "Limited by the filesystem’s CPU time." },
    cpu: { mark: "CPUs", says: "Limited by the CPUs, the work’s own part included." },
    "filesystem-serialised": { mark: "waits", says: "The filesystem keeps the disk waiting." },
    flush: { mark: "flush", says: "Limited by flushes." },
    cache: { mark: "cache", says: "Answered from memory, not from the disk." },
    harness: { mark: "Fairlane", says: "Fairlane itself was the limit: no verdict." },
    "other-programs": { mark: "others", says: "Other programs were at work, so that the limit is not known." },
    unattributed: { mark: "not known", says: "What limited it is not known." },
  },

  answer: {
    dateline: (suite: Said, date: string) => say`Suite ${suite}, raced ${date}`,
    imported: (formats: Said, date: string) => say`Imported from ${formats}${date === "" ? "" : `, measured ${date}`}`,
    choice: (lanes: readonly Said[]): Said => {
      const opening = lanes.length < 2 ? "" : lanes.length === 2 ? "Either " : "Any of ";
      return lanes.length < 2 ? say`Take ${list(lanes, "or")} for this mix` : say`${opening}${list(lanes, "or")} for this mix`;
    },
    byWork: (lanes: readonly Said[]): Said => say`${list(lanes, "or")}, depending on your work`,
    level: (lanes: readonly Said[]) =>
      say`No difference counts: ${lanes.length === 2 ? "either " : "any of "}${list(lanes, "or")}`,
    levelWhy: (margin: string) => say`No difference above the margin of ${margin} was found.`,
    unnamed: "No difference that this race may name was found.",
    yet: (reason: Undecided, ties: Said): Said =>
      say`${notYet[reason]}${ties.length > 0 ? say`; what was decided ties: ${ties}` : ""}.`,
    none: "No choice can be made",
    noneYet: "No choice can be made yet",
    searched: "How many writers each lane sustains stands below",
    nothing: "The race ended before anything was measured",
    alone: "One lane was raced, so there is nothing to choose between",
    aloneWhy: "Name a second lane to compare it with.",
    aloneImported: "One lane was imported, so there is nothing to choose between",
    aloneImportedWhy: "Import files of another lane to compare it with.",
    twice: "One lane was raced against itself, which shows the noise and chooses nothing",
    costs: "What the others cost",
    apart: "What sets them apart",
    cannot: "What this race could not tell",
    claims: (subject: Said, claims: readonly WorkDifference[], more: number): Said => {
      let verb = "";
      const parts = claims.map((claim) => {
        const now = claim.latency === null ? "is" : "has";
        const said = say`${now === verb ? "" : `${now} `}${size(claim)}${claim.again ? "" : say` than ${claim.other}`} at ${claim.work}`;
        verb = now;
        return said;
      });
      return say`${subject} ${list(parts, "and")}${more > 0 ? ` (and ${more} more below)` : ""}.`;
    },
    limited: {
      device: (count: number, of: number, titles: Said) =>
        say`In ${toned("strong", `${count} of ${of}`)} tests the disk was measured, not the filesystem: ${titles}.`,
      cache: (count: number, of: number, titles: Said) =>
        say`In ${toned("strong", `${count} of ${of}`)} tests memory answered, not the disk: ${titles}.`,
      harness: (count: number, of: number, titles: Said) =>
        say`In ${toned("strong", `${count} of ${of}`)} tests Fairlane itself was the limit: ${titles}.`,
    },
    disturbed: "Other programs disturbed most of these rounds: race again when the machine is idle before relying on this.",
    reached: (workloads: number, of: number) => say`Of ${String(of)} workloads ${String(workloads)} were reached; this speaks of them alone.`,
    unsure: (titles: Said) => say`Differences that are not sure among so many rows: ${titles}.`,
    undecided: (titles: Said, settle: Said) => say`Still undecided: ${titles}; ${settle}.`,
    settleBy: (option: string, value: string, about: string | null, someOnly: boolean) =>
      say`${[{ code: `${option} ${value}` }]}${about === null ? "" : ` (about ${about})`} should settle ${someOnly ? "some of it, and the rest would take over half a day" : "it"}`,
    settleFirst: (option: string, value: string, about: string | null) =>
      say`${[{ code: `${option} ${value}` }]}${about === null ? "" : ` (about ${about})`} is the least that usually decides`,
    settleResume: (about: string | null) =>
      say`${[{ code: "--resume" }]} goes on with it${about === null ? "" : ` (about ${about})`}`,
    settleLong: say`to settle it would take over half a day of racing here`,
    settleQuiet: say`other programs disturbed most of these rounds, so race again when the machine is idle`,
    settleMore: say`more rounds may settle it`,
    noVerdictAt: (titles: Said, why: Said) => say`No verdict at ${titles}: ${why}.`,
    notRanked: (lanes: Said, what: Said, against: Said) => say`Not ranked against ${against}: ${lanes} ${what}.`,
    failedAt: (lane: Said, titles: Said) => say`${lane} failed at ${titles}.`,
    saidOfTheGround: (said: Said) => say`${said}.`,
    notTested: (what: Said) => say`Not tested: ${what}.`,
    next: "Worth running next",
    brief: "By scenario",
    briefShares: "Per cent: how much of the work was measured.",
    steps: (title: Said, count: number, of: number) => say`${title} (${count} of ${of} steps)`,
    counted: (f: Figures, ok: number, repeated: number, failed: number, voided: number, margin: string | null) =>
      [
        `${f.whole(ok)} ${plural(ok, "trial", "trials")} counted`,
        repeated > 0 ? `${f.whole(repeated)} repeated for noise from outside` : "",
        failed > 0 ? `${f.whole(failed)} failed` : "",
        voided > 0 ? `${f.whole(voided)} void: the throttle did not hold, or the machine slept` : "",
        margin === null ? "" : `lanes tie when they surely differ by less than ${margin}`,
      ]
        .filter((part) => part !== "")
        .join("; ") + ".",
    outcomes: {
      interrupted: "The race was interrupted: these are the figures of the rounds that it finished.",
      unexplained:
        "All rounds are done. The race was interrupted in the passes behind them, which count in no verdict; --resume does those that are missing.",
      failed: "The race ended with an error: these are the figures of the rounds that it finished.",
      running: "The race is still running: these are the figures so far.",
      unfinished: "The race was killed or crashed: these are the figures of the rounds that it finished.",
    } as { [outcome: string]: string },
    throttled: (limits: string) => say`Every lane’s disk was held to ${limits}: the figures are those of that emulated disk.`,
    ownDisks: (disks: Said) =>
      say`Lanes stood on disks of their own (${disks}): every verdict is of filesystem and disk together.`,
    noLimits: "not held to limits",
  },

  statements: {
    atTheDisk: (rates: string, tie: boolean, once: boolean) =>
      say`${tie ? toned("tie", "tie") : toned("none", "no verdict")}, all at the disk’s own ${rates}${once ? " in one round" : ""}: this test cannot tell filesystems apart`,
    tie: (lanes: Said, latency: Latency | null, within: string | null) =>
      say`${lanes} ${toned("tie", "tie")}${latency ? ` in ${latencies[latency]}` : ""}${within ? ` (within ${within})` : ""}`,
    apart: (lane: Said, differences: readonly Difference[]): Said => {
      const verb = differences[0]?.latency == null ? "is" : "has";
      const parts = differences.map((of) => say`${size(of)} than ${of.other}${interval(of.gap)}`);
      return say`${lane} ${verb} ${list(parts, "and")}`;
    },
    between: (a: Said, b: Said, latency: Latency | null, low: End, high: End): Said => {
      const [less, more] = latency === null ? ["slower", "faster"] : ["less", "more"];
      const told = (of: End) => `${of.size} ${of.more ? more : less}`;
      const what = latency === null ? "" : ` ${latencies[latency]}`;
      return say`${a} ${latency === null ? "is" : "has"} between ${told(low)} and ${told(high)}${what} than ${b}`;
    },
    soFar: (a: Said, b: Said, latency: Latency | null, part: string) =>
      latency === null ? say`${a} ran at ${part} of ${b}` : say`${a} had ${part} of the ${latencies[latency]} of ${b}`,
    notTogether: (a: Said, b: Said) => say`${a} and ${b} not measured together yet`,
    undecided: (reason: Undecided, pairs: Said) => say`${toned("undecided", because[reason])}, ${pairs}`,
    noVerdict: (pairs: Said, why: Said | null) =>
      say`${pairs}${pairs.length > 0 ? ", " : ""}${toned("none", "no verdict")}${why ? say`: ${why}` : ""}`,
    ratios: (a: Said, to: readonly { factor: string; other: Said }[]) =>
      say`${a} at ${list(to.map((of) => say`${of.factor} of ${of.other}`), "and")}`,
    against: (a: Said, b: Said) => say`${a} against ${b}`,
    failed: (lane: Said, why: Said) => say`${lane} ${toned("slower", "failed")}: ${why}`,
    alone: (lane: Said, rate: string) => say`${lane} ${rate}; the only lane with a figure, so nothing to compare`,
    nothing: say`no figures: no round was finished`,
    atRate: (rate: string) => say`at ${rate} in every lane`,
  },

  scoreboard: {
    intro: (lane: Said, margin: string) =>
      say`Speed against ${lane}; above 1× a lane does better, of latencies too. Bars: the interval of the ratio, on a scale from a quarter to four times; the band: the tie margin of ${margin}.`,
    against: "Compare with",
    workload: "Work",
    limit: "Limited by",
    why: (title: string) => `What limited ${title}`,
    cell: (verdict: string, ratio: string, low: string | null, high: string | null) =>
      low === null || high === null ? `${verdict}, ${ratio}` : `${verdict}, ${ratio}, interval ${low} to ${high}`,
    table: (steps: number) => `${steps} steps, geometric mean`,
    counts: (wins: number, ties: number, losses: number, undecided: number, none: number) =>
      [
        wins > 0 ? `▲ ${wins}` : "",
        ties > 0 ? `= ${ties}` : "",
        losses > 0 ? `▼ ${losses}` : "",
        undecided > 0 ? `? ${undecided}` : "",
        none > 0 ? `– ${none}` : "",
      ]
        .filter((part) => part !== "")
        .join(" · "),
    other: (lane: Said) => say`against ${lane}`,
    key: "Marks: ▲ faster, ▼ slower, = tie, ? undecided, – no verdict.",
  },

  results: {
    ranking: "Order",
    rounds: (count: number) => `${count} ${plural(count, "round", "rounds")}`,
    lane: "Lane",
    mean: "Mean",
    figures: "Figures of each lane",
    metrics: {
      operations_per_second: "Operations per second",
      bandwidth_bytes_per_second: "Throughput",
      latency_p50_ns: "Median latency",
      latency_p99_ns: "p99 latency",
      ...appenders.metrics,
      time_ns: "Time",
      latency_p999_ns: "p99.9 latency",
      latency_mean_ns: "Mean latency",
      seconds: "Time",
      cpu_percent: "CPU of the jobs",
      system_percent: "System share of the CPU",
      device_busy_percent: "Device busy",
    } as { [metric: string]: string },
    columns: {
      p50: "p50",
      p99: "p99",
      p999: "p99.9",
      longest: "Longest, all rounds",
      meanLatency: "Mean latency",
      cpu: "CPU per operation",
      cpuGib: "CPU per GiB",
      own: "Fairlane’s own part",
      cpuShare: "CPU in use",
      systemShare: "of it system",
      written: "Written per byte",
      extents: "Extents of its files",
      flushes: "Flushes per operation",
      deviceUse: "Disk used",
      busy: "Disk busy",
    },
    columnsNote:
      "CPU: of the whole system, kernel threads included. Written: bytes at the disk per byte of the work. Disk used: share of what the bare disk can do.",
    impossible: (share: string) => `${share} (impossible)`,
    bareDisk: (rate: string) => `bare disk ${rate}`,
    dots: "Rounds and intervals",
    dotsCaption: (f: Figures, metric: string, rounds: number, lanes: readonly Said[], ceiling: string | null) =>
      say`${metric}, one faint dot for each of ${f.whole(rounds)} rounds; mark and bar: geometric mean and its 95% interval. ${joined(lanes, "; ")}.${ceiling ? ` Dashed line: the bare disk, ${ceiling}.` : ""}`,
    laneFigure: (lane: Said, rate: string, range: string | null) => (range ? say`${lane} ${rate} (${range})` : say`${lane} ${rate}`),
    thinned: (f: Figures, shown: number, all: number) => ` Shown are ${f.whole(shown)} of ${f.whole(all)} rounds.`,
    latency: "Latency of single operations",
    latencyCaption: (lanes: readonly Said[]) =>
      say`Latency by percentile, all rounds merged, up to where 20 operations are slower; the scale to the right is one more nine at each step. ${joined(lanes, "; ")}.`,
    latencyFigure: (lane: Said, p50: string | null, p99: string | null, last: string, lastAt: string) =>
      say`${lane}${p50 ? ` median ${p50},` : ""}${p99 ? ` p99 ${p99},` : ""} ${lastAt} ${last}`,
    percentile: "Percentile",
    cost: "What it cost",
    cpuOf: { gib: "CPU time of the whole system per GiB", operation: "CPU time of the whole system per operation" },
    amplification: "Bytes at the disk per byte written",
    costCaption: (parts: readonly Said[]) => say`${joined(parts, " ")}`,
    costPart: (what: string, lanes: readonly Said[]) => say`${what}: ${joined(lanes, ", ")}.`,
    courseOpen: "Show the course of the system",
    courseOverlay: "Lay lanes over each other",
    courseApart: "Lanes side by side",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    earlier: "Earlier",
    later: "Later",
    zoomAll: "All",
    courseHelp: "Seconds of measured time of each lane, its windows one after the other; every lane has the same axes.",
    second: "Second",
    round: "Round",
    courseCaption: (what: string, lanes: readonly Said[]) => say`${what}. ${joined(lanes, "; ")}.`,
    courseFigure: (lane: Said, low: string, high: string) => say`${lane} between ${low} and ${high}`,
    courseSame: (lane: Said, figure: string) => say`${lane} ${figure} throughout`,
    courseNothing: (quantities: string) => `Zero throughout on every lane: ${quantities}.`,
    quantities: {
      operations_per_second: "Operations per second",
      cpu_share: "CPU in use, of all CPUs",
      iowait_share: "CPU idle while I/O was outstanding",
      steal_share: "CPU taken by the hypervisor",
      device_read_bytes_per_second: "Read at the device",
      device_write_bytes_per_second: "Written at the device",
      device_iops: "Requests completed by the device per second",
      device_flushes_per_second: "Flushes of the device per second",
      device_queue: "Requests in flight at the device",
      device_busy_share: "Time in which the device had a request in flight",
      dirty_bytes: "In the page cache, still to be written",
      pressure_io_share: "Time in which some task waited for I/O",
      ...appenders.quantities,
    } as { [quantity: string]: string },
    steps: "Steps of this table, one by one",
    notes: "Notes",
  },

  figure: {
    table: "Table",
    svg: "SVG",
    png: "PNG",
    save: "Save this chart",
    thinned: (f: Figures, shown: number, all: number) => `${f.whole(shown)} of ${f.whole(all)} rows, evenly chosen`,
  },

  operations: {
    heading: (f: Figures, steps: number, rounds: number, passes: number, reference: Said | null) =>
      say`${steps} ${plural(steps, "step", "steps")}, ${rounds} ${plural(rounds, "round", "rounds")}${passes > 1 ? `, of each round the median of ${f.whole(passes)} passes` : ""}${reference ? say`; reference: ${reference} (2.0× = twice as fast)` : ""}.`,
    step: "Step",
    unnamed: "Steps",
    floor: (share: string) => `floor ${share}`,
    noFloor: "no floor",
    floorNote: (floor: Said) =>
      say`Floor: the time of ${floor} for the same step as a share of the lane’s, about what system calls and copying cost without a disk.`,
    total: (steps: number, of: number) => (steps === of ? "All steps" : `${steps} of ${of} steps`),
    sync: "Sync after the work",
    unmount: "Unmount",
    startup: (share: string) => `process start-up ${share}`,
    startupWarning: (share: string) =>
      `Each operation was a process of its own, and ${share} of all that time is process start-up: these figures measure how fast processes start.`,
    perSecond: "/s",
    pair: (a: Said, b: Said, mean: string | null, steps: number) =>
      mean === null ? say`${a} against ${b}: no ratio` : say`${a} against ${b}: ${mean} over ${steps} ${plural(steps, "step", "steps")} (geometric mean)`,
    counts: (wins: number, ties: number, losses: number, undecided: number, none: number): string => {
      const parts = [`faster in ${wins}`, `tie in ${ties}`, `slower in ${losses}`];
      if (undecided > 0) parts.push(`undecided in ${undecided}`);
      if (none > 0) parts.push(`no verdict in ${none}`);
      return parts.join(", ");
    },
    byChance: (f: Figures, expected: number, of: number) =>
      `Each step holds its error at 5% by itself: were all lanes equal, up to ${f.whole(expected)} of ${f.whole(of)} steps would still be expected to name a faster one.`,
    missing: (lane: Said, why: Said) => say`${lane} has no figure (–): ${why}`,
    open: (step: string) => `Details of ${step}`,
  },

  ceilings: {
    none: "No bare device was measured, so no limit can be named.",
    intro: "The same engine, block size and depth without a filesystem; median over probes.",
    file: "Measured on a written file, because a lane is a directory.",
    inPageCache: "This disk lies in the host's page cache: its figures tell how fast the guest is, and nothing of your disk.",
    profile: "Profile",
    probes: "Probes",
    profiles: {
      "seq-read": "sequential read",
      "seq-write": "sequential write",
      "rand-read": "random read",
      "rand-write": "random write",
      flush: "write and flush",
      null: "engine without a device",
    },
    time: "Time of one",
    throughput: "Throughput",
    iops: "IOPS",
  },

  published: {
    intro:
      "No verdicts: between the two lie other machines and methods. What can be compared is how far the lanes of each are apart.",
    source: (title: Said, site: Said, author: string | null, year: number | null) =>
      say`${title}; ${site}${author ? `, ${author}` : ""}${year ? `, ${year}` : ""}`,
    lane: "Lane",
    yours: "this race",
    article: "article",
    about: "about",
    above: "above",
    "at-most": "at most",
    differ: "Why they differ",
    caveats: "What the article leaves open",
    notCompared: "Not compared",
    nothing: "Nothing in common: no workload and group of the record is in the article.",
    stands: (yours: Said, theirs: Said) => say`${yours} for the article’s ${theirs}`,
    ratio: (a: Said, b: Said) => say`${a} against ${b}`,
    total: "in all",
    metric: "Metric",
  },

  ground: {
    machine: "Machine",
    lanes: "Lanes",
    again: "Run it again",
    warnings: "What to know before believing the figures",
    noWarnings: "Nothing was remarked.",
    selfCheck: (lane: Said, parts: string, believe: boolean) =>
      say`${lane} against itself: ${parts}${believe ? "; believe no difference of that size in this race" : ""}.`,
    selfPart: (verdict: string, count: number, of: number, within: string | null) =>
      `${verdict} in ${count === of ? `all ${of}` : `${count} of ${of}`}${within ? ` (within ${within})` : ""}`,
    selfApart: "apart",
    calibration: "Noise of this machine",
    seed: "Seed",
    version: "Fairlane",
    record: "Record",
    started: "Started",
    facts: {
      cpu: "CPU",
      memory: "Memory",
      os: "System",
      kernel: "Kernel",
      governor: "Governor",
      virtual: "Virtual machine",
      disk: "Disk",
      cache: "Write cache",
      scheduler: "Scheduler",
      host: "Images on",
      dirty: "Dirty ratios",
      tools: "Tools",
      throttle: "Throttle",
    },
    cpus: (cpu: string, cpus: number) => `${cpu}, ${cpus} ${plural(cpus, "CPU", "CPUs")}`,
    rotational: "rotational, as the kernel was told",
    notRotating: "not rotating",
    unknown: "unknown",
    mkfs: "mkfs",
    mount: "Mount options",
    venue: "Where",
    venues: {
      image: "image",
      device: "device",
      directory: "directory",
      memory: "memory",
      library: "in-process library",
      foreign: "measured by another tool",
    } as { [venue: string]: string },
    filesystem: "Filesystem",
    geometry: "Geometry",
    promises: "Promises",
    kept: {
      journal: "crash-safe metadata",
      fsync_reaches_stable_storage: "fsync reaches stable storage",
      barriers: "write barriers",
      data_checksums: "data checksums",
      outlives_cache: "fsync outlives a cache's disk",
    },
    not: (what: string) => `no ${what}`,
    server: {
      unsaid: "what its server promises is not known",
      sync: "its server confirms a sync once its disk has the data (as was said)",
      async: "its server confirms a sync before its disk has the data (as was said)",
    },
    self: "the first lane a second time: any difference between the two is noise",
    none: "none",
    reads: "reads",
    bothWays: (limits: string) => `${limits} for reads and for writes`,
    writes: "writes",
    calibrated: (f: Figures, different: number, races: number, low: string, high: string) =>
      `Of ${f.whole(races)} races between equal lanes, ${f.whole(different)} were called different (${low} to ${high} with 95% confidence; at most 5% is promised).`,
  },

  trials: {
    all: (f: Figures, shown: number, all: number) =>
      shown === all ? `${f.whole(all)} rows.` : `${f.whole(shown)} of ${f.whole(all)} rows stand in this file; the record holds the rest.`,
    columns: {
      workload: "Work",
      group: "Group",
      lane: "Lane",
      round: "Round",
      attempt: "Attempt",
      outcome: "Outcome",
      started: "Started after",
      value: "Value",
      operations: "Operations",
      bytes: "Bytes",
      seconds: "Seconds",
      p99: "p99",
      remark: "Remark",
    },
    outcomes: { ok: "counts", failed: "failed", repeated: "repeated", void: "void" },
    filter: "Filter",
    every: "all",
    page: (from: string, to: string, of: string) => `${from}–${to} of ${of}`,
    previous: "Previous",
    next: "Next",
    csv: "All as CSV",
    json: "All as JSON",
    sortBy: (column: string) => `Sort by ${column}`,
    none: "No trial matches.",
    table: "Trials, one row for each group of each trial",
  },
};

/** What every language says. */
export type Words = typeof en;
