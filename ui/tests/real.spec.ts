// Reports and dashboard as the real Fairlane makes them: of races that these tests run, and of two kept records.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page as Tab } from "playwright-core";
import type { Findings } from "../src/types";
import { chartsSpeak, drawAll, launch, NARROW, open, shot, violations, WIDE } from "./browser";
import { leftUnder, Place } from "./real";

let browser: Browser;
let place: Place;
/** Raced by this test. */
let raced: string;

before(async () => {
  browser = await launch();
  place = new Place();
  raced = join(place.records, "raced.jsonl");
  place.run(place.race(["-q", "-o", raced]));
});
after(async () => {
  await browser.close();
  await place.close();
  assert.deepEqual(leftUnder(place.folder), []);
});

const text = async (tab: Tab, selector: string) => (await tab.locator(selector).first().innerText()).replace(/\u00a0/g, " ");
const language = async (tab: Tab, of: string) => {
  await tab.locator(".switches select").first().selectOption(of);
  await tab.waitForFunction((wanted) => document.documentElement.lang.startsWith(wanted), of);
};
const findings = (record: string) => JSON.parse(place.run(["report", record, "--format", "json"])) as Findings;

test("the report of a race just run is whole in three languages", async () => {
  const found = findings(raced);
  assert.equal(found.lanes.length, 3);
  for (const of of ["en", "zh", "de"]) {
    const { tab, context, errors, requests } = await open(browser, place.report(raced, of));
    assert.ok((await tab.locator("html").getAttribute("lang"))?.startsWith(of), "it opens in the language that was asked for");
    // A dot chart for each result at least.
    assert.ok((await chartsSpeak(tab, of === "en")) > found.results.length);
    assert.equal(await tab.locator("#scoreboard tbody tr").count(), found.results.length);
    for (const { name } of found.lanes) assert.match(await text(tab, "#scoreboard thead"), new RegExp(name));
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  }
});

for (const [name, viewport] of [
  ["1280", WIDE],
  ["390", NARROW],
] as const) {
  test(`a throttled race says first how often the disk was measured, at ${name}`, async () => {
    const { tab, context, errors, requests } = await open(browser, place.report(place.kept("general")), { viewport });
    const says: { [of: string]: RegExp } = {
      de: /In (\d+) von (\d+) Tests wurde die Platte gemessen/,
      zh: /(\d+) 项测试中有 (\d+) 项测到的是磁盘/,
      en: /In (\d+) of (\d+) tests the disk was measured/,
    };
    for (const [of, sentence] of Object.entries(says)) {
      await language(tab, of);
      const item = tab.locator("#answer li").filter({ hasText: sentence });
      const box = await item.boundingBox();
      assert.ok(box && box.y >= 0 && box.y + box.height <= viewport.height, `it stands on the first screen in ${of}: ${JSON.stringify(box)}`);
      const counts = sentence.exec(await item.innerText())?.slice(1).map(Number) ?? [];
      assert.ok(Math.min(...counts) >= 3, `${counts}`);
      const headline = await tab.locator("#answer h1").boundingBox();
      assert.ok(headline && headline.y + headline.height < viewport.height / 2);
      await shot(tab, `real-first-${name}-${of}`);
    }
    assert.ok((await chartsSpeak(tab, name === "390")) > 0);
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
    await shot(tab, `real-whole-${name}`, true);
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  });
}

test("axe finds nothing serious in real reports, in light and dark", async () => {
  for (const record of ["general", "operations"]) {
    const address = place.report(place.kept(record));
    for (const colorScheme of ["light", "dark"] as const) {
      const { tab, context, errors } = await open(browser, address, { colorScheme });
      await drawAll(tab);
      assert.deepEqual(await violations(tab), [], `${record} in ${colorScheme}`);
      await shot(tab, `real-whole-${record}-${colorScheme}`, true);
      assert.deepEqual(errors, []);
      await context.close();
    }
  }
});

test("file operations of real lanes stand in one table, and each step opens", async () => {
  const { tab, context, errors } = await open(browser, place.report(place.kept("operations")));
  const steps = tab.locator("#operations .steps .step-open");
  assert.ok((await steps.count()) >= 20);
  await steps.first().click();
  await tab.waitForSelector("#operations .step-detail .plot svg");
  await shot(tab, "real-operations");
  assert.deepEqual(errors, []);
  await context.close();
});

