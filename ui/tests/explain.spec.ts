// Where the time went: bars, headlines and flame graphs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page as Tab } from "playwright-core";
import { boxes, folded, found, functions, stacksOf, tree } from "../src/words/flame";
import { drawAll, launch, NARROW, open, shot, violations, WIDE, written } from "./browser";
import { explained } from "./explain-fixture";
import { page, quick } from "./fixture";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

const FIRST = "#result-0 .explained";

async function words(tab: Tab, selector: string): Promise<string> {
  return (await tab.locator(selector).first().innerText()).replace(/\u00a0/g, " ");
}

async function opened(viewport: { width: number; height: number }, colorScheme: "light" | "dark" = "light") {
  const shown = await open(browser, written("explained", page(explained())), { viewport, colorScheme });
  await drawAll(shown.tab);
  await shown.tab.locator(`${FIRST} button`, { hasText: "Flame graph" }).click();
  await shown.tab.locator(`${FIRST} .frame`).first().waitFor();
  return shown;
}

for (const [name, viewport] of [
  ["1280", WIDE],
  ["390", NARROW],
] as const) {
  test(`bars and flame graph stand on a screen of ${name} pixels`, async () => {
    const { tab, context, errors, requests } = await opened(viewport);
    assert.equal(await tab.locator(`${FIRST} .bar`).count(), 3);
    const label = (await tab.locator(`${FIRST} .bar`).first().getAttribute("aria-label")) ?? "";
    assert.match(label.replace(/\u00a0/g, " "), /^flush 46 ?%, filesystem CPU 13 ?%, locks and journal 24 ?%, .*not explained 7 ?%$/);
    const whole = await tab.evaluate(() => {
      const bar = document.querySelector<HTMLElement>("#result-0 .bar");
      const parts = [...(bar?.children ?? [])].reduce((sum, of) => sum + of.getBoundingClientRect().width, 0);
      return Math.abs(parts - (bar?.clientWidth ?? 0));
    });
    assert.ok(whole < 2, `the parts fill the bar but for ${whole} pixels`);
    const said = await words(tab, FIRST);
    assert.match(said, /counts in no verdict/);
    assert.match(said, /4,210 samples, 20 ?% slower than in the rounds/);
    assert.match(said, /61 % waiting for the journal's commit/);
    assert.match(said, /waiting for the journal's commit 60 ?%, finding blocks and inodes 9/);
    assert.match(said, /some_new_function 7 ?%/);
    assert.match(await words(tab, "#result-1 .explained"), /by the counters of the rounds themselves/);
    assert.equal(await tab.locator("#result-1 .explained button", { hasText: "Flame graph" }).count(), 0, "nothing was seen of it");
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
    await tab.locator(FIRST).scrollIntoViewIfNeeded();
    await shot(tab, `explained-${name}`);
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  });
}

test("a row without a limit is headed by where its slowest lane's time went", async () => {
  const { tab, context } = await open(browser, written("explained", page(explained())));
  const mark = async (at: number) => (await words(tab, `#result-${at} .limit-mark`)).trim();
  assert.match(await mark(1), /^flush at most 62 ?%$/);
  assert.match(await mark(2), /^not known, 41 ?%$/);
  assert.equal(await mark(3), "several");
  await tab.locator("#result-1 .limit-mark").click();
  assert.match(await words(tab, "#result-1 .limit-says"), /^Of btrfs’s time at most 62 ?% is flush\. Counters of the rounds tell\./);
  await context.close();
});

test("the keyboard walks through frames, and zooms in and out", async () => {
  const { tab, context, errors } = await opened(WIDE);
  const focused = () => tab.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  await tab.locator(`${FIRST} .frame[tabindex="0"]`).focus();
  assert.match(await focused(), /^all: /);
  await tab.keyboard.press("ArrowDown");
  assert.match(await focused(), /^callers: 60\sµs of one operation, 92/);
  await tab.keyboard.press("ArrowDown");
  assert.match(await focused(), /^vfs_write: /);
  await tab.keyboard.press("ArrowRight");
  assert.match(await focused(), /^outside of the kernel: /);
  await tab.keyboard.press("ArrowLeft");
  const before = await tab.locator(`${FIRST} .frame`, { hasText: "vfs_write" }).first().boundingBox();
  await tab.keyboard.press("Enter");
  assert.match(await focused(), /^vfs_write: /);
  const zoomed = await tab.locator(`${FIRST} .frame`, { hasText: "vfs_write" }).first().boundingBox();
  assert.ok(before && zoomed && zoomed.width > before.width, "it fills the width");
  await tab.keyboard.press("ArrowUp");
  assert.match(await focused(), /^callers: /);
  await tab.keyboard.press("Escape");
  assert.match(await focused(), /^all: /);
  assert.equal(await tab.locator(`${FIRST} .frame[tabindex="0"]`).count(), 1);
  assert.deepEqual(errors, []);
  await context.close();
});

test("one lane against another: signs, what only the other does, and a table", async () => {
  const { tab, context } = await opened(WIDE);
  const selects = tab.locator(`${FIRST} .flame select`);
  await selects.nth(0).selectOption({ label: "btrfs" });
  await selects.nth(1).selectOption({ label: "ext4" });
  const labels = await tab.locator(`${FIRST} .frame`).evaluateAll((all) => all.map((of) => of.getAttribute("aria-label") ?? ""));
  assert.ok(labels.some((of) => /^crc32c: .*\+25\s?µs against ext4$/.test(of)), labels.join("\n"));
  assert.match(await words(tab, `${FIRST} .flame`), /Only in ext4: ext4_file_write_iter|more \(\+\) or less/);
  await shot(tab, "explained-differential");
  await selects.nth(2).selectOption({ label: "waiting" });
  assert.match(await words(tab, `${FIRST} .flame`), /Only in ext4: jbd2_log_wait_commit 80\s?µs/);
  await tab.locator(`${FIRST} .flame button`, { hasText: "Table" }).click();
  assert.match(await words(tab, `${FIRST} .flame table`), /jbd2_log_wait_commit[\s\S]*−80\s?µs/);
  await context.close();
});

test("functions are searched, and stacks are saved", async () => {
  const { tab, context } = await opened(WIDE);
  await tab.locator(`${FIRST} .flame input`).fill("EXT4_");
  assert.match(await words(tab, `${FIRST} .flame [aria-live]`), /^53\.8 ?% in functions that match, 35\s?µs of one operation\.$/);
  assert.equal(await tab.locator(`${FIRST} .frame.matches`).count(), 3);
  const files: [string, RegExp][] = [
    ["Stacks", /^caller;vfs_write;ext4_file_write_iter;ext4_map_blocks 300000\n/],
    ["SVG", /^<svg [\s\S]*<title>vfs_write: [\s\S]*<\/svg>$/],
  ];
  for (const [button, holds] of files) {
    const saves = tab.locator(`${FIRST} .flame button`, { hasText: button }).last();
    const [download] = await Promise.all([tab.waitForEvent("download"), saves.click()]);
    assert.match(readFileSync(await download.path(), "utf8"), holds);
  }
  await context.close();
});

test("axe finds nothing serious in bars and flame graphs", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { tab, context } = await opened(WIDE, colorScheme);
    assert.deepEqual(await violations(tab), [], colorScheme);
    await tab.locator(FIRST).scrollIntoViewIfNeeded();
    await shot(tab, `explained-${colorScheme}`);
    await tab.locator(`${FIRST} .flame select`).nth(1).selectOption({ index: 1 });
    assert.deepEqual(await violations(tab), [], `${colorScheme}, differential`);
    if (colorScheme === "light") {
      for (const language of ["zh", "de"]) {
        await tab.locator(".switches select").first().selectOption(language);
        assert.deepEqual(await violations(tab), [], language);
      }
      assert.match(await words(tab, FIRST), /Wo die Zeit blieb[\s\S]*Sperren und Journal/);
    }
    await context.close();
  }
});

