// What is said of transactions, in English.
import { say, type Said } from "../words/say";

export const transactions = {
  title: "Transactions: what each one waits for and costs",
  legend:
    "Each transaction: its latency, repetitions included; syncs as the server counts them, flushes and bytes at the lane’s device, and CPU time of the clients and of the server. Of SQLite the clients’ time holds the database’s own. Retries are transactions that were done again after a deadlock or a busy database, all rounds together.",
  heading: (title: Said, server: string, settings: string) => say`${title}: ${server} with ${settings}`,
  fitsPool: "The pool holds all of the data: reads are served from memory.",
  columns: {
    lane: "Lane",
    clients: "Clients",
    rate: "Per second",
    p50: "p50",
    p99: "p99",
    retries: "Retries",
    fsyncs: "Syncs each",
    flushes: "Flushes each",
    flush: "A flush takes",
    written: "Written each",
    client: "Client CPU each",
    server: "Server CPU each",
  },
};