test("the table's file holds every trial of the record, as the record has it", async () => {
  const { tab, context } = await open(browser, place.report(raced));
  const trials = readFileSync(raced, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; lane: string; round: number; groups: { name: string; operations: number }[] })
    .filter((line) => line.kind === "trial");
  const rows = trials.flatMap((trial) => trial.groups.map((group) => `${trial.lane} ${group.name} ${trial.round} ${group.operations}`));
  const [saved] = await Promise.all([tab.waitForEvent("download"), tab.locator("#trials .controls button").nth(1).click()]);
  const read = JSON.parse(readFileSync(await saved.path(), "utf8")) as { lane: string; group: string; round: number; operations: number }[];
  assert.deepEqual(read.map((row) => `${row.lane} ${row.group} ${row.round} ${row.operations}`).sort(), rows.sort());
  await context.close();
});

test("hostile names go through the real renderer as text, plain and deflated", async () => {
  for (const deflated of [false, true]) {
    // Much text has the data deflated too, and how often a page says a name depends on what disturbed the race.
    const long = deflated ? "文".repeat(4000) : "n".repeat(600);
    const names = [`</script><script>alert(1)</script>"'&<b>`, `\u202egnp.exe\u2066`, long];
    const lines = readFileSync(raced, "utf8").trim().split("\n").map((line) => JSON.parse(line) as { [key: string]: unknown });
    const lanes = findings(raced).lanes.map((lane) => lane.name);
    const renamed = (value: unknown): unknown => {
      if (typeof value === "string") return lanes.includes(value) ? names[lanes.indexOf(value)] : value;
      if (Array.isArray(value)) return value.map(renamed);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, key === "lane" || key === "name" || key === "title" ? renamed(of) : key === "lanes" ? renamed(of) : of]));
    };
    const hostile = lines.map((line) => {
      const of = renamed(line) as { [key: string]: unknown };
      if (of["kind"] === "trial") of["flags"] = [`<img src=x onerror=alert(2)>\u2028</script>`];
      return of;
    });
    const record = join(place.folder, `hostile-${deflated}.jsonl`);
    // Beyond 500 trials the data is deflated.
    const trials = hostile.filter((line) => line["kind"] === "trial");
    const rounds = Math.max(...trials.map((line) => Number(line["round"])));
    const more = deflated ? Array.from({ length: Math.ceil(500 / trials.length) }, (_, at) => trials.map((line) => ({ ...line, round: Number(line["round"]) + rounds * (at + 1) }))).flat() : [];
    const end = hostile.filter((line) => line["kind"] === "end");
    const all = [...hostile.filter((line) => line["kind"] !== "end"), ...more, ...end];
    writeFileSync(record, all.map((line) => JSON.stringify(line)).join("\n") + "\n");
    const address = place.report(record);
    const html = readFileSync(address.slice("file://".length), "utf8");
    assert.equal(html.includes('data-encoding="deflate-raw-base64">'), deflated);
    const { tab, context, errors, requests } = await open(browser, address);
    for (const summary of await tab.locator("details > summary").all()) await summary.click();
    await drawAll(tab);
    const made = await tab.evaluate((longest) => ({
      scripts: document.querySelectorAll("script").length,
      others: document.querySelectorAll("#root script, img, iframe, #root b, [onerror]").length,
      shown: document.body.innerText.includes("<script>alert(1)</script>"),
      turned: document.body.innerText.includes("\u202e"),
      whole: [...document.querySelectorAll(".whole-name bdi")].some((of) => (of.textContent ?? "").length >= longest),
      wide:
        document.documentElement.scrollWidth > innerWidth
          ? [...document.querySelectorAll("#root *")].filter((of) => of.getBoundingClientRect().right > innerWidth && !of.closest(".scroll")).map((of) => `${of.tagName}.${of.getAttribute("class")}`)
          : [],
    }), long.length);
    assert.deepEqual(made, { scripts: 2, others: 0, shown: true, turned: false, whole: true, wide: [] });
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    // And were a name to become markup all the same, the file's own policy lets nothing out.
    const refused = await tab.evaluate(async () => {
      const seen: string[] = [];
      document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
      const fetched = await fetch("http://127.0.0.1:9/").then(
        () => true,
        () => false,
      );
      new Image().src = "http://127.0.0.1:9/x.png";
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { fetched, seen: seen.sort() };
    });
    assert.deepEqual(refused, { fetched: false, seen: ["connect-src", "img-src"] });
    await context.close();
  }
});

