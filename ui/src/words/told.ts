// Findings as sentences of the reader's language: what is said was decided before, words come from the
// language.
import type { Difference, End, Latency, WorkDifference } from "../language/en";
import type {
  Choice,
  Findings,
  NotRanked,
  Reason,
  ResultFinding,
  SelfCheck,
  Settle,
  Statement,
  Throttle,
} from "../types";
import { known, sentence, titlesOf, type Ui } from "../ui";
import { claimsOf, conclusionOf, titles, type Claim } from "./answer";
import { toldPairs, type Shown } from "./pairs";
import { joined, name, say, type Said } from "./say";
import { headlineSaid } from "./screened";

/** Characters of a reason on the first screen; the results carry the whole. */
const BRIEF = 160;

/** Which latency a metric is; `null`: a rate. */
export function latencyOf(metric: string): Latency | null {
  switch (metric) {
    case "latency_p50_ns":
    case "lateness_p50_ns":
      return "p50";
    case "latency_p99_ns":
    case "lateness_p99_ns":
      return "p99";
    case "latency_p999_ns":
      return "p999";
    case "latency_mean_ns":
      return "mean";
    default:
      return metric.endsWith("_ns") ? "other" : null;
  }
}

/** Of latencies the gap is one of the times themselves: the lower one stands under the other. */
export function differenceOf(
  ui: Ui,
  metric: string,
  other: string,
  ratio: number,
  interval: readonly [number, number] | null,
): Difference {
  const latency = latencyOf(metric);
  const faster = ratio >= 1;
  if (latency === null) return { gap: ui.figures.gap(ratio, interval, faster), other: name(other), latency };
  const turned = interval === null ? null : ([1 / interval[1], 1 / interval[0]] as const);
  // The size is told of the times; whether that is good stays with the ratio.
  const gap = { ...ui.figures.gap(1 / ratio, turned, !faster), faster };
  return { gap, other: name(other), latency };
}

/** All verdicts of a result in one sentence. */
export function resultSaid(ui: Ui, result: ResultFinding): Said {
  const all = result.statements ?? [];
  const first = all.findIndex((one) => one.says === "tie" || one.says === "apart");
  const parts = all.map((one, at) => {
    const said = statement(ui, result, one);
    return result.shared_rate != null && at === first
      ? say`${said} ${ui.words.statements.atRate(ui.figures.iops(result.shared_rate.operations_per_second))}`
      : said;
  });
  // What a lane made of the work belongs to what it came to.
  const acts = (result.acts ?? []).map((act) => sentence(ui, act));
  return say`${joined([...parts, ...acts], ui.words.semicolon)}${ui.words.end}`;
}

function statement(ui: Ui, result: ResultFinding, of: Statement): Said {
  const { words, figures } = ui;
  const w = words.statements;
  const latency = latencyOf(result.metric);
  const estimate = (lane: string) => result.estimates.find((one) => one.lane === lane);
  switch (of.says) {
    case "at-the-disk": {
      const rate = (value: number) =>
        result.unit === "operations/s" ? figures.iops(value) : figures.rate(result.unit, value);
      return w.atTheDisk(figures.range(rate(of.slowest), rate(of.fastest)), of.tie, result.rounds < 2);
    }
    case "tie": {
      const lanes = words.list(of.lanes.map(name), "and");
      return w.tie(lanes, latency, of.low == null || of.high == null ? null : figures.within(of.low, of.high));
    }
    case "apart":
      return w.apart(
        name(of.lane),
        toldPairs(result, of.pairs).map((pair) => differenceOf(ui, result.metric, pair.b, pair.ratio ?? 1, pair.interval)),
      );
    case "undecided": {
      const pairs = toldPairs(result, of.pairs).map((pair) => openPair(ui, pair, latency));
      const said = [joined(pairs, words.clause), ...(of.remarks ?? []).map((why) => sentence(ui, why))];
      return w.undecided(of.because, joined(said, words.semicolon));
    }
    case "no-verdict": {
      const told = toldPairs(result, of.pairs ?? []);
      // All of these pairs are told of one lane.
      const subject = name(told[0]?.a ?? "");
      const ratios = told.flatMap((pair) =>
        pair.ratio === null ? [] : [{ factor: figures.times(latency === null ? pair.ratio : 1 / pair.ratio), other: name(pair.b) }],
      );
      const bare = told.filter((pair) => pair.ratio === null).map((pair) => name(pair.b));
      const pairs = [
        ...(ratios.length > 0 ? [w.ratios(subject, ratios)] : []),
        ...(bare.length > 0 ? [w.against(subject, words.list(bare, "and"))] : []),
      ];
      return w.noVerdict(joined(pairs, words.clause), of.why == null ? null : sentence(ui, of.why));
    }
    case "failed":
      return w.failed(name(of.lane), sentence(ui, estimate(of.lane)?.failure ?? "", BRIEF));
    case "alone": {
      const only = estimate(of.lane);
      return w.alone(name(of.lane), only ? laneRate(ui, result, only.mean, only.low, only.high) : "");
    }
    case "nothing":
      return w.nothing;
  }
}

