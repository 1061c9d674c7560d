// Writes src/types.ts from the schema that Rust generates of its own types.
//
//   node types.mjs           writes src/types.ts
//   node types.mjs --check   fails where it is not what the schema says
import { compile } from "json-schema-to-typescript";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "../schema/page.schema.json");
const target = join(here, "src/types.ts");

const schema = JSON.parse(await readFile(source, "utf8"));
// The root's own title is a sentence; its type is called Page.
delete schema.title;
const text = await compile(tidy(schema), "Page", {
  additionalProperties: false,
  unreachableDefinitions: true,
  bannerComment:
    "// Generated from schema/page.schema.json, which Rust generates of its own types: `npm run types`. Do not edit.",
  format: true,
  style: { printWidth: 120 },
});

if (process.argv.includes("--check")) {
  const kept = await readFile(target, "utf8").catch(() => "");
  if (kept !== text) {
    console.error("ui/src/types.ts is not what schema/page.schema.json says; run scripts/ui types and commit it");
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}

/** Bounds and formats say nothing in TypeScript, and what stands beside a reference would cost it its name. */
function tidy(node) {
  if (Array.isArray(node)) return node.map(tidy);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref };
  const kept = {};
  for (const [key, value] of Object.entries(node)) {
    if (["format", "minimum", "maximum", "default", "minItems", "maxItems"].includes(key) && typeof value !== "object") {
      continue;
    }
    kept[key] = tidy(value);
  }
  return kept;
}
