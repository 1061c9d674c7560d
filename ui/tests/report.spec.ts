// The report, opened from a file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page as Tab } from "playwright-core";
import { hostile, large, operations, page, quick } from "./fixture";
import { chartsSpeak, drawAll, launch, NARROW, open, shot, violations, WIDE, written } from "./browser";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

async function text(tab: Tab, selector: string): Promise<string> {
  return (await tab.locator(selector).first().innerText()).replace(/\u00a0/g, " ");
}

for (const [name, viewport] of [
  ["1280", WIDE],
  ["390", NARROW],
] as const) {
  test(`the answer stands on the first screen at ${name}`, async () => {
    const { tab, context, errors, requests } = await open(browser, written("quick", page(quick())), { viewport });
    for (const language of ["de", "zh", "en"]) {
      await tab.locator(".switches select").first().selectOption(language);
      await tab.waitForFunction((of) => document.documentElement.lang.startsWith(of), language);
      await shot(tab, `first-${name}-${language}`);
      for (const selector of ["#answer h1", "#answer .claims", "#answer .answer-columns"]) await inside(selector);
    }
    async function inside(selector: string) {
      const box = await tab.locator(selector).first().boundingBox();
      assert.ok(box && box.y >= 0 && box.y + box.height <= viewport.height, `${selector} is on the first screen: ${JSON.stringify(box)}`);
    }
    assert.match(await text(tab, "#answer h1"), /^ext4 or xfs, depending on your work/);
    const answer = await text(tab, "#answer");
    assert.match(answer, /btrfs is at least 2\.6× slower than ext4 at random overwrites/);
    assert.match(answer, /In 2 of 8 tests the disk was measured, not the filesystem: sequential read 1 MiB, random read 4 KiB/);
    assert.match(answer, /Still undecided: small files: create, small files: read; --budget 12m should settle it/);
    assert.equal(await tab.locator("#answer svg[role], #answer .plot").count(), 0, "no chart stands before the answer");
    await drawAll(tab);
    await shot(tab, `whole-${name}`, true);
    // Nothing is wider than the screen.
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  });
}

