// Alles, was die Seite sagt, auf Deutsch.
import type { Undecided } from "../types";
import type { Figures, Gap } from "../words/figures";
import { joined, say, toned, type Said } from "../words/say";
import { dashboard } from "./de_dashboard";
import { knowledge } from "./de_knowledge";
import { appenders } from "./de_appenders";
import { explain } from "./de_explain";
import { aged } from "./de_aged";
import { layers } from "./de_layers";
import { io500, ladder, ranks } from "./de_ranks";
import { screening } from "./de_screening";
import { transactions } from "./de_transactions";
import type { Difference, End, Latency, WorkDifference, Words } from "./en";

const list = (parts: readonly Said[], last: "and" | "or"): Said => {
  const before = parts.slice(0, -1);
  const end = parts[parts.length - 1] ?? [];
  return before.length === 0 ? end : say`${joined(before, ", ")} ${last === "and" ? "und" : "oder"} ${end}`;
};
const latencies: Record<Latency, string> = {
  p50: "mediane Latenz",
  p99: "p99-Latenz",
  p999: "p99,9-Latenz",
  mean: "mittlere Latenz",
  other: "Latenz",
};
const amount = (gap: Gap) => (gap.factor ? `um den Faktor ${gap.size}` : `um ${gap.size}`);
/** „um 9 % schneller als ext4“, „eine um 20 % niedrigere p99-Latenz als ext4“. */
const size = (of: Difference & Partial<WorkDifference>, other: Said): Said => {
  const { gap, latency, sure } = of;
  const tone = gap.faster ? "faster" : "slower";
  if (sure === "sign") {
    if (latency === null) return say`${toned(tone, gap.faster ? "schneller" : "langsamer")}${other}`;
    return say`eine ${toned(tone, gap.faster ? "niedrigere" : "höhere")} ${latencies[latency]}${other}`;
  }
  const least = sure === undefined ? "" : "mindestens ";
  if (latency === null) return say`${toned(tone, `${least}${amount(gap)} ${gap.faster ? "schneller" : "langsamer"}`)}${other}`;
  return say`eine ${toned(tone, `${least}${amount(gap)} ${gap.faster ? "niedrigere" : "höhere"}`)} ${latencies[latency]}${other}`;
};
const interval = (gap: Gap): string =>
  gap.interval === null ? "" : ` (${gap.factor ? "Faktor " : ""}${gap.interval[0]}–${gap.interval[1]})`;
const runden = (count: number) => (count === 1 ? "1 Runde" : `${count} Runden`);
const schritte = (count: number) => (count === 1 ? "1 Schritt" : `${count} Schritte`);

const because: Record<Undecided, string> = {
  noise: "zu verrauscht für eine Rangfolge",
  "too-few-rounds": "zu wenige Runden für eine Rangfolge",
  interrupted: "vor einem Urteil unterbrochen",
  "out-of-budget": "die Zeit war vor einem Urteil um",
  "machine-busy": "von anderen Programmen gestört",
};

const notYet: Record<Undecided, string> = {
  noise: "Was gemessen wurde, ist zu verrauscht",
  "too-few-rounds": "Es waren zu wenige Runden",
  interrupted: "Das Rennen wurde unterbrochen, bevor es unterscheiden konnte",
  "out-of-budget": "Die Zeit war um, bevor das Rennen unterscheiden konnte",
  "machine-busy": "Andere Programme störten das meiste, was gemessen wurde",
};

