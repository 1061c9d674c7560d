// The score of IO500 of each lane, with what makes a run invalid.
import type { Io500Finding, Io500Phase, RacePage } from "../types";
import { useUi, type Ui } from "../ui";
import { name, plain, text, type Said } from "../words/say";
import { Section, Speak } from "./basics";
import { FigureTable } from "./table";

const ABSENT = "–";
/** Seconds that the rules of IO500 ask of each phase that writes; as `model::findings::IO500_STONEWALL_SECONDS` has it. */
const STONEWALL_SECONDS = 300;

export function hasIo500(race: RacePage): boolean {
  return (race.findings.io500 ?? []).length > 0;
}

export function Io500({ race }: { race: RacePage }) {
  const ui = useUi();
  const found = race.findings.io500 ?? [];
  if (found.length === 0) return null;
  const w = ui.words.io500;
  const { lane, score, bandwidth, metadata, rounds } = w.columns;
  const data = {
    columns: [{ label: lane }, ...[score, bandwidth, metadata, rounds].map((label) => ({ label, numeric: true }))],
    rows: found.map((of): (Said | string)[] => [name(of.lane), ...cells(ui, of)]),
  };
  const told = sentences(ui, found);
  return (
    <Section id="io500" title={w.title} note={w.legend}>
      <FigureTable data={data} label={w.title} />
      <ul class="notes">
        {told.map((said) => (
          <li key={plain(said)}>
            <Speak said={said} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function cells(ui: Ui, of: Io500Finding): string[] {
  const { score } = of;
  if (score == null) return [ABSENT, ABSENT, ABSENT, ABSENT];
  const interval = score.low == null || score.high == null ? null : ([number(ui, score.low), number(ui, score.high)] as const);
  return [
    ui.words.io500.score(number(ui, score.score), interval),
    `${number(ui, score.bandwidth)}\u00a0GiB/s`,
    `${number(ui, score.metadata)}\u00a0kIOPS`,
    ui.figures.whole(score.rounds),
  ];
}

/** Scores of small machines lie far below one. */
function number(ui: Ui, value: number): string {
  return value < 0.995 ? ui.figures.fixed(value, 3) : ui.figures.significant(value);
}

function isTooShort(phase: Io500Phase): boolean {
  return phase.name.endsWith("-write") && phase.seconds < STONEWALL_SECONDS;
}

/** What a reader must know of the scores. */
function sentences(ui: Ui, found: readonly Io500Finding[]): Said[] {
  const w = ui.words.io500;
  const { figures } = ui;
  const phases = found.flatMap((of) => of.phases);
  const names = (of: readonly Io500Phase[]) => text([...new Set(of.map((phase) => phase.name))].join(", "));
  const short = phases.filter(isTooShort);
  const again = phases.filter((phase) => phase.read_again === true);
  const seconds = short.map((phase) => phase.seconds);
  return [
    ...(short.length > 0
      ? [w.invalid(names(short), figures.range(figures.time(Math.min(...seconds)), figures.time(Math.max(...seconds))), STONEWALL_SECONDS)]
      : []),
    ...(again.length > 0 ? [w.readAgain(names(again))] : []),
    ...found.filter((of) => of.score == null).map((of) => w.noScore(name(of.lane))),
  ];
}
