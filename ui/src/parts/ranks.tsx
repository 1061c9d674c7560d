// What the ranks of an MPI job did each by itself, and which of them stays far behind.
import type { RacePage, RanksFinding, RanksRow } from "../types";
import { known, useUi, type Ui } from "../ui";
import { name, plain, say, type Said } from "../words/say";
import { Section, Speak } from "./basics";
import { FigureTable } from "./table";

/** The first column of the table whose cells are figures. */
const FIRST_FIGURE = 2;

export function hasRanks(race: RacePage): boolean {
  return (race.findings.ranks ?? []).length > 0;
}

export function Ranks({ race }: { race: RacePage }) {
  const ui = useUi();
  const found = race.findings.ranks ?? [];
  if (found.length === 0) return null;
  const w = ui.words.ranks;
  const rows = found.flatMap((of) => of.rows.map((row) => ({ work: workOf(ui, found, of), row })));
  const { work, lane, ranks, slowest, mean, fastest, spread, first, last, received, sent } = w.columns;
  const hasNetwork = rows.some(({ row }) => row.network != null);
  const labels = [work, lane, ranks, slowest, mean, fastest, spread, first, last, ...(hasNetwork ? [received, sent] : [])];
  const data = {
    columns: labels.map((label, at) => ({ label, numeric: at >= FIRST_FIGURE })),
    rows: rows.map(({ work, row }): (Said | string)[] => [
      work,
      name(row.lane),
      ...cells(ui, row),
      ...(hasNetwork ? network(ui, row) : []),
    ]),
  };
  const stragglers = rows.flatMap(({ work, row }) => straggler(ui, work, row));
  return (
    <Section id="ranks" title={w.title} note={hasNetwork ? w.legend + w.networkLegend : w.legend}>
      <FigureTable data={data} label={w.title} />
      <ul class="notes">
        {stragglers.map((said) => (
          <li key={plain(said)}>
            <Speak said={said} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The work, with its group where it has several. */
function workOf(ui: Ui, found: readonly RanksFinding[], of: RanksFinding): Said {
  const several = found.filter((other) => other.workload === of.workload).length > 1;
  return several ? say`${known(ui, of.title)}${ui.words.colon}${known(ui, of.group)}` : known(ui, of.title);
}

function cells(ui: Ui, row: RanksRow): string[] {
  const { figures } = ui;
  const rate = (value: number) => figures.rate("operations/s", value);
  return [
    ui.words.ranks.ranks(figures.whole(row.ranks), row.nodes > 1 ? figures.whole(row.nodes) : null),
    rate(row.lowest_operations_per_second),
    rate(row.mean_operations_per_second),
    rate(row.highest_operations_per_second),
    figures.percent(row.spread),
    figures.time(row.first_done_seconds),
    figures.time(row.last_done_seconds),
  ];
}

/** What network interfaces of all nodes received and sent. */
function network({ figures }: Ui, { network: of }: RanksRow): string[] {
  if (of == null) return ["", ""];
  return [figures.bandwidth(of.received_bytes_per_second), figures.bandwidth(of.sent_bytes_per_second)];
}

function straggler(ui: Ui, work: Said, row: RanksRow): Said[] {
  const of = row.straggler;
  if (of == null) return [];
  const { figures } = ui;
  const rank = ui.words.ranks.rank(figures.whole(of.rank), row.nodes > 1 ? figures.whole(of.node) : null);
  return [ui.words.ranks.straggler(work, name(row.lane), rank, figures.whole(of.rounds), figures.whole(of.of), figures.percent(of.below))];
}
