// Was das Dashboard sagt, auf Deutsch.
import { say, toned } from "../words/say";
import type { dashboard as english } from "./en_dashboard";

export const dashboard: typeof english = {
  dashboard: {
    title: "Fairlane",
    records: "Aufzeichnungen",
    live: "Läuft gerade",
    idle: "Es läuft kein Rennen.",
    compare: "Vergleich",
    trends: "Verläufe",
    back: "Zurück zu den Aufzeichnungen",
    loading: "Wird geladen:",
    failed: (what, why) => `${what} kann nicht gezeigt werden (${why}).`,
    retry: "Noch einmal versuchen",
    reconnecting: "Die Verbindung zu Fairlane ist abgerissen; sie wird neu aufgebaut.",
    refused: "Der Server lehnt ab: Bitte die Adresse öffnen, die „fairlane serve“ ausgegeben hat, samt Token.",
    filter: "Nach Suite, Bahn, Kernel oder Maschine filtern",
    columns: {
      select: "Auswählen",
      started: "Beginn",
      suite: "Suite",
      lanes: "Bahnen",
      machine: "Maschine",
      kernel: "Kernel",
      outcome: "Ausgang",
      trials: "Versuche",
    },
    open: (name) => `${name} öffnen`,
    select: (name) => `${name} auswählen`,
    outcomes: {
      complete: "vollständig",
      interrupted: "abgebrochen",
      failed: "gescheitert",
      running: "läuft",
      unfinished: "unvollendet",
    },
    compareSelected: (count) =>
      count < 2 ? "Zum Vergleichen zwei oder mehr Aufzeichnungen auswählen" : `${count} Aufzeichnungen vergleichen`,
    clear: "Auswahl aufheben",
    none: "Noch ist keine Aufzeichnung da. „fairlane race“ erstellt eine.",
    noMatch: "Keine Aufzeichnung passt zum Filter.",
    unreadable: "Dateien, die keine Aufzeichnungen sind",
    count: (shown, all) => {
      const what = all === 1 ? "Aufzeichnung" : "Aufzeichnungen";
      return shown === all ? `${all} ${what}` : `${shown} von ${all} ${what}`;
    },

    progress: (number, of, workload) => say`Arbeit ${number} von ${of}: ${workload}`,
    round: (round) => (round === 0 ? "vor der ersten Runde" : `Runde ${round}`),
    atWork: (lane, phase) => say`${lane} ist dran: ${toned("strong", phase)}`,
    between: "zwischen zwei Bahnen",
    phases: {
      mkfs: "mkfs",
      mount: "einhängen",
      populate: "Dateien anlegen",
      quiet: "warten, bis die Platte ruht",
      measure: "messen",
      sync: "Sync",
      unmount: "aushängen",
      cold: "Caches leeren",
      verify: "Inhalte prüfen",
      fsck: "Dateisystem prüfen",
    },
    elapsed: (elapsed, budget) => (budget ? `${elapsed} von ${budget}` : elapsed),
    lastRates: "Letzter Wert jeder Bahn",
    rateOf: (rate, round) => `${rate}, Runde ${round}`,
    follow: "Dieses Rennen verfolgen",
    trialsSoFar: (count) => `bisher ${count} Versuche`,

    comparing: (a, b) => say`${b} gegen ${a}`,
    compareIntro:
      "Die Rennen liefen getrennt, es gibt also keine Rundenpaare. Über 1× ist die zweite Aufzeichnung besser. Intervalle: 95 %, zwischen Runden.",
    change: "Verhältnis",
    lane: "Bahn",
    work: "Arbeit",
    a: "Erste",
    b: "Zweite",
    verdict: "Urteil",
    why: "Warum, oder was danebensteht",
    summary: (faster, slower, tie, undecided, none) =>
      [
        slower > 0 ? `${slower} langsamer` : "",
        faster > 0 ? `${faster} schneller` : "",
        tie > 0 ? `${tie} gleichauf` : "",
        undecided > 0 ? `${undecided} offen` : "",
        none > 0 ? `${none} ohne Urteil` : "",
      ]
        .filter((part) => part !== "")
        .join(", ") + ".",
    nothingCommon: "Nichts zu vergleichen: Keine Bahn und Arbeit steht in beiden Aufzeichnungen.",
    tooNoisy: "offen",
    forest: "Verhältnisse mit ihren Intervallen",
    forestCaption: (counts, largest) =>
      say`Jedes Zeichen ist die zweite Aufzeichnung gegen die erste, der Balken das 95-%-Intervall; rechts der Linie ist die zweite besser. ${counts} ${largest}`,
    largest: (what, factor) => say`Am weitesten von 1: ${what}, ${factor}.`,

    trendTitle: (title, group) => say`${title}: ${group}`,
    trendChoose: "Welcher Wert",
    trendImported: (format) => say`Importiert aus ${format}: Ein anderes Werkzeug hat diese Werte gemessen.`,
    trendLink: "Verlauf über Aufzeichnungen",
    download: "Aufzeichnung herunterladen",
    trendLeftOut: "Ausgelassen, weil Arbeit oder Bahn anders sind als in der neuesten Aufzeichnung",
    trendNone: "Keine Aufzeichnung enthält diese Arbeit und Gruppe.",
    trendCaption: (count, lanes, marks) =>
      say`Mittel mit 95-%-Intervallen aus ${count} Aufzeichnungen. ${lanes.flatMap((lane, at) => (at === 0 ? lane : ["; ", ...lane]))}. ${marks === 0 ? "Maschine, Platte und Kernel bleiben dieselben." : `${marks === 1 ? "Eine Marke zeigt" : `${marks} Marken zeigen`}, wo Maschine, Platte oder Kernel wechseln: Über sie hinweg gibt es keinen Verlauf.`}`,
    trendLane: (lane, first, last) => say`${lane} von ${first} bis ${last}`,
    newKernel: (kernel) => `Kernel ${kernel}`,
    newMachine: "andere Maschine",
    newDisk: "andere Platte",
    disk: "Platte",
    record: "Aufzeichnung",
    mean: "Mittel",
  },
};
