// Screenings on the page: effects beside chance, the proposal, its race, and nothing of lanes against each other.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page as Tab } from "playwright-core";
import { drawAll, launch, NARROW, open, shot, violations, WIDE, written } from "./browser";
import { page, quick } from "./fixture";
import { finding, screening, tuning } from "./screening-fixture";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

const one = (text: string) => text.replace(/\s+/g, " ").trim();

async function said(tab: Tab, selector: string): Promise<string> {
  return one(await tab.locator(selector).first().innerText());
}

async function speak(tab: Tab, language: string): Promise<void> {
  await tab.locator(".switches select").first().selectOption(language);
  await tab.waitForFunction((of) => document.documentElement.lang.startsWith(of), language);
}

/** A chart's table, row by row. */
async function table(tab: Tab, at: number): Promise<string[]> {
  const figure = tab.locator("#screening figure.figure").nth(at);
  await figure.locator(".tools button").first().click();
  const rows = (await figure.locator("tbody tr").allInnerTexts()).map(one);
  await figure.locator(".tools button").first().click();
  return rows;
}

for (const [name, viewport] of [
  ["1280", WIDE],
  ["390", NARROW],
] as const) {
  test(`effects, chance and the proposal's race are drawn and fit the screen at ${name}`, async () => {
    const { tab, context, errors, requests } = await open(browser, written("screening", page(screening())), { viewport });
    await drawAll(tab);
    const figures = tab.locator("#screening figure.figure");
    // Two figures, each with its options, chance, and options that change promises; options together; and the confirmation.
    assert.equal(await figures.count(), 8);
    for (let at = 0; at < 8; at += 1) {
      const heard = await figures.nth(at).locator(".plot").getAttribute("aria-label");
      assert.match(heard ?? "", /\d/);
      assert.equal(await figures.nth(at).locator("svg").count(), 1, "it is drawn");
    }
    const labels = one((await figures.nth(1).locator("svg text").allTextContents()).join(" | "));
    for (const matters of ["journal 1G", "noatime on", "barrier off"]) assert.ok(labels.includes(matters), labels);
    for (const other of ["lazytime", "dir_index", "no option"]) assert.ok(!labels.includes(other), labels);
    const words = one((await figures.nth(0).locator("svg text").allTextContents()).join(" | "));
    // By word and shape, not by colour alone; a narrow chart has no room for words.
    assert.equal(words.includes("cannot tell yet"), name === "1280", words);
    await shot(tab, `screening-${name}`, true);
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
    assert.deepEqual(errors, []);
    assert.deepEqual(requests, []);
    await context.close();
  });
}

test("every chart of a screening is a table too, in the order in which options matter", async () => {
  const { tab, context, errors } = await open(browser, written("screening-tables", page(screening())));
  await drawAll(tab);
  assert.deepEqual(await table(tab, 0), [
    "journal 64M → 1G +12% +9% to +15% matters",
    "noatime off → on −5% −7% to −3% matters",
    "lazytime off → on +3% −3% to +9% cannot tell yet",
    "dir_index on → off +0.2% −2% to +2.5% does not (within 3%)",
  ]);
  const chance = await table(tab, 1);
  assert.equal(chance.length, 9, "six options and three columns without one");
  assert.match(chance[3] ?? "", /^no option 1\.17 0\.6% –$/);
  assert.match(chance[8] ?? "", /^barrier off 2\.83 2\.4× matters$/);
  assert.deepEqual(await table(tab, 2), [
    "barrier on → off 2.4× 2.2× to 2.6× matters",
    "data ordered → writeback +1% −4% to +6% cannot tell yet",
  ]);
  assert.deepEqual(await table(tab, 3), ["journal 1G × barrier off 1.08× 1.03× to 1.13×"]);
  assert.deepEqual(await table(tab, 7), [
    "commit 4 KiB +12% +9% +6% to +12% better 12% / 12% 2.1× / 1.25×",
    "small files: create – 0% −2% to +3% tie – –",
  ]);
  assert.deepEqual(errors, []);
  await context.close();
});

