// Was von den Rängen eines MPI-Jobs und von der Punktzahl des IO500 gesagt wird, auf Deutsch.
import { say, type Said } from "../words/say";
import type { io500 as englishIo500, ladder as englishLadder, ranks as english } from "./en_ranks";

export const ranks: typeof english = {
  title: "Was jeder Rang tat",
  legend:
    "Operationen je Sekunde einzelner Ränge: des langsamsten einer Runde, ihr Mittel, und des schnellsten. Streuung: Standardabweichung durch Mittel. Erster und letzter fertig: vom gemeinsamen Beginn an. Mediane über die Runden.",
  networkLegend:
    " Empfangen und gesendet: von den Netzschnittstellen aller arbeitenden Knoten zusammen, von allen Programmen; was am Kernel vorbeigeht (RDMA), ist nicht darin.",
  columns: {
    work: "Arbeit",
    lane: "Bahn",
    ranks: "Ränge",
    slowest: "Langsamster",
    mean: "Mittel",
    fastest: "Schnellster",
    spread: "Streuung",
    first: "Erster fertig",
    last: "Letzter fertig",
    received: "Empfangen",
    sent: "Gesendet",
  },
  ranks: (ranks: string, nodes: string | null) => (nodes === null ? ranks : `${ranks} auf ${nodes} Knoten`),
  rank: (rank: string, node: string | null) => (node === null ? `Rang ${rank}` : `Rang ${rank} (Knoten ${node})`),
  straggler: (work: Said, lane: Said, rank: string, rounds: string, of: string, below: string) =>
    say`${work}, ${lane}: ${rank} war in ${rounds} von ${of} Runden der langsamste und weit zurück, in diesen ${below} unter dem Mittel der anderen (Median). Warum, ist nicht gesagt: sein Knoten, sein Netz, oder woran er arbeitete.`,
};

export const io500: typeof englishIo500 = {
  title: "IO500",
  legend:
    "Die Punktzahl des IO500 in jeder Runde, zusammengefasst wie jede andere Zahl: die Wurzel aus dem Produkt zweier geometrischer Mittel, von vier Bandbreiten in GiB/s und von acht Raten in tausend Operationen je Sekunde (kIOPS). In Klammern das 95-%-Intervall der Bahn allein. Die Phasen sind Fairlanes eigene und andere als die des Programms von IO500 (docs/mpi.md): diese Punktzahlen sind untereinander vergleichbar, und mit keiner von dort.",
  columns: { lane: "Bahn", score: "Punktzahl", bandwidth: "Bandbreite", metadata: "Metadaten", rounds: "Runden" },
  score: (score: string, interval: readonly [string, string] | null) =>
    interval === null ? score : `${score} (${interval[0]} bis ${interval[1]})`,
  invalid: (phases: Said, seconds: string, rule: number) =>
    say`INVALID nach den Regeln des IO500: in einer Runde ${seconds} lang geschrieben (${phases}), und die Regeln verlangen ${rule} s.`,
  readAgain: (phases: Said) =>
    say`In einer Runde mehr gelesen, als die Dateien enthalten, über den Page-Cache (${phases}): zum Teil ist es eine Zahl des Speichers, und so die Punktzahl. Größere Dateien werden nur einmal gelesen.`,
  noScore: (lane: Said) => say`${lane} hat keine Punktzahl: keine Runde hat Zahlen aller Phasen.`,
};

export const ladder: typeof englishLadder = {
  title: "Was mehr Ränge bringen",
  legend:
    "Jede Art von Arbeit mit wachsender Zahl von Rängen, von jedem Knoten reihum einer. Hinzu: was die Ränge brachten, die die Zahl davor nicht hat, als Anteil dessen, was ebenso viele von davor taten: 100 % ebenso viel, 0 nichts; die Intervalle gelten mit 95 % gemeinsam, die des ganzen Rennens. Es knickt, wo hinzugekommene Ränge sicher weniger als die Hälfte bringen. Die Zahlen liefen nacheinander: was sich inzwischen änderte, steckt darin. Ein Rang allein liest, was er selbst schrieb, vielleicht aus dem Speicher. Warum es knickt, ist nicht gesagt.",
  caption: "Zeichen: geometrisches Mittel der Runden mit 95-%-Intervall. Gepunktet: das Vielfache dessen, was die erste Zahl von Rängen tat.",
  ranks: "Ränge",
  ofRanks: (ranks: string, count: number) => (count === 1 ? `${ranks} Rang` : `${ranks} Ränge`),
  columns: { lane: "Bahn", ranks: "Ränge", together: "Zusammen", added: "Hinzu" },
  added: (share: string, low: string, high: string) => `${share} (${low} bis ${high})`,
  bends: (lane: Said, from: string, to: string, atMost: string, perhapsBefore: boolean) =>
    say`${lane} knickt von ${from} auf ${to} Ränge${perhapsBefore ? ", spätestens" : ""}: die hinzukommen, bringen höchstens ${atMost}.`,
  straight: (lane: Said, most: string) =>
    say`${lane} knickt bis ${most} Ränge nicht: jede Stufe bringt mindestens die Hälfte dessen, was sie sollte.`,
  open: (lane: Said, most: string) =>
    say`Ob ${lane} bis ${most} Ränge knickt, ist nicht bekannt: zu verrauscht, zu wenige Runden, oder in einer stand sie still.`,
};