function openPair(ui: Ui, pair: Shown, latency: Latency | null): Said {
  const w = ui.words.statements;
  const [a, b] = [name(pair.a), name(pair.b)];
  if (pair.interval === null) {
    return pair.ratio === null
      ? // Why there is no ratio is said behind, where it is known.
        pair.why === null ? w.notTogether(a, b) : w.against(a, b)
      : w.soFar(a, b, latency, part(ui, latency === null ? pair.ratio : 1 / pair.ratio));
  }
  // Of latencies the times themselves are told: a minus means less time.
  const [low, high] = latency === null ? pair.interval : [1 / pair.interval[1], 1 / pair.interval[0]];
  return w.between(a, b, latency, end(ui, low), end(ui, high));
}

/** One end of what is possible. */
function end(ui: Ui, ratio: number): End {
  const more = ratio >= 1;
  const reach = more ? ratio : 1 / ratio;
  const gap = ui.figures.gap(ratio, null, more);
  const size = gap.factor ? `${gap.size}×` : gap.size;
  return { size: Number.isFinite(reach) && reach <= 100 ? size : ">100×", more };
}

/** A ratio as a part of the whole, and from two on as a factor. */
function part(ui: Ui, ratio: number): string {
  return ratio >= 0.095 && ratio < 1.995 ? ui.figures.percent(ratio, 0) : ui.figures.times(ratio);
}

/** How the first lane did against itself; `null`: it was not raced twice. */
export function selfCheckSaid(ui: Ui, of: SelfCheck | null | undefined): Said | null {
  if (!of) return null;
  const { words, figures } = ui;
  const within = of.low != null && of.high != null ? figures.within(of.low, of.high) : null;
  const parts = [
    [of.apart, words.ground.selfApart, null],
    [of.ties, words.verdict.tie, within],
    [of.undecided, words.verdict.undecided, null],
    [of.without_verdict, words.verdict.none, null],
  ] as const;
  const all = parts.reduce((sum, [count]) => sum + count, 0);
  const told = parts.flatMap(([count, word, bound]) => (count > 0 ? [words.ground.selfPart(word, count, all, bound)] : []));
  return words.ground.selfCheck(name(of.lane), told.join(words.comma), of.apart > 0);
}

/** `1.08k ops/s (1.05k–1.11k)`. */
export function laneRate(
  ui: Ui,
  result: ResultFinding,
  mean: number,
  low: number | null | undefined,
  high: number | null | undefined,
): string {
  const rate = ui.figures.rate(result.unit, mean);
  return low == null || high == null ? rate : `${rate} (${ui.figures.rates(result.unit, low, high)})`;
}

/** What the work of a group is called in a sentence. */
function workOf(ui: Ui, reason: Reason, ofTable: boolean): Said {
  const key = workKey(reason.workload, reason.group);
  const own = key === null ? undefined : ui.words.works[key];
  if (own !== undefined) return [own];
  // A step of file operations is what a reader knows; its workload is the whole table.
  if (ofTable) return ui.words.workAt(known(ui, reason.group));
  return ui.words.workAt(
    reason.group.includes(": ")
      ? say`${known(ui, reason.title)}${ui.words.comma}${known(ui, reason.group)}`
      : known(ui, reason.title),
  );
}

function workKey(workload: string, group: string): string | null {
  switch (workload) {
    case "commit":
      return "commits";
    case "sequential-write":
    case "seq-write":
      return "sequential writes";
    case "sequential-read":
    case "seq-read":
      return "sequential reads";
    case "random-read":
    case "rand-read":
      return "random reads";
    case "random-write":
    case "rand-write":
      return "random writes";
    case "small-files":
      return group === "create" ? "file creations" : group === "read" ? "small-file reads" : group === "delete" ? "file deletions" : null;
    default:
      return null;
  }
}

export interface ToldAnswer {
  headline: Said;
  why: Said | null;
  /** What sets lanes apart; the heading depends on whether all of them were chosen. */
  claims: { heading: string; items: Said[] } | null;
  cannot: Said[];
}

/** Whether other programs disturbed most of what the answer of a screening rests on. */
function screeningIsDisturbed(of: Findings["screening"]): boolean {
  return (of?.confirmation == null ? of?.disturbed : of.confirmation.disturbed) === true;
}

