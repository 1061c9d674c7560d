// What a past did to lanes: how old they are, aged beside fresh, and which ranks flip.
import type {
  AgedFinding,
  AgedFlip,
  AgedLane,
  AgedRanks,
  AgedRow,
  AlikeFiles,
  ColdRead,
  FreePieces,
  RacePage,
} from "../types";
import { known, useUi, type Ui } from "../ui";
import { name, say, type Said } from "../words/say";
import { Section, Speak } from "./basics";
import { FigureTable } from "./table";

const ABSENT = "–";
/** Pieces of free space below this count as small (chosen). */
const SMALL_PIECE_BYTES = 64 * 1024;
/** The first column of the table whose cells are words. */
const FIRST_WORDS = 9;
const DECIDED = ["faster", "slower", "tie"];

export function hasAged(race: RacePage): boolean {
  return (race.findings.aged ?? []).length > 0;
}

export function Aged({ race }: { race: RacePage }) {
  const ui = useUi();
  const aged = race.findings.aged ?? [];
  if (aged.length === 0) return null;
  const w = ui.words.aged;
  const { lane, written, refused, files, used, extents, layout, walk, split, free, cold } = w.columns;
  const columns = [lane, written, refused, files, used, extents, layout, walk, split, free, cold];
  const facts = {
    columns: columns.map((label, at) => ({ label, numeric: at > 0 && at < FIRST_WORDS })),
    rows: aged.map((of) => factsOf(ui, of)),
  };
  const compared = aged.filter((of) => of.beside != null && (of.rows ?? []).length > 0);
  const alone = aged.filter((of) => of.beside == null);
  const withoutRows = aged.filter((of) => of.beside != null && (of.rows ?? []).length === 0);
  const ranks = race.findings.aged_ranks;
  return (
    <Section id="aged" title={w.title} note={w.legend}>
      <FigureTable data={facts} label={w.title} />
      {compared.length > 0 ? <FigureTable data={beside(ui, compared)} label={w.beside} /> : null}
      <ul class="aged">
        {aged.map((of) => {
          const told = likeItsLife(ui, of.facts);
          return told.length === 0 ? null : (
            <li key={of.lane}>
              <Speak said={w.state(name(of.lane), told)} />
            </li>
          );
        })}
        {alone.map((of) => (
          <li key={of.lane}>
            <Speak said={w.alone(name(of.lane))} />
          </li>
        ))}
        {withoutRows.map((of) => (
          <li key={of.lane}>
            <Speak said={w.withoutRows(name(of.lane), name(of.beside ?? ""))} />
          </li>
        ))}
        {ranks == null ? null : <Ranks ranks={ranks} />}
      </ul>
    </Section>
  );
}

function Ranks({ ranks }: { ranks: AgedRanks }) {
  const ui = useUi();
  const w = ui.words.aged;
  const flips = ranks.flips ?? [];
  return (
    <>
      <li>
        {w.ranks(ui.figures.whole(flips.length), ui.figures.whole(ranks.decided), ui.figures.whole(ranks.open))}
      </li>
      {(ranks.unequal ?? 0) > 0 ? <li>{w.unequal(ui.figures.whole(ranks.unequal ?? 0))}</li> : null}
      {flips.map((flip, at) => (
        <li key={at}>
          <Speak said={flipped(ui, flip)} />
        </li>
      ))}
    </>
  );
}

function flipped(ui: Ui, flip: AgedFlip): Said {
  const [best, next] = [flip.fresh, flip.aged].map(([first, second]) => [name(first ?? ""), name(second ?? "")] as const);
  return ui.words.aged.flip(known(ui, flip.title), best ?? ["", ""], next ?? ["", ""]);
}