test("an axis of effects has one unit: percentages where none is half or twice, and factors elsewhere", async () => {
  const { tab, context, errors } = await open(browser, written("screening-axes", page(screening())));
  await drawAll(tab);
  for (const [at, unit, none] of [
    [0, "%", "0%"],
    [1, "×", "1×"],
    [2, "×", "1×"],
    [3, "×", "1×"],
    [5, "%", "0%"],
    [7, "%", "0%"],
  ] as const) {
    const texts = await tab.locator("#screening figure.figure").nth(at).locator("svg text").allTextContents();
    const marks = texts.map(one).filter((text) => /^[+−]?[\d.]+[%×]$/.test(text));
    assert.ok(marks.length > 1 && marks.includes(none), `${at}: ${marks}`);
    assert.ok(marks.every((mark) => mark.endsWith(unit)), `${at}: ${marks}`);
  }
  assert.deepEqual(errors, []);
  await context.close();
});

test("a share of too little CPU time is told from one that nobody measured", async () => {
  const of = finding();
  Object.assign(of.confirmation!.rows[0]!, { cpu_shares: null, little_cpu: true });
  const { tab, context, errors } = await open(browser, written("screening-little-cpu", page(screening(of))));
  await drawAll(tab);
  const told = await table(tab, 7);
  assert.deepEqual(told, [
    "commit 4 KiB +12% +9% +6% to +12% better < 1 s 2.1× / 1.25×",
    "small files: create – 0% −2% to +3% tie – –",
  ]);
  await speak(tab, "zh");
  await drawAll(tab);
  assert.match((await table(tab, 7))[0] ?? "", /< 1 秒/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("rows of the race of a proposal are named by their work, also where all of it has one title", async () => {
  const of = finding();
  [...of.results, ...of.confirmation!.rows, ...of.proposal.expected!].forEach((one) => (one.title = "work"));
  const { tab, context, errors } = await open(browser, written("screening-titles", page(screening(of))));
  await drawAll(tab);
  const named = (await table(tab, 7)).map((row) => row.slice(0, row.search(/ [+–]/)));
  assert.deepEqual(named, ["commit 4 KiB", "small files: create"]);
  assert.ok((await said(tab, "#screening")).includes("Expected: commit 4 KiB +12%."), await said(tab, "#screening"));
  assert.deepEqual(errors, []);
  await context.close();
});

test("what a screening found is told in every language, and nothing of lanes against each other", async () => {
  const bare = await open(browser, written("no-screening", page(quick())));
  await drawAll(bare.tab);
  assert.equal(await bare.tab.locator("#screening, #lanes, a[href='#screening']").count(), 0);
  await bare.context.close();
  const { tab, context, errors } = await open(browser, written("screening-told", page(screening())));
  await drawAll(tab);
  assert.equal(await said(tab, "#answer h1"), "Take ext4 with journal 1G");
  const english = await said(tab, "#screening");
  for (const part of [
    "6 options of ext4 in 16 lanes, where all combinations would take 64 lanes; 5 rounds.",
    "2 options matter, 1 does not, 1 cannot be told yet. It matters: journal 1G +12% (+9% to +15%); noatime on −5% (−7% to −3%).",
    "journal 1G and barrier off together: 1.08× (1.03× to 1.13×) of the product of what each brings alone; the design cannot tell it from dir_index × data.",
    "barrier off: a power cut can lose or mix up what was saved.",
    "journal 1G instead of 64M.",
    "Expected: commit 4 KiB +12%. The same figures chose these options, so that this is too high on average",
    "Better with some work or options and worse with others, so not proposed: noatime on.",
    "Would gain, and not taken because it changes what is promised: barrier off.",
    "bigalloc on: mkfs.ext4 refuses it: invalid cluster size.",
    "Confirmed: in a race of its own the proposal is better beyond doubt in the one figure where that was expected, and found worse nowhere.",
    "Set it",
    "mkfs mkfs.ext4 -J size=1024 DEVICE",
    "small files: create",
  ]) {
    assert.ok(english.includes(part), `${part}\n${english}`);
  }
  assert.equal(await tab.locator("#scoreboard, #advice, #results, #answer .next").count(), 0);
  assert.doesNotMatch(await said(tab, "#answer"), /lanes tie/);
  assert.deepEqual(await violations(tab), []);
  for (const [language, headline, part] of [
    ["de", "ext4 mit journal 1G nehmen", "journal 1G statt 64M."],
    ["zh", "采用 ext4，设 journal 1G", "有 95% 的把握"],
  ] as const) {
    await speak(tab, language);
    assert.equal(await said(tab, "#answer h1"), headline);
    assert.ok((await said(tab, "#screening")).includes(part), `${language}: ${await said(tab, "#screening")}`);
    assert.doesNotMatch(await tab.evaluate(() => document.body.innerText), /\bNaN\b|\bundefined\b|\[object|Infinity/);
  }
  assert.deepEqual(errors, []);
  await context.close();
});

test("what tuning alone chose is said in every language", async () => {
  const of = finding();
  of.proposal.expected = [];
  of.confirmation!.tuned = [
    { factor: "journal", level: "512M" },
    { factor: "lazytime", level: "on" },
  ];
  const { tab, context, errors } = await open(browser, written("screening-tuned-alone", page(screening(of))));
  await drawAll(tab);
  for (const [language, part] of [
    ["en", "The screening could not tell whether lazytime matters: it is tuning alone that chose so."],
    ["de", "Ob lazytime zählt, konnte die Prüfung nicht sagen: So gewählt hat allein die Feinabstimmung."],
    ["zh", "筛选未能断定 lazytime 有无影响：这样取值仅由调优选定。"],
  ] as const) {
    await speak(tab, language);
    assert.ok((await said(tab, "#screening")).includes(part), `${language}: ${await said(tab, "#screening")}`);
  }
  assert.deepEqual(errors, []);
  await context.close();
});

test("the lanes of a design are there for who asks, without verdicts", async () => {
  const { tab, context, errors } = await open(browser, written("screening-lanes", page(screening())), { colorScheme: "dark" });
  await drawAll(tab);
  assert.equal(await tab.locator("#lanes figure.figure").count(), 0);
  // By the keyboard, as everything else.
  await tab.locator("#lanes details > summary").first().focus();
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("#lanes figure.figure");
  await drawAll(tab);
  assert.ok((await tab.locator("#lanes figure.figure").count()) > 8);
  assert.equal(await tab.locator("#lanes p.verdict, #lanes .ranking").count(), 0);
  assert.deepEqual(await violations(tab), []);
  await shot(tab, "screening-dark", true);
  assert.deepEqual(errors, []);
  await context.close();
});

test("each end of a screening has a headline and a sentence of its own", async () => {
  const ends: [string, (of: ReturnType<typeof finding>) => void, string, string][] = [
    ["yet", (of) => (of.confirmation = null), "ext4 would gain with journal 1G by this screening", "Not yet: the proposal was not raced"],
    ["mixed", (of) => (of.confirmation!.outcome = "mixed"), "better in some of the work and found worse in other", "It gains in some and is found worse in others"],
    ["not", (of) => (of.confirmation!.outcome = "not-confirmed"), "Keep the default of ext4: raced again", "Not confirmed: keep the default."],
    [
      "not-and-worse",
      (of) => {
        of.confirmation!.outcome = "not-confirmed";
        of.confirmation!.rows[0]!.verdict = "slower";
      },
      "Keep the default of ext4: raced again",
      "It is found worse in some of the work, which is enough to keep the default.",
    ],
    [
      "open",
      (of) => Object.assign(of.confirmation!, { outcome: "open", more: ["fairlane", "race", "default=ext4", "--rounds", "24"] }),
      "Keep the default of ext4 for now",
      "Open: the race of the proposal against the default is over and cannot tell.",
    ],
    [
      "open-because",
      (of) => Object.assign(of.confirmation!, { outcome: "open", because: "out-of-budget" }),
      "Keep the default of ext4 for now",
      "is over and cannot tell: its time was up before a verdict. Keep the default until more rounds can.",
    ],
    [
      "open-more",
      (of) => Object.assign(of.confirmation!, { outcome: "open", more: ["fairlane", "race", "default=ext4", "--rounds", "24"] }),
      "Keep the default of ext4 for now",
      "fairlane race default=ext4 --rounds 24",
    ],
    [
      "running",
      (of) => Object.assign(of.confirmation!, { outcome: "open", unfinished: true }),
      "Keep the default of ext4 for now",
      "Open: the race of the proposal against the default is not over.",
    ],
    [
      "disturbed",
      (of) => Object.assign(of.confirmation!, { disturbed: true, warnings: ["other programs disturbed 20 of 20 trials"] }),
      "Take ext4 with journal 1G",
      "Of that race: other programs disturbed 20 of 20 trials.",
    ],
    [
      "several",
      (of) => Object.assign(of.confirmation!, { gained: 2, counted: 3 }),
      "Take ext4 with journal 1G",
      "better beyond doubt in 2 of 3 figures where that was expected",
    ],
    [
      "tuned",
      (of) => {
        of.proposal.expected = [];
        of.confirmation!.tuned = [{ factor: "journal", level: "512M" }];
      },
      "Take ext4 with journal 512M",
      "As tuned: journal 512M instead of 64M; this was raced against the default. By the screening alone: journal 1G instead of 64M.",
    ],
    [
      "tuned-not",
      (of) => {
        of.proposal.expected = [];
        of.confirmation!.tuned = [{ factor: "journal", level: "512M" }];
        of.confirmation!.outcome = "not-confirmed";
      },
      "Keep the default of ext4: raced again",
      "what tuning made of the proposal does not show beyond doubt the gain that it was chosen for.",
    ],
    [
      "left-out",
      (of) => {
        of.confirmation = null;
        of.confirmation_left_out = "it ran on another disk";
      },
      "was not raced so against the default yet",
      "Not yet: the record that lies beside as the race of the proposal is left out: it ran on another disk.",
    ],
    [
      "unusual",
      (of) => {
        of.factors[2]!.table_usual = "on";
      },
      "Take ext4 with journal 1G",
      "In the default of this screening lazytime is off; Fairlane's table has on as usual.",
    ],
    ["queue", (of) => (of.loop_queue = true), "Take ext4 with journal 1G", "is that of the loop device of each image"],
    [
      "unfinished",
      (of) => {
        of.proposal = { factors: [] };
        of.confirmation = null;
        of.unfinished = true;
      },
      "Cannot tell yet which options of ext4 matter",
      "Cannot tell yet: the race is not over",
    ],
    [
      "no-design",
      (of) => {
        of.proposal = { factors: [] };
        of.confirmation = null;
        of.results.forEach((one) => Object.assign(one, { effects: [], interactions: [], unknown: "these lanes are no design" }));
      },
      "No effect of the options of ext4 could be told: these lanes are no design",
      "because no effect could be told: these lanes are no design.",
    ],
    [
      "few",
      (of) => (of.few_spare = true),
      "Take ext4 with journal 1G",
      "The design has fewer than 3 columns without an option, so that lanes that differ by themselves would not be noticed",
    ],
    [
      "partial",
      (of) => Object.assign(of.results[0]!.interactions![0]!, { aliases: [], partial: 36 }),
      "Take ext4 with journal 1G",
      "of the product of what each brings alone; 36 other pairs share a part of it.",
    ],
    [
      "unknown",
      (of) => of.factors.filter((one) => one.class === "promises").forEach((one) => (one.class = "unknown")),
      "Take ext4 with journal 1G",
      "Would gain, and not taken because it is in no table, and nobody looked at what that changes: barrier off.",
    ],
    [
      "keep",
      (of) => {
        of.proposal = { factors: [] };
        of.confirmation = null;
      },
      "Keep the default of ext4 for now: nothing is proposed, and of 6 options 2 cannot be told yet",
      "Keep the default: nothing that was screened is better beyond doubt. Of 6 options 2 cannot be told yet: lazytime on, data writeback.",
    ],
    [
      "keep-all",
      (of) => {
        of.proposal = { factors: [] };
        of.confirmation = null;
        of.results.forEach((one) => one.effects.forEach((effect) => (effect.verdict = "does-not")));
      },
      "of what was screened nothing is proposed",
      "Keep the default: nothing that was screened is better beyond doubt.",
    ],
    [
      "tuned-not-raced",
      (of) => {
        of.confirmation = null;
        of.proposal.tuning = tuning();
      },
      "ext4 would gain with journal 512M by this screening",
      "As tuned: journal 512M instead of 64M. By the screening alone: journal 1G instead of 64M. journal 512M: half a GiB.",
    ],
    [
      "tuning-table",
      (of) => (of.proposal.tuning = tuning()),
      "Take ext4 with journal 1G",
      "s-tune1.jsonl: 2 combinations and the default, 3 rounds journal 512M: mean +20%, worst +4%, chosen lazytime on: dropped",
    ],
    [
      "tuning",
      (of) => {
        of.confirmation = null;
        of.proposal = { factors: [], tuning: { ...tuning(), unfinished: true, chosen: [] } };
      },
      "Cannot tell yet what to take of the options of ext4: tuning is not done",
      "Tuning is not done, and what it makes of the proposal is not known yet",
    ],
    [
      "cut-short",
      (of) => (of.proposal.cut_short = { fewest: 1, most: 2, planned: 6 }),
      "Take ext4 with journal 1G",
      "The time was up (--budget) after 1–2 of 6 planned rounds.",
    ],
    [
      "no-price",
      (of) => of.proposal.factors.push("lazytime"),
      "Take ext4 with journal 1G",
      "lazytime on: what this level costs is told by no table.",
    ],
    [
      "untold",
      (of) => {
        of.proposal = { factors: [] };
        of.confirmation = null;
        of.results.forEach((one) => Object.assign(one, { effects: [], interactions: [], rounds: 0 }));
      },
      "No effect of the options of ext4 could be told",
      "Nothing is told: there is no round in which every lane has a figure.",
    ],
  ];
  for (const [name, change, headline, sentence] of ends) {
    const of = finding();
    change(of);
    const { tab, context, errors } = await open(browser, written(`screening-${name}`, page(screening(of))));
    await drawAll(tab);
    assert.ok((await said(tab, "#answer h1")).includes(headline), `${name}: ${await said(tab, "#answer h1")}`);
    assert.ok((await said(tab, "#screening")).includes(sentence), `${name}: ${await said(tab, "#screening")}`);
    assert.deepEqual(errors, [], name);
    await context.close();
  }
});

test("what goes on with a screening that is not over has all that its record may not choose", async () => {
  const of = finding();
  Object.assign(of.confirmation!, { outcome: "open", unfinished: true });
  const race = { ...screening(of), resume: ["screen", "ext4", "--resume", "RECORD", "--option", "commit=5|60"] };
  const { tab, context, errors } = await open(browser, written("screening-goes-on", page(race)));
  const next = await said(tab, "#answer .next");
  assert.ok(/fairlane screen ext4 --resume ~\S+\.jsonl --option 'commit=5\|60'/.test(next), next);
  assert.deepEqual(errors, []);
  await context.close();
  const over = await open(browser, written("screening-is-over", page(screening())));
  assert.equal(await over.tab.locator("#answer .next").count(), 0);
  await over.context.close();
});

test("hostile names of options are text and nothing else", async () => {
  const of = finding();
  const markup = "</script><img src=x onerror=alert(1)>\u202e";
  of.base = markup;
  of.factors.forEach((factor) => {
    factor.name += markup;
    factor.other.label = markup;
    factor.costs = markup;
  });
  of.results.forEach((result) => {
    result.unknown = markup;
    result.effects.forEach((effect) => (effect.factor += markup));
  });
  of.proposal.factors = [`journal${markup}`, markup];
  of.left_out = [{ option: markup, why: markup }];
  const { tab, context, errors, requests } = await open(browser, written("screening-hostile", page(screening(of))));
  await drawAll(tab);
  const made = await tab.evaluate(() => ({
    others: document.querySelectorAll("#root script, img, iframe, [onerror]").length,
    shown: document.body.innerText.includes("<img src=x"),
    turned: document.body.innerText.includes("\u202e"),
  }));
  assert.deepEqual(made, { others: 0, shown: true, turned: false });
  assert.deepEqual(errors, []);
  assert.deepEqual(requests, []);
  await context.close();
});
