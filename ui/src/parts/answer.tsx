// The first screen: which lane to take, what the others cost, what the race could not tell.
import type { Advice, RacePage } from "../types";
import { known, sentence, useUi, type Ui } from "../ui";
import { joined, say, text, type Said } from "../words/say";
import { answerSaid } from "../words/told";
import { chosenSaid, isLeaning, measuredSaid } from "../words/advised";
import { Command, Speak } from "./basics";

export function Answer({ race }: { race: RacePage }) {
  const ui = useUi();
  const { findings } = race;
  const w = ui.words.answer;
  const told = answerSaid(ui, findings);
  const ended = Object.hasOwn(w.outcomes, findings.outcome) ? w.outcomes[findings.outcome] : undefined;
  const { ok, repeated, failed } = findings.trials;
  const brief = briefAdvice(ui, findings.screening == null ? findings.advice : []);
  const screened = findings.screening != null;
  // What to do about a screening is its proposal. The statistics do not know where the record lies.
  const screening = race.record == null ? [] : (race.resume ?? []);
  const next = (screened ? screening : (findings.answer?.next ?? [])).map((word) => (word === "RECORD" ? (race.record ?? word) : word));
  return (
    <section id="answer" class="answer" aria-labelledby="answer-title">
      <p class="dateline">
        <Speak said={datelineSaid(ui, race)} />
        <span class="dateline-machine">
          <Speak said={machineSaid(race)} />
        </span>
      </p>
      <h1 id="answer-title" tabIndex={-1}>
        <Speak said={told.headline} />
      </h1>
      {ended === undefined || findings.outcome === "complete" ? null : <p class="ended">{ended}</p>}
      {findings.code_only ? (
        <p class="ended" id="code-only">
          <Speak said={sentence(ui, findings.code_only)} />
        </p>
      ) : null}
      <div class="answer-columns">
        <div>
          {told.why ? (
            <p>
              <Speak said={told.why} />
            </p>
          ) : null}
          {told.claims ? (
            <>
              <h2 class="label">{told.claims.heading}</h2>
              <ul class="plain claims">
                {told.claims.items.map((item, at) => (
                  <li key={at}>
                    <Speak said={item} />
                  </li>
                ))}
              </ul>
            </>
          ) : null}
          {next.length > 0 ? (
            <p class="next">
              <span class="label">{w.next}</span>
              <Command words={["fairlane", ...next]} label={w.next} />
            </p>
          ) : null}
        </div>
        <div>
          {told.cannot.length > 0 ? (
            <>
              <h2 class="label">{w.cannot}</h2>
              <ul class="plain">
                {told.cannot.map((item, at) => (
                  <li key={at}>
                    <Speak said={item} />
                  </li>
                ))}
              </ul>
            </>
          ) : null}
        </div>
      </div>
      {brief.length > 0 ? (
        <div class="brief">
          <h2 class="label">{w.brief}</h2>
          <ul class="plain brief-list">
            {brief.map((item, at) => (
              <li key={at}>
                <Speak said={item} />
              </li>
            ))}
          </ul>
          <p class="small">
            {findings.advice.some((one) => one.share_of_resampled_races != null) ? `${w.briefShares} ` : null}
            <a href={ui.href("advice")}>{ui.words.sections.advice}</a>
          </p>
        </div>
      ) : null}
      <p class="small counted">
        {w.counted(ui.figures, ok, repeated, failed, findings.trials.void ?? 0, screened ? null : ui.figures.margin(findings.margin))}
      </p>
    </section>
  );
}

/** What was raced and when, or from what it was imported. */
function datelineSaid(ui: Ui, race: RacePage): Said {
  const { suite, started, imported = [] } = race.findings;
  const w = ui.words.answer;
  const date = ui.figures.date(started);
  return imported.length > 0 ? w.imported(joined(imported.map(text), ui.words.comma), date) : w.dateline(text(suite), date);
}

function machineSaid(race: RacePage): Said {
  const { machine } = race.findings;
  const parts = [machine.cpu, machine.device?.model, machine.os, machine.kernel].map((part) => part?.trim() ?? "");
  return joined(
    parts.filter((part) => part !== "").map((part) => text(part.slice(0, 80))),
    ", ",
  );
}

/** Scenarios gathered by what to take. */
function briefAdvice(ui: Ui, advice: readonly Advice[]): Said[] {
  const groups = new Map<string, Advice[]>();
  for (const one of advice) {
    // Lanes that are level are the same choice in whichever order.
    const lanes = one.lane == null ? [] : [one.lane, ...one.level_with].sort();
    const key = JSON.stringify([lanes, one.no_advice ?? null, isLeaning(one)]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].map((group) => {
    const first = group[0] as Advice;
    const scenarios = group.map((one) => {
      const told = one.share_of_resampled_races != null;
      if (!told) return known(ui, one.title);
      // That it is similar work alone was said of all of them.
      const measured = isLeaning(one) ? ui.figures.percent(one.measured_share) : measuredSaid(ui, one);
      return ui.words.advice.part(known(ui, one.title), measured);
    });
    return say`${chosenSaid(ui, first)}${ui.words.colon}${joined(scenarios, ui.words.comma)}`;
  });
}
