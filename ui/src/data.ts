// Reads the data that stands in the page itself.
import type { Page } from "./types";

/** The schema of the data that this page knows. */
const SCHEMA = 1;

/** Why there is nothing to show, in a word that every language has a sentence for. */
export class Trouble extends Error {
  constructor(
    readonly kind: "no-data" | "no-inflate" | "bad" | "schema",
    readonly detail: string = "",
  ) {
    super(kind);
  }
}

export async function readPage(): Promise<Page> {
  const element = document.getElementById("data");
  const text = element?.textContent?.trim() ?? "";
  if (text === "") {
    // The dashboard's page may stand alone: its server knows the rest.
    if (document.documentElement.dataset["page"] === "dashboard") {
      return { schema: SCHEMA, version: "", language: "en", show: { kind: "dashboard" } };
    }
    throw new Trouble("no-data");
  }
  const json = element?.dataset["encoding"] === "deflate-raw-base64" ? await inflated(text) : text;
  let page: Page;
  try {
    page = JSON.parse(json) as Page;
  } catch (error) {
    throw new Trouble("bad", error instanceof Error ? error.message : "");
  }
  if (page.schema !== SCHEMA) throw new Trouble("schema", String(page.schema));
  return page;
}

async function inflated(base64: string): Promise<string> {
  if (typeof DecompressionStream === "undefined") throw new Trouble("no-inflate");
  try {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return await new Response(stream).text();
  } catch (error) {
    throw new Trouble("bad", error instanceof Error ? error.message : "");
  }
}
