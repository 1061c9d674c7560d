// Namen der mitgelieferten Arbeiten und die Empfehlungen, auf Deutsch.
import type { Gap } from "../words/figures";
import { joined, say, toned, type Said } from "../words/say";
import type { knowledge as english } from "./en_knowledge";

const list = (parts: readonly Said[], last: string): Said => {
  const before = parts.slice(0, -1);
  const end = parts[parts.length - 1] ?? [];
  return before.length === 0 ? end : say`${joined(before, ", ")} ${last} ${end}`;
};
const amount = (gap: Gap) => (gap.factor ? `um den Faktor ${gap.size}` : `um ${gap.size}`);

export const knowledge: typeof english = {
  known: {
    "commit 4 KiB, preallocated": "Commit 4 KiB, vorbelegte Datei",
    "commit 4 KiB, growing file": "Commit 4 KiB, wachsende Datei",
    "sequential overwrite 1 MiB": "sequenzielles Überschreiben 1 MiB",
    "random overwrite 4 KiB": "wahlfreies Überschreiben 4 KiB",
    "commit 4 KiB": "Commit 4 KiB",
    "sequential write 1 MiB": "sequenzielles Schreiben 1 MiB",
    "sequential read 1 MiB": "sequenzielles Lesen 1 MiB",
    "random write 4 KiB": "wahlfreies Schreiben 4 KiB",
    "random read 4 KiB": "wahlfreies Lesen 4 KiB",
    "random 4 KiB, 70 % reads": "wahlfrei 4 KiB, 70 % Lesen",
    "small files": "kleine Dateien",
    "10,000 small files": "10.000 kleine Dateien",
    "1,000 directories of 10 files": "1.000 Verzeichnisse mit je 10 Dateien",
    "latency of random reads 4 KiB": "Latenz wahlfreien Lesens 4 KiB",
    "latency of random writes 4 KiB": "Latenz wahlfreien Schreibens 4 KiB",
    "operations on files": "Operationen auf Dateien",
    "large files": "große Dateien",
    random: "wahlfrei",
    append: "Anhängen",
    metadata: "Metadaten",
    delete: "Löschen",
    create: "Anlegen",
    read: "Lesen",
    write: "Schreiben",
    rename: "Umbenennen",
    MySQL: "MySQL",
    PostgreSQL: "PostgreSQL",
    "big data": "Big Data",
    "container images": "Container-Images",
    "database containers": "Datenbank-Container",
    "home server": "Heimserver",
    logs: "Protokolle",
    mail: "E-Mail",
    "source code hosting": "Quelltext-Hosting",
    video: "Video",
    "web server": "Webserver",
    appends: "Anhängen",
    commits: "Commits",
    "deletions of large files": "Löschen großer Dateien",
    "file creations": "Anlegen von Dateien",
    "file deletions": "Löschen von Dateien",
    "large files, both ways at once": "gleichzeitiges Lesen und Schreiben großer Dateien",
    "latency of reads under load": "Leselatenz unter Last",
    "latency of writes under load": "Schreiblatenz unter Last",
    "random reads": "wahlfreies Lesen",
    "random writes": "wahlfreies Schreiben",
    "reads of small files": "Lesen kleiner Dateien",
    "sequential reads": "sequenzielles Lesen",
    "sequential writes": "sequenzielles Schreiben",
    transactions: "Transaktionen",
    "power cut": "Stromausfall",
    aging: "Alterung",
    "buffered writes": "gepuffertes Schreiben",
    "buffered I/O": "gepufferte Ein- und Ausgabe",
    "your database": "Ihre Datenbank",
    fsync: "fsync",
    "many files in one directory": "viele Dateien in einem Verzeichnis",
    "new files": "neue Dateien",
    "several threads": "mehrere Threads",
    "cold caches": "kalte Caches",
    "other loads than 70 % of the slowest lane's": "andere Lasten als 70 % dessen, was die langsamste Bahn schafft",
    mkdir: "Verzeichnisse anlegen",
    "remove-tree": "Verzeichnisbaum löschen",
  },
  works: {
    commits: "bei Commits",
    "sequential writes": "beim sequenziellen Überschreiben",
    "sequential reads": "beim sequenziellen Lesen",
    "random reads": "beim wahlfreien Lesen",
    "random writes": "beim wahlfreien Überschreiben",
    "file creations": "beim Anlegen von Dateien",
    "small-file reads": "beim Lesen kleiner Dateien",
    "file deletions": "beim Löschen von Dateien",
  },
  workAt: (title) => say`bei „${title}“`,
  needs: {
    durable: "Schreibvorgänge, die nach fsync einen Stromausfall überstehen",
    checksums: "Prüfsummen der Daten",
    "metadata-checksums": "Prüfsummen der Metadaten",
    snapshots: "Snapshots",
    reflink: "Reflinks",
    compression: "Kompression",
    encryption: "Verschlüsselung",
    shrink: "Verkleinern",
    "shrink=online": "Verkleinern im eingehängten Zustand",
    growth: "Vergrößern im eingehängten Zustand",
    quota: "Quotas",
    "dynamic-inodes": "eine Dateizahl, die mkfs nicht festlegt",
    casefold: "Namen ohne Unterschied von Groß- und Kleinschreibung",
    overlay: "ein oberes Verzeichnis für overlayfs",
    dax: "DAX",
    journal: "Metadaten, die einen Absturz überstehen",
    kernel: "den Mainline-Kernel der Version, die gemessen hat",
  },
  needOr: " oder ",
  needValue: (need, value) =>
    need === "quota"
      ? `Quotas je ${value}`
      : need === "file-size"
        ? `Dateien von ${value}`
        : need === "filesystem-size"
          ? `ein Dateisystem von ${value}`
          : need === "kernel"
            ? `Mainline-Kernel ${value}`
            : `${need} ${value}`,

  advice: {
    intro:
      "Gewichtungen der gemessenen Arbeit mit dem, worauf ein Szenario nicht verzichten kann. Nur entschiedene Unterschiede zählen.",
    chosen: (lanes) =>
      say`${lanes.length < 2 ? "" : lanes.length === 2 ? "entweder " : "eines von "}${list(lanes, "oder")}`,
    none: "keine dieser Bahnen",
    undecided: "zu verrauscht für eine Aussage",
    tooLittle: "zu wenig gemessen",
    measured: (own, proxies) =>
      [own === null ? "" : `${own} durch eigene Arbeit`, proxies === null ? "" : `${proxies} durch ähnliche Arbeit`]
        .filter((part) => part !== "")
        .join(", ") || "nichts gemessen",
    leaning: (lanes) => say`${lanes}, nur nach ähnlicher Arbeit`,
    noOwnWork: (suite) => `von der eigenen Arbeit wurde nichts gemessen; das tut die Suite ${suite}`,
    noiseAlone: "was nur das Rauschen zwischen den Runden abdeckt",
    tooFewRounds: (share) => `${share} des Gewichts liefen in zu wenigen Runden für eine Aussage; mindestens 6 fahren.`,
    because: "Weil",
    equal: "Kein Unterschied",
    out: "Ausgeschlossen",
    unless: "Wechsel zu",
    missing: "Nicht gemessen",
    note: "Hinweis",
    next: "Nächster Schritt",
    ahead: (leads) =>
      say`über die gemessene Arbeit ${list(
        leads.map((lead) => say`${toned("faster", `${amount(lead.gap)} vor`)} ${lead.lane}`),
        "und",
      )}`,
    only: "die einzige Bahn, die keine Bedingung ausschließt; zum Vergleichen blieb nichts übrig",
    nothingApart: "nichts Gemessenes unterscheidet sie",
    level: (count, margin) => `${count === 1 ? "beide liegen" : "sie liegen"} darüber weniger als ${margin} auseinander`,
    wins: (share, several) => `${several ? "eine davon gewinnt" : "gewinnt"} ${share} der nachgestellten Rennen`,
    unsafe: "was nicht sicher ist",
    over99: "über 99 %",
    nothingMeasured: "Nichts von dieser Arbeit wurde gemessen.",
    tooLittleWhy: (share) =>
      `Nur ${share} des Gewichts wurden gemessen; auf weniger als der Hälfte kann keine Empfehlung beruhen.`,
    undecidedWhy: "Das Gemessene ist zu verrauscht für eine Rangfolge, und nichts unterscheidet die Bahnen.",
    allExcluded: "Keine gemessene Bahn erfüllt die Bedingungen.",
    part: (what, share) => say`${what} (${share})`,
    reason: (part, pairs) =>
      say`${part}: ${list(
        pairs.map(({ gap, lane, atLeast }) => {
          const size = atLeast ? `mindestens ${amount(gap)} ` : "";
          return say`${toned(gap.faster ? "faster" : "slower", `${size}${gap.faster ? "besser" : "schlechter"}`)} als ${lane}`;
        }),
        "und",
      )}.`,
    equals: {
      tie: "gleichauf, Abstand unter der Schwelle",
      undecided: "zu verrauscht für eine Rangfolge, daher nicht gewertet",
      unsure: "verschieden in der eigenen Zeile, was bei so vielen Zufall sein kann, daher nicht gewertet",
      device: "die Platte wurde gemessen, und die ist für alle dieselbe",
      cache: "der Page-Cache wurde gemessen, nicht die Dateisysteme",
      harness: "Fairlane selbst wurde gemessen, nicht die Dateisysteme",
      "no-verdict": "kein Urteil möglich",
    },
    equalParts: (parts, why) => say`${parts}: ${why}.`,
    outDone: (lanes, note) => say`${lanes}: konnte die Arbeit nicht leisten${note ? say` (${note})` : ""}.`,
    outMounted: (lanes) => say`${lanes}: kein Kernel hängt es ein; es lief zum Vergleich innerhalb von Fairlane.`,
    outKept: (lanes) => say`${lanes}: behält nichts über einen Neustart; es lief zum Vergleich im Speicher.`,
    outComparable: (lanes, note) =>
      say`${lanes}: das Tempo wird nicht neben den anderen gewertet${note ? say` (${note})` : ""}.`,
    outNeed: (lanes, asked, facts) => say`${lanes}: ${asked}; ${facts}.`,
    youAsk: (need) => say`verlangt ist: ${need}`,
    scenarioAsks: (scenario, why) => say`${scenario}: ${why}`,
    factNo: (need) => say`ohne ${need}`,
    factUnknown: (need) => say`über ${need} ist nichts bekannt`,
    factOff: (need, way) => say`${need} nur mit ${way}`,
    factIs: (need, is) => say`${need}: ${is}`,
    flipWeight: (lane, what, under, at, share) =>
      say`${lane}, wenn „${what}“ ${under ? "unter" : "über"} ${at} wöge (hier ${share}).`,
    flipUndecided: (lane, what) =>
      say`${lane}, wenn „${what}“, jetzt zu verrauscht, am Rand des Möglichen läge.`,
    flipWithout: (lane, distance, scenario, need) => say`${lane}${distance}, wenn ${scenario} auf ${need} verzichten könnte.`,
    flipWith: (lane, distance, needs) => say`${lane}${distance}, wenn zusätzlich verlangt wäre: ${needs}.`,
    distance: (gap) => say` (${amount(gap)} ${gap.faster ? "voraus" : "zurück"})`,
    missingSuite: (parts, suite) =>
      suite ? say`${parts}: Suite ${suite}.` : say`${parts}: noch misst das keine Suite.`,
    racedWithout: (lane, need, way) => say`${lane} lief ohne ${need}; ${way} bringt es.`,
    source: (source) => say` [${source}]`,
  },
};
