// Where the time went: bars, headlines and flame graphs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page as Tab } from "playwright-core";
import type { RacePage } from "../src/types";
import { PARTS } from "../src/parts/part-key";
import { boxes, folded, found, functions, onlyOther, stacksOf, tree } from "../src/words/flame";
import { drawAll, launch, NARROW, open, shot, violations, WIDE, written } from "./browser";
import { contrast, nearest } from "./colours";
import { explained, manyStacks } from "./explain-fixture";
import { operations, page, quick } from "./fixture";

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

async function opened(viewport: { width: number; height: number }, colorScheme: "light" | "dark" = "light", race = explained()) {
  const shown = await open(browser, written("explained", page(race)), { viewport, colorScheme });
  await drawAll(shown.tab);
  assert.equal(await shown.tab.locator(".flame, .frame").count(), 0, "nothing is made before it is asked for");
  await shown.tab.locator(`${FIRST} button`, { hasText: "Flame graph" }).click();
  await shown.tab.locator(`${FIRST} .frame`).first().waitFor();
  return shown;
}

/** How much wider than the screen the page is. */
async function over(tab: Tab): Promise<number> {
  return tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** What every frame is called to those who do not see it, once the one wanted is there. */
async function frames(tab: Tab, wanted: string): Promise<string[]> {
  await tab.locator(`${FIRST} .frame[aria-label*="${wanted}"]`).first().waitFor();
  const labels = await tab.locator(`${FIRST} .frame`).evaluateAll((all) => all.map((of) => of.getAttribute("aria-label") ?? ""));
  return labels.map((label) => label.replace(/\u00a0/g, " "));
}

/** Of the segments of a bar, those that show their part's name, and those that show their share. */
async function segments(tab: Tab, at: number): Promise<{ named: string[]; shares: string[] }> {
  return tab.evaluate((index) => {
    const bar = document.querySelectorAll("#result-0 .bar")[index];
    const top = bar?.getBoundingClientRect().top ?? 0;
    // What has no room stands on a second line.
    const seen = (of: Element) => of.getBoundingClientRect().top < top + 5;
    const all = [...(bar?.querySelectorAll(".segment > :not(.segment-strut)") ?? [])].filter(seen);
    const cut = all.filter((of) => of.getBoundingClientRect().right > (of.parentElement?.getBoundingClientRect().right ?? 0) + 1);
    if (cut.length > 0) throw new Error(`${cut.length} texts are cut`);
    const text = (of: Element) => (of.textContent ?? "").replace(/\u00a0/g, " ");
    const names = all.filter((of) => of.classList.contains("segment-name"));
    return { named: names.map(text), shares: all.filter((of) => !names.includes(of)).map(text) };
  }, at);
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
    assert.match(said, /waiting for the journal's commit 60 ?% \([^)]*\), finding blocks and inodes 9/);
    assert.match(said, /some_new_function 7 ?%/);
    assert.match(await words(tab, "#result-1 .explained"), /by the counters of the rounds themselves/);
    assert.equal(await tab.locator("#result-1 .explained button", { hasText: "Flame graph" }).count(), 0, "nothing was seen of it");
    assert.match(said, /of unknown purpose some_new_function 7/);
    const [first, last] = [await segments(tab, 0), await segments(tab, 2)];
    assert.equal(first.named[0], "flush");
    assert.equal(first.shares.length, 5, "each of these has room for its share");
    assert.equal(first.named.includes("locks and journal"), viewport === WIDE, first.named.join());
    assert.ok(last.shares.length > 4 && last.shares.length < 13, last.shares.join());
    const wide = await over(tab);
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
  assert.match(await mark(2), /^not known 41 ?%$/);
  assert.equal(await mark(3), "several");
  await tab.locator("#result-1 .limit-mark").click();
  assert.match(await words(tab, "#result-1 .limit-says"), /^Of btrfs’s time at most 62 ?% is flush\. Counters of the rounds tell\./);
  await tab.locator("#result-2 .limit-mark").click();
  assert.match(await words(tab, "#result-2 .limit-says"), /^Of btrfs’s time 41 ?% is not explained\. A pass behind the rounds tells\./);
  await tab.locator("#result-3 .limit-mark").click();
  assert.match(await words(tab, "#result-3 .limit-says"), /^No part takes half of btrfs’s time; the largest are in the bars below\./);
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
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("Escape");
  assert.match(await focused(), /^vfs_write: /, "who zooms out stays where they are");
  const back = await tab.locator(`${FIRST} .frame`, { hasText: "vfs_write" }).first().boundingBox();
  assert.equal(back?.width, before.width);
  assert.match(await words(tab, `${FIRST} .flame-told`), /^vfs_write: /);
  await tab.keyboard.press("Home");
  assert.match(await focused(), /^all: /);
  await tab.keyboard.press("ArrowLeft");
  assert.match(await focused(), /^all: /, "nothing lies beside all");
  // A click zooms too, and what is pointed at is told.
  await tab.locator(`${FIRST} .frame`, { hasText: "ext4_file_write_iter" }).click();
  assert.match(await focused(), /^ext4_file_write_iter: /);
  await tab.locator(`${FIRST} .frame`, { hasText: "callers" }).hover();
  assert.match(await words(tab, `${FIRST} .flame-told`), /^callers: /);
  assert.equal(await tab.locator(`${FIRST} .frame[tabindex="0"]`).count(), 1);
  assert.deepEqual(errors, []);
  await context.close();
});

test("one lane against another: signs, what only the other does, and a table", async () => {
  const { tab, context } = await opened(WIDE);
  const selects = tab.locator(`${FIRST} .flame select`);
  await selects.nth(0).selectOption({ label: "btrfs" });
  await selects.nth(1).selectOption({ label: "ext4" });
  const labels = await frames(tab, "against ext4");
  assert.ok(labels.some((of) => /^crc32c: .*\+25\s?µs against ext4$/.test(of)), labels.join("\n"));
  assert.equal(await tab.locator(`${FIRST} .frame`, { hasText: /^\+ crc32c$/ }).count(), 1, "the sign is no colour");
  assert.match(await words(tab, `${FIRST} .flame-shows`), /^btrfs, on a CPU: 110 µs of one operation, in ext4 65 µs, 2,000 samples/);
  assert.match(await words(tab, `${FIRST} .flame`), /\+ more than ext4\s+− less than ext4[\s\S]*Only in ext4: ext4_file_write_iter 30 µs\./);
  await shot(tab, "explained-differential");
  // The other way round there is less of it.
  await selects.nth(1).selectOption({ label: "none" });
  await selects.nth(0).selectOption({ label: "ext4" });
  await selects.nth(1).selectOption({ label: "btrfs" });
  assert.match((await frames(tab, "against btrfs")).join("\n"), /vfs_write: 50 µs of one operation, 76\.9%, −45 µs against btrfs/);
  assert.equal(await tab.locator(`${FIRST} .frame.less-2`, { hasText: /^− vfs_write$/ }).count(), 1);
  await selects.nth(1).selectOption({ label: "none" });
  await selects.nth(0).selectOption({ label: "btrfs" });
  await selects.nth(1).selectOption({ label: "ext4" });
  await selects.nth(2).selectOption({ label: "waiting" });
  await frames(tab, "began before anybody looked");
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
  await tab.locator(`${FIRST} .flame input`).fill("no such function");
  assert.equal(await words(tab, `${FIRST} .flame [aria-live]`), "No function matches.");
  await tab.locator(`${FIRST} .flame input`).fill("");
  const files: [string, RegExp][] = [
    ["Stacks", /^caller;vfs_write;ext4_file_write_iter;ext4_map_blocks 300000\n/],
    ["SVG", /^<svg [\s\S]*ext4, on a CPU: 65[\s\S]*<title>vfs_write: [\s\S]*filesystem CPU<\/text>[\s\S]*<\/svg>$/],
  ];
  for (const [button, holds] of files) {
    const saves = tab.locator(`${FIRST} .flame button`, { hasText: button }).last();
    const [download] = await Promise.all([tab.waitForEvent("download"), saves.click()]);
    assert.match(readFileSync(await download.path(), "utf8"), holds);
  }
  await context.close();
});

test("axe finds nothing serious in bars and flame graphs", async () => {
  for (const [viewport, colorScheme] of [
    [WIDE, "light"],
    [NARROW, "dark"],
  ] as const) {
    const { tab, context } = await opened(viewport, colorScheme);
    assert.deepEqual(await violations(tab), [], colorScheme);
    await tab.locator(FIRST).scrollIntoViewIfNeeded();
    await shot(tab, `explained-${colorScheme}`);
    const table = tab.locator(`${FIRST} figure .tools button`).first();
    for (const [language, says] of [
      ["de", /Wo die Zeit blieb[\s\S]*Sperren und Journal[\s\S]*Bahn/],
      ["zh", /时间花在哪里[\s\S]*锁与日志/],
      ["en", /Where the time went[\s\S]*locks and journal/],
    ] as const) {
      await tab.locator(".switches select").first().selectOption(language);
      await tab.locator(`${FIRST} .flame select`).nth(1).selectOption({ index: 1 });
      assert.deepEqual(await violations(tab, FIRST), [], `${colorScheme}, ${language}, differential`);
      assert.match(await words(tab, FIRST), says);
      assert.ok((await over(tab)) <= 0, `${language} is no wider than the screen`);
      await table.click();
      assert.deepEqual(await violations(tab, FIRST), [], `${colorScheme}, ${language}, table`);
      assert.equal(await tab.locator(`${FIRST} figure table tbody tr`).count(), 3);
      await table.click();
      await tab.locator(`${FIRST} .flame select`).nth(1).selectOption({ index: 0 });
    }
    await context.close();
  }
});

test("every two parts look different to every sight of colour, and letters stand out", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { tab, context } = await open(browser, written("explained", page(explained())), { colorScheme });
    const looks = [...PARTS.map((part) => `part-${part}`), "part-none", "more-1", "more-2", "less-1", "less-2"];
    const { text, colours } = await tab.evaluate((all) => {
      const of = (look: string) => {
        const element = document.body.appendChild(document.createElement("span"));
        element.className = look;
        const colour = getComputedStyle(element).backgroundColor;
        element.remove();
        return colour;
      };
      return { text: getComputedStyle(document.body).color, colours: all.map(of) };
    }, looks);
    colours.forEach((colour, at) => assert.ok(contrast(colour, text) >= 4.5, `${colorScheme}: letters on ${looks[at]}`));
    // What is not explained is hatched.
    const least = nearest(colours.slice(0, PARTS.length - 1));
    assert.ok(least > 5, `${colorScheme}: two parts are ${least.toFixed(1)} apart`);
    assert.ok(nearest(colours.slice(-4)) > 5, `${colorScheme}: more and less`);
    await context.close();
  }
});

