// Published figures of the same work beside this race.
import type { PublishedComparison, PublishedFigures, PublishedRow, RacePage } from "../types";
import { known, sentence, useUi, type Ui } from "../ui";
import { Figures } from "../words/figures";
import { name, plain, text, type Said } from "../words/say";
import { metricSaid } from "../words/told";
import { Section, Speak } from "./basics";

export function Published({ race }: { race: RacePage }) {
  const ui = useUi();
  if (race.published.length === 0) return null;
  return (
    <Section id="published" title={ui.words.sections.published} note={ui.words.published.intro}>
      {race.published.map((comparison) => (
        <Comparison key={comparison.published} of={comparison} />
      ))}
    </Section>
  );
}

function Comparison({ of }: { of: PublishedComparison }) {
  const ui = useUi();
  const w = ui.words.published;
  const rows = of.rows.filter((row) => row.lanes.some((lane) => lane.yours != null));
  const standing = of.lanes.filter((lane) => lane.yours != null && lane.yours !== lane.published);
  return (
    <article class="result">
      <h3>
        <bdi>{of.title}</bdi>
      </h3>
      <p>
        <Speak
          said={w.source(text(`published:${of.published}`), text(of.source.site), of.source.author ?? null, of.source.year ?? null)}
        />
        {standing.length > 0 ? ui.words.semicolon : ""}
        {standing.map((lane, at) => (
          <span key={lane.published}>
            {at > 0 ? ui.words.comma : ""}
            <Speak said={w.stands(name(lane.yours ?? ""), name(lane.published))} />
          </span>
        ))}
        {ui.words.end}
      </p>
      {rows.length === 0 ? <p>{w.nothing}</p> : <Rows of={of} rows={rows} />}
      <Notes title={w.differ} items={of.differences.map((difference) => sentence(ui, difference.what))} />
      <Notes title={w.caveats} items={of.caveats.map((caveat) => sentence(ui, caveat))} />
      <Notes title={w.notCompared} items={of.warnings.map((warning) => sentence(ui, warning))} />
    </article>
  );
}

function Notes({ title, items }: { title: string; items: Said[] }) {
  const ui = useUi();
  if (items.length === 0) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul class="notes">
        {items.map((item, at) => (
          <li key={at}>
            <Speak said={item} />
            {ui.words.end}
          </li>
        ))}
      </ul>
    </>
  );
}

function Rows({ of, rows }: { of: PublishedComparison; rows: PublishedRow[] }) {
  const ui = useUi();
  const { words } = ui;
  const w = words.published;
  const lanes = [...new Set(rows.flatMap((row) => row.lanes.map((lane) => lane.lane)))];
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={plain(text(of.title))}>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              {words.scoreboard.workload}
            </th>
            <th scope="col" rowSpan={2}>
              {w.metric}
            </th>
            {lanes.map((lane) => (
              <th key={lane} scope="colgroup" colSpan={2} class="number">
                <Speak said={name(lane)} />
              </th>
            ))}
            <th scope="colgroup" colSpan={2}>
              {words.dashboard.change}
            </th>
          </tr>
          <tr>
            {lanes.flatMap((lane) => [
              <th key={`${lane} yours`} scope="col" class="number">
                {w.yours}
              </th>,
              <th key={`${lane} article`} scope="col" class="number">
                {w.article}
              </th>,
            ])}
            <th scope="col">{w.yours}</th>
            <th scope="col">{w.article}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.workload} ${row.group} ${row.metric}`}>
              <th scope="row">
                <Speak said={known(ui, row.title)} />
                {words.colon}
                {row.group === "total" ? w.total : <Speak said={known(ui, row.group)} />}
              </th>
              <td>{metricSaid(ui, row.metric)}</td>
              {lanes.flatMap((lane) => {
                const figure = row.lanes.find((one) => one.lane === lane);
                return [
                  <td key={`${lane} yours`} class="number">
                    {figure?.yours == null ? "–" : figureOf(ui, row, figure.yours)}
                  </td>,
                  <td key={`${lane} article`} class="number" {...(figure?.note == null ? {} : { title: figure.note })}>
                    {figure ? article(ui, row, figure) : "–"}
                  </td>,
                ];
              })}
              <Ratios row={row} yours={true} />
              <Ratios row={row} yours={false} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Ratios({ row, yours }: { row: PublishedRow; yours: boolean }) {
  const ui = useUi();
  return (
    <td>
      {row.pairs.map((pair) => {
        const ratio = yours ? pair.yours : pair.published;
        return (
          <span key={`${pair.a} ${pair.b}`} class="board-small">
            <Speak said={ui.words.published.ratio(name(pair.a), name(pair.b))} />{" "}
            {ratio == null ? "–" : ui.figures.times(ratio)}
          </span>
        );
      })}
    </td>
  );
}

function figureOf(ui: Ui, row: PublishedRow, value: number): string {
  return ui.figures.rate(Figures.unitOf(row.metric), value);
}

/** The article's figure with its range, and how exact it is. */
function article(ui: Ui, row: PublishedRow, lane: PublishedFigures): string {
  if (lane.published == null) return "–";
  const w = ui.words.published;
  const value = figureOf(ui, row, lane.published);
  const range = lane.published_to == null ? value : ui.figures.range(value, figureOf(ui, row, lane.published_to));
  const exact = lane.qualifier == null ? range : `${w[lane.qualifier]} ${range}`;
  return lane.note == null ? exact : `${exact} *`;
}
