// Records side by side: the first against each other one. The verdicts came with the answer.
import { forest, forestHeight, type ForestRow } from "../charts/forest";
import { LaneName, Mark, Speak } from "../parts/basics";
import { Figure } from "../parts/figure";
import { known, sentence, useUi, type Ui } from "../ui";
import { Figures } from "../words/figures";
import { joined, name, plain, say, shown, type Said } from "../words/say";
import { metricSaid } from "../words/told";
import { address, useAsked } from "./api";
import type { Comparison, ComparisonRow, Comparisons } from "../types";
import { href } from "./route";
import { Waiting } from "./waiting";

/** Rows of one chart: more are in the table. */
const CHART_ROWS = 60;

export function Compare({ a, b }: { a: string; b: string[] }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const [asked, retry] = useAsked<Comparisons>(
    address("api/compare", [["a", a] as const, ...b.map((of) => ["b", of] as const)]),
  );
  const value = asked.value;
  return (
    <section class="section" aria-labelledby="compare-title">
      <div class="section-head">
        <h1 id="compare-title" class="page-title">
          {w.compare}
        </h1>
        <p class="section-note">{w.compareIntro}</p>
      </div>
      {value ? (
        value.comparisons.map((comparison, at) => <One key={`${at} ${comparison.b}`} of={comparison} />)
      ) : (
        <Waiting asked={asked} what={a} retry={retry} />
      )}
    </section>
  );
}

function One({ of }: { of: Comparison }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const lanes = [...new Set(of.rows.map((row) => row.lane))];
  const count = (verdict: string) => of.rows.filter((row) => row.verdict === verdict).length;
  const counts = w.summary(count("faster"), count("slower"), count("tie"), count("undecided"), count("none"));
  return (
    <article class="result">
      <header class="result-head">
        <h2>
          <Speak said={w.comparing(name(of.a), name(of.b))} />
        </h2>
      </header>
      <p class="small">
        {[of.a, of.b].map((record) => (
          <a key={record} class="record-link" href={href({ view: "race", record, section: null })}>
            {w.open(shown(record, 60))}
          </a>
        ))}
      </p>
      {of.rows.length === 0 ? <p>{w.nothingCommon}</p> : <p class="verdict">{counts}</p>}
      {of.warnings.length > 0 ? (
        <ul class="notes warnings">
          {of.warnings.map((warning) => (
            <li key={warning}>
              <Speak said={sentence(ui, warning)} />
              {ui.words.end}
            </li>
          ))}
        </ul>
      ) : null}
      {of.rows.length > 0 ? <Forest of={of} counts={counts} /> : null}
      {of.rows.length > 0 ? (
        <div class="scroll" tabIndex={0} role="group" aria-label={w.compare}>
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">{w.work}</th>
                <th scope="col">{w.lane}</th>
                <th scope="col" class="number">
                  {w.a}
                </th>
                <th scope="col" class="number">
                  {w.b}
                </th>
                <th scope="col" class="number">
                  {w.change}
                </th>
                <th scope="col">{w.verdict}</th>
                <th scope="col">{w.why}</th>
              </tr>
            </thead>
            <tbody>
              {of.rows.map((row) => (
                <tr key={`${row.lane} ${row.workload} ${row.group} ${row.metric}`}>
                  <th scope="row">
                    <Speak said={workSaid(ui, row)} />
                    <span class="board-small">{metricSaid(ui, row.metric)}</span>
                  </th>
                  <td>
                    <LaneName index={lanes.indexOf(row.lane)} name={row.lane} />
                  </td>
                  <td class="number">{rate(ui, row, row.a)}</td>
                  <td class="number">{rate(ui, row, row.b)}</td>
                  <td class="number">{ratioSaid(ui, row)}</td>
                  <td>
                    <span class={`tone-${row.verdict}`}>
                      <Mark verdict={row.verdict} /> {verdictSaid(ui, row)}
                    </span>
                  </td>
                  <td>{row.why == null ? null : <Speak said={sentence(ui, row.why)} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </article>
  );
}

function verdictSaid(ui: Ui, row: ComparisonRow): string {
  return row.verdict === "undecided" ? ui.words.dashboard.tooNoisy : ui.words.verdict[row.verdict];
}

function workSaid(ui: Ui, row: ComparisonRow): Said {
  return say`${known(ui, row.title)}${ui.words.colon}${known(ui, row.group)}`;
}

function rate(ui: Ui, row: ComparisonRow, value: number): string {
  return ui.figures.rate(Figures.unitOf(row.metric), value);
}

function ratioSaid(ui: Ui, row: ComparisonRow): string {
  const ratio = ui.figures.times(row.ratio);
  return row.low != null && row.high != null
    ? `${ratio} (${ui.figures.factor(row.low)}–${ui.figures.factor(row.high)})`
    : ratio;
}

function Forest({ of, counts }: { of: Comparison; counts: string }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const rows = of.rows.slice(0, CHART_ROWS).map(
    (row): ForestRow => ({
      name: shown(`${plain(name(row.lane))}, ${plain(workSaid(ui, row))}`, 60),
      ratio: row.ratio,
      low: row.low ?? null,
      high: row.high ?? null,
      verdict: row.verdict,
      says: `${ratioSaid(ui, row)}, ${verdictSaid(ui, row)}`,
    }),
  );
  const farthest = [...of.rows].sort((x, y) => Math.abs(Math.log(y.ratio)) - Math.abs(Math.log(x.ratio)))[0];
  const what = farthest ? joined([name(farthest.lane), workSaid(ui, farthest)], ui.words.comma) : [];
  const caption = w.forestCaption(counts, farthest ? w.largest(what, ui.figures.times(farthest.ratio)) : []);
  return (
    <Figure
      level="h3"
      title={w.forest}
      caption={caption}
      file="fairlane-compare"
      height={() => forestHeight(rows.length)}
      of={[of]}
      option={(on) => forest(on, ui.figures, rows, plain(caption))}
      table={() => ({
        columns: [{ label: w.lane }, { label: w.work }, { label: w.change, numeric: true }, { label: w.verdict }],
        rows: of.rows.map((row) => [name(row.lane), workSaid(ui, row), ratioSaid(ui, row), verdictSaid(ui, row)]),
      })}
    />
  );
}