/** The answer as a headline and lists of sentences. */
export function answerSaid(ui: Ui, findings: Findings): ToldAnswer {
  const { words, figures } = ui;
  const w = words.answer;
  const of = conclusionOf(findings);
  const answer = findings.answer ?? null;
  const choose = answer?.choose ?? [];
  const apart = of.claims ?? [];
  const chosenAll = apart.every((one) => choose.includes(one.lane));
  const items = apart.map((one) => {
    const { claims, more } = claimsOf(findings, one);
    return w.claims(name(one.lane), differences(ui, claims), more);
  });
  const titled = (works: Parameters<typeof titles>[1]) => titlesOf(ui, titles(findings, works));
  const some = (works: Parameters<typeof titles>[1]) => (works ?? []).length > 0;
  // The lanes of a screening are runs of a design: nothing is told of one against another.
  const judged = of.choice.is !== "screened";
  const notTested: Said[] = [...(answer?.not_tested ?? []), ...(findings.screening?.not_tested ?? [])].map((what) => known(ui, what));
  const several = judged && findings.lanes.filter((lane) => lane.is_self !== true).length > 1;
  return {
    headline: headline(ui, findings, of.choice, choose.map(name), isImported(findings)),
    why:
      of.choice.is === "level"
        ? w.levelWhy(figures.margin(findings.margin))
        : of.choice.is === "unnamed"
          ? [w.unnamed]
          : of.choice.is === "open"
            ? w.yet(of.choice.because, titled(of.choice.ties))
            : of.choice.is === "alone"
              ? [isImported(findings) ? w.aloneImportedWhy : w.aloneWhy]
              : null,
    claims: items.length > 0 ? { heading: chosenAll ? w.apart : w.costs, items } : null,
    cannot: [
      ...(answer?.disturbed === true && answer.reasons.length > 0 && apart.length > 0 ? [[w.disturbed]] : []),
      ...(screeningIsDisturbed(findings.screening) ? [[w.disturbed]] : []),
      ...(answer?.reached && answer.reached.workloads < answer.reached.of ? [w.reached(answer.reached.workloads, answer.reached.of)] : []),
      ...(judged ? (of.limited ?? []) : []).map((one) => {
        const say_ = w.limited[one.limit as "device" | "cache" | "harness"];
        return say_(one.results, findings.results.length, titled(one.works));
      }),
      ...disksSaid(ui, findings),
      ...(some(of.unsure) ? [w.unsure(titled(of.unsure))] : []),
      ...(some(of.undecided) ? [w.undecided(titled(of.undecided), settleSaid(ui, answer?.settle ?? null))] : []),
      ...(of.no_verdict ?? []).map((one) => w.noVerdictAt(titled(one.works), sentence(ui, one.why, BRIEF))),
      ...notRankedSaid(ui, several ? (answer?.not_ranked ?? []) : []),
      ...(of.failed ?? []).map((one) => w.failedAt(name(one.lane), titled(one.works))),
      ...[answer?.cached_disk, answer?.raced ?? findings.screening?.raced].flatMap((said) => (said ? [w.saidOfTheGround(capital(sentence(ui, said)))] : [])),
      ...(notTested.length > 0 ? [w.notTested(joined(notTested, words.comma))] : []),
    ],
  };
}

/** With a capital letter in front, where the writing has any. */
function capital(said: Said): Said {
  const [first, ...rest] = said;
  if (first === undefined) return said;
  if (typeof first !== "string" && "text" in first) return [{ ...first, text: first.text.charAt(0).toUpperCase() + first.text.slice(1) }, ...rest];
  return said;
}

/** Whether other tools measured all of it. */
export function isImported(findings: Findings): boolean {
  return (findings.imported ?? []).length > 0;
}

function headline(ui: Ui, findings: Findings, choice: Choice, lanes: Said[], imported: boolean): Said {
  const w = ui.words.answer;
  switch (choice.is) {
    case "screened":
      return findings.screening == null ? [w.none] : headlineSaid(ui, findings.screening);
    case "chosen":
    case "unnamed":
      return w.choice(lanes);
    case "by-work":
      return w.byWork(lanes);
    case "level":
      return w.level(lanes);
    case "none":
      return [w.none];
    case "none-yet":
    case "open":
      return [w.noneYet];
    case "nothing":
      return [w.nothing];
    case "searched":
      return [w.searched];
    case "alone":
      return [imported ? w.aloneImported : w.alone];
    case "twice":
      return [w.twice];
  }
}

