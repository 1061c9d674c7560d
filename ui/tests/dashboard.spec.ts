// The dashboard, from a server on the loopback.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Live, RecordEntry } from "../src/types";
import { drawAll, launch, NARROW, open, shot, violations } from "./browser";
import { quick } from "./fixture";
import { serve, type Served } from "./server";

let browser: Browser;
let served: Served;

const NAMES = ["2026-07-03T080000Z-quick", "2026-07-02T080000Z-quick", "2026-07-01T100000Z-quick", "<b>odd & name</b>"];

function entry(name: string, at: number): RecordEntry {
  return {
    name,
    started: `2026-07-0${4 - at}T08:00:00Z`,
    suite: "quick",
    lanes: ["ext4", "xfs", "btrfs"],
    workloads: [
      { name: "random-write", title: "random write 4 KiB", groups: ["write"] },
      { name: "small-files", title: "small files", groups: ["create", "read", "delete"] },
    ],
    machine: `Debian GNU/Linux 12 (bookworm), ${at === 0 ? "6.12.8" : "6.1.0-28-amd64"}, AMD Ryzen 5 5600X`,
    kernel: at === 0 ? "6.12.8" : "6.1.0-28-amd64",
    outcome: at === 1 ? "interrupted" : "complete",
    trials: 144,
  };
}

before(async () => {
  browser = await launch();
  served = await serve(new Map(NAMES.map((name) => [name, quick()])), NAMES.map(entry));
});
after(async () => {
  await browser.close();
  await served.close();
});

const running = (trials: number): Live => ({
  kind: "running",
  record: NAMES[0] ?? "",
  started: "2026-07-03T08:00:00Z",
  suite: "quick",
  workload: "random write 4 KiB",
  number: 5,
  of: 6,
  round: 3,
  lane: "xfs",
  phase: "measure",
  elapsed_seconds: 84,
  budget_seconds: 180,
  rates: ["ext4", "xfs", "btrfs"].map((lane, at) => ({ lane, group: "write", metric: "operations_per_second", value: 70_000 - at * 9000, round: 2 })),
  trials,
});

