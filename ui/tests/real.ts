// The real Fairlane: its binary, races that a test runs, its pages, its server. Everything lies in a folder of the
// test's own, on a real disk, and is gone afterwards.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";
import { UI } from "./browser";

const TARGET = process.env["CARGO_TARGET_DIR"] ?? join(UI, "../target");
const BINARY = process.env["FAIRLANE"] ?? join(TARGET, "debug/fairlane");

/** Lanes on images need root, as `make test` in CI has it; anybody races directories. */
export const ROOT = process.getuid?.() === 0;

const TINY = `
name = "tiny"
about = "a test"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "random-read"
title = "random read 4 KiB"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "16MiB"
direct = true
slices = 2
slice_seconds = 0.02

[[workload]]
name = "small-files"
title = "small files"
kind = "small-files"
files = 100
size = "4KiB"
directories = 4
`;

export class Place {
  // Not /tmp, which may lie in memory and then carries no images.
  readonly folder = mkdtempSync("/var/tmp/fairlane-page-");
  private readonly children: ChildProcess[] = [];

  constructor() {
    if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing; build it first with \`cargo build\``);
    mkdirSync(join(this.folder, "undo"), { mode: 0o700 });
    mkdirSync(this.records, { recursive: true });
    writeFileSync(join(this.folder, "tiny.toml"), TINY);
  }

  /** Where races of this place keep their records. */
  get records(): string {
    return join(this.folder, "state/fairlane/runs");
  }

  /** Arguments of a race of two rounds that takes a few seconds. */
  race(more: readonly string[]): string[] {
    const lanes = ROOT ? ["ext4", "xfs", "btrfs", "--lane-size", "320MiB"] : ["one", "two", "three"].map((name) => this.directory(name));
    return ["race", ...lanes, "--suite", "tiny.toml", "--rounds", "2", ...more];
  }

  private directory(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { recursive: true });
    return `${name}=${path}`;
  }

  private options(more: { [name: string]: string } = {}) {
    const env = {
      ...process.env,
      XDG_STATE_HOME: join(this.folder, "state"),
      FAIRLANE_UNDO_DIR: join(this.folder, "undo"),
      // The page does not depend on how quiet the disk was.
      FAIRLANE_QUIET_MILLISECONDS: "50",
      NO_COLOR: "1",
      LC_ALL: "C.UTF-8",
      ...more,
    } as NodeJS.ProcessEnv;
    delete env["SUDO_UID"];
    return { cwd: this.folder, env };
  }

  /** Runs Fairlane to its end, which has to be a good one. */
  run(args: readonly string[]): string {
    const ended = spawnSync(BINARY, args, { ...this.options(), encoding: "utf8", maxBuffer: 1 << 28 });
    if (ended.status !== 0) throw new Error(`fairlane ${args.join(" ")} ended with ${ended.status}: ${ended.error ?? ended.stderr}`);
    return ended.stdout;
  }

  /** A record that the repository keeps, laid into this place. */
  kept(name: string, as = `${name}.jsonl`): string {
    const path = join(this.records, as);
    writeFileSync(path, gunzipSync(readFileSync(join(UI, `tests/records/${name}.jsonl.gz`))));
    return path;
  }

  /** The report of a record as Fairlane writes it, written once: no record that has one changes. Answers its address. */
  report(record: string, language = "en"): string {
    const path = join(this.folder, `${record.replace(/^.*\/|\.jsonl$/g, "")}-${language}.html`);
    if (!existsSync(path)) this.run(["report", record, "--format", "html", "--lang", language, "-o", path]);
    return `file://${path}`;
  }

  /** A server of this place's records; answers the address that it prints. */
  async serve(more: readonly string[] = []): Promise<string> {
    const child = spawn(BINARY, ["serve", "--listen", "127.0.0.1:0", ...more], { ...this.options(), stdio: ["ignore", "pipe", "inherit"] });
    this.children.push(child);
    for await (const line of createInterface({ input: child.stdout })) return line.trim();
    throw new Error("fairlane serve ended without an address");
  }

  /** A race that stops itself before each measured step, until it is let on. */
  stopping(more: readonly string[]): Stopping {
    const child = spawn(BINARY, this.race(more), { ...this.options({ FAIRLANE_HOLD: "measure" }), stdio: "ignore" });
    this.children.push(child);
    return new Stopping(child);
  }

  async close(): Promise<void> {
    for (const child of this.children.filter((of) => of.exitCode === null && of.signalCode === null)) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      child.kill("SIGCONT");
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A race in steps. */
export class Stopping {
  private ended = false;

  constructor(private readonly child: ChildProcess) {
    child.once("exit", () => (this.ended = true));
  }

  /** Waits until it has stopped itself; `false`: it ended. */
  async stopped(): Promise<boolean> {
    while (!this.ended) {
      let stat = "";
      try {
        stat = readFileSync(`/proc/${this.child.pid}/stat`, "utf8");
      } catch {
        // It has just ended.
      }
      if (stat.slice(stat.lastIndexOf(") ") + 2).startsWith("T")) return true;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return false;
  }

  /** Lets it on, to its next step. */
  async step(): Promise<boolean> {
    this.child.kill("SIGCONT");
    return this.stopped();
  }
}

/** Mounts and loop devices under a path. */
export function leftUnder(path: string): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n").filter((line) => line.includes(path));
  const loops = spawnSync("losetup", ["--list", "--noheadings", "--output", "NAME,BACK-FILE"], { encoding: "utf8" }).stdout ?? "";
  return [...mounts, ...loops.split("\n").filter((line) => line.includes(path))];
}
