// Times how long Chromium takes to open reports, and prints a row of a table for each:
//   node bench.mjs FILE.html...
// Nothing is asserted: machines are shared. `make bench BENCH=page` makes the reports and runs this.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "tests/built/bench.mjs");
await build({
  absWorkingDir: here,
  entryPoints: ["tests/bench.ts"],
  outfile: out,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  packages: "external",
});
const files = process.argv.slice(2).map((file) => resolve(file));
process.exitCode = spawnSync(process.execPath, [out, ...files], { cwd: here, stdio: "inherit" }).status ?? 1;
