// Was über Transaktionen gesagt wird, auf Deutsch.
import { say, type Said } from "../words/say";
import type { transactions as english } from "./en_transactions";

export const transactions: typeof english = {
  title: "Transaktionen: worauf jede wartet und was sie kostet",
  legend:
    "Je Transaktion: ihre Latenz samt Wiederholungen; Syncs, wie der Server sie zählt, Flushes und Bytes am Gerät der Bahn sowie CPU-Zeit der Clients und des Servers. Bei SQLite enthält die Zeit der Clients die der Datenbank. Wiederholt wurden Transaktionen nach einem Deadlock oder einer belegten Datenbank, verloren gingen Verbindungen, alle Runden zusammen. Eine kalte Gruppe wird beim Messen warm; anfangs nennt ihre Rate im ersten Zehntel. Geschrieben zählt, solange gemessen wurde, insgesamt, bis jede Tabelle auf dem Gerät lag.",
  heading: (title: Said, server: string, settings: string) => say`${title}: ${server} mit ${settings}`,
  fitsPool: "Der Puffer fasst alle Daten: Gelesen wird aus dem Speicher.",
  columns: {
    lane: "Bahn",
    clients: "Clients",
    rate: "Je Sekunde",
    first: "Anfangs",
    p50: "p50",
    p99: "p99",
    retries: "Wiederholt",
    lost: "Verloren",
    fsyncs: "Syncs je",
    fsync: "Ein Sync dauert",
    flushes: "Flushes je",
    flush: "Ein Flush dauert",
    written: "Geschrieben je",
    inAll: "Insgesamt",
    client: "Client-CPU je",
    server: "Server-CPU je",
  },
};
