// What to say about one result: every pair of lanes is said or follows from what is said. Nothing is
// judged here: pairs are turned to stand against one reference lane, ties are gathered, and a pair that
// follows from two others is left out.
import type { Pair, ResultFinding, Undecided, Verdict } from "../types";

/** A pair as it is shown; possibly the other way round than it was judged. */
export interface Shown {
  a: string;
  b: string;
  ratio: number | null;
  interval: [number, number] | null;
  verdict: Verdict;
  undecided: Undecided | null;
  why: string | null;
}

export type Statement =
  | { kind: "at-the-disk"; slowest: number; fastest: number; tie: boolean }
  | { kind: "tie"; lanes: string[]; interval: [number, number] | null }
  | { kind: "apart"; lane: string; pairs: Shown[] }
  | { kind: "undecided"; pairs: Shown[] }
  | { kind: "no-verdict"; pairs: Shown[]; why: string }
  | { kind: "failed"; lane: string; reason: string }
  | { kind: "alone"; lane: string; mean: number; low: number | null; high: number | null }
  | { kind: "nothing" };

const decided = (verdict: Verdict) => verdict === "faster" || verdict === "slower";

/** Everything to say about a result, in reading order. */
export function statements(result: ResultFinding): Statement[] {
  const failed = result.estimates.filter((estimate) => estimate.failure != null);
  const isFailed = (lane: string) => failed.some((estimate) => estimate.lane === lane);
  // A lane that failed is said once, not in each of its pairs.
  const pairs = result.pairs.filter((pair) => pair.ratio != null || !(isFailed(pair.a) || isFailed(pair.b)));
  const measured = result.estimates.filter((estimate) => estimate.failure == null);
  const said: Statement[] = [];
  const tie = pairs.every((pair) => pair.verdict === "tie");
  const unranked = pairs.every((pair) => pair.verdict === "tie" || pair.verdict === "none");
  if (result.limit === "device" && pairs.length > 0 && unranked && measured.length > 1) {
    const rates = measured.map((estimate) => estimate.row_mean ?? estimate.mean);
    said.push({ kind: "at-the-disk", slowest: Math.min(...rates), fastest: Math.max(...rates), tie });
  } else if (pairs.length === 0) {
    const only = measured[0];
    if (measured.length === 1 && only) {
      const { lane, mean, low, high } = only;
      said.push({ kind: "alone", lane, mean, low: low ?? null, high: high ?? null });
    } else if (measured.length === 0 && failed.length === 0) {
      said.push({ kind: "nothing" });
    }
  } else {
    said.push(...ofPairs(result, pairs));
  }
  for (const estimate of failed) {
    said.push({ kind: "failed", lane: estimate.lane, reason: estimate.failure ?? "" });
  }
  return said;
}

function ofPairs(result: ResultFinding, pairs: Pair[]): Statement[] {
  const order = orderOf(result, pairs);
  const reference = firstJudged(order, pairs);
  const shown = pairs.map((pair) => turned(pair, reference, result, order));
  const known = new Known();
  const said = ties(shown, order, known);
  const apart: { lane: string; pairs: Shown[] }[] = [];
  const rankOf = (lane: string) => {
    const rank = result.ranking.findIndex((level) => level.includes(lane));
    return rank < 0 ? Number.MAX_SAFE_INTEGER : rank;
  };
  // Against the reference first, the fastest first; then neighbours in the ranking, because they settle
  // the pairs that lie farther apart.
  const sorted = shown
    .filter((pair) => decided(pair.verdict))
    .sort((x, y) => {
      const beside = (pair: Shown) => (pair.b === reference ? 0 : 1);
      if (beside(x) !== beside(y)) return beside(x) - beside(y);
      if (beside(x) === 0) return (y.ratio ?? 0) - (x.ratio ?? 0);
      const distance = (pair: Shown) => Math.abs(rankOf(pair.a) - rankOf(pair.b));
      return distance(x) - distance(y);
    });
  for (const pair of sorted) {
    const [above, below] = pair.verdict === "faster" ? [pair.a, pair.b] : [pair.b, pair.a];
    if (pair.b !== reference && known.follows(above, below)) continue;
    known.above.push([above, below]);
    const of = apart.find((one) => one.lane === pair.a);
    if (of) of.pairs.push(pair);
    else apart.push({ lane: pair.a, pairs: [pair] });
  }
  said.push(...apart.map((one): Statement => ({ kind: "apart", ...one })));
  const open = shown.filter((pair) => pair.verdict === "undecided");
  if (open.length > 0) {
    said.push({ kind: "undecided", pairs: open });
  }
  said.push(...withoutVerdict(result, shown, reference));
  return said;
}

