// What a screening found as sentences of the reader's language: all of it was decided before.
import type {
  ConfirmedRow,
  Effect,
  ExpectedGain,
  Factor,
  Findings,
  OptionLevel,
  ScreenedResult,
  ScreeningFinding,
  TunedLevel,
  Verdict,
} from "../types";
import { known, resultTitle, sentence, type Ui } from "../ui";
import { hasGroups } from "./answer";
import { name, say, shorten, text, type Said } from "./say";

/** Characters of an option's level. */
const LEVEL = 24;

/** The lane that was screened, or what it is where nobody could have screened one of that name. */
export function baseSaid(ui: Ui, of: ScreeningFinding): Said {
  return of.base === "" ? text(ui.words.screening.noLane) : name(of.base);
}

/** What to do by it, as the first line of the page. */
export function headlineSaid(ui: Ui, of: ScreeningFinding): Said {
  const w = ui.words.screening.headline;
  const base = baseSaid(ui, of);
  const tuned = tunedOf(of);
  if (isBeingTuned(of)) return w.tuning(base);
  if (of.proposal.factors.length === 0 && tuned.length === 0) {
    if (of.unfinished === true) return w.unfinished(base);
    const why = whyUntold(of);
    const open = openOptions(of).length;
    if (!tells(of)) return w.untold(base, why === null ? null : sentence(ui, why));
    return open === 0 ? w.keep(base) : w.keepYet(base, open, of.factors.length);
  }
  const options = tuned.length > 0 ? ui.words.list(tuned.map(tunedSaid), "and") : optionsSaid(ui, of, of.proposal.factors);
  return of.confirmation == null ? w.yet(base, options) : w[of.confirmation.outcome](base, options);
}

/** Whether the effect of any option is told. */
export function tells(of: ScreeningFinding): boolean {
  return of.results.some((result) => result.effects.length > 0);
}

/** Why no effect is told, where that is one and the same reason for all figures. */
export function whyUntold(of: ScreeningFinding): string | null {
  const why = of.results[0]?.unknown ?? null;
  const alike = (result: ScreenedResult) => result.effects.length === 0 && (result.unknown ?? null) === why;
  return of.results.every(alike) ? why : null;
}

/** What tuning made of the proposal, and was raced against the default or is to be; empty: the proposal itself is. */
export function tunedOf(of: ScreeningFinding): TunedLevel[] {
  return (of.confirmation == null ? of.proposal.tuning?.chosen : of.confirmation.tuned) ?? [];
}

/** Tuning was begun and is not done, and nothing was raced against the default behind it. */
export function isBeingTuned(of: ScreeningFinding): boolean {
  return of.confirmation == null && of.proposal.tuning?.unfinished === true;
}

/** The options of which nothing is known: they matter in no figure, and in some that cannot be told. */
export function openOptions(of: ScreeningFinding): string[] {
  const has = (factor: Factor, verdict: Effect["verdict"]) =>
    of.results.some((result) => result.effects.some((effect) => effect.factor === factor.name && effect.verdict === verdict));
  return of.factors.filter((factor) => has(factor, "open") && !has(factor, "matters")).map((factor) => factor.name);
}

/** Options that tuning set and of which the screening does not say that they matter: tuning alone chose their level. */
export function tunedAlone(of: ScreeningFinding): string[] {
  const matters = (factor: string) =>
    of.results.some((result) => result.effects.some((effect) => effect.factor === factor && effect.verdict === "matters"));
  return tunedOf(of).flatMap((one) => (matters(one.factor) ? [] : [one.factor]));
}

export function tunedSaid(tuned: TunedLevel): Said {
  return say`${name(tuned.factor)} ${text(shorten(tuned.level, LEVEL))}`;
}

export function factorOf(of: ScreeningFinding, factor: string): Factor | null {
  return of.factors.find((one) => one.name === factor) ?? null;
}

export function levelSaid(level: OptionLevel): Said {
  return text(shorten(level.label, LEVEL));
}

/** An option with its other level. */
export function optionSaid(of: ScreeningFinding, factor: string): Said {
  const known = factorOf(of, factor);
  return known === null ? name(factor) : say`${name(factor)} ${levelSaid(known.other)}`;
}

export function optionsSaid(ui: Ui, of: ScreeningFinding, factors: readonly string[]): Said {
  return ui.words.list(
    factors.map((factor) => optionSaid(of, factor)),
    "and",
  );
}

/** An effect as charts mark verdicts: better, worse, alike, or open. */
export function markOf(effect: Effect): Verdict {
  if (effect.verdict === "matters") return effect.ratio > 1 ? "faster" : "slower";
  return effect.verdict === "does-not" ? "tie" : "undecided";
}

/** What matters by its size, then what is open, then what does not. */
export function inOrder(effects: readonly Effect[]): Effect[] {
  const rank = { matters: 0, open: 1, "does-not": 2 };
  const size = (effect: Effect) => Math.abs(Math.log(effect.ratio));
  return [...effects].sort((a, b) => rank[a.verdict] - rank[b.verdict] || size(b) - size(a));
}

/** From where on an interval leaves out nothing that is told of it. */
const NO_LOW_END = 0.005;
const NO_HIGH_END = 9999.5;

/** A ratio and its interval, in the unit of what stands beside them in their row. */
export function gainOf(
  ui: Ui,
  ratio: number,
  low: number | null | undefined,
  high: number | null | undefined,
  beside: readonly (number | null | undefined)[] = [],
): { size: string; interval: string | null } {
  const w = ui.words.screening;
  const { size, ends } = ui.figures.gain(ratio, low == null || high == null ? null : [low, high], beside);
  if (low == null || high == null || ends === null) return { size, interval: null };
  return { size, interval: low < NO_LOW_END && high >= NO_HIGH_END ? w.noInterval : w.to(ends[0], ends[1]) };
}

/** `+12% (+9% to +15%)`. */
export function gainSaid(
  ui: Ui,
  ratio: number,
  low: number | null | undefined,
  high: number | null | undefined,
  beside: readonly (number | null | undefined)[] = [],
): string {
  const { size, interval } = gainOf(ui, ratio, low, high, beside);
  return interval === null ? size : `${size} (${interval})`;
}

export function screenedTitle(ui: Ui, findings: Findings, result: ScreenedResult): Said {
  const of = findings.results.find((one) => one.workload === result.workload && one.group === result.group);
  return of === undefined ? known(ui, result.title) : resultTitle(ui, of, hasGroups(findings, of));
}

/** The figure that a row of the proposal or of its race is about; by its title where the screening has none such. */
export function titleSaid(ui: Ui, findings: Findings, row: ExpectedGain | ConfirmedRow): Said {
  const isIt = (one: ScreenedResult) => one.workload === row.workload && one.group === (row.group ?? "");
  const result = findings.screening?.results.find(isIt);
  return result === undefined ? known(ui, row.title) : screenedTitle(ui, findings, result);
}
