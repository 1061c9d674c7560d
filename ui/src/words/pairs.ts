// Two lanes of a result, told of either one: a pair stands in the findings the way round in which it was judged.
import type { Pair, ResultFinding, Told, Undecided, Verdict } from "../types";

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

/** The pair of two lanes, told of `a` against `b`; `null`: there is none. */
export function pairOf(result: ResultFinding, a: string, b: string): Shown | null {
  for (const pair of result.pairs) {
    if (pair.a === a && pair.b === b) return straight(pair);
    if (pair.a === b && pair.b === a) return turned(straight(pair));
  }
  return null;
}

/** The pairs of a statement, each as it tells it. */
export function toldPairs(result: ResultFinding, told: readonly Told[]): Shown[] {
  return told.flatMap((one) => {
    const pair = result.pairs[one.pair];
    if (!pair) return [];
    return [one.turned === true ? turned(straight(pair)) : straight(pair)];
  });
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

function turned(pair: Shown): Shown {
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
