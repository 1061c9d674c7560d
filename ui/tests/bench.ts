// How long the distribution's Chromium takes to open a report: until the answer is painted, and until all of it is
// laid out. Each time in a browser of its own, because the second page of a process finds warm caches.
import { statSync } from "node:fs";
import { basename } from "node:path";
import { launch, NARROW, WIDE, written } from "./browser";
import { manyStacks } from "./explain-fixture";
import { page } from "./fixture";

const TIMES = 5;

interface Opened {
  painted: number;
  whole: number;
}

async function opened(file: string): Promise<Opened> {
  const browser = await launch();
  const context = await browser.newContext({ viewport: WIDE });
  const tab = await context.newPage();
  await tab.goto(`file://${file}`, { waitUntil: "commit" });
  await tab.waitForSelector("html[data-ready=true]", { state: "attached" });
  const times = await tab.evaluate(
    () =>
      new Promise<Opened>((resolve) =>
        // The frame after the one in which the page said that it is ready has everything on the screen.
        requestAnimationFrame(() =>
          setTimeout(() =>
            resolve({ painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, whole: performance.now() }),
          ),
        ),
      ),
  );
  await browser.close();
  return times;
}

const middle = (values: number[]) => [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)] ?? 0;
const range = (values: number[]) => {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return `${seconds(middle(values))} (${seconds(Math.min(...values))} to ${seconds(Math.max(...values))})`;
};

console.log("| report | MB | answer painted, s | all laid out, s |");
console.log("| --- | --- | --- | --- |");
for (const file of process.argv.slice(2)) {
  const all: Opened[] = [];
  for (let time = 0; time < TIMES; time += 1) all.push(await opened(file));
  const megabytes = (statSync(file).size / 1e6).toFixed(2);
  console.log(`| ${basename(file, ".html")} | ${megabytes} | ${range(all.map((of) => of.painted))} | ${range(all.map((of) => of.whole))} |`);
}

/** From the press of its button until a flame graph is on the screen, in a page of as many stacks as one holds. */
async function flame(viewport: { width: number; height: number }): Promise<{ opened: number; against: number }> {
  const browser = await launch();
  const tab = await (await browser.newContext({ viewport })).newPage();
  await tab.goto(written("many-stacks", page(manyStacks())));
  await tab.waitForSelector("html[data-ready=true]", { state: "attached" });
  const times = await tab.evaluate(async () => {
    const painted = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const place = document.querySelector("#result-0 .explained");
    const shown = async (act: () => void, label: string) => {
      const begun = performance.now();
      act();
      while (!place?.querySelector(`.frame[aria-label*="${label}"]`)) await painted();
      await painted();
      return performance.now() - begun;
    };
    const opened = await shown(() => place?.querySelector<HTMLElement>("button[aria-controls]")?.click(), "function_");
    const choice = place?.querySelectorAll("select")[1];
    const against = await shown(() => {
      if (!choice) return;
      choice.value = choice.options[1]?.value ?? "";
      choice.dispatchEvent(new Event("change", { bubbles: true }));
    }, " against ");
    return { opened, against };
  });
  await browser.close();
  return times;
}

console.log("\n| flame graph, 60,000 stacks of 100,000 samples | opened, s | against another lane, s |");
console.log("| --- | --- | --- |");
for (const viewport of [WIDE, NARROW]) {
  const all: { opened: number; against: number }[] = [];
  for (let time = 0; time < TIMES; time += 1) all.push(await flame(viewport));
  console.log(`| ${viewport.width} pixels | ${range(all.map((of) => of.opened))} | ${range(all.map((of) => of.against))} |`);
}