test("the real dashboard lists, opens, compares and follows a figure over records, asking its own server alone", async () => {
  const own = new Place();
  try {
    const [first, second] = ["a.jsonl", "b.jsonl"].map((name) => join(own.records, name)) as [string, string];
    writeFileSync(first, readFileSync(raced));
    own.run(own.race(["-q", "-o", second]));
    own.kept("general");
    own.kept("operations");
    const address = await own.serve();
    const { tab, context, errors, requests } = await open(browser, address);
    const rows = tab.locator("table.records tbody tr");
    assert.equal(await rows.count(), 4);
    await shot(tab, "real-dashboard-records");
    await tab.locator("input[type=search]").fill("tiny");
    assert.equal(await rows.count(), 2);
    await rows.nth(0).locator("a").click();
    await tab.waitForSelector("#answer h1");
    await tab.waitForSelector("#trials table");
    await drawAll(tab);
    await tab.locator(".back a").first().click();
    await tab.waitForSelector("table.records");
    await tab.locator("input[type=search]").fill("tiny");
    for (const at of [0, 1]) await rows.nth(at).locator("input[type=checkbox]").check();
    await tab.locator("a.button").click();
    await tab.waitForSelector("article.result figure");
    // Two workloads of four groups on each of the three lanes.
    assert.equal(await tab.locator("article.result > .scroll tbody tr").count(), 12);
    await drawAll(tab);
    await shot(tab, "real-dashboard-compare", true);
    await tab.evaluate(() => (location.hash = "#/trend?workload=small-files&group=create"));
    // The comparison has figures too.
    await tab.waitForFunction(() => /of\s2\srecords/.test(document.querySelector("figcaption")?.textContent ?? ""));
    await tab.waitForSelector("figure .plot svg");
    await shot(tab, "real-dashboard-trend", true);
    for (const of of ["de", "zh"]) {
      await language(tab, of);
      await tab.waitForSelector("figure .plot svg");
    }
    assert.deepEqual(errors, []);
    const origin = new URL(address).origin;
    assert.ok(requests.length > 0 && requests.every((of) => of.startsWith(`${origin}/api/`)), requests.join(", "));
    await context.close();
  } finally {
    await own.close();
  }
});

test("a real race is followed from its first step to its end", async () => {
  const own = new Place();
  try {
    const address = await own.serve(["--token", "auto"]);
    const { tab, context, errors, requests } = await open(browser, address);
    await tab.waitForSelector(".idle");
    const race = own.stopping(["--seed", "7"]);
    assert.ok(await race.stopped());
    await tab.waitForSelector(".running");
    const says = async () => (await text(tab, ".running")).replace(/\s+/g, " ");
    assert.match(await says(), /Workload 1 of 2: random read 4 KiB/);
    await tab.waitForFunction(() => /(ext4|xfs|btrfs|one|two|three) at work: measuring/.test(document.querySelector(".running")?.textContent ?? ""));
    // It stands in the list as running.
    await tab.waitForFunction(() => /running/.test(document.querySelector("table.records tbody")?.textContent ?? ""));
    // Step by step, until the first round's figures are told.
    while ((await tab.locator(".running tbody tr").count()) === 0) {
      assert.ok(await race.step(), "the race ended before a figure was seen");
      // The stream tells within half a second; a step takes less.
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    await shot(tab, "real-dashboard-live");
    await tab.locator(".running a").click();
    await tab.waitForSelector("#answer h1");
    while (await race.step());
    await tab.waitForSelector(".idle");
    // What was decided last is shown without being asked for.
    await tab.waitForFunction(() => document.querySelector("#answer .counted")?.textContent?.startsWith("12 "));
    assert.deepEqual(errors, []);
    const origin = new URL(address).origin;
    assert.ok(requests.every((of) => of.startsWith(`${origin}/api/`) && of.includes("token=")), requests.join(", "));
    await context.close();
    assert.deepEqual(leftUnder(own.folder), []);
  } finally {
    await own.close();
  }
});

test("the server's option decides the language, and a stranger without its token learns nothing", async () => {
  const own = new Place();
  try {
    const address = await own.serve(["--token", "auto", "--lang", "de"]);
    const { tab, context } = await open(browser, address);
    assert.equal(await tab.locator("html").getAttribute("lang"), "de");
    assert.equal((await fetch(address.split("?")[0] ?? "")).status, 401);
    await context.close();
  } finally {
    await own.close();
  }
});
