// A server that answers as `fairlane serve` does, with records that a test holds in its hand: what the page
// does with answers, refusals and lost connections. `fairlane serve` itself is tested in Rust.
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Comparison, Live, RacePage, RecordEntry, RecordList, Trend } from "../src/types";

export interface Served {
  address: string;
  races: Map<string, RacePage>;
  records: RecordEntry[];
  asked: string[];
  /** The disk of a trend's record, by its place from the oldest. */
  disk: (at: number) => string;
  live(now: Live): void;
  /** Ends every live connection, as a server that goes down does. */
  cut(): void;
  close(): Promise<void>;
}

const TOKEN = "a token & more";

export async function serve(races: Map<string, RacePage>, records: RecordEntry[]): Promise<Served> {
  const listeners = new Set<ServerResponse>();
  let now: Live = { kind: "idle" };
  const asked: string[] = [];
  const dashboard = readFileSync(join(process.cwd(), "dist/dashboard.html"), "utf8").replace(
    '<script id="data" type="application/json"></script>',
    `<script id="data" type="application/json">${JSON.stringify({ schema: 1, version: "0.1.0", language: "en", show: { kind: "dashboard" } })}</script>`,
  );
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? "/", "http://localhost");
    const json = (value: unknown) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (address.pathname === "/") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end(dashboard);
      return;
    }
    asked.push(request.url ?? "");
    if (address.searchParams.get("token") !== TOKEN) {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: "this address lacks its token; open the one that `fairlane serve` printed" }));
      return;
    }
    const race = /^\/api\/race\/([^/]+)$/.exec(address.pathname)?.[1];
    if (/^\/api\/race\/[^/]+\/record$/.test(address.pathname)) {
      response.writeHead(200, { "content-type": "application/x-ndjson", "content-disposition": 'attachment; filename="record.jsonl"' });
      response.end('{"kind":"header"}\n');
      return;
    }
    if (address.pathname === "/api/records") json({ records, unreadable: ["notes.txt: no header"] } satisfies RecordList);
    else if (race !== undefined && races.has(decodeURIComponent(race))) json(races.get(decodeURIComponent(race)));
    else if (address.pathname === "/api/compare") json({ comparisons: address.searchParams.getAll("b").map((b) => comparison(address.searchParams.get("a") ?? "", b)) });
    else if (address.pathname === "/api/trend") json(trend(address.searchParams.get("workload") ?? "", address.searchParams.get("group") ?? "", records, served.disk));
    else if (address.pathname === "/api/live") {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write(`data: ${JSON.stringify(now)}\n\n`);
      listeners.add(response);
      request.on("close", () => listeners.delete(response));
    } else {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: "there is no such record; /api/records lists the records there are" }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const served: Served = {
    disk: () => "sda, A disk",
    address: `http://127.0.0.1:${port}/?token=${encodeURIComponent(TOKEN)}`,
    races,
    records,
    asked,
    live(next) {
      now = next;
      for (const listener of listeners) listener.write(`data: ${JSON.stringify(next)}\n\n`);
    },
    cut() {
      for (const listener of listeners) listener.destroy();
      listeners.clear();
    },
    close: () =>
      new Promise((resolve) => {
        for (const listener of listeners) listener.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return served;
}

function comparison(a: string, b: string): Comparison {
  const row = (lane: string, ratio: number, verdict: "faster" | "slower" | "tie" | "undecided") => ({
    lane,
    workload: "random-write",
    title: "random write 4 KiB",
    group: "write",
    metric: "operations_per_second",
    a: 70_000,
    b: 70_000 * ratio,
    ratio,
    low: ratio * 0.96,
    high: ratio * 1.04,
    verdict,
    why: verdict === "undecided" ? "after 8 rounds the difference lies between -4 % and +9 %" : null,
  });
  return {
    schema: 1,
    a,
    b,
    rows: [row("ext4", 1.12, "faster"), row("xfs", 0.81, "slower"), row("btrfs", 1.01, "tie"), row("f2fs", 1.03, "undecided")],
    warnings: ["the kernels differ (6.1.0-28-amd64, 6.12.8)"],
  };
}

function trend(workload: string, group: string, records: readonly RecordEntry[], disk: (at: number) => string): Trend {
  return {
    workload,
    title: "random write 4 KiB",
    group,
    metric: "operations_per_second",
    higher_is_better: true,
    left_out: ["2026-06-30T080000Z-quick: its work had other parameters (files)"],
    points: [...records].reverse().flatMap((record, at) =>
      record.lanes.map((lane, of) => {
        const mean = 70_000 * (1 - 0.2 * of) * (1 + 0.03 * at);
        return { record: record.name, started: record.started, kernel: record.kernel, machine: record.machine, machine_id_hash: "", disk: disk(at), lane, mean, low: mean * 0.96, high: mean * 1.04 };
      }),
    ),
  };
}