/** The lane that the others of a result are held against; `null`: nothing is compared. */
export function referenceOf(result: ResultFinding): string | null {
  return firstJudged(orderOf(result, result.pairs), result.pairs) || null;
}

/** The first lane that has a verdict against another, or may yet have one; or else the first compared. */
function firstJudged(order: string[], pairs: Pair[]): string {
  const judged = (lane: string, any: boolean) =>
    pairs.some((pair) => (pair.a === lane || pair.b === lane) && (any || pair.verdict !== "none"));
  return order.find((lane) => judged(lane, false)) ?? order.find((lane) => judged(lane, true)) ?? "";
}

function orderOf(result: ResultFinding, pairs: Pair[]): string[] {
  return [...new Set([...result.estimates.map((of) => of.lane), ...pairs.flatMap((pair) => [pair.a, pair.b])])];
}

/** The pair of two lanes, told of `a` against `b`; `null`: there is none. */
export function pairOf(result: ResultFinding, a: string, b: string): Shown | null {
  for (const pair of result.pairs) {
    if (pair.a === a && pair.b === b) return straight(pair);
    if (pair.a === b && pair.b === a) return flipped(straight(pair));
  }
  return null;
}

function straight(pair: Pair): Shown {
  return {
    a: pair.a,
    b: pair.b,
    ratio: pair.ratio ?? null,
    interval: pair.low != null && pair.high != null ? [pair.low, pair.high] : null,
    verdict: pair.verdict,
    undecided: pair.undecided ?? null,
    why: pair.why != null && pair.why.trim() !== "" ? pair.why : null,
  };
}

export function flipped(pair: Shown): Shown {
  const verdicts: Partial<Record<Verdict, Verdict>> = { faster: "slower", slower: "faster" };
  return {
    ...pair,
    a: pair.b,
    b: pair.a,
    ratio: pair.ratio === null ? null : 1 / pair.ratio,
    interval: pair.interval === null ? null : [1 / pair.interval[1], 1 / pair.interval[0]],
    verdict: verdicts[pair.verdict] ?? pair.verdict,
  };
}

/** The pair with the reference in second place. Of two other lanes the later one is the subject, but where
 * they are apart, the one that is better or worse than the reference too. */
function turned(pair: Pair, reference: string, result: ResultFinding, order: string[]): Shown {
  const shown = straight(pair);
  let subjectIsB: boolean;
  if (pair.a === reference || pair.b === reference) {
    subjectIsB = pair.a === reference;
  } else if (decided(pair.verdict)) {
    const [winner, loser] = pair.verdict === "faster" ? [pair.a, pair.b] : [pair.b, pair.a];
    subjectIsB = (loses(result, loser, reference) ? loser : winner) === pair.b;
  } else {
    subjectIsB = order.indexOf(pair.a) < order.indexOf(pair.b);
  }
  return subjectIsB ? flipped(shown) : shown;
}

function loses(result: ResultFinding, lane: string, other: string): boolean {
  return result.pairs.some(
    (pair) =>
      (pair.verdict === "slower" && pair.a === lane && pair.b === other) ||
      (pair.verdict === "faster" && pair.b === lane && pair.a === other),
  );
}