test("as many stacks as a page holds are cut to what a screen shows", async () => {
  for (const viewport of [WIDE, NARROW]) {
    const { tab, context, errors } = await opened(viewport, "light", manyStacks());
    const all = await tab.locator(`${FIRST} .frame`).evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().width));
    assert.ok(all.length > 50 && all.length <= 6000, `${all.length} boxes`);
    assert.ok(Math.min(...all) > 1.4, `the narrowest box is ${Math.min(...all)} pixels wide`);
    assert.ok((await over(tab)) <= 0);
    await tab.locator(`${FIRST} .flame button`, { hasText: "Table" }).click();
    assert.equal(await tab.locator(`${FIRST} .flame table tbody tr`).count(), 50);
    assert.deepEqual(errors, []);
    await context.close();
  }
});

test("a flame graph that is open is printed, with what it is of", async () => {
  const { tab, context } = await opened(WIDE);
  await tab.emulateMedia({ media: "print" });
  assert.equal(await tab.locator(`${FIRST} .bar`).first().isVisible(), true);
  assert.equal(await tab.locator(`${FIRST} .frame`, { hasText: "vfs_write" }).first().isVisible(), true);
  assert.match(await words(tab, `${FIRST} .flame-shows`), /^ext4, on a CPU/);
  for (const hidden of [".controls", ".flame-help", ".flame-told"]) assert.equal(await tab.locator(`${FIRST} ${hidden}`).isVisible(), false, hidden);
  await context.close();
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
  // A lane of such a name, everywhere.
  const [, second] = race.findings.lanes;
  const renamed = JSON.stringify(race).replaceAll(JSON.stringify(second?.name), JSON.stringify(`${evil}${"x".repeat(300)}`));
  const { tab, context, errors, requests } = await open(browser, written("explained-hostile", page(JSON.parse(renamed) as RacePage)), { viewport: NARROW });
  await drawAll(tab);
  await tab.locator(`${FIRST} button`, { hasText: "Flame graph" }).click();
  await tab.locator(`${FIRST} .frame`).first().waitFor();
  assert.equal(await tab.locator("img, [onerror]").count(), 0);
  assert.ok((await over(tab)) <= 0);
  const selects = tab.locator(`${FIRST} .flame select`);
  await selects.nth(1).selectOption({ index: 1 });
  await frames(tab, "against <img");
  assert.ok((await over(tab)) <= 0);
  const shown = await words(tab, FIRST);
  assert.ok(shown.includes("<img src=x") && !/NaN|Infinity|undefined/.test(shown), shown);
  assert.deepEqual(errors, []);
  assert.deepEqual(requests, []);
  await context.close();
});

