// Advice for scenarios as sentences.
import type { Advice, AdviceReason, Excluded, Flip, LaneFact, NotMeasured } from "../types";
import { known, sentence, type Ui } from "../ui";
import { joined, name, say, toned, type Said } from "./say";

/** Parts of the work that are told as reasons; the others stand in the record's findings. */
const REASONS_SHOWN = 4;

/** `either ext4 or xfs`, or why there is no advice. */
export function chosenSaid(ui: Ui, advice: Advice): Said {
  const w = ui.words.advice;
  if (advice.lane != null) {
    const lanes = w.chosen([advice.lane, ...advice.level_with].map(name));
    return toned("strong", isLeaning(advice) ? w.leaning(lanes) : lanes);
  }
  if (advice.no_advice === "undecided") return toned("undecided", w.undecided);
  if (advice.no_advice === "too-little-measured") return toned("none", w.tooLittle);
  return toned("none", w.none);
}

/** A share that is never 100 %: a few thousand resampled races cannot show that. */
function sharesWon(ui: Ui, share: number): string {
  return share > 0.994 ? ui.words.advice.over99 : ui.figures.percent(share);
}

/** Whether none of the scenario's own work was raced: then what is said of it stands on proxies alone. */
export function isLeaning(advice: Advice): boolean {
  return advice.lane != null && advice.leads.length > 0 && (advice.own_share ?? 0) <= 0;
}

/** How much of the work was measured, and by what. */
export function measuredSaid(ui: Ui, advice: Advice): string {
  const own = advice.own_share ?? 0;
  const proxies = Math.max(advice.measured_share - own, 0);
  return ui.words.advice.measured(own > 0 ? ui.figures.percent(own) : null, proxies > 1e-9 ? ui.figures.percent(proxies) : null);
}

/** How far the choice is ahead, and how safe that is. */
export function takeSaid(ui: Ui, advice: Advice, margin: number): Said {
  const w = ui.words.advice;
  if (advice.lane == null) {
    switch (advice.no_advice) {
      case "too-little-measured":
        if ((advice.too_few_rounds_share ?? 0) > 0) return [w.tooFewRounds(ui.figures.percent(advice.too_few_rounds_share ?? 0))];
        return [advice.measured_share > 0 ? w.tooLittleWhy(ui.figures.percent(advice.measured_share)) : w.nothingMeasured];
      case "undecided":
        return [w.undecidedWhy];
      default:
        return [w.allExcluded];
    }
  }
  if (advice.leads.length === 0) return say`${w.only}${ui.words.end}`;
  const leads = advice.leads
    .filter((lead) => !advice.level_with.includes(lead.against))
    .map((lead) => ({ gap: ui.figures.gap(lead.ratio, null, true), lane: name(lead.against) }));
  if (leads.length === 0 && advice.why.length === 0) return say`${w.nothingApart}${ui.words.end}`;
  const parts: Said[] = [];
  if (leads.length > 0) parts.push(w.ahead(leads));
  if (advice.level_with.length > 0) parts.push([w.level(advice.level_with.length, ui.figures.margin(margin))]);
  const share = advice.share_of_resampled_races;
  if (share != null) {
    const wins = w.wins(sharesWon(ui, share), advice.level_with.length > 0);
    parts.push(
      share < 0.8 ? toned("undecided", `${wins}${ui.words.clause}${w.unsafe}`) : [`${wins}${ui.words.clause}${w.noiseAlone}`],
    );
  }
  if (isLeaning(advice) && (advice.own_suite ?? "") !== "") parts.push([w.noOwnWork(advice.own_suite ?? "")]);
  return say`${joined(parts, ui.words.semicolon)}${ui.words.end}`;
}

/** A scenario's lines, each with its label. */
export function adviceLines(ui: Ui, advice: Advice): { label: string; items: Said[] }[] {
  const w = ui.words.advice;
  const title = known(ui, advice.title);
  const lines = [
    { label: w.because, items: reasons(ui, advice.why).slice(0, REASONS_SHOWN) },
    { label: w.equal, items: equal(ui, advice) },
    { label: w.out, items: excluded(ui, advice) },
    { label: w.unless, items: advice.flips_if.map((flip) => flipSaid(ui, flip, title)) },
    { label: w.missing, items: missing(ui, advice.not_measured) },
    {
      label: w.note,
      items: [
        ...advice.raced_without.map((of) =>
          say`${w.racedWithout(name(advice.lane ?? ""), needSaid(ui, of.need), sentence(ui, of.with))}${sourceSaid(ui, of.source)}`,
        ),
        ...advice.notes.map(
          (note) =>
            say`${joined(note.lanes.map(name), ui.words.comma)}${ui.words.colon}${sentence(ui, note.text)}${sourceSaid(ui, note.source)}`,
        ),
      ],
    },
  ];
  return lines.filter((line) => line.items.length > 0);
}

function part(ui: Ui, what: string, share: number): Said {
  return ui.words.advice.part(known(ui, what), ui.figures.percent(share));
}

