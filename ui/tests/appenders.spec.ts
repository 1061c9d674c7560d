// Appenders on the page: tables, two panels for every lane, and the search.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { drawAll, launch, NARROW, open, shot, violations, WIDE, written } from "./browser";
import { page } from "./fixture";
import { appenders } from "./appenders-fixture";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

for (const [name, viewport] of [
  ["1280", WIDE],
  ["390", NARROW],
] as const) {
  test(`every lane has its two panels and all have the same axes at ${name}`, async () => {
    const { tab, context, errors, requests } = await open(browser, written("appenders", page(appenders())), { viewport });
    await drawAll(tab);
    const figures = tab.locator("#appenders figure.figure");
    assert.equal(await figures.count(), 3);
    const axes: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const figure = figures.nth(at);
      assert.equal(await figure.locator("svg").count() > 0, true, "it is drawn");
      const labels = (await figure.locator("svg text").allTextContents()).map((text) => text.replace(/\u00a0/g, " "));
      for (const axis of ["Buffers, Cached", "Dirty", "iowait, iowait, mean of 10 s", "Load"]) {
        assert.ok(labels.includes(axis), `${axis}: ${labels.join(" | ")}`);
      }
      axes.push(labels.sort().join(" | "));
    }
    assert.equal(axes[0], axes[1]);
    assert.equal(axes[1], axes[2]);
    await tab.locator("#appenders").scrollIntoViewIfNeeded();
    await shot(tab, `appenders-${name}`, true);
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  });
}

test("lateness, bursts and the search are told in every language", async () => {
  const { tab, context, errors } = await open(browser, written("appenders", page(appenders())));
  const section = async () => (await tab.locator("#appenders").innerText()).replace(/\u00a0/g, " ");
  const english = await section();
  for (const part of [
    "4000 writers at 0.5 s: 4k writers with 4 files each, every 500 ms.",
    "btrfs fell behind in 2 of 6 rounds: its backlog grew.",
    "btrfs writes every 30 s in bursts of 240 MiB",
    "xfs sustains 21× as many writers as ext4 (19–23×)",
    "at least 200k",
    "with 9900 writers the backlog grows",
    "no verdict",
  ]) {
    assert.ok(english.replace(/\s+/g, " ").toLowerCase().includes(part.toLowerCase()), `${part}\n${english}`);
  }
  for (const [language, part] of [
    ["de", "Schreiber, die jede Bahn trägt"],
    ["zh", "各赛道能承受的写入者"],
  ] as const) {
    await tab.locator(".switches select").first().selectOption(language);
    await tab.waitForFunction((of) => document.documentElement.lang.startsWith(of), language);
    const said = await section();
    assert.ok(said.includes(part), `${language}: ${said}`);
  }
  assert.deepEqual(await violations(tab), []);
  assert.deepEqual(errors, []);
  await context.close();
});