test("a row of which nothing is told says why, and a cause of several parts and a rough pass say what they are", async () => {
  const race = explained();
  const [first, second] = race.findings.results;
  const lane = first?.explanations?.[0];
  if (!first || !second || !lane) throw new Error("the fixture has results");
  lane.causes = [
    { cause: "waiting for the journal's commit", part: "device", share: 0.4 },
    { cause: "waiting for the journal's commit", part: "flush", share: 0.31 },
  ];
  lane.samples = 38;
  lane.unprofiled_operations_per_second = lane.operations_per_second * 2;
  second.explanations = [];
  second.unexplained = ["not explained in ext4: its rounds are too short"];
  const { tab, context, errors } = await open(browser, written("explained-why", page(race)), { viewport: WIDE });
  const of = await words(tab, FIRST);
  for (const said of [/journal's commit 71 ?% \(device 40 ?%, flush 31 ?%\)/, /38 samples of \S+ are few/, /differs much from the rounds/]) assert.match(of, said);
  assert.match(await words(tab, "#result-1 .explained"), /not explained in ext4: its rounds are too short/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a step of a table that is opened shows where its time went", async () => {
  const race = operations();
  const step = race.findings.results.find((result) => result.workload === "operations");
  const like = explained();
  const of = like.findings.results[0];
  if (!step || !of || !like.stacks) throw new Error("the fixtures have results");
  step.explanations = of.explanations ?? [];
  // All steps of a table may share a window.
  const stacks = like.stacks.lanes.map((lane) => ({ ...lane, workload: step.workload, group: "" }));
  race.stacks = { ...like.stacks, lanes: stacks };
  for (const viewport of [WIDE, NARROW]) {
    const { tab, context, errors } = await open(browser, written("explained-step", page(race)), { viewport });
    assert.equal(await tab.locator("#operations .step-bars .bar:visible").count(), 3, "bars are there without a click");
    await tab.locator("#operations .step-open").first().click();
    assert.equal(await tab.locator("#operations .step-detail .bar").count(), 3);
    await tab.locator("#operations .explained button[aria-controls]").click();
    await tab.locator("#operations .frame").first().waitFor();
    assert.match(await words(tab, "#operations .flame-shows"), /these are the stacks of all/);
    assert.ok((await over(tab)) <= 0);
    await tab.locator("#operations .flame").scrollIntoViewIfNeeded();
    await shot(tab, `explained-step-${viewport.width}`);
    assert.deepEqual(errors, []);
    await context.close();
  }
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
  assert.deepEqual(
    onlyOther(tree(race.stacks, btrfs, ext4, "wait"), 10).map((of) => [of.name, sum(of.seconds)]),
    [["jbd2_log_wait_commit", 80e-6]],
  );
  // Names that would break a line of stacks apart, and places that there are not.
  race.stacks.names[5] = "do fsync;\u202e\nx";
  const odd = { ...ext4, stacks: ext4.stacks.slice(-2, -1).map((stack) => ({ ...stack, frames: [99, 5, -1] })) };
  assert.equal(folded(race.stacks, odd, "wait"), "caller;do_fsync__x 800000\n");
});
