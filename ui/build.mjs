// Builds dist/page.html (the report: no connection to anywhere) and dist/dashboard.html (its own server
// alone). The output depends on the sources and the locked packages only.
//
//   node build.mjs           writes dist/
//   node build.mjs --check   fails where dist/ is not what the sources build
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const LIMIT = 1_300_000;
const DATA_LINE = '<script id="data" type="application/json"></script>';
const NOTICE =
  "Contains Apache ECharts and ZRender (Apache-2.0, BSD-3-Clause), Preact (MIT), tslib (0BSD), Source Serif 4 and Source Sans 3 (OFL-1.1): ui/THIRD-PARTY.md";

const bundled = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx", "src/style.css"],
  outdir: "out",
  write: false,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  loader: { ".woff2": "dataurl" },
  define: { "process.env.NODE_ENV": '"production"', __DEV__: "false" },
});
const output = (suffix) => bundled.outputFiles.find((file) => file.path.endsWith(suffix))?.text.trim() ?? "";
const script = output(".js");
const style = output(".css");
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) {
  throw new Error("the bundle holds a tag that would end its element");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const policy = (connect) =>
  [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    // Attributes alone: the charts place their parts with them.
    "style-src-attr 'unsafe-inline'",
    "img-src data: blob:",
    "font-src data:",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const template = await readFile(join(here, "src/page.html"), "utf8");
const pages = [
  ["page.html", "report", "'none'"],
  ["dashboard.html", "dashboard", "'self'"],
];
let drifted = false;
for (const [file, page, connect] of pages) {
  const parts = { page, policy: policy(connect), notice: NOTICE, style, script };
  const text = template.replace(/\{\{(\w+)\}\}/g, (_, key) => parts[key]);
  if (text.split("\n").filter((line) => line === DATA_LINE).length !== 1 || text.split(DATA_LINE).length !== 2) {
    throw new Error(`${file}: the line for the data has to stand in it exactly once`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > LIMIT) throw new Error(`${file} has ${bytes} bytes; at most ${LIMIT} are allowed`);
  const path = join(here, "dist", file);
  if (process.argv.includes("--check")) {
    const kept = await readFile(path, "utf8").catch(() => "");
    if (kept !== text) {
      console.error(`ui/dist/${file} is not what ui/ builds; run scripts/ui and commit it`);
      drifted = true;
    }
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  console.log(`ui/dist/${file}: ${bytes} bytes`);
}
process.exitCode = drifted ? 1 : 0;
