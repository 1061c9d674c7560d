// Bundles the tests and runs them with Node's own runner: node test.mjs [name of a test]
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const names = ["words", "report", "sections", "explain", "appenders", "screening", "dashboard", "real"];
const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "tests/built/specs");
if (process.argv[2] === undefined) await rm(join(here, "tests/shots"), { recursive: true, force: true });
await build({
  absWorkingDir: here,
  entryPoints: names.map((name) => `tests/${name}.spec.ts`),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  packages: "external",
  jsx: "automatic",
  jsxImportSource: "preact",
});
const wanted = process.argv[2] === undefined ? [] : [`--test-name-pattern=${process.argv[2]}`];
const specs = names.map((name) => join(out, `${name}.spec.mjs`));
// One after the other: two browsers at once only slow each other down.
const { status } = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...wanted, ...specs], {
  cwd: here,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