/** Lanes that all tie with each other, and ties that no such circle covers. */
function ties(shown: Shown[], order: string[], known: Known): Statement[] {
  const tied = shown.filter((pair) => pair.verdict === "tie");
  const tie = (x: string, y: string) =>
    tied.some((pair) => (pair.a === x && pair.b === y) || (pair.a === y && pair.b === x));
  const circles: string[][] = [];
  for (const lane of order) {
    const circle = circles.find((lanes) => lanes.every((other) => tie(lane, other)));
    if (circle) circle.push(lane);
    else circles.push([lane]);
  }
  const said: Statement[] = [];
  for (const lanes of circles.filter((circle) => circle.length > 1)) {
    const inside = tied.filter((pair) => lanes.includes(pair.a) && lanes.includes(pair.b));
    said.push({ kind: "tie", lanes, interval: widest(inside) });
  }
  const covered = (pair: Shown) => circles.some((circle) => circle.includes(pair.a) && circle.includes(pair.b));
  for (const pair of tied.filter((one) => !covered(one))) {
    said.push({ kind: "tie", lanes: [pair.b, pair.a], interval: pair.interval });
  }
  known.level.push(...tied.map((pair): [string, string] => [pair.a, pair.b]));
  return said;
}

/** The outermost bounds, with every pair turned so that its bounds lie around the same one. */
function widest(pairs: Shown[]): [number, number] | null {
  const all = pairs.flatMap((pair) => (pair.interval === null ? [] : [pair.interval]));
  const first = all[0];
  if (!first) return null;
  return all
    .slice(1)
    .reduce(([low, high], [l, h]) => [Math.min(low, l, 1 / h), Math.max(high, h, 1 / l)] as [number, number], first);
}

/** Pairs without a verdict, gathered by lane and reason: a lane that lacks a promise lacks it against
 * every other, and that is said once. */
function withoutVerdict(result: ResultFinding, shown: Shown[], reference: string): Statement[] {
  const reasons = new Map<string, Shown[]>();
  for (const pair of shown.filter((one) => one.verdict === "none")) {
    const key = withoutNames(pair);
    reasons.set(key, [...(reasons.get(key) ?? []), pair]);
  }
  const said: Statement[] = [];
  for (const gathered of reasons.values()) {
    // A ratio of two figures that Fairlane's own speed set would pass for the lanes'.
    if (result.limit === "harness") {
      said.push({ kind: "no-verdict", pairs: [], why: gathered[0]?.why ?? "" });
      continue;
    }
    let pairs = gathered;
    while (pairs.length > 0) {
      const of = (lane: string) => pairs.filter((pair) => pair.a === lane || pair.b === lane);
      const lanes = pairs.flatMap((pair) => [pair.a, pair.b]).filter((lane) => lane !== reference);
      let subject = lanes[0] ?? pairs[0]?.a ?? "";
      for (const lane of lanes) if (of(lane).length > of(subject).length) subject = lane;
      const its = of(subject).map((pair) => (pair.b === subject ? flipped(pair) : pair));
      said.push({ kind: "no-verdict", pairs: its, why: its[0]?.why ?? "" });
      pairs = pairs.filter((pair) => pair.a !== subject && pair.b !== subject);
    }
  }
  return said;
}

/** The reason with both lanes' names taken out, so that reasons about different lanes compare. */
function withoutNames(pair: Shown): string {
  const names = [pair.a, pair.b].sort((x, y) => y.length - x.length).filter((name) => name !== "");
  return names.reduce((why, name) => why.replaceAll(name, "\u0000"), pair.why ?? "");
}

/** What the statements so far settle. */
class Known {
  readonly above: [string, string][] = [];
  readonly level: [string, string][] = [];

  /** Whether `above` beats `below` by a chain of known pairs, at least one of them decided. */
  follows(above: string, below: string): boolean {
    const seen: [string, boolean][] = [[above, false]];
    for (let next = 0; next < seen.length; next += 1) {
      const [lane, beaten] = seen[next] as [string, boolean];
      if (lane === below && beaten) return true;
      const steps: [string, boolean][] = this.above.filter(([from]) => from === lane).map(([, to]) => [to, true]);
      for (const [x, y] of this.level) {
        if (lane === x) steps.push([y, beaten]);
        else if (lane === y) steps.push([x, beaten]);
      }
      for (const step of steps) {
        if (!seen.some(([other, how]) => other === step[0] && how === step[1])) seen.push(step);
      }
    }
    return false;
  }
}