test("disks in the host's page cache are named above the verdicts and at the ceilings", async () => {
  const race = quick();
  const bare = await open(browser, written("on-disk", page(race)));
  await drawAll(bare.tab);
  assert.equal(await bare.tab.locator("#code-only").count(), 0);
  assert.equal(await text(bare.tab, "#ceilings-title"), "What the bare disk can do");
  await bare.context.close();
  race.findings.code_only = "this race compares the filesystems' code, not your disk";
  race.findings.ceilings.forEach((ceiling) => (ceiling.in_page_cache = true));
  race.sentences = { ...race.sentences, de: { [race.findings.code_only]: "Code, nicht Ihre Platte" } };
  const { tab, context, errors } = await open(browser, written("in-page-cache", page(race)));
  await drawAll(tab);
  assert.match(await text(tab, "#code-only"), /compares the filesystems' code, not your disk/);
  assert.equal(await text(tab, "#ceilings-title"), "What the guest's bare disk can do");
  assert.match(await text(tab, "#ceilings"), /nothing of your disk/);
  await tab.locator(".switches select").first().selectOption("de");
  await tab.waitForFunction(() => document.documentElement.lang === "de");
  assert.equal(await text(tab, "#code-only"), "Code, nicht Ihre Platte");
  assert.deepEqual(errors, []);
  await context.close();
});

test("every chart has its text, a table with rows, and both files", async () => {
  const { tab, context, errors, requests } = await open(browser, written("quick", page(quick())));
  // Eight results with rounds and costs, seven with latencies, and six courses of eleven quantities.
  assert.equal(await chartsSpeak(tab), 8 + 8 + 7 + 6 * 11);
  const first = tab.locator("figure.figure").first();
  for (const [at, kind] of [
    [1, "svg"],
    [2, "png"],
  ] as const) {
    const [download] = await Promise.all([tab.waitForEvent("download"), first.locator(".tools button").nth(at).click()]);
    assert.match(download.suggestedFilename(), new RegExp(`\\.${kind}$`));
    const bytes = readFileSync(await download.path());
    if (kind === "svg") assert.match(bytes.toString("utf8"), /^<svg [\s\S]*Rounds and intervals[\s\S]*<\/svg>$/);
    else assert.equal(bytes.subarray(1, 4).toString("latin1"), "PNG");
  }
  assert.deepEqual(errors, []);
  assert.deepEqual(requests, []);
  await context.close();
});

test("the language is switched with its texts and figures", async () => {
  const { tab, context, errors } = await open(browser, written("quick", page(quick())));
  const seen: Record<string, { answer: string; rate: string; lang: string | null }> = {};
  for (const language of ["en", "zh", "de"]) {
    await tab.locator(".switches select").first().selectOption(language);
    await tab.waitForFunction((of) => document.documentElement.lang.startsWith(of), language);
    seen[language] = {
      answer: await text(tab, "#answer"),
      rate: await text(tab, "#result-0 table.figures tbody td"),
      lang: await tab.locator("html").getAttribute("lang"),
    };
    await drawAll(tab);
    await shot(tab, `whole-1280-${language}`, true);
  }
  assert.match(seen["en"]?.rate ?? "", /1\.08k ops\/s/);
  assert.match(seen["de"]?.rate ?? "", /1,08k Op\.\/s/);
  assert.match(seen["zh"]?.rate ?? "", /1\.08k 次\/秒/);
  assert.match(seen["de"]?.answer ?? "", /In 2 von 8 Tests wurde die Platte gemessen, nicht das Dateisystem/);
  assert.match(seen["de"]?.answer ?? "", /btrfs ist beim wahlfreien Überschreiben mindestens um den Faktor 2,6 langsamer als ext4/);
  assert.match(seen["zh"]?.answer ?? "", /8 项测试中有 2 项测到的是磁盘/);
  assert.equal(seen["zh"]?.lang, "zh-Hans");
  // What the statistics said is translated where a translation came along, and otherwise marked as English.
  await tab.locator(".switches select").first().selectOption("de");
  await tab.locator("#result-0 .limit-mark").click();
  assert.match(await text(tab, "#result-0 .limit-says"), /Flushes nahmen 71 % der Zeit ein/);
  await tab.locator("#result-4 .limit-mark").click();
  assert.match((await tab.locator("#result-4 .limit-says bdi[lang=en]").innerText()) ?? "", /btrfs-endio-write took 97 % of a core/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("axe finds nothing serious, in light and dark, in every language", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { tab, context } = await open(browser, written("quick", page(quick(), "en")), { colorScheme });
    for (const summary of await tab.locator("details > summary").all()) await summary.click();
    await drawAll(tab);
    assert.deepEqual(await violations(tab), [], colorScheme);
    await shot(tab, `first-quick-${colorScheme}`);
    if (colorScheme === "dark") {
      await context.close();
      continue;
    }
    await tab.locator("figure .tools button").first().click();
    await tab.locator(".limit-mark").first().click();
    await tab.locator(".switches select").first().selectOption("zh");
    assert.deepEqual(await violations(tab), [], `${colorScheme} and Chinese`);
    await context.close();
  }
});

test("the reader's own choice of dark and light beats the system's", async () => {
  const { tab, context } = await open(browser, written("quick", page(quick())), { colorScheme: "light" });
  const paper = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const choose = async (theme: string) => {
    await tab.locator(".switches select").nth(1).selectOption(theme);
    await tab.waitForFunction((of) => document.documentElement.dataset["theme"] === of, theme);
  };
  const light = await paper();
  await choose("dark");
  const dark = await paper();
  assert.notEqual(dark, light);
  await drawAll(tab);
  await shot(tab, "first-1280-dark");
  await shot(tab, "whole-1280-dark", true);
  await choose("light");
  assert.equal(await paper(), light);
  await context.close();
});

test("hostile names are text and nothing else", async () => {
  const data = hostile();
  const first = data.findings.lanes[0];
  const name = first?.name ?? "";
  assert.ok(name.includes("<script>"), "the fixture holds markup in a lane's name");
  // Also in what only the page's own data holds.
  data.courses[0]?.lanes.forEach((lane) => (lane.quantities["<img src=x onerror=alert(1)>"] = [1, 2]));
  data.trials.remarks["0"] = "</script><img src=x onerror=alert(1)>\u202e";
  data.record = "<iframe src=x>";
  for (const deflated of [false, true]) {
    const { tab, context, errors, requests } = await open(browser, written("hostile", page(data), deflated));
    for (const summary of await tab.locator("details > summary").all()) await summary.click();
    await drawAll(tab);
    const made = await tab.evaluate(() => ({
      scripts: document.querySelectorAll("script").length,
      others: document.querySelectorAll("#root script, img, iframe, i, b, [onerror]").length,
      shown: document.body.innerText.includes("<script>alert(1)</script>"),
    }));
    assert.deepEqual(made, { scripts: 2, others: 0, shown: true });
    // The reader can reach the whole of a name that is cut.
    const longest = data.findings.lanes.map((lane) => lane.name).sort((x, y) => y.length - x.length)[0] ?? "";
    const whole = await tab.evaluate((length) => [...document.querySelectorAll(".whole-name bdi")].some((of) => (of.textContent ?? "").length >= length), Math.min(longest.length, 3900));
    assert.ok(whole, "a long name stands somewhere in full");
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
    await shot(tab, "whole-hostile", true);
    const [download] = await Promise.all([tab.waitForEvent("download"), tab.locator("figure .tools button").nth(2).click()]);
    assert.match(download.suggestedFilename(), /\.png$/, "names do not break the saved picture");
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  }
});

test("a page that is photographed at once has its charts", async () => {
  const { tab, context } = await open(browser, written("quick", page(quick())), { viewport: WIDE });
  const [missing, all] = await tab.evaluate(() => {
    const plots = [...document.querySelectorAll<HTMLElement>(".plot")].filter((plot) => plot.clientWidth > 0);
    return [plots.filter((plot) => plot.querySelector("svg") === null).length, plots.length];
  });
  assert.ok(all > 8, `${all} charts`);
  assert.equal(missing, 0, `of ${all} charts, without scrolling`);
  await context.close();
});

test("paper has no buttons, whole tables and drawn charts", async () => {
  const { tab, context } = await open(browser, written("quick", page(quick())), { colorScheme: "dark" });
  await tab.emulateMedia({ media: "print", colorScheme: "dark" });
  await tab.waitForFunction(() =>
    [...document.querySelectorAll<HTMLElement>(".plot")].filter((plot) => plot.clientWidth > 0).every((plot) => plot.querySelector("svg") !== null),
  );
  const shown = await tab.evaluate(() => [...document.querySelectorAll("button, select, input")].filter((of) => (of as HTMLElement).offsetParent !== null).length);
  assert.equal(shown, 0);
  const cut = await tab.evaluate(() => [...document.querySelectorAll(".scroll")].filter((of) => getComputedStyle(of).overflowX !== "visible").length);
  assert.equal(cut, 0);
  await tab.setViewportSize({ width: 680, height: 1000 });
  // A picture of the whole page is made once in any case: it has each chart in it.
  assert.ok((await tab.screenshot({ fullPage: true })).length > 20_000);
  const flat = await tab.evaluate(
    () => [...document.querySelectorAll(".plot svg")].filter((of) => of.getBoundingClientRect().height < 60 || of.getBoundingClientRect().right > 680).length,
  );
  assert.equal(flat, 0, "every chart stands on the paper, whole");
  // Light on paper, whatever the screen is.
  const letters = await tab.evaluate(() => document.querySelector(".plot svg text")?.getAttribute("fill"));
  assert.equal(letters, "#1d1b19");
  const pdf = await tab.pdf({ format: "A4", preferCSSPageSize: true });
  assert.ok(pdf.length > 20_000);
  await context.close();
});

test("a chart that is drawn again at another width is the one that a new page draws", async () => {
  const marks = (tab: Tab) =>
    tab.evaluate(() =>
      [...document.querySelectorAll("#result-0 .plot path")].map((of) => `${of.getAttribute("d")} ${of.getAttribute("transform")}`),
    );
  const address = written("quick", page(quick()));
  const { tab, context } = await open(browser, address);
  await drawAll(tab);
  const before = await marks(tab);
  await tab.setViewportSize({ width: 900, height: 800 });
  await tab.waitForFunction(() =>
    [...document.querySelectorAll("#result-0 .plot")].every((plot) => Number(plot.querySelector("svg")?.getAttribute("width")) === plot.clientWidth),
  );
  const again = await marks(tab);
  const fresh = await open(browser, address, { viewport: { width: 900, height: 800 } });
  await drawAll(fresh.tab);
  assert.deepEqual(again, await marks(fresh.tab));
  assert.notDeepEqual(again, before);
  await fresh.context.close();
  await context.close();
});

test("the keyboard reaches and works every switch", async () => {
  const { tab, context } = await open(browser, written("quick", page(quick())));
  await tab.keyboard.press("Tab");
  assert.equal(await tab.evaluate(() => document.activeElement?.className), "skip");
  await tab.keyboard.press("Enter");
  assert.equal(await tab.evaluate(() => document.activeElement?.id), "main");
  const reached = new Set<string>();
  let limit = false;
  let asTable = false;
  for (let presses = 0; presses < 90 && !(limit && asTable); presses += 1) {
    await tab.keyboard.press("Tab");
    const now = await tab.evaluate(() => {
      const of = document.activeElement as HTMLElement;
      return { kind: `${of.tagName} ${of.className}`, label: of.textContent ?? "", outline: getComputedStyle(of).outlineStyle };
    });
    reached.add(now.kind);
    if (/^(BUTTON|A|SELECT)/.test(now.kind)) assert.notEqual(now.outline, "none", `${now.kind} shows that it has the focus`);
    if (now.kind.includes("limit-mark") && !limit) {
      await tab.keyboard.press("Enter");
      limit = await tab.evaluate(() => document.activeElement?.getAttribute("aria-expanded") === "true");
    }
    if (/^Table/.test(now.label) && !asTable) {
      await tab.keyboard.press("Space");
      asTable = (await tab.locator("figure table").count()) > 0;
    }
  }
  assert.ok(limit, `the limit's sentence opens by keyboard; reached ${[...reached].join(", ")}`);
  assert.ok(asTable, `a chart becomes a table by keyboard; reached ${[...reached].join(", ")}`);
  await context.close();
});

test("trials are sorted, filtered, paged and saved whole", async () => {
  const data = quick();
  const { tab, context, errors } = await open(browser, written("quick", page(data)));
  const section = tab.locator("#trials");
  const rows = () => section.locator("tbody tr").count();
  const all = data.trials.round.length;
  assert.equal(await rows(), Math.min(all, 100));
  await section.locator("select").nth(1).selectOption("btrfs");
  assert.equal(await rows(), Math.min(all / 3, 100));
  await section.locator("select").nth(1).selectOption("");
  await section.locator("th button.sort").nth(7).click();
  await section.locator("th button.sort").nth(7).click();
  assert.equal(await section.locator("th").nth(7).getAttribute("aria-sort"), "descending");
  await section.locator(".pager button").last().click();
  assert.match(await text(tab, "#trials .pager span"), /^101–/);
  const [csv] = await Promise.all([tab.waitForEvent("download"), section.locator(".controls button").first().click()]);
  const lines = readFileSync(await csv.path(), "utf8").trimEnd().split("\r\n");
  assert.equal(lines.length, all + 1);
  assert.match(lines[0] ?? "", /^workload,group,lane,round,/);
  const [json] = await Promise.all([tab.waitForEvent("download"), section.locator(".controls button").nth(1).click()]);
  assert.equal((JSON.parse(readFileSync(await json.path(), "utf8")) as unknown[]).length, all);
  assert.deepEqual(errors, []);
  await context.close();
});

test("operations stand in one table, each step with its details", async () => {
  const { tab, context, errors } = await open(browser, written("operations", page(operations())));
  assert.equal(await tab.locator("#operations .steps .step-open").count(), 12);
  assert.match(await text(tab, "#answer"), /In 2 of 12 tests memory answered, not the disk: operations on files \(2 of 12 steps\)/);
  await tab.locator("#operations .step-open").first().click();
  await tab.waitForSelector("#operations .step-detail .plot svg");
  await tab.locator("#operations").scrollIntoViewIfNeeded();
  await shot(tab, "operations");
  assert.equal(await tab.locator("#scoreboard tbody tr").count(), 1);
  assert.deepEqual(errors, []);
  await context.close();
});

test("what stands beside verdicts is shown, and the bare disk only where it is drawn", async () => {
  const data = quick();
  data.self_check = { lane: "ext4", ties: 7, undecided: 1, apart: 0, without_verdict: 0, low: 0.98, high: 1.02 };
  const [commit, , , , write, create] = data.findings.results;
  const [ofCommit, , , , ofWrite, ofCreate] = data.details;
  assert.ok(commit && write && create && ofCommit && ofWrite && ofCreate);
  ofCommit.ceiling = null;
  ofCreate.ceiling = 1e12;
  // The lane that the others stand against has no figure here.
  const failed = commit.estimates[0];
  assert.ok(failed);
  failed.failure = "mkfs failed";
  commit.pairs = commit.pairs.map((pair) =>
    pair.a === failed.lane || pair.b === failed.lane ? { ...pair, verdict: "none", ratio: null, low: null, high: null } : pair,
  );
  commit.reference = "xfs";
  const open_ = create.pairs.find((pair) => pair.verdict === "undecided");
  const said = (create.statements ?? []).find((one) => one.says === "undecided");
  assert.ok(open_ && said);
  said.remarks = ["xfs stood still in 1 of 3 rounds"];
  Object.assign(open_, { ratio: null, low: null, high: null, why: "xfs stood still in 1 of 3 rounds" });
  const { tab, context, errors } = await open(browser, written("quick", page(data)));
  const caption = (at: number) => tab.locator(`#result-${at} figcaption`).first().innerText();
  assert.match(await caption(4), /Dashed line: the bare disk/);
  assert.doesNotMatch(await caption(0), /bare disk/);
  assert.doesNotMatch(await caption(5), /bare disk/);
  assert.match(await text(tab, "#result-5 .verdict"), /xfs stood still in 1 of 3 rounds/);
  assert.match(await text(tab, "#ground .self-check"), /^ext4 against itself: tie in 7 of 8 \(within 3%\), undecided in 1 of 8\.$/);
  assert.match(await text(tab, "#ground .race-notes"), /both directories are on vda/);
  assert.match(await text(tab, "#result-0 .columns-note"), /Written: bytes at the disk per byte/);
  const cell = (row: number, lane: number) => tab.locator("#scoreboard tbody tr").nth(row).locator("td").nth(lane);
  await tab.locator("#scoreboard select").selectOption(failed.lane);
  assert.match(await cell(0, 0).innerText(), /failed/);
  assert.match(await cell(0, 1).innerText(), /reference/);
  assert.match(await cell(0, 2).innerText(), /▼[^]*against xfs/);
  assert.match(await cell(5, 1).innerText(), /undecided/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a step that cannot be done is no failure, and the floor is no contestant", async () => {
  const data = operations();
  const [table] = data.findings.operations ?? [];
  assert.ok(table);
  const [ext4, xfs, btrfs] = data.findings.lanes.map((lane) => lane.name);
  const step = table.rows[0]?.figures.find((figure) => figure.lane === xfs);
  assert.ok(step);
  Object.assign(step, { seconds: null, failure: "it has no symbolic links" });
  table.floor = btrfs ?? null;
  for (const figure of table.rows.flatMap((row) => row.figures)) {
    if (figure.lane === btrfs) Object.assign(figure, { seconds: null, failure: "the mount failed" });
  }
  const { tab, context, errors } = await open(browser, written("operations", page(data)));
  const cells = tab.locator("#operations .steps tbody tr:has(.step-open)").first().locator("td");
  assert.equal((await cells.nth(1).innerText()).trim(), "–");
  assert.match(await cells.nth(2).innerText(), /failed/);
  const notes = await text(tab, "#operations .notes");
  assert.match(notes, /xfs has no figure \(–\): it has no symbolic links/);
  assert.match(notes, /btrfs failed: the mount failed/);
  const row = tab.locator("#scoreboard tbody tr").last().locator("td");
  assert.match(await row.nth(1).innerText(), /×/);
  assert.doesNotMatch(await row.nth(2).innerText(), /×/, `${btrfs} is the floor beside ${ext4}`);
  assert.deepEqual(errors, []);
  await context.close();
});

test("another reference turns every ratio of the scoreboard", async () => {
  const { tab, context } = await open(browser, written("quick", page(quick())));
  const commit = tab.locator("#scoreboard tbody tr").first();
  assert.match(await commit.locator("td").nth(1).innerText(), /▲\s*1\.09×/);
  await tab.locator("#scoreboard select").selectOption("xfs");
  assert.match(await commit.locator("td").nth(0).innerText(), /▼\s*0\.92×/);
  assert.match(await commit.locator("td").nth(2).innerText(), /▼\s*0\.43×/);
  await context.close();
});

test("a record of a hundred thousand trials opens deflated", async () => {
  const { tab, context, errors } = await open(browser, written("large", page(large()), true));
  const times = await tab.evaluate(() => {
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    return { paint: Math.round(paint?.startTime ?? 0), loaded: Math.round(navigation?.loadEventEnd ?? 0), now: Math.round(performance.now()) };
  });
  // Told, not asserted: machines are shared.
  console.log(`# a hundred thousand trials: first paint after ${times.paint} ms, everything laid out before ${times.now} ms`);
  assert.match(await text(tab, "#answer .counted"), /100,000 trials counted/);
  assert.match(await text(tab, "#trials .section-note"), /20,000 of 100,800 rows/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("the file's own policy lets nothing out, whoever asks", async () => {
  const { tab, context } = await open(browser, written("quick", page(quick())));
  // The browser tells of a request before its policy stops it: what counts is that none is answered or let out.
  const out: string[] = [];
  tab.on("response", (response) => out.push(response.url()));
  tab.on("requestfailed", (request) => {
    if (request.failure()?.errorText !== "csp") out.push(request.url());
  });
  const refused = await tab.evaluate(async () => {
    const seen: string[] = [];
    document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
    await fetch("http://127.0.0.1:9/").catch(() => undefined);
    const picture = new Image();
    picture.src = "http://127.0.0.1:9/x.png";
    const script = document.createElement("script");
    script.textContent = "document.title = 'run'";
    document.body.append(script);
    const frame = document.createElement("iframe");
    frame.src = "http://127.0.0.1:9/";
    document.body.append(frame);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { seen: [...new Set(seen)].sort(), title: document.title };
  });
  assert.deepEqual(refused.seen, ["connect-src", "frame-src", "img-src", "script-src-elem"]);
  assert.notEqual(refused.title, "run");
  assert.deepEqual(out, []);
  await context.close();
});

test("a page without data, with spoilt data or of another schema says so", async () => {
  const cases: [string, string, RegExp][] = [
    ["empty", written("empty", page(quick())).replace("empty.html", "../../dist/page.html"), /holds no data/],
  ];
  const spoilt = written("schema", { ...page(quick()), schema: 99 });
  cases.push(["schema", spoilt, /schema 99/]);
  for (const [name, address, says] of cases) {
    const { tab, context } = await open(browser, address);
    assert.match(await text(tab, "[role=alert]"), says, name);
    await context.close();
  }
});
