// What is said of transactions, in English.
import { say, type Said } from "../words/say";

export const transactions = {
  title: "Transactions: what each one waits for and costs",
  legend:
    "Each transaction: its latency, repetitions included; syncs as the server counts them, flushes and bytes at the lane’s device, and CPU time of the clients and of the server. Of SQLite the clients’ time holds the database’s own. Retries are transactions that were done again after a deadlock or a busy database, lost are connections, all rounds together. A cold group warms while it is measured; at first is its rate in the first tenth. Written is counted while it was measured, in all until every table lay on the device.",
  heading: (title: Said, server: string, settings: string) => say`${title}: ${server} with ${settings}`,
  fitsPool: "The pool holds all of the data: reads are served from memory.",
  columns: {
    lane: "Lane",
    clients: "Clients",
    rate: "Per second",
    first: "At first",
    p50: "p50",
    p99: "p99",
    retries: "Retries",
    lost: "Lost",
    fsyncs: "Syncs each",
    fsync: "A sync takes",
    flushes: "Flushes each",
    flush: "A flush takes",
    written: "Written each",
    inAll: "In all",
    client: "Client CPU each",
    server: "Server CPU each",
  },
};
