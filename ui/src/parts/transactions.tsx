// Transactions beside their rate: what each one waits for, writes and costs.
import type { RacePage, TransactionsFinding, TransactionsRow } from "../types";
import { known, sentence, useUi, type Ui } from "../ui";
import { name, plain, type Said } from "../words/say";
import { Section, Speak } from "./basics";
import { FigureTable } from "./table";

export function hasTransactions(race: RacePage): boolean {
  return (race.findings.transactions ?? []).length > 0;
}

export function Transactions({ race }: { race: RacePage }) {
  const ui = useUi();
  if (!hasTransactions(race)) return null;
  const w = ui.words.transactions;
  return (
    <Section id="transactions" title={w.title}>
      <p class="small">{w.legend}</p>
      {(race.findings.transactions ?? []).map((table) => (
        <Table key={table.workload} table={table} />
      ))}
    </Section>
  );
}

function Table({ table }: { table: TransactionsFinding }) {
  const ui = useUi();
  const { figures } = ui;
  const w = ui.words.transactions;
  const title = known(ui, table.title);
  const absent = "–";
  const time = (ns: number | null | undefined) => (ns == null ? absent : figures.time(ns * 1e-9));
  const each = (count: number | null | undefined) => (count == null ? absent : figures.significant(count));
  const rate = (value: number | null | undefined) => (value == null ? absent : figures.count(value));
  const bytes = (value: number | null | undefined) => (value == null ? absent : figures.bytes(value));
  const columns: [string, (row: TransactionsRow) => string][] = [
    [w.columns.rate, (row) => rate(row.transactions_per_second)],
    [w.columns.first, (row) => rate(row.transactions_per_second_at_first)],
    [w.columns.p50, (row) => time(row.p50_ns)],
    [w.columns.p99, (row) => time(row.p99_ns)],
    [w.columns.retries, (row) => figures.whole(row.retries)],
    [w.columns.lost, (row) => figures.whole(row.lost_connections ?? 0)],
    [w.columns.fsyncs, (row) => each(row.fsyncs)],
    [w.columns.fsync, (row) => time(row.fsync_ns)],
    [w.columns.flushes, (row) => each(row.flushes)],
    [w.columns.flush, (row) => time(row.flush_ns)],
    [w.columns.written, (row) => bytes(row.written_bytes)],
    [w.columns.inAll, (row) => bytes(row.written_until_stable_bytes)],
    [w.columns.client, (row) => time(row.client_cpu_ns)],
    [w.columns.server, (row) => time(row.server_cpu_ns)],
  ];
  const measured = table.rows.filter((row) => row.failure == null);
  const data = {
    columns: [
      { label: w.columns.lane },
      { label: w.columns.clients },
      ...columns.map(([label]) => ({ label, numeric: true })),
    ],
    rows: measured.map((row): (Said | string)[] => [
      name(row.lane),
      known(ui, row.group),
      ...columns.map(([, of]) => of(row)),
    ]),
  };
  return (
    <article class="result">
      <h3>
        <Speak said={w.heading(title, table.server, table.settings.join(", "))} />
      </h3>
      {table.fits_pool ? <p class="small">{w.fitsPool}</p> : null}
      {measured.length > 0 ? <FigureTable data={data} label={plain(title)} /> : null}
      <ul class="notes">
        {failures(ui, table).map((said) => (
          <li key={plain(said)}>
            <Speak said={said} />
          </li>
        ))}
      </ul>
    </article>
  );
}

/** Lanes without figures, each reason once. */
function failures(ui: Ui, table: TransactionsFinding): Said[] {
  const told = new Map<string, Said>();
  for (const row of table.rows) {
    if (row.failure == null) continue;
    const said = ui.words.statements.failed(name(row.lane), sentence(ui, row.failure));
    told.set(plain(said), said);
  }
  return [...told.values()];
}
