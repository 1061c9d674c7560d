// What layers and several disks cost.
import type { LayerCost, RacePage } from "../types";
import { useUi, type Ui } from "../ui";
import { name, type Said } from "../words/say";
import { Section } from "./basics";
import { FigureTable } from "./table";

/** Of more disks the least and the most are told. */
const FEW_DISKS = 4;
const ABSENT = "–";

export function hasLayers(race: RacePage): boolean {
  return (race.findings.layers ?? []).length > 0;
}

export function Layers({ race }: { race: RacePage }) {
  const ui = useUi();
  if (!hasLayers(race)) return null;
  const w = ui.words.layers;
  const { lane, usable, written, byDisk: each, cpu, alone } = w.columns;
  const data = {
    columns: [lane, usable, written, each, cpu, alone].map((label) => ({ label })),
    rows: (race.findings.layers ?? []).map((cost) => cells(ui, cost)),
  };
  return (
    <Section id="layers" title={w.title} note={w.legend}>
      <FigureTable data={data} label={w.title} />
    </Section>
  );
}

function cells(ui: Ui, cost: LayerCost): (Said | string)[] {
  const { figures } = ui;
  const w = ui.words.layers;
  // Parts add up to their sum: they have as many digits.
  const times = (factor: number) => (factor >= 0.1 && factor < 100 ? `${figures.fixed(factor, 2)}×` : figures.times(factor));
  const beside = cost.beside == null ? null : name(cost.beside);
  const usable =
    cost.usable_bytes != null && cost.disk_bytes > 0
      ? w.usable(figures.bytes(cost.usable_bytes), figures.bytes(cost.disk_bytes))
      : ABSENT;
  const written =
    cost.written_per_byte == null
      ? ABSENT
      : cost.written_beside != null && beside !== null
        ? w.beside(times(cost.written_per_byte), times(cost.written_beside), beside)
        : times(cost.written_per_byte);
  const range = cost.rows > 1 ? ((cost.cpu_times_range ?? null) as [number, number] | null) : null;
  const cpu =
    cost.cpu_times == null || beside === null
      ? ABSENT
      : w.cpu(
          times(cost.cpu_times),
          range === null ? null : [times(range[0]), times(range[1])],
          beside,
          figures.whole(cost.rows),
          cost.rows === 1,
        );
  const kinds = (cost.without_filesystem ?? []).filter((speed) => speed.bare_operations_per_second != null).length;
  const alone =
    cost.of_a_bare_disk == null ? ABSENT : w.alone(times(cost.of_a_bare_disk), figures.whole(kinds), kinds === 1);
  return [name(cost.lane), usable, written, byDisk(ui, cost.written_by_disk ?? [], times), cpu, alone];
}

function byDisk(ui: Ui, disks: readonly number[], times: (factor: number) => string): string {
  if (disks.length === 0) return ABSENT;
  if (disks.length <= FEW_DISKS) return disks.map(times).join(", ");
  return ui.words.layers.fromTo(times(Math.min(...disks)), times(Math.max(...disks)));
}
