// A browser of the distribution, pages written to disk, and what every test watches for.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { chromium, type Browser, type BrowserContext, type Page as Tab } from "playwright-core";
import type { Page } from "../src/types";

export const UI = process.cwd();
export const SHOTS = join(UI, "tests/shots");
const BUILT = join(UI, "tests/built");
const LINE = '<script id="data" type="application/json"></script>';

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

/** Chromium as the distribution installs it. */
export async function launch(): Promise<Browser> {
  const found = ["chromium", "chromium-browser"].map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim());
  const executablePath = found.find((path) => path !== "");
  if (executablePath === undefined) throw new Error("chromium is missing; Debian calls the package chromium");
  // Without a GPU each frame would be put together by an emulated one.
  return chromium.launch({ executablePath, args: ["--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
}

/** A report with its data in it, as `report::html` writes it; deflated from 500 trials on. */
export function written(name: string, page: Page, deflated = false): string {
  const template = readFileSync(join(UI, "dist/page.html"), "utf8");
  const json = JSON.stringify(page);
  const data = deflated
    ? `<script id="data" type="application/octet-stream" data-encoding="deflate-raw-base64">${deflateRawSync(json).toString("base64")}</script>`
    : `<script id="data" type="application/json">${json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}</script>`;
  mkdirSync(BUILT, { recursive: true });
  const path = join(BUILT, `${name}.html`);
  writeFileSync(path, template.replace(LINE, () => data));
  return `file://${path}`;
}

export interface Watched {
  tab: Tab;
  context: BrowserContext;
  /** What went wrong, in the page's console and beyond. */
  errors: string[];
  /** Addresses that the page asked for, itself left out. */
  requests: string[];
}

export async function open(
  browser: Browser,
  address: string,
  options: { viewport?: { width: number; height: number }; colorScheme?: "light" | "dark" } = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: options.viewport ?? WIDE,
    colorScheme: options.colorScheme ?? "light",
    // Smooth scrolling would have every click wait for it.
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    acceptDownloads: true,
  });
  const tab = await context.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  tab.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  tab.on("pageerror", (error) => errors.push(String(error)));
  tab.on("request", (request) => {
    const asked = request.url();
    // Pictures that the page makes of its own charts never leave it.
    if (asked.split("#")[0] !== address.split("#")[0] && !/^(data|blob):/.test(asked)) requests.push(asked);
  });
  await tab.goto(address);
  await tab.waitForSelector("html[data-ready=true]", { state: "attached" });
  return { tab, context, errors, requests };
}

/** Brings every chart near the screen, one after the other, so that it is drawn. */
export async function drawAll(tab: Tab): Promise<void> {
  await tab.evaluate(async () => {
    const waiting = () =>
      [...document.querySelectorAll<HTMLElement>(".plot")].find((plot) => plot.clientWidth > 0 && plot.dataset["drawn"] !== "true");
    for (let plot = waiting(); plot; plot = waiting()) {
      plot.scrollIntoView();
      while (plot.isConnected && plot.dataset["drawn"] !== "true") await new Promise(requestAnimationFrame);
    }
    scrollTo(0, 0);
  });
}

/** Every chart that the page draws has a text with figures, and a table with rows; answers how many there are. */
export async function chartsSpeak(tab: Tab, courses = true): Promise<number> {
  if (courses) for (const summary of await tab.locator("details.course > summary").all()) await summary.click();
  await drawAll(tab);
  const silent = await tab.evaluate(() =>
    [...document.querySelectorAll("figure.figure")]
      .filter((figure) => {
        const caption = figure.querySelector("figcaption")?.textContent?.trim() ?? "";
        const bars = [...figure.querySelectorAll(".bar")];
        if (bars.length > 0) return !(caption.length > 20 && bars.every((bar) => /\d/.test(bar.getAttribute("aria-label") ?? "")));
        const plot = figure.querySelector(".plot");
        const heard = plot?.getAttribute("aria-label") ?? "";
        return !(caption.length > 20 && /\d/.test(caption) && heard.length > 20 && plot?.querySelectorAll("svg").length === 1);
      })
      .map((figure) => figure.textContent?.slice(0, 120)),
  );
  assert.deepEqual(silent, [], "every chart is drawn and says what it shows, with figures");
  // All at once: one button after the other would take a minute.
  const press = () =>
    tab.evaluate(() => document.querySelectorAll<HTMLElement>("figure .tools button:first-child").forEach((of) => of.click()));
  await press();
  await tab.waitForFunction(() =>
    [...document.querySelectorAll("figure.figure")].every(
      (of) => of.querySelector("table tbody tr") && of.querySelector(".tools button[aria-pressed=true]"),
    ),
  );
  await press();
  await tab.waitForFunction(() => document.querySelector("figure.figure table") === null);
  // What Fairlane could not compute is left out, or told as a word.
  assert.doesNotMatch(await tab.evaluate(() => document.body.innerText), /\bNaN\b|\bundefined\b|\[object|Infinity/);
  return tab.locator("figure.figure").count();
}

/** A picture for people to look at, where one is asked for: drawing long pages whole takes a large part of all tests' time. */
export async function shot(tab: Tab, name: string, fullPage = false): Promise<void> {
  if (!process.env["SHOTS"]) return;
  mkdirSync(SHOTS, { recursive: true });
  await tab.screenshot({ path: join(SHOTS, `${name}.png`), fullPage });
}

const axe = readFileSync(createRequire(join(UI, "package.json")).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary: string }[];
}

/** Serious findings of axe-core, in the whole page or in a part that changed since that was looked at. */
export async function violations(tab: Tab, within?: string): Promise<string[]> {
  const session = await tab.context().newCDPSession(tab);
  // The page's own policy forbids a script from outside; the browser's debugger may run one.
  const known = await session.send("Runtime.evaluate", { expression: "typeof axe" });
  if (known.result.value === "undefined") await session.send("Runtime.evaluate", { expression: axe });
  const context = within === undefined ? "document" : JSON.stringify(within);
  const { result } = await session.send("Runtime.evaluate", {
    // To say where everything stands that passes takes most of the time, and nobody asks.
    expression: `axe.run(${context}, { resultTypes: ["violations"] }).then((found) => JSON.stringify(found.violations))`,
    awaitPromise: true,
    returnByValue: true,
  });
  return (JSON.parse(String(result.value)) as Violation[])
    .filter((violation) => violation.impact === "serious" || violation.impact === "critical")
    .flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
}
