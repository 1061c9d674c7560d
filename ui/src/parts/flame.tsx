// A flame graph, from the threads at the top down to the functions that they call: of one lane, or of one against another.
import { useMemo, useRef, useState } from "preact/hooks";
import { flameSvg, type Drawing } from "../charts/flame";
import { save } from "../charts/save";
import type { Activity, LaneStacks, RacePage, ResultFinding } from "../types";
import { useUi, type Ui } from "../ui";
import { hasGroups } from "../words/answer";
import { folded, found, functions, leftOut, onlyOther, shownName, tree, type Frame } from "../words/flame";
import { difference } from "../words/framed";
import { name, say, shown, text, type Said } from "../words/say";
import { Speak, Whose } from "./basics";
import { Graph } from "./flame-graph";
import { FigureTable } from "./table";

const ACTIVITIES: readonly Activity[] = ["cpu", "wait"];
/** Functions that are listed, and those of the other lane alone. */
const TABLE_ROWS = 50;
const MOST_ONLY = 10;
/** Characters that are searched for. */
const MOST_SEARCHED = 100;
/** From here on it is told how much of the time is in stacks that the page does not hold. */
const LEAST_LEFT_OUT = 0.001;

export function Flame({ race, result, stacks }: { race: RacePage; result: ResultFinding; stacks: LaneStacks[] }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const [lane, setLane] = useState(0);
  const [against, setAgainst] = useState(-1);
  const [activity, setActivity] = useState<Activity>("cpu");
  const [wanted, setWanted] = useState("");
  const [asTable, setAsTable] = useState(false);
  const drawing = useRef<(() => Drawing) | null>(null);
  const of = stacks[lane] ?? stacks[0];
  const other = against >= 0 && against !== lane ? (stacks[against] ?? null) : null;
  const root = useMemo(() => (of && race.stacks ? tree(race.stacks, of, other, activity) : null), [race, of, other, activity]);
  if (!root || !of || !race.stacks) return null;
  const kept = race.stacks;
  const search = wanted.trim().toLowerCase();
  const shows = showsSaid(ui, root, of, other, activity);
  const file = `fairlane-${result.workload}-${result.group}-${of.lane}-${activity}`.slice(0, 90);
  const lanes = stacks.map((one, at): [number, string] => [at, shown(one.lane, 28)]);
  const savePicture = () => drawing.current && save(flameSvg(drawing.current()), `${file}.svg`);
  const saveStacks = () => save(new Blob([folded(kept, of, activity)], { type: "text/plain" }), `${file}.txt`);
  return (
    <div class="flame" role="group" aria-label={w.title}>
      <div class="controls">
        <Choice label={w.lane} value={lane} onChange={setLane} options={lanes} />
        {lanes.length > 1 ? (
          <Choice
            label={w.against}
            value={other ? against : -1}
            onChange={setAgainst}
            options={[[-1, w.nobody], ...lanes.filter(([at]) => at !== lane)]}
          />
        ) : null}
        <Choice
          label={w.activity}
          value={ACTIVITIES.indexOf(activity)}
          onChange={(to) => setActivity(ACTIVITIES[to] ?? "cpu")}
          options={ACTIVITIES.map((one, at) => [at, w.activities[one]])}
        />
        <input
          type="search"
          aria-label={w.search}
          placeholder={w.search}
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value.slice(0, MOST_SEARCHED))}
        />
        <span class="tools">
          <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {ui.words.figure.table}
            <Whose of={w.title} />
          </button>
          <button type="button" class="quiet" title={ui.words.figure.save} disabled={asTable || root.seconds <= 0} onClick={savePicture}>
            {ui.words.figure.svg}
            <Whose of={w.title} />
          </button>
          <button type="button" class="quiet" title={w.saveFolded} onClick={saveStacks}>
            {w.folded}
            <Whose of={w.title} />
          </button>
        </span>
      </div>
      <p class="flame-shows">
        <Speak said={shows} />
        {of.group === "" && hasGroups(race.findings, result) ? ` ${w.allGroups}` : null}
      </p>
      <Matches root={root} search={search} />
      {root.seconds <= 0 ? <p class="small">{w.nothing}</p> : null}
      {asTable ? (
        <Functions root={root} against={other} search={search} />
      ) : root.seconds > 0 ? (
        <Graph root={root} against={other} search={search} title={w.title} shows={shows} drawing={drawing} />
      ) : null}
      {other ? <Only root={root} lane={other.lane} /> : null}
    </div>
  );
}

/** What is shown, and what it rests on. */
function showsSaid(ui: Ui, root: Frame, of: LaneStacks, other: LaneStacks | null, activity: Activity): Said {
  const w = ui.words.explain.flame;
  const left = leftOut(of);
  const said = w.shows(name(of.lane), w.activities[activity], ui.figures.time(root.seconds));
  const against = other ? w.showsAgainst(name(other.lane), ui.figures.time(root.other)) : [];
  // Waits are timed, not sampled.
  const samples = activity === "cpu" ? w.samples(ui.figures.whole(of.samples)) : "";
  return say`${said}${against}${samples}${left >= LEAST_LEFT_OUT ? w.leftOut(ui.figures.smallShare(left)) : ""}${ui.words.end}`;
}

function Choice({ label, value, options, onChange }: { label: string; value: number; options: [number, string][]; onChange: (to: number) => void }) {
  return (
    <label>
      {label}{" "}
      <select value={String(value)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {options.map(([of, title]) => (
          <option key={of} value={String(of)}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** How much time the functions take that are searched for. */
function Matches({ root, search }: { root: Frame; search: string }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const seconds = useMemo(() => found(root, search), [root, search]);
  const share = root.seconds > 0 ? seconds / root.seconds : 0;
  const said = search === "" ? "" : seconds > 0 ? w.matches(ui.figures.percent(share, 1), ui.figures.time(seconds)) : w.noMatch;
  return (
    <p class="small flame-matches" aria-live="polite">
      {said}
    </p>
  );
}

/** The functions with the most time of their own. */
function Functions({ root, against, search }: { root: Frame; against: LaneStacks | null; search: string }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const all = useMemo(() => functions(root), [root]);
  const listed = all.filter((of) => (of.own > 0 || of.otherOwn > 0) && of.name.toLowerCase().includes(search));
  const columns = [
    { label: w.columns.name },
    { label: w.columns.own, numeric: true },
    { label: w.columns.share, numeric: true },
    { label: w.columns.total, numeric: true },
    ...(against ? [{ label: w.columns.difference, numeric: true }] : []),
  ];
  const rows = listed.slice(0, TABLE_ROWS).map((of): (Said | string)[] => [
    text(shownName(of.name)),
    ui.figures.time(of.own),
    ui.figures.percent(root.seconds > 0 ? of.own / root.seconds : 0, 1),
    ui.figures.time(of.seconds),
    ...(against ? [difference(ui, of.own - of.otherOwn)] : []),
  ]);
  return <FigureTable data={{ columns, rows }} label={w.title} />;
}

/** What only the other lane does. */
function Only({ root, lane }: { root: Frame; lane: string }) {
  const ui = useUi();
  const w = ui.words.explain.flame;
  const all = useMemo(() => onlyOther(root, MOST_ONLY), [root]);
  const only = all.map((of) => w.function(text(shownName(of.name)), ui.figures.time(of.seconds)));
  return only.length === 0 ? null : (
    <p class="small flame-only">
      <Speak said={w.only(name(lane), only)} />
    </p>
  );
}