/** What should settle what is undecided: one figure for the whole race. */
function settleSaid(ui: Ui, by: Settle | null): Said {
  const w = ui.words.answer;
  if (by === null) return w.settleMore;
  const seconds = "seconds" in by ? (by.seconds ?? 0) : 0;
  const about = seconds > 0 ? ui.figures.duration(seconds) : null;
  switch (by.by) {
    case "resume":
      return w.settleResume(about);
    case "first-rounds":
      return w.settleFirst("--rounds", String(by.rounds), about);
    case "quiet":
      return w.settleQuiet;
    case "out-of-reach":
      return w.settleLong;
    case "budget":
      return w.settleBy("--budget", `${by.minutes}m`, null, by.some_only);
    case "rounds":
      return w.settleBy("--rounds", String(by.rounds), about, by.some_only);
  }
}

function differences(ui: Ui, claims: readonly Claim[]): WorkDifference[] {
  let before = "";
  return claims.map((claim) => {
    const again = claim.other === before;
    before = claim.other;
    const acts = (claim.reason.acts ?? []).map((act) => sentence(ui, act, BRIEF));
    const named = workOf(ui, claim.reason, claim.ofTable);
    const work = acts.length === 0 ? named : say`${named}${ui.words.brackets(joined(acts, ui.words.comma))}`;
    return { ...differenceOf(ui, claim.metric, claim.other, claim.ratio, null), work, again, sure: claim.sure };
  });
}

/** What a metric is called. */
export function metricSaid(ui: Ui, metric: string): string {
  const table = ui.words.results.metrics;
  return Object.hasOwn(table, metric) ? (table[metric] ?? metric) : metric.replaceAll("_", " ");
}

/** Why lanes are not ranked: all that is true of the same lanes in one sentence. */
function notRankedSaid(ui: Ui, facts: readonly NotRanked[]): Said[] {
  const { words } = ui;
  const groups = new Map<string, NotRanked[]>();
  for (const fact of facts) {
    const key = JSON.stringify([fact.lanes, fact.against]);
    groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  return [...groups.values()].map((group) => {
    const { lanes, against } = group[0] as NotRanked;
    const what = words.list(group.map((fact) => sentence(ui, fact.what, BRIEF)), "and");
    return words.answer.notRanked(words.list(lanes.map(name), "and"), what, name(against));
  });
}

/** The disks that lanes stood on, where they were held to limits. */
function disksSaid(ui: Ui, findings: Findings): Said[] {
  const w = ui.words.answer;
  const own = findings.lane_throttles ?? {};
  // Whether they differ was decided with the answer.
  if (Object.keys(own).length === 0 || findings.answer?.different_disks === false) {
    const everybodys = throttleOf(findings, findings.lanes[0]?.name ?? "");
    return everybodys ? [w.throttled(throttleSaid(ui, everybodys))] : [];
  }
  const disks = findings.lanes.map((lane) => {
    const throttle = throttleOf(findings, lane.name);
    return say`${name(lane.name)}${ui.words.colon}${throttle ? throttleSaid(ui, throttle) : w.noLimits}`;
  });
  return [w.ownDisks(joined(disks, ui.words.semicolon))];
}

/** The limits that a lane's disk was held to: its own in place of everybody's. */
export function throttleOf(findings: Findings, lane: string): Throttle | null {
  const own = findings.lane_throttles ?? {};
  return (Object.hasOwn(own, lane) ? own[lane] : findings.throttle) ?? null;
}

/** The limits of an emulated disk. */
export function throttleSaid(ui: Ui, throttle: Throttle): string {
  const { words, figures } = ui;
  const rate = (bytes: number) => `${figures.bytes(bytes)}/s`;
  const iops = (of: number) => `${figures.whole(of)}\u00a0IOPS`;
  const bytes = throttle.read_bytes_per_second ?? null;
  const requests = throttle.read_iops ?? null;
  // The usual disk is held alike both ways: each limit is said once.
  if (bytes === (throttle.write_bytes_per_second ?? null) && requests === (throttle.write_iops ?? null)) {
    const limits = [bytes === null ? "" : rate(bytes), requests === null ? "" : iops(requests)];
    return words.ground.bothWays(limits.filter((limit) => limit !== "").join(words.comma));
  }
  const parts = [
    [words.ground.reads, throttle.read_bytes_per_second, rate],
    [words.ground.writes, throttle.write_bytes_per_second, rate],
    [words.ground.reads, throttle.read_iops, iops],
    [words.ground.writes, throttle.write_iops, iops],
  ] as const;
  return parts
    .flatMap(([what, value, format]) => (value == null ? [] : [`${what} ${format(value)}`]))
    .join(words.comma);
}