test("what strangers name is text, and absurd figures break nothing", async () => {
  const race = explained();
  const evil = "<img src=x onerror=alert(1)>\u202e";
  if (!race.stacks) throw new Error("the fixture has stacks");
  race.stacks.names[0] = evil;
  const lane = race.stacks.lanes[0];
  lane?.stacks.push(
    { role: "caller", activity: "cpu", part: "kernel", seconds: 1, frames: [4_000_000, -1, 0] },
    { role: "caller", activity: "cpu", part: "kernel", seconds: Number.MAX_VALUE, frames: [0] },
    { role: "nobody" as "caller", activity: "cpu", part: "no-part" as "kernel", seconds: -3, frames: [] },
  );
  const first = race.findings.results[0]?.explanations?.[0];
  first?.causes.unshift({ cause: evil, part: "kernel", share: 0.9 });
  first?.parts.push({ part: "no-part" as "kernel", share: 1e300 });
  const { tab, context, errors, requests } = await open(browser, written("explained-hostile", page(race)));
  await drawAll(tab);
  await tab.locator(`${FIRST} button`, { hasText: "Flame graph" }).click();
  await tab.locator(`${FIRST} .frame`).first().waitFor();
  assert.equal(await tab.locator("img, [onerror]").count(), 0);
  const shown = await words(tab, FIRST);
  assert.ok(shown.includes("<img src=x") && !/NaN|Infinity|undefined/.test(shown), shown);
  assert.deepEqual(errors, []);
  assert.deepEqual(requests, []);
  await context.close();
});

test("a page of before they were kept shows none", async () => {
  const race = quick();
  race.findings.results.forEach((result) => delete result.explanations);
  delete race.stacks;
  const { tab, context, errors } = await open(browser, written("unexplained", page(race)));
  await drawAll(tab);
  assert.equal(await tab.locator(".explained").count(), 0);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a tree of functions adds up, zoomed or not", () => {
  const race = explained();
  const result = race.findings.results[0];
  if (!result || !race.stacks) throw new Error("the fixture has a result");
  const [ext4, , btrfs] = stacksOf(race, result);
  if (!ext4 || !btrfs) throw new Error("the fixture has three lanes");
  const root = tree(race.stacks, btrfs, ext4, "cpu");
  const sum = (of: number) => Math.round(of * 1e9) / 1e9;
  assert.equal(sum(root.seconds), 110e-6);
  assert.equal(sum(root.other), 65e-6);
  assert.equal(sum(found(root, "btrfs")), 75e-6);
  const all = boxes(root, [root], 0);
  assert.equal(all[0]?.width, 1);
  for (const box of all) {
    const below = box.below.reduce((width, at) => width + (all[at]?.width ?? 0), 0);
    assert.ok(below <= box.width + 1e-9, `what lies below ${box.frame.name} is no wider`);
  }
  const path = all.find((box) => box.frame.name === "btrfs_do_write_iter");
  const callers = all[path?.parent ?? -1];
  const zoomed = boxes(root, [root, all[1]?.frame, callers?.frame, path?.frame].filter((of) => of !== undefined), 0);
  assert.equal(zoomed.find((box) => box.frame === path?.frame)?.width, 1);
  assert.equal(functions(root)[0]?.name, "ext4_map_blocks");
  assert.match(folded(race.stacks, ext4, "wait"), /^caller;do_fsync;jbd2_log_wait_commit 800000\ncaller;\[outside\] 20000\n$/);
});
