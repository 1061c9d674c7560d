// The race that runs now: how far it is, who is at work, and the last figure of each lane.
import { Name, Speak } from "../parts/basics";
import { known, useUi, wordOf } from "../ui";
import { Figures } from "../words/figures";
import { name } from "../words/say";
import { metricSaid } from "../words/told";
import type { Live } from "../types";
import { href } from "./route";

type RunningOf = Extract<Live, { kind: "running" }>;

export function Running({ live }: { live: Live | null }) {
  const ui = useUi();
  if (live === null) return null;
  if (live.kind === "idle") return <p class="idle small">{ui.words.dashboard.idle}</p>;
  return <Progress live={live} />;
}

function Progress({ live }: { live: RunningOf }) {
  const ui = useUi();
  const { figures } = ui;
  const w = ui.words.dashboard;
  const budget = live.budget_seconds ?? null;
  // Without a budget the workloads are the only measure of how far it is.
  const share = budget !== null && budget > 0 ? live.elapsed_seconds / budget : (live.number - 1) / Math.max(live.of, 1);
  const elapsed = w.elapsed(figures.duration(live.elapsed_seconds), budget === null ? null : figures.duration(budget));
  return (
    <section class="running" aria-labelledby="running-title">
      <h2 id="running-title" class="label">
        {w.live}
      </h2>
      <p class="running-line">
        <strong>
          <Name text={live.suite} />
        </strong>
        {ui.words.colon}
        <Speak said={w.progress(live.number, live.of, known(ui, live.workload))} />
        {ui.words.clause}
        {w.round(live.round)}
      </p>
      <progress max={1} value={Math.min(Math.max(share, 0), 1)} aria-label={elapsed} />
      <p class="running-now">
        <span role="status">{live.lane === "" ? w.between : <Speak said={w.atWork(name(live.lane), wordOf(w.phases, live.phase))} />}</span>
        <span class="small">
          {elapsed}
          {ui.words.semicolon}
          {w.trialsSoFar(live.trials)}
        </span>
      </p>
      {live.rates.length > 0 ? (
        <table class="figures">
          <caption class="small">{w.lastRates}</caption>
          <tbody>
            {live.rates.map((rate) => (
              <tr key={`${rate.lane} ${rate.group}`}>
                <th scope="row">
                  <Name text={rate.lane} />
                </th>
                <td>
                  <Speak said={known(ui, rate.group)} />
                </td>
                <td>{metricSaid(ui, rate.metric)}</td>
                <td class="number">{w.rateOf(figures.rate(Figures.unitOf(rate.metric), rate.value), rate.round)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <p>
        <a href={href({ view: "race", record: live.record, section: null })}>{w.follow}</a>
      </p>
    </section>
  );
}