function reasons(ui: Ui, why: readonly AdviceReason[]): Said[] {
  const parts = new Map<string, AdviceReason[]>();
  for (const reason of why) parts.set(reason.what, [...(parts.get(reason.what) ?? []), reason]);
  return [...parts.values()].map((of) => {
    const first = of[0] as AdviceReason;
    const pairs = of.map((reason) => ({
      gap: ui.figures.gap(reason.ratio, null, reason.ratio > 1),
      lane: name(reason.against),
      atLeast: reason.at_least === true,
    }));
    return ui.words.advice.reason(part(ui, first.what, first.share), pairs);
  });
}

function equal(ui: Ui, advice: Advice): Said[] {
  const w = ui.words.advice;
  const causes = [...new Set(advice.equal.map((of) => of.because))];
  return causes.map((because) => {
    const parts = advice.equal.filter((of) => of.because === because).map((of) => part(ui, of.what, of.share));
    return w.equalParts(joined(parts, ui.words.comma), w.equals[because]);
  });
}

/** The lanes that are out, gathered where the same is known of them. */
function excluded(ui: Ui, advice: Advice): Said[] {
  const groups = new Map<string, Excluded[]>();
  for (const out of advice.excluded) {
    const key = JSON.stringify([out.constraint, out.why ?? null, out.facts]);
    groups.set(key, [...(groups.get(key) ?? []), out]);
  }
  return [...groups.values()].map((group) => outSaid(ui, advice, group));
}

function outSaid(ui: Ui, advice: Advice, group: Excluded[]): Said {
  const w = ui.words.advice;
  const first = group[0] as Excluded;
  const lanes = ui.words.list(group.map((out) => name(out.lane)), "and");
  const note = first.facts.map((fact) => fact.note).find((of) => of != null);
  const said = note == null ? null : sentence(ui, note);
  switch (first.constraint) {
    case "done":
      return w.outDone(lanes, said);
    case "mounted":
      return w.outMounted(lanes);
    case "kept":
      return w.outKept(lanes);
    case "comparable":
      return w.outComparable(lanes, said);
    default: {
      const asked =
        first.why == null
          ? w.youAsk(needSaid(ui, first.constraint))
          : w.scenarioAsks(known(ui, advice.title), sentence(ui, first.why));
      const facts = joined(first.facts.map((fact) => factSaid(ui, fact)), ui.words.comma);
      const sources = [...new Set(group.flatMap((out) => out.source.split("; ")).filter((of) => of !== ""))];
      return say`${w.outNeed(lanes, asked, facts)}${sourceSaid(ui, sources.join("; "))}`;
    }
  }
}

function factSaid(ui: Ui, fact: LaneFact): Said {
  const w = ui.words.advice;
  const need = needSaid(ui, fact.need);
  const note = fact.note == null ? [] : ui.words.brackets(sentence(ui, fact.note));
  if (fact.is === "no" && fact.need === "durable") return fact.note == null ? w.factNo(need) : sentence(ui, fact.note);
  if (fact.is === "no") return say`${w.factNo(need)}${note}`;
  if (fact.is === "unknown") return say`${w.factUnknown(need)}${note}`;
  if (fact.is === "off" && fact.with != null) return say`${w.factOff(need, sentence(ui, fact.with))}${note}`;
  return say`${w.factIs(need, sentence(ui, fact.is))}${note}`;
}

/** What people call what `--need` takes. */
export function needSaid(ui: Ui, need: string): Said {
  const one = (of: string): Said => {
    const whole = Object.hasOwn(ui.words.needs, of) ? ui.words.needs[of] : undefined;
    if (whole !== undefined) return [whole];
    const at = of.indexOf("=");
    return at < 0 ? sentence(ui, of) : [ui.words.needValue(of.slice(0, at), of.slice(at + 1))];
  };
  return joined(need.split("|").map(one), ui.words.needOr);
}

function flipSaid(ui: Ui, flip: Flip, scenario: Said): Said {
  const w = ui.words.advice;
  const lane = name(flip.lane);
  switch (flip.kind) {
    case "weight":
      return w.flipWeight(
        lane,
        known(ui, flip.what),
        flip.at < flip.share,
        ui.figures.smallShare(flip.at),
        ui.figures.percent(flip.share),
      );
    case "undecided":
      return w.flipUndecided(lane, known(ui, flip.what));
    case "without":
      return w.flipWithout(lane, distance(ui, flip.ratio), scenario, needSaid(ui, flip.need));
    case "with":
      return w.flipWith(
        lane,
        distance(ui, flip.ratio),
        ui.words.list(flip.needs.map((need) => needSaid(ui, need)), "or"),
        flip.needs.length > 1,
      );
  }
}

function distance(ui: Ui, ratio: number): Said {
  if (Math.abs(Math.log(ratio)) < 1e-9) return [];
  return ui.words.advice.distance(ui.figures.gap(ratio, null, ratio > 1));
}

function missing(ui: Ui, parts: readonly NotMeasured[]): Said[] {
  const suites = [...new Set(parts.map((of) => of.suite ?? null))];
  return suites.map((suite) => {
    const of = parts.filter((one) => (one.suite ?? null) === suite).map((one) => part(ui, one.what, one.share));
    return ui.words.advice.missingSuite(joined(of, ui.words.comma), suite === null ? null : [{ text: suite }]);
  });
}

function sourceSaid(ui: Ui, source: string): Said {
  return source === "" ? [] : toned("quiet", ui.words.advice.source([{ text: source.slice(0, 300) }]));
}