export const de: Words = {
  name: "Deutsch",
  locale: "de-DE",
  units: { operations: "Op./s" },
  list,
  end: ".",
  colon: ": ",
  semicolon: "; ",
  comma: ", ",
  clause: ", ",
  brackets: (inside) => say` (${inside})`,
  latencies,
  ...dashboard,
  ...knowledge,

  page: {
    report: "Fairlane-Bericht",
    skip: "Zur Antwort springen",
    contents: "Inhalt",
    language: "Sprache",
    theme: "Darstellung",
    themes: { auto: "Wie das System", light: "Hell", dark: "Dunkel" },
    print: "Drucken",
    copy: "Kopieren",
    copied: "Kopiert",
    madeBy: (version) => `Erstellt mit Fairlane ${version}. Diese Datei ruft nichts aus dem Netz ab.`,
    noData: "Diese Seite enthält keine Daten. „fairlane report --format html“ schreibt eine mit Daten.",
    noInflate:
      "Die Daten dieses Berichts sind komprimiert, und dieser Browser kann sie nicht entpacken (DecompressionStream fehlt). Bitte mit einem Browser ab 2023 öffnen.",
    badData: (why) => `Die Daten dieser Seite sind nicht lesbar (${why}). Bitte den Bericht neu schreiben.`,
    otherSchema: (schema) =>
      `Diese Daten haben das Schema ${schema}, das die Seite nicht kennt. Bitte den Bericht mit ein und derselben Fairlane-Version neu schreiben.`,
    unnamed: "(ohne Namen)",
  },

  sections: {
    answer: "Antwort",
    scoreboard: "Übersicht",
    advice: "Welches wofür",
    results: "Ergebnisse",
    operations: "Dateioperationen",
    ceilings: "Was die Platte allein schafft",
    guestCeilings: "Was die Platte des Gasts allein schafft",
    published: "Neben veröffentlichten Zahlen",
    ground: "Maschine, Bahnen, Wiederholung",
    trials: "Alle Versuche",
  },

  appenders,
  explain,
  aged,
  io500,
  ladder,
  layers,
  ranks,
  screening,
  transactions,

  verdict: {
    faster: "schneller",
    slower: "langsamer",
    tie: "gleichauf",
    undecided: "offen",
    none: "kein Urteil",
    reference: "Bezug",
    failed: "gescheitert",
    missing: "kein Wert",
  },

  limits: {
    device: { mark: "Platte", says: "Gemessen wurde die Platte: Dieser Test kann diese Dateisysteme nicht unterscheiden." },
    "own-disk": {
      mark: "eigene Platten",
      says: "Gemessen wurde die eigene Platte jeder Bahn: Das Urteil gilt für Dateisystem und Platte zusammen.",
    },
    "write-amplification": {
      mark: "Mehr-Schreiben",
      says: "Die Platte war ausgelastet, und die Dateisysteme schreiben unterschiedlich viel.",
    },
    "filesystem-cpu": { mark: "CPU", says: "Begrenzt durch die CPU-Zeit des Dateisystems." },
    cpu: { mark: "CPUs", says: "Begrenzt durch die CPUs, den Anteil der Arbeit selbst eingeschlossen." },
    "filesystem-serialised": { mark: "wartet", says: "Das Dateisystem lässt die Platte warten." },
    flush: { mark: "Flush", says: "Begrenzt durch Flushes." },
    cache: { mark: "Cache", says: "Aus dem Speicher beantwortet, nicht von der Platte." },
    harness: { mark: "Fairlane", says: "Fairlane selbst war die Grenze: kein Urteil." },
    "other-programs": { mark: "andere", says: "Andere Programme waren aktiv; die Grenze ist daher nicht bekannt." },
    unattributed: { mark: "unbekannt", says: "Was die Grenze setzte, ist nicht bekannt." },
  },

  answer: {
    dateline: (suite, date) => say`Suite ${suite}, gemessen am ${date}`,
    imported: (formats, date) => say`Importiert aus ${formats}${date === "" ? "" : `, gemessen am ${date}`}`,
    choice: (lanes) =>
      lanes.length < 2
        ? say`Für diese Mischung: ${list(lanes, "or")}`
        : say`Für diese Mischung ${lanes.length === 2 ? "entweder " : "eines von "}${list(lanes, "or")}`,
    byWork: (lanes) => say`${list(lanes, "or")}, je nach Arbeit`,
    level: (lanes) => say`Kein Unterschied zählt: ${lanes.length === 2 ? "" : "gleich ob "}${list(lanes, "or")}`,
    levelWhy: (margin) => say`Kein Unterschied über der Schwelle von ${margin} wurde gefunden.`,
    unnamed: "Dieses Rennen fand keinen Unterschied, den es nennen darf.",
    yet: (reason, ties) =>
      say`${notYet[reason]}${ties.length > 0 ? say`; was entschieden ist, liegt gleichauf: ${ties}` : ""}.`,
    none: "Keine Wahl möglich",
    noneYet: "Noch keine Wahl möglich",
    searched: "Wie viele Schreiber jede Bahn trägt, steht unten",
    nothing: "Das Rennen endete, bevor etwas gemessen war",
    alone: "Nur eine Bahn wurde gemessen, es gibt also nichts zu wählen",
    aloneWhy: "Für einen Vergleich bitte eine zweite Bahn angeben.",
    aloneImported: "Nur eine Bahn wurde importiert, es gibt also nichts zu wählen",
    aloneImportedWhy: "Für einen Vergleich bitte Dateien einer zweiten Bahn importieren.",
    twice: "Eine Bahn lief gegen sich selbst: Das zeigt das Rauschen und entscheidet nichts",
    costs: "Was die anderen kosten",
    apart: "Worin sie sich unterscheiden",
    cannot: "Was dieses Rennen nicht sagen kann",
    claims: (subject: Said, claims: readonly WorkDifference[], more: number): Said => {
      let verb = "";
      const parts = claims.map((claim) => {
        const now = claim.latency === null ? "ist" : "hat";
        const than = claim.again ? [] : say` als ${claim.other}`;
        const said = say`${now === verb ? "" : `${now} `}${claim.work} ${size(claim, than)}`;
        verb = now;
        return said;
      });
      return say`${subject} ${list(parts, "and")}${more > 0 ? ` (und ${more} weitere unten)` : ""}.`;
    },
    limited: {
      device: (count, of, titles) =>
        say`In ${toned("strong", `${count} von ${of}`)} Tests wurde die Platte gemessen, nicht das Dateisystem: ${titles}.`,
      cache: (count, of, titles) =>
        say`In ${toned("strong", `${count} von ${of}`)} Tests antwortete der Speicher, nicht die Platte: ${titles}.`,
      harness: (count, of, titles) =>
        say`In ${toned("strong", `${count} von ${of}`)} Tests war Fairlane selbst die Grenze: ${titles}.`,
    },
    disturbed: "Andere Programme störten die meisten dieser Runden: Messen Sie noch einmal, wenn die Maschine sonst nichts tut, bevor Sie sich darauf verlassen.",
    reached: (workloads, of) => say`Von ${String(of)} Arbeiten wurden ${String(workloads)} erreicht; nur von ihnen ist die Rede.`,
    unsure: (titles) => say`Unterschiede, die unter so vielen Zeilen nicht sicher sind: ${titles}.`,
    undecided: (titles, settle) => say`Noch offen: ${titles}; ${settle}.`,
    settleFirst: (option, value, about) =>
      say`${[{ code: `${option} ${value}` }]}${about === null ? "" : ` (etwa ${about})`} ist das Mindeste, was meist entscheidet`,
    settleResume: (about) => say`${[{ code: "--resume" }]} setzt es fort${about === null ? "" : ` (etwa ${about})`}`,
    settleBy: (option, value, about, someOnly) =>
      say`${[{ code: `${option} ${value}` }]}${about === null ? "" : ` (etwa ${about})`} dürfte ${someOnly ? "einiges davon klären, das Übrige brauchte über einen halben Tag" : "das klären"}`,
    settleLong: say`das zu klären brauchte hier über einen halben Tag Messzeit`,
    settleQuiet: say`andere Programme störten die meisten dieser Runden, also noch einmal messen, wenn die Maschine sonst nichts tut`,
    settleMore: say`weitere Runden können das klären`,
    noVerdictAt: (titles, why) => say`Kein Urteil bei ${titles}: ${why}.`,
    notRanked: (lanes, what, against) => say`${lanes}, nicht gegen ${against} gewertet: ${what}.`,
    failedAt: (lane, titles) => say`${lane} scheiterte bei: ${titles}.`,
    saidOfTheGround: (said) => say`${said}.`,
    notTested: (what) => say`Nicht geprüft: ${what}.`,
    next: "Als Nächstes lohnt sich",
    brief: "Nach Szenario",
    briefShares: "Prozent: wie viel der Arbeit gemessen wurde.",
    steps: (title, count, of) => say`${title} (${count} von ${of} Schritten)`,
    counted: (f: Figures, ok, repeated, failed, voided, margin) =>
      [
        ok === 1 ? "1 Versuch zählt" : `${f.whole(ok)} Versuche zählen`,
        repeated > 0 ? `${f.whole(repeated)} wegen fremder Störung wiederholt` : "",
        failed > 0 ? `${f.whole(failed)} gescheitert` : "",
        voided > 0 ? `${f.whole(voided)} ungültig, weil die Drossel nicht hielt oder die Maschine schlief` : "",
        margin === null ? "" : `gleichauf heißt: sicher weniger als ${margin} auseinander`,
      ]
        .filter((part) => part !== "")
        .join("; ") + ".",
    outcomes: {
      interrupted: "Das Rennen wurde abgebrochen: Das hier beruht auf den vollendeten Runden.",
      unexplained:
        "Alle Runden sind gefahren. Das Rennen wurde in den Durchgängen danach abgebrochen, die in kein Urteil eingehen; --resume macht die fehlenden.",
      failed: "Das Rennen endete mit einem Fehler: Das hier beruht auf den vollendeten Runden.",
      running: "Das Rennen läuft noch: Das hier beruht auf den Runden, die bisher fertig sind.",
      unfinished: "Das Rennen wurde getötet oder ist abgestürzt: Das hier beruht auf den vollendeten Runden.",
    },
    throttled: (limits) =>
      say`Die Platte jeder Bahn war gedrosselt (${limits}): Die Zahlen gelten für diese nachgestellte Platte.`,
    ownDisks: (disks) =>
      say`Jede Bahn hatte ihre eigene Platte (${disks}): Jedes Urteil gilt für Dateisystem und Platte zusammen.`,
    noLimits: "nicht gedrosselt",
  },

  statements: {
    atTheDisk: (rates, tie, once) =>
      say`${tie ? toned("tie", "gleichauf") : toned("none", "kein Urteil")}, alle am Limit der Platte von ${rates}${once ? " in einer Runde" : ""}: Dieser Test kann Dateisysteme nicht unterscheiden`,
    tie: (lanes, latency, within) =>
      say`${lanes} ${toned("tie", "gleichauf")}${latency ? `, ${latencies[latency]}` : ""}${within ? ` (bis auf ${within})` : ""}`,
    apart: (lane, differences) => {
      const verb = differences[0]?.latency == null ? "ist" : "hat";
      const parts = differences.map((of) => say`${size(of, say` als ${of.other}`)}${interval(of.gap)}`);
      return say`${lane} ${verb} ${list(parts, "and")}`;
    },
    between: (a, b, latency, low, high) => {
      const [less, more] = latency === null ? ["langsamer", "schneller"] : ["weniger", "mehr"];
      const told = (of: End) => `${of.size} ${of.more ? more : less}`;
      return latency === null
        ? say`${a} ist zwischen ${told(low)} und ${told(high)} als ${b}`
        : say`${a} hat zwischen ${told(low)} und ${told(high)} ${latencies[latency]} als ${b}`;
    },
    soFar: (a, b, latency, part) =>
      latency === null
        ? say`${a} erreichte ${part} von ${b}`
        : say`${a} hatte ${part} der ${latencies[latency]} von ${b}`,
    notTogether: (a, b) => say`${a} und ${b} noch nicht zusammen gemessen`,
    undecided: (reason, pairs) => say`${toned("undecided", because[reason])}, ${pairs}`,
    noVerdict: (pairs, why) =>
      say`${pairs}${pairs.length > 0 ? ", " : ""}${toned("none", "kein Urteil")}${why ? say`: ${why}` : ""}`,
    ratios: (a, to) => say`${a} beim ${list(to.map((of) => say`${of.factor.replace("×", "")}-Fachen von ${of.other}`), "and")}`,
    against: (a, b) => say`${a} gegen ${b}`,
    failed: (lane, why) => say`${lane} ${toned("slower", "gescheitert")}: ${why}`,
    alone: (lane, rate) => say`${lane} ${rate}; die einzige Bahn mit einem Wert, es gibt also nichts zu vergleichen`,
    nothing: say`keine Werte: Keine Runde wurde vollendet`,
    atRate: (rate) => say`bei ${rate} in jeder Bahn`,
  },

  scoreboard: {
    intro: (lane, margin) =>
      say`Tempo im Verhältnis zu ${lane}; über 1× ist besser, auch bei Latenzen. Balken: das Intervall des Verhältnisses, von einem Viertel bis zum Vierfachen; das Band: die Schwelle von ${margin}.`,
    against: "Vergleichen mit",
    workload: "Arbeit",
    limit: "Begrenzt durch",
    why: (title) => `Was ${title} begrenzte`,
    cell: (verdict, ratio, low, high) =>
      low === null || high === null ? `${verdict}, ${ratio}` : `${verdict}, ${ratio}, Intervall ${low} bis ${high}`,
    table: (steps) => `${schritte(steps)}, geometrisches Mittel`,
    counts: (wins, ties, losses, undecided, none) =>
      [
        wins > 0 ? `▲ ${wins}` : "",
        ties > 0 ? `= ${ties}` : "",
        losses > 0 ? `▼ ${losses}` : "",
        undecided > 0 ? `? ${undecided}` : "",
        none > 0 ? `– ${none}` : "",
      ]
        .filter((part) => part !== "")
        .join(" · "),
    other: (lane) => say`gegen ${lane}`,
    key: "Zeichen: ▲ schneller, ▼ langsamer, = gleichauf, ? offen, – kein Urteil.",
  },

  results: {
    ranking: "Reihenfolge",
    rounds: runden,
    lane: "Bahn",
    mean: "Mittel",
    figures: "Werte jeder Bahn",
    metrics: {
      operations_per_second: "Operationen pro Sekunde",
      bandwidth_bytes_per_second: "Durchsatz",
      latency_p50_ns: "Mediane Latenz",
      latency_p99_ns: "p99-Latenz",
      ...appenders.metrics,
      time_ns: "Zeit",
      latency_p999_ns: "p99,9-Latenz",
      latency_mean_ns: "Mittlere Latenz",
      seconds: "Zeit",
      cpu_percent: "CPU der Jobs",
      system_percent: "Systemanteil der CPU",
      device_busy_percent: "Gerät beschäftigt",
    },
    columns: {
      p50: "p50",
      p99: "p99",
      p999: "p99,9",
      longest: "Längste, alle Runden",
      meanLatency: "Mittlere Latenz",
      cpu: "CPU je Operation",
      cpuGib: "CPU je GiB",
      own: "Fairlanes Anteil",
      cpuShare: "CPU belegt",
      systemShare: "davon System",
      written: "Geschrieben je Byte",
      extents: "Extents der Dateien",
      flushes: "Flushes je Operation",
      deviceUse: "Platte genutzt",
      busy: "Platte beschäftigt",
    },
    columnsNote:
      "CPU: des ganzen Systems, Kernel-Threads eingeschlossen. Geschrieben: Bytes auf der Platte je Byte der Arbeit. Platte genutzt: Anteil dessen, was die Platte allein schafft.",
    impossible: (share) => `${share} (unmöglich)`,
    bareDisk: (rate) => `Platte allein ${rate}`,
    dots: "Runden und Intervalle",
    dotsCaption: (f, metric, rounds, lanes, ceiling) =>
      say`${metric}, ein blasser Punkt für jede von ${f.whole(rounds)} Runden; Zeichen und Balken: geometrisches Mittel und sein 95-%-Intervall. ${joined(lanes, "; ")}.${ceiling ? ` Gestrichelt: die Platte allein, ${ceiling}.` : ""}`,
    laneFigure: (lane, rate, range) => (range ? say`${lane} ${rate} (${range})` : say`${lane} ${rate}`),
    thinned: (f, shown, all) => ` Gezeigt sind ${f.whole(shown)} von ${f.whole(all)} Runden.`,
    latency: "Latenz einzelner Operationen",
    latencyCaption: (lanes) =>
      say`Latenz nach Perzentil, alle Runden zusammen, bis dorthin, wo noch 20 Operationen langsamer sind; nach rechts mit jedem Schritt eine Neun mehr. ${joined(lanes, "; ")}.`,
    latencyFigure: (lane, p50, p99, last, lastAt) =>
      say`${lane}${p50 ? ` Median ${p50},` : ""}${p99 ? ` p99 ${p99},` : ""} ${lastAt} ${last}`,
    percentile: "Perzentil",
    cost: "Was es kostete",
    cpuOf: { gib: "CPU-Zeit des ganzen Systems je GiB", operation: "CPU-Zeit des ganzen Systems je Operation" },
    amplification: "Bytes auf der Platte je geschriebenem Byte",
    costCaption: (parts) => joined(parts, " "),
    costPart: (what, lanes) => say`${what}: ${joined(lanes, ", ")}.`,
    courseOpen: "Verlauf des Systems zeigen",
    courseOverlay: "Bahnen übereinanderlegen",
    courseApart: "Bahnen nebeneinander",
    zoomIn: "Näher",
    zoomOut: "Weiter weg",
    earlier: "Früher",
    later: "Später",
    zoomAll: "Alles",
    courseHelp:
      "Sekunden der Messzeit jeder Bahn, ihre Zeitfenster aneinandergereiht; jede Bahn hat dieselben Achsen.",
    second: "Sekunde",
    round: "Runde",
    courseCaption: (what, lanes) => say`${what}. ${joined(lanes, "; ")}.`,
    courseFigure: (lane, low, high) => say`${lane} zwischen ${low} und ${high}`,
    courseSame: (lane, figure) => say`${lane} durchweg ${figure}`,
    courseNothing: (quantities) => `Auf jeder Bahn durchweg null: ${quantities}.`,
    quantities: {
      operations_per_second: "Operationen pro Sekunde",
      cpu_share: "CPU belegt, von allen CPUs",
      iowait_share: "CPU untätig, während E/A ausstand",
      steal_share: "CPU vom Hypervisor entzogen",
      device_read_bytes_per_second: "Vom Gerät gelesen",
      device_write_bytes_per_second: "Auf das Gerät geschrieben",
      device_iops: "Vom Gerät erledigte Anfragen pro Sekunde",
      device_flushes_per_second: "Flushes des Geräts pro Sekunde",
      device_queue: "Anfragen, die am Gerät ausstehen",
      device_busy_share: "Zeit, in der das Gerät eine Anfrage hatte",
      dirty_bytes: "Im Page-Cache, noch zu schreiben",
      pressure_io_share: "Zeit, in der ein Prozess auf E/A wartete",
      ...appenders.quantities,
    },
    steps: "Die Schritte dieser Tabelle im Einzelnen",
    notes: "Anmerkungen",
  },

  figure: {
    table: "Tabelle",
    svg: "SVG",
    png: "PNG",
    save: "Dieses Diagramm speichern",
    thinned: (f, shown, all) => `${f.whole(shown)} von ${f.whole(all)} Zeilen, gleichmäßig gewählt`,
  },

  operations: {
    heading: (f, steps, rounds, passes, reference) =>
      say`${schritte(steps)}, ${runden(rounds)}${passes > 1 ? `, je Runde der Median aus ${f.whole(passes)} Durchgängen` : ""}${reference ? say`; Bezug: ${reference} (2,0× = doppelt so schnell)` : ""}.`,
    step: "Schritt",
    unnamed: "Schritte",
    floor: (share) => `Untergrenze ${share}`,
    noFloor: "keine Untergrenze",
    floorNote: (floor) =>
      say`Untergrenze: die Zeit von ${floor} für denselben Schritt als Anteil an der Zeit der Bahn, etwa das, was Systemaufrufe und Kopieren ohne Platte kosten.`,
    total: (steps, of) => (steps === of ? "Alle Schritte" : `${steps} von ${of} Schritten`),
    sync: "Sync nach der Arbeit",
    unmount: "Aushängen",
    startup: (share) => `Prozessstart ${share}`,
    startupWarning: (share) =>
      `Jede Operation war ein eigener Prozess, und ${share} der ganzen Zeit ist Prozessstart: Diese Werte messen, wie schnell Prozesse starten.`,
    perSecond: "/s",
    pair: (a, b, mean, steps) =>
      mean === null
        ? say`${a} gegen ${b}: kein Verhältnis`
        : say`${a} gegen ${b}: ${mean} über ${schritte(steps)} (geometrisches Mittel)`,
    counts: (wins, ties, losses, undecided, none) => {
      const parts = [`schneller in ${wins}`, `gleichauf in ${ties}`, `langsamer in ${losses}`];
      if (undecided > 0) parts.push(`offen in ${undecided}`);
      if (none > 0) parts.push(`ohne Urteil in ${none}`);
      return parts.join(", ");
    },
    byChance: (f, expected, of) =>
      `Jeder Schritt hält seinen Fehler von 5 % für sich: Wären alle Bahnen gleich, wäre trotzdem zu erwarten, dass bis zu ${f.whole(expected)} von ${f.whole(of)} Schritten eine schnellere nennen.`,
    missing: (lane, why) => say`${lane} hat keinen Wert (–): ${why}`,
    open: (step) => `Einzelheiten zu ${step}`,
  },

  ceilings: {
    none: "Kein bloßes Gerät wurde gemessen, daher lässt sich keine Grenze nennen.",
    intro: "Dieselbe Engine, Blockgröße und Tiefe ohne Dateisystem; Median der Proben.",
    file: "An einer geschriebenen Datei gemessen, weil eine Bahn ein Verzeichnis ist.",
    inPageCache: "Diese Platte liegt im Seitencache des Wirts: Ihre Werte sagen, wie schnell der Gast ist, und nichts über Ihre eigene.",
    profile: "Profil",
    probes: "Proben",
    profiles: {
      "seq-read": "sequenziell lesen",
      "seq-write": "sequenziell schreiben",
      "rand-read": "wahlfrei lesen",
      "rand-write": "wahlfrei schreiben",
      flush: "schreiben und flushen",
      null: "Engine ohne Gerät",
    },
    time: "Dauer einer Operation",
    throughput: "Durchsatz",
    iops: "IOPS",
  },

  published: {
    intro:
      "Keine Urteile: Dazwischen liegen andere Maschinen und Methoden. Vergleichen lässt sich, wie weit die Bahnen jeweils auseinanderliegen.",
    source: (title, site, author, year) =>
      say`${title}; ${site}${author ? `, ${author}` : ""}${year ? `, ${year}` : ""}`,
    lane: "Bahn",
    yours: "dieses Rennen",
    article: "Artikel",
    about: "etwa",
    above: "über",
    "at-most": "höchstens",
    differ: "Warum sie abweichen",
    caveats: "Was der Artikel offenlässt",
    notCompared: "Nicht verglichen",
    nothing: "Nichts gemeinsam: Keine Arbeit und Gruppe der Aufzeichnung kommt im Artikel vor.",
    stands: (yours, theirs) => say`${yours} für ${theirs} des Artikels`,
    ratio: (a, b) => say`${a} gegen ${b}`,
    total: "insgesamt",
    metric: "Messgröße",
  },

  ground: {
    machine: "Maschine",
    lanes: "Bahnen",
    again: "Noch einmal laufen lassen",
    warnings: "Was man wissen sollte, bevor man den Werten glaubt",
    noWarnings: "Nichts war anzumerken.",
    selfCheck: (lane, parts, believe) =>
      say`${lane} gegen sich selbst: ${parts}${believe ? "; einem Unterschied dieser Größe ist in diesem Rennen nicht zu trauen" : ""}.`,
    selfPart: (verdict, count, of, within) =>
      `${verdict} in ${count === of ? `allen ${of}` : `${count} von ${of}`}${within ? ` (bis auf ${within})` : ""}`,
    selfApart: "verschieden",
    calibration: "Rauschen dieser Maschine",
    seed: "Seed",
    version: "Fairlane",
    record: "Aufzeichnung",
    started: "Beginn",
    facts: {
      cpu: "CPU",
      memory: "Speicher",
      os: "System",
      kernel: "Kernel",
      governor: "Governor",
      virtual: "Virtuelle Maschine",
      disk: "Platte",
      cache: "Schreibcache",
      scheduler: "Scheduler",
      host: "Abbilder auf",
      dirty: "Dirty-Schwellen",
      tools: "Werkzeuge",
      throttle: "Drossel",
    },
    cpus: (cpu, cpus) => `${cpu}, ${cpus} ${cpus === 1 ? "CPU" : "CPUs"}`,
    rotational: "rotierend, wie dem Kernel gesagt wurde",
    notRotating: "nicht rotierend",
    unknown: "unbekannt",
    mkfs: "mkfs",
    mount: "Mount-Optionen",
    venue: "Wo",
    venues: {
      image: "Abbild",
      device: "Gerät",
      directory: "Verzeichnis",
      memory: "Speicher",
      library: "Bibliothek im Prozess",
      foreign: "von einem anderen Werkzeug gemessen",
    },
    filesystem: "Dateisystem",
    geometry: "Geometrie",
    promises: "Zusagen",
    kept: {
      journal: "absturzsichere Metadaten",
      fsync_reaches_stable_storage: "fsync erreicht stabilen Speicher",
      barriers: "Schreibbarrieren",
      data_checksums: "Prüfsummen der Daten",
      outlives_cache: "fsync übersteht den Verlust der Platte eines Caches",
    },
    not: (what) => `nicht: ${what}`,
    server: {
      unsaid: "was der Server zusagt, ist nicht bekannt",
      sync: "der Server bestätigt Synchronisiertes, wenn seine Platte es hat (so die Angabe)",
      async: "der Server bestätigt Synchronisiertes, bevor seine Platte es hat (so die Angabe)",
    },
    self: "die erste Bahn ein zweites Mal: Jeder Unterschied zwischen beiden ist Rauschen",
    none: "keine",
    bothWays: (limits) => `${limits}, lesend und schreibend je für sich`,
    reads: "Lesen",
    writes: "Schreiben",
    calibrated: (f, different, races, low, high) =>
      `Von ${f.whole(races)} Rennen zwischen gleichen Bahnen wurden ${f.whole(different)} als verschieden bezeichnet (${low} bis ${high} bei 95 % Konfidenz; zugesagt sind höchstens 5 %).`,
  },

  trials: {
    all: (f, shown, all) =>
      shown === all
        ? `${f.whole(all)} Zeilen.`
        : `${f.whole(shown)} von ${f.whole(all)} Zeilen stehen in dieser Datei; die Aufzeichnung enthält den Rest.`,
    columns: {
      workload: "Arbeit",
      group: "Gruppe",
      lane: "Bahn",
      round: "Runde",
      attempt: "Anlauf",
      outcome: "Ausgang",
      started: "Beginn nach",
      value: "Wert",
      operations: "Operationen",
      bytes: "Bytes",
      seconds: "Sekunden",
      p99: "p99",
      remark: "Bemerkung",
    },
    outcomes: { ok: "zählt", failed: "gescheitert", repeated: "wiederholt", void: "ungültig" },
    filter: "Filter",
    every: "alle",
    page: (from, to, of) => `${from}–${to} von ${of}`,
    previous: "Zurück",
    next: "Weiter",
    csv: "Alles als CSV",
    json: "Alles als JSON",
    sortBy: (column) => `Nach ${column} sortieren`,
    none: "Kein Versuch passt.",
    table: "Versuche, eine Zeile je Gruppe und Versuch",
  },
};
