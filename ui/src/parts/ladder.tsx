// What growing numbers of ranks bring: a chart of each kind of work, and where it bends.
import { ladder as chart, ladderHeight } from "../charts/ladder";
import type { LadderFinding, LadderLane, LadderRow, RacePage } from "../types";
import { known, useUi, type Ui } from "../ui";
import { name, plain, say, type Said } from "../words/say";
import { LaneKey, Section, Speak } from "./basics";
import { Figure } from "./figure";
import type { TableData } from "./table";

const ABSENT = "–";

export function hasLadders(race: RacePage): boolean {
  return (race.findings.ladders ?? []).length > 0;
}

export function Ladders({ race }: { race: RacePage }) {
  const ui = useUi();
  const ladders = race.findings.ladders ?? [];
  if (ladders.length === 0) return null;
  const w = ui.words.ladder;
  const lanes = race.findings.lanes.map((lane) => lane.name);
  return (
    <Section id="ladder" title={w.title} note={w.legend}>
      <LaneKey lanes={lanes} />
      {ladders.map((of) => (
        <Ladder key={JSON.stringify([of.title, of.group])} of={of} lanes={lanes} />
      ))}
    </Section>
  );
}

function Ladder({ of, lanes }: { of: LadderFinding; lanes: readonly string[] }) {
  const ui = useUi();
  const w = ui.words.ladder;
  const group = of.group ?? "";
  const work = group === "" ? known(ui, of.title) : say`${known(ui, of.title)}${ui.words.colon}${known(ui, group)}`;
  const title = plain(work);
  const places = of.lanes.map((lane) => lanes.indexOf(lane.lane));
  return (
    <article class="result">
      <Figure
        title={title}
        caption={[w.caption]}
        file={`fairlane-ladder-${title.replace(/[^a-z0-9]+/gi, "-")}`}
        height={ladderHeight}
        option={(on) =>
          chart(on, ui.figures, { ladder: of, places, ranks: w.ranks, ofRanks: (ranks) => w.ofRanks(ui.figures.whole(ranks), ranks), description: `${title}. ${w.caption}` })
        }
        table={() => tableOf(ui, of)}
        lanes={of.lanes.map((lane) => lane.lane)}
        of={[of]}
        level="h3"
      />
      <ul class="notes">
        {of.lanes.map((lane) => (
          <li key={lane.lane}>
            <Speak said={scalingSaid(ui, lane)} />
          </li>
        ))}
      </ul>
    </article>
  );
}

function tableOf(ui: Ui, of: LadderFinding): TableData {
  const { lane, ranks, together, added } = ui.words.ladder.columns;
  return {
    columns: [{ label: lane }, ...[ranks, together, added].map((label) => ({ label, numeric: true }))],
    rows: of.lanes.flatMap((lane) => lane.rows.map((row): (Said | string)[] => [name(lane.lane), ...cells(ui, of, row)])),
  };
}

function cells(ui: Ui, of: LadderFinding, row: LadderRow): string[] {
  const { figures } = ui;
  const interval = row.low == null || row.high == null ? "" : ` (${figures.rates(of.unit, row.low, row.high)})`;
  const { share } = row;
  return [
    ui.words.ranks.ranks(figures.whole(row.ranks), row.nodes > 1 ? figures.whole(row.nodes) : null),
    `${figures.rate(of.unit, row.mean)}${interval}`,
    share == null ? ABSENT : ui.words.ladder.added(percent(ui, share.share), percent(ui, share.low), percent(ui, share.high)),
  ];
}

/** A share that may be negative, where more ranks did less. What rounds to nothing has no sign. */
function percent(ui: Ui, share: number): string {
  return ui.figures.percent(Math.abs(share) < 0.005 ? 0 : share);
}

/** Where a lane bends, or that it does not, or that nobody knows. */
function scalingSaid(ui: Ui, of: LadderLane): Said {
  const w = ui.words.ladder;
  const { figures } = ui;
  const lane = name(of.lane);
  const most = figures.whole(of.rows[of.rows.length - 1]?.ranks ?? 0);
  const { scaling } = of;
  switch (scaling.is) {
    case "bends":
      return w.bends(
        lane,
        figures.whole(scaling.from),
        figures.whole(scaling.to),
        figures.percent(Math.max(scaling.at_most, 0)),
        scaling.perhaps_before,
      );
    case "straight":
      return w.straight(lane, most);
    case "open":
      return w.open(lane, most);
  }
}
