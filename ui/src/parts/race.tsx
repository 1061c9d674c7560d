// One race, from the answer to the last trial.
import { useEffect, useState } from "preact/hooks";
import type { RacePage } from "../types";
import { useUi } from "../ui";
import { tableOf } from "../words/answer";
import { Aged, hasAged } from "./aged";
import { Advice } from "./advice";
import { Answer } from "./answer";
import { Ceilings } from "./ceilings";
import { Ground } from "./ground";
import { hasIo500, Io500 } from "./io500";
import { hasLadders, Ladders } from "./ladder";
import { hasLayers, Layers } from "./layers";
import { Operations } from "./operations";
import { Published } from "./published";
import { hasRanks, Ranks } from "./ranks";
import { Results } from "./results";
import { Scoreboard } from "./scoreboard";
import { hasAppenders, Appenders } from "./appenders";
import { hasScreening, LanesOfDesign, Screening } from "./screening";
import { hasTransactions, Transactions } from "./transactions";
import { Trials } from "./trials";

export function Race({ race, version, section }: { race: RacePage; version: string; section: string | null }) {
  // The answer is painted before the rest is laid out: large records have long tables.
  const [whole, setWhole] = useState(false);
  useEffect(() => {
    if (whole) return undefined;
    const soon = setTimeout(() => setWhole(true), 0);
    return () => clearTimeout(soon);
  }, [whole]);
  useEffect(() => {
    if (!whole) return;
    goTo(section);
    document.documentElement.dataset["ready"] = "true";
  }, [section, whole]);
  return (
    <>
      <Answer race={race} />
      <Contents race={race} />
      {whole ? <Rest race={race} version={version} /> : null}
    </>
  );
}

function Rest({ race, version }: { race: RacePage; version: string }) {
  return (
    <>
      {hasScreening(race) ? (
        // Its lanes are runs of a design: none is held against another.
        <>
          <Screening race={race} />
          <LanesOfDesign>
            <Lanes race={race} />
          </LanesOfDesign>
        </>
      ) : (
        <>
          <Scoreboard race={race} />
          <Advice race={race} />
          <Lanes race={race} />
        </>
      )}
      <Ceilings race={race} />
      <Layers race={race} />
      <Aged race={race} />
      <Io500 race={race} />
      <Ladders race={race} />
      <Ranks race={race} />
      <Published race={race} />
      <Ground race={race} version={version} />
      <Trials race={race} />
    </>
  );
}

/** What was measured of each lane. */
function Lanes({ race }: { race: RacePage }) {
  return (
    <>
      <Results race={race} />
      <Operations race={race} />
      <Transactions race={race} />
      <Appenders race={race} />
    </>
  );
}

/** Brings a section to the top and the focus to its heading. */
function goTo(section: string | null): void {
  if (section === null) return;
  const place = document.getElementById(section);
  if (!place) return;
  place.scrollIntoView();
  document.getElementById(`${section}-title`)?.focus({ preventScroll: true });
}

function Contents({ race }: { race: RacePage }) {
  const ui = useUi();
  const { findings } = race;
  const s = ui.words.sections;
  const screened = hasScreening(race);
  const ofLanes: [string, string, boolean][] = [
    ["scoreboard", s.scoreboard, true],
    ["advice", s.advice, findings.advice.length > 0],
    ["results", s.results, findings.results.some((result) => tableOf(findings, result.workload) === null)],
    ["operations", s.operations, (findings.operations ?? []).length > 0],
    ["transactions", ui.words.transactions.title, hasTransactions(race)],
    ["appenders", ui.words.appenders.title, hasAppenders(race)],
  ];
  const ofOptions: [string, string, boolean][] = [
    ["screening", ui.words.screening.title, true],
    ["lanes", ui.words.screening.lanes, true],
  ];
  const sections: [string, string, boolean][] = [
    ...(screened ? ofOptions : ofLanes),
    ["ceilings", findings.ceilings.some((of) => of.in_page_cache) ? s.guestCeilings : s.ceilings, true],
    ["layers", ui.words.layers.title, hasLayers(race)],
    ["aged", ui.words.aged.title, hasAged(race)],
    ["io500", ui.words.io500.title, hasIo500(race)],
    ["ladder", ui.words.ladder.title, hasLadders(race)],
    ["ranks", ui.words.ranks.title, hasRanks(race)],
    ["published", s.published, race.published.length > 0],
    ["ground", s.ground, true],
    ["trials", s.trials, true],
  ];
  return (
    <nav class="contents" aria-label={ui.words.page.contents}>
      <ul>
        {sections
          .filter(([, , there]) => there)
          .map(([id, title]) => (
            <li key={id}>
              <a href={ui.href(id)}>{title}</a>
            </li>
          ))}
      </ul>
    </nav>
  );
}
