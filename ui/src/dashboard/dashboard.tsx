// The dashboard: the same page, asking its own server.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Race } from "../parts/race";
import type { Language, Live, RacePage, RecordList } from "../types";
import { makeUi, UiContext, useUi } from "../ui";
import { address, useAsked, useLive } from "./api";
import { Compare } from "./compare";
import { Running } from "./live";
import { Records } from "./records";
import { href, useRoute } from "./route";
import { TrendView } from "./trend";
import { Waiting } from "./waiting";

/** The findings of a running race are asked for again when trials were added, and not more often. */
const REFRESH_MS = 4000;

export function Dashboard({ version, language, dark }: { version: string; language: Language; dark: boolean }) {
  const ui = useUi();
  const route = useRoute();
  const { live, connected } = useLive();
  const running = live?.kind === "running" ? live : null;
  const [records, again] = useAsked<RecordList>(address("api/records"));
  // A race that begins or ends changes the list.
  const before = useRef<string | null>(null);
  useEffect(() => {
    const now = running?.record ?? "";
    if (before.current !== null && before.current !== now) again();
    before.current = now;
  }, [running?.record, again]);
  useEffect(() => {
    if (records.state !== "loading") document.documentElement.dataset["ready"] = "true";
  }, [records.state]);
  return (
    <>
      {connected ? null : (
        <p class="trouble" role="status">
          {ui.words.dashboard.reconnecting}
        </p>
      )}
      <Running live={live} />
      {route.view === "records" ? (
        <Records asked={records} retry={again} live={live} />
      ) : (
        <p class="back">
          <a href={href({ view: "records" })}>{ui.words.dashboard.back}</a>
        </p>
      )}
      {route.view === "race" ? (
        <RaceView key={route.record} record={route.record} section={route.section} version={version} language={language} dark={dark} live={live} />
      ) : null}
      {route.view === "compare" ? <Compare a={route.a} b={route.b} /> : null}
      {route.view === "trend" ? <TrendView workload={route.workload} group={route.group} records={records.value} /> : null}
    </>
  );
}

function RaceView({
  record,
  section,
  version,
  language,
  dark,
  live,
}: {
  record: string;
  section: string | null;
  version: string;
  language: Language;
  dark: boolean;
  live: Live | null;
}) {
  const [asked, again] = useAsked<RacePage>(address(`api/race/${encodeURIComponent(record)}`));
  useRefreshed(live, record, again);
  const race = asked.value;
  const ui = useMemo(
    () => makeUi(language, dark, race, (of) => href({ view: "race", record, section: of })),
    [language, dark, race, record],
  );
  if (!race) return <Waiting asked={asked} what={record} retry={again} />;
  return (
    <UiContext.Provider value={ui}>
      <Links race={race} record={record} />
      <Race race={race} version={version} section={section} />
    </UiContext.Provider>
  );
}

/** Asks again when the running race has more trials than before. */
function useRefreshed(live: Live | null, record: string, again: () => void) {
  const trials = live?.kind === "running" && live.record === record ? live.trials : null;
  const seen = useRef<number | null>(null);
  const last = useRef(0);
  const ended = useRef(false);
  useEffect(() => {
    if (trials === null) {
      // It has just ended: what was decided last is worth a last look.
      if (seen.current !== null && !ended.current) {
        ended.current = true;
        again();
      }
      return undefined;
    }
    ended.current = false;
    if (seen.current === trials) return undefined;
    const first = seen.current === null;
    seen.current = trials;
    if (first) return undefined;
    const wait = Math.max(0, last.current + REFRESH_MS - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      again();
    }, wait);
    return () => clearTimeout(timer);
  }, [trials, again]);
}

function Links({ race, record }: { race: RacePage; record: string }) {
  const ui = useUi();
  const first = race.findings.results[0];
  return (
    <p class="back">
      {first ? (
        <a class="record-link" href={href({ view: "trend", workload: first.workload, group: first.group })}>
          {ui.words.dashboard.trendLink}
        </a>
      ) : null}
      <a class="record-link" href={address(`api/race/${encodeURIComponent(record)}/record`)} download>
        {ui.words.dashboard.download}
      </a>
    </p>
  );
}
