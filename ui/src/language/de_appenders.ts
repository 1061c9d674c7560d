// Was über anhängende Schreiber gesagt wird, auf Deutsch.
import { joined, say, toned } from "../words/say";
import type { appenders as english } from "./en_appenders";

export const appenders: typeof english = {
  title: "Anhängende Schreiber: wie spät, und wie viele",
  heading: (title, writers, files, period, processes) =>
    say`${title}: ${writers} Schreiber mit je ${files} Dateien, alle ${period}${processes ? ", jeder ein Prozess" : ""}.`,
  legend:
    "Die Verspätung zählt vom Zeitpunkt, zu dem ein Datensatz fällig war, bis er angehängt war. Ein Schreiber ist verspätet, wenn etwas von ihm eine ganze Periode oder mehr zu spät kam. Die eigene Verspätung ist der Anteil der Messung und des Schedulers daran.",
  columns: {
    lane: "Bahn",
    lateWriters: "Verspätete Schreiber",
    lateRecords: "Verspätete Datensätze",
    p50: "p50",
    p99: "p99",
    p999: "p99,9",
    max: "Max",
    own: "Eigene p99",
    dirty: "Dirty, höchstens",
    blocked: "Wartende Tasks, höchstens",
  },
  group: (lane, group) => say`${lane}, ${group}`,
  backlog: (lane, rounds, of) => say`${lane} fiel in ${rounds} von ${of} Runden zurück: der Rückstand wuchs.`,
  picture: (lane) => say`Die Maschine unter ${lane}: oben der Speicher, unten iowait und Last. Jede Bahn hat dieselben Achsen.`,
  pictureTitle: (lane) => `Speicher, iowait und Last: ${lane}`,
  lines: {
    buffers_bytes: "Buffers",
    cached_bytes: "Cached",
    dirty_bytes: "Dirty",
    iowait_share: "iowait",
    iowait_average_share: "iowait, Mittel über 10 s",
    load_average: "Last",
  },
  between: (line, low, high) => `${line} ${low} bis ${high}`,
  search: "Schreiber, die jede Bahn trägt",
  searchBy: {
    lateness: "Getragen heißt: p99-Verspätung unter einer Periode, und kein wachsender Rückstand.",
    load: "Getragen heißt: mittlere Last, des Schrittes allein, höchstens so groß wie die Zahl der CPUs.",
  },
  searchHeading: (title, files, period, passes) =>
    say`${title}, variiert: je ${files} Dateien, alle ${period}; ${passes} Durchgänge.`,
  writers: "Schreiber",
  interval: "95-%-Intervall",
  edge: "An der Grenze",
  atLeast: (writers) => `mindestens ${writers}`,
  times: (a, b, size, interval) =>
    say`${a} trägt ${toned("faster", `${size}-mal`)} so viele Schreiber wie ${b}${interval === null ? "" : ` (${interval})`}`,
  more: (a, b, size, more, interval) =>
    say`${a} trägt ${toned(more ? "faster" : "slower", `${size} ${more ? "mehr" : "weniger"}`)} Schreiber als ${b}${interval === null ? "" : ` (${interval})`}`,
  tie: (a, b) => say`${a} und ${b} liegen ${toned("tie", "gleichauf")}`,
  noisy: (a, b) => say`${a} und ${b}: ${toned("undecided", "noch offen")}`,
  none: (a, b) => say`${a} und ${b}: ${toned("none", "kein Urteil")}`,
  because: (said, why) => say`${said}: ${why}`,
  and: (parts) => joined(parts, "; "),
  metrics: {
    lateness_p50_ns: "Mediane Verspätung",
    lateness_p99_ns: "p99-Verspätung",
    late_share: "Verspätete Datensätze",
    late_writers_share: "Verspätete Schreiber",
  },
  quantities: {
    buffers_bytes: "Page-Cache von Blockgeräten (Buffers)",
    cached_bytes: "Page-Cache von Dateien (Cached)",
    writeback_bytes: "Auf dem Weg zu einer Platte (Writeback)",
    iowait_average_share: "CPU untätig, während E/A ausstand, Mittel über 10 s",
    load_average: "Mittlere Last einer Minute",
    blocked_tasks: "Tasks, die ununterbrechbar warten (Zustand D)",
    kworker_share: "CPU der Kernel-Arbeiter, von allen CPUs",
    device_reads_per_second: "Vom Gerät erledigte Lesezugriffe pro Sekunde",
    device_writes_per_second: "Vom Gerät erledigte Schreibzugriffe pro Sekunde",
  },
};