function factsOf(ui: Ui, aged: AgedFinding): (Said | string)[] {
  const { figures } = ui;
  const { facts } = aged;
  const digits = (figure: number | null | undefined) => (figure == null ? ABSENT : figures.fixed(figure, 2));
  const used = facts.filesystem_used_share > 0 ? facts.filesystem_used_share : facts.used_share;
  return [
    name(aged.lane),
    `${figures.fixed(facts.overwrites, 1)}×`,
    figures.whole(facts.refused_for_space),
    figures.whole(facts.files),
    figures.percent(used),
    digits(facts.extents_per_file),
    digits(facts.layout_score),
    digits(facts.dynamic_layout_score),
    facts.directories_split == null ? ABSENT : figures.percent(facts.directories_split),
    freeSpace(ui, facts.free_space ?? []),
    coldRead(ui, facts.cold_read ?? null),
  ];
}

/** How the lane is filled, and its files, beside what its life says and beside another life of its profile. */
function likeItsLife(ui: Ui, facts: AgedLane): string[] {
  const { figures } = ui;
  const w = ui.words.aged;
  const alike = (words: (share: string, probability: string) => string, of: AlikeFiles | null | undefined) => {
    if (of == null) return [];
    // A stranger's record may say any number.
    const probability = Math.min(1, Math.max(0, of.probability));
    const told = probability < 0.005 ? w.below(figures.fixed(0.01, 2)) : figures.fixed(probability, 2);
    return [words(figures.percent(of.misplaced_share), told)];
  };
  const { reached_share: reached, allocated_bytes: taken, differing_files: differing } = facts;
  return [
    ...(reached == null ? [] : [w.filled(figures.percent(reached, 1), figures.percent(facts.used_share, 1))]),
    ...(taken == null ? [] : [w.taken(figures.bytes(facts.bytes), figures.bytes(taken))]),
    ...(differing == null || differing === 0 ? [] : [w.differing(figures.whole(differing))]),
    ...alike(w.sizes, facts.sizes),
    ...alike(w.ages, facts.ages),
  ];
}

function freeSpace(ui: Ui, classes: readonly FreePieces[]): string {
  const sum = (of: readonly FreePieces[], what: "bytes" | "pieces") => of.reduce((all, one) => all + one[what], 0);
  const all = sum(classes, "bytes");
  if (all === 0) return ABSENT;
  const small = sum(
    classes.filter((of) => of.from_bytes < SMALL_PIECE_BYTES),
    "bytes",
  );
  const { figures } = ui;
  return ui.words.aged.free(figures.bytes(all), figures.whole(sum(classes, "pieces")), figures.percent(small / all));
}

function coldRead(ui: Ui, read: ColdRead | null): string {
  if (read === null) return ABSENT;
  const { figures } = ui;
  const { aged_seconds_per_gib: aged, fresh_seconds_per_gib: fresh, share_of_files: share } = read;
  const ratio = figures.times(aged / Math.max(fresh, 1e-9));
  return ui.words.aged.cold(figures.time(aged), figures.time(fresh), ratio, figures.percent(share), read.disk ?? "");
}

/** A row for each result, a column for each aged lane that was raced fresh too. */
function beside(ui: Ui, compared: readonly AgedFinding[]) {
  const w = ui.words.aged;
  const titles = [...new Set(compared.flatMap((of) => (of.rows ?? []).map((row) => row.title)))];
  const cell = (of: AgedFinding, title: string) => {
    const row = (of.rows ?? []).find((row) => row.title === title);
    return row === undefined ? ABSENT : ratio(ui, row);
  };
  return {
    columns: [{ label: w.work }, ...compared.map((of) => ({ label: `${of.lane} / ${of.beside}`, numeric: true }))],
    rows: titles.map((title) => [say`${known(ui, title)}`, ...compared.map((of) => cell(of, title))]),
  };
}

function ratio(ui: Ui, row: AgedRow): string {
  const times = (factor: number) => ui.figures.times(factor);
  const interval = row.low == null || row.high == null ? null : ([times(row.low), times(row.high)] as const);
  return ui.words.aged.ratio(times(row.ratio), interval, DECIDED.includes(row.verdict));
}