test("records are listed, filtered and opened, and the back button leads back", async () => {
  const { tab, context, errors, requests } = await open(browser, served.address);
  const rows = tab.locator("table.records tbody tr");
  assert.equal(await rows.count(), NAMES.length);
  await tab.locator("input[type=search]").fill("6.12 btrfs");
  assert.equal(await rows.count(), 1);
  await tab.locator("input[type=search]").fill("");
  await shot(tab, "dashboard-records");
  await rows.nth(3).locator("a").click();
  await tab.waitForSelector("#answer h1");
  assert.match(tab.url(), /#\/race\/%3Cb%3Eodd%20%26%20name%3C%2Fb%3E$/);
  await tab.locator(".contents a").last().click();
  assert.match(tab.url(), /\/trials$/);
  await tab.goBack();
  await tab.goBack();
  await tab.waitForSelector("table.records");
  assert.deepEqual(errors, []);
  const own = new URL(served.address).origin;
  assert.ok(requests.length > 0 && requests.every((of) => of.startsWith(`${own}/api/`) && of.includes("token=")), requests.join(", "));
  await context.close();
});

test("two records and more are compared, and a comparison can be linked", async () => {
  const { tab, context, errors } = await open(browser, served.address);
  for (const at of [0, 1, 2]) await tab.locator("table.records input[type=checkbox]").nth(at).check();
  await tab.locator("a.button").click();
  await tab.waitForSelector("article.result figure");
  assert.equal(await tab.locator("article.result").count(), 2);
  // The oldest of them is what the others are held against.
  assert.ok(served.asked.some((of) => of.startsWith(`/api/compare?a=${NAMES[2]}&b=${NAMES[1]}&b=${NAMES[0]}`)), served.asked.join(", "));
  await drawAll(tab);
  const first = tab.locator("article.result").first();
  assert.match(await first.innerText(), /1 slower, 1 faster, 1 tie, 1 undecided/);
  assert.match(await first.innerText(), /the kernels differ/);
  await first.locator("figure .tools button").first().click();
  assert.equal(await first.locator("figure table tbody tr").count(), 4);
  await first.locator("figure .tools button").first().click();
  await shot(tab, "dashboard-compare", true);
  const address = tab.url();
  await tab.goto("about:blank");
  await tab.goto(address);
  await tab.waitForSelector("article.result figure");
  assert.deepEqual(errors, []);
  await context.close();
});

test("a trend is chosen from the list of records alone, and marks where the disk changes", async () => {
  const asked = served.asked.length;
  served.disk = (at) => (at === 1 ? "sdb, Another disk" : "sda, A disk");
  const { tab, context, errors } = await open(browser, `${served.address}#/trend?workload=random-write&group=write`);
  await tab.waitForSelector("figure .plot svg");
  const options = await tab.locator(".controls select option").allInnerTexts();
  assert.equal(options.length, 4);
  assert.match(options[1] ?? "", /small files: create/);
  assert.ok(!served.asked.slice(asked).some((of) => of.startsWith("/api/race/")), "no page of a race is needed");
  // Onto the other disk, back again, and the newer kernel.
  assert.match(await tab.locator("figcaption").innerText(), /3 marks show where the machine, its disk or the kernel changes/);
  assert.match((await tab.locator(".plot svg").textContent()) ?? "", /another disk/);
  served.disk = () => "sda, A disk";
  assert.deepEqual(errors, []);
  await context.close();
});

test("a trend marks where the kernel changes", async () => {
  const { tab, context, errors } = await open(browser, `${served.address}#/trend?workload=random-write&group=write`);
  await tab.waitForSelector("figure .plot svg");
  const caption = await tab.locator("figcaption").innerText();
  assert.match(caption, /Means with 95% intervals of 4 records\. ext4 from/);
  assert.match(caption, /One mark/);
  assert.match(await tab.locator(".plot svg").textContent() ?? "", /kernel 6\.12\.8/);
  await tab.locator(".tools button").first().click();
  assert.equal(await tab.locator("figure table tbody tr").count(), 12);
  await tab.locator(".tools button").first().click();
  await shot(tab, "dashboard-trend");
  assert.deepEqual(errors, []);
  await context.close();
});

test("a running race is followed: progress, lane, rates, and findings when trials were added", async () => {
  served.live(running(40));
  const { tab, context, errors } = await open(browser, served.address);
  await tab.waitForSelector(".running");
  const panel = tab.locator(".running");
  const says = (await panel.innerText()).replace(/\u00a0/g, " ");
  assert.match(says, /Workload 5 of 6: random write 4 KiB, round 3/);
  assert.match(says, /xfs at work: measuring/);
  assert.match(says, /1 min 24 s of 3 min/);
  assert.equal(await panel.locator("tbody tr").count(), 3);
  await shot(tab, "dashboard-live");
  await panel.locator("a").click();
  await tab.waitForSelector("#answer h1");
  const before = served.asked.filter((of) => of.startsWith("/api/race/")).length;
  const race = served.races.get(NAMES[0] ?? "");
  assert.ok(race);
  race.findings.trials.ok = 150;
  served.live(running(46));
  await tab.waitForFunction(() => document.querySelector("#answer .counted")?.textContent?.startsWith("150 "));
  assert.equal(served.asked.filter((of) => of.startsWith("/api/race/")).length, before + 1);
  served.live({ kind: "idle" });
  await tab.waitForSelector(".idle");
  assert.deepEqual(errors, []);
  await context.close();
});

test("a lost connection is told and made again", async () => {
  served.live({ kind: "idle" });
  const { tab, context } = await open(browser, served.address);
  await tab.waitForSelector(".idle");
  served.cut();
  await tab.waitForSelector(".trouble[role=status]");
  await tab.waitForSelector(".trouble[role=status]", { state: "detached" });
  await context.close();
});

test("a record that is gone is told with the server's own sentence, and one that is there is downloaded", async () => {
  const { tab, context } = await open(browser, `${served.address}#/race/gone`);
  await tab.waitForSelector(".trouble[role=alert]");
  assert.match(await tab.locator(".trouble[role=alert]").innerText(), /there is no such record; \/api\/records lists/);
  await tab.evaluate((name) => (location.hash = `#/race/${name}`), NAMES[0]);
  await tab.waitForSelector("#answer h1");
  const [download] = await Promise.all([tab.waitForEvent("download"), tab.locator("a[download]").click()]);
  assert.equal(download.suggestedFilename(), "record.jsonl");
  await context.close();
});

test("without its token the server's refusal is told with the remedy", async () => {
  const { tab, context } = await open(browser, served.address.split("?")[0] ?? "");
  assert.match(await tab.locator(".trouble[role=alert]").innerText(), /with its token/);
  await context.close();
});

test("the dashboard fits a small screen", async () => {
  const { tab, context } = await open(browser, served.address, { viewport: NARROW });
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
  await shot(tab, "dashboard-390");
  await context.close();
});

test("axe finds nothing serious in the dashboard, in light and dark", async () => {
  served.live(running(40));
  for (const colorScheme of ["light", "dark"] as const) {
    const { tab, context } = await open(browser, served.address, { colorScheme });
    await tab.waitForSelector(".running");
    assert.deepEqual(await violations(tab), [], `records in ${colorScheme}`);
    for (const route of [`#/compare?a=${NAMES[2]}&b=${NAMES[1]}`, "#/trend?workload=random-write&group=write"]) {
      await tab.evaluate((hash) => (location.hash = hash), route);
      await tab.waitForSelector("figure .plot svg");
      assert.deepEqual(await violations(tab), [], `${route} in ${colorScheme}`);
    }
    await context.close();
  }
  served.live({ kind: "idle" });
});
