// Sections of the report that only some races have: layers, ranks, growing numbers of ranks, age.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { page, quick } from "./fixture";
import { drawAll, launch, open, violations, written } from "./browser";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

test("what layers cost stands in one table, and nowhere where none were raced", async () => {
  const race = quick();
  const bare = await open(browser, written("no-layers", page(race)));
  await drawAll(bare.tab);
  assert.equal(await bare.tab.locator("#layers, a[href='#layers']").count(), 0);
  await bare.context.close();
  const speed = (bare: number | null) => ({
    workload: "random-write",
    profile: "rand-write" as const,
    operations_per_second: 500,
    bare_operations_per_second: bare,
  });
  race.findings.layers = [
    {
      lane: "ext4/raid5:3",
      stands_on: "raid5:3 on 3 disks",
      disk_bytes: 3 * 2 ** 30,
      usable_bytes: 2 * 2 ** 30,
      written_per_byte: 2,
      written_by_disk: [0.7, 0.66, 0.64],
      beside: "ext4",
      written_beside: 1,
      cpu_times: 1.5,
      cpu_times_range: [1.25, 1.75],
      without_filesystem: [speed(1000), speed(null)],
      of_a_bare_disk: 0.5,
      rows: 4,
    },
    { lane: "<i>btrfs</i>", stands_on: "5 disks", disk_bytes: 0, written_by_disk: [1, 2, 3, 4, 5], rows: 0 },
  ];
  const { tab, context, errors } = await open(browser, written("layers", page(race)));
  await drawAll(tab);
  const rows = async () => (await tab.locator("#layers tbody tr").allInnerTexts()).map((of) => of.replace(/\s+/g, " "));
  assert.deepEqual(await rows(), [
    "ext4/raid5:3 2 GiB of 3 GiB 2.00× (ext4 1.00×) 0.70×, 0.66×, 0.64× 1.50× (1.25× to 1.75×) of ext4, 4 rows 0.50× of a bare disk, 1 kind of work",
    "<i>btrfs</i> – – 1.00× to 5.00× – –",
  ]);
  assert.equal(await tab.locator("a[href='#layers']").count(), 1);
  await tab.locator(".switches select").first().selectOption("de");
  await tab.waitForFunction(() => document.documentElement.lang === "de");
  assert.match((await rows())[0] ?? "", /2 GiB von 3 GiB 2,00× .* von ext4, 4 Zeilen 0,50× einer bloßen Platte, 1 Art von Arbeit$/);
  await tab.locator(".switches select").first().selectOption("zh");
  await tab.waitForFunction(() => document.documentElement.lang.startsWith("zh"));
  assert.match((await rows())[0] ?? "", /3 GiB 中的 2 GiB .*，4 行 裸磁盘的 0.50×，1 种工作$/);
  assert.deepEqual(await violations(tab), []);
  assert.deepEqual(errors, []);
  await context.close();
});

test("ranks and IO500's score stand in tables, and nowhere where no job raced", async () => {
  const race = quick();
  const bare = await open(browser, written("no-ranks", page(race)));
  await drawAll(bare.tab);
  assert.equal(await bare.tab.locator("#ranks, #io500, a[href='#ranks'], a[href='#io500']").count(), 0);
  await bare.context.close();
  const row = {
    lane: "<i>xfs</i>",
    ranks: 8,
    nodes: 2,
    rounds: 6,
    lowest_operations_per_second: 1200,
    mean_operations_per_second: 2000,
    highest_operations_per_second: 2500,
    spread: 0.25,
    start_spread_seconds: 0.001,
    first_done_seconds: 2.5,
    last_done_seconds: 3.1,
  };
  const straggler = { rank: 3, node: 1, rounds: 5, of: 6, below: 0.35 };
  const network = { received_bytes_per_second: 120e6, sent_bytes_per_second: 3.5e6 };
  race.findings.ranks = [
    { workload: "files", title: "new files", group: "create", rows: [{ ...row, network }, { ...row, lane: "ext4", nodes: 1 }] },
    { workload: "files", title: "new files", group: "delete", rows: [{ ...row, straggler }] },
  ];
  const phase = { name: "ior-easy-write", counts: "bandwidth" as const, figure: 2, seconds: 3, rounds: 5 };
  const score = { score: 20, low: 18, high: 22, bandwidth: 2, metadata: 0.5, rounds: 5 };
  race.findings.io500 = [
    { lane: "ext4", phases: [phase, { ...phase, name: "ior-hard-read", read_again: true }], score },
    { lane: "<i>xfs</i>", phases: [{ ...phase, seconds: 2.5 }] },
  ];
  const { tab, context, errors } = await open(browser, written("ranks", page(race)));
  await drawAll(tab);
  const of = async (part: string) =>
    (await tab.locator(part).allInnerTexts()).map((of) => of.replace(/\s+/g, " ").trim());
  assert.deepEqual(await of("#ranks tbody tr"), [
    "new files: create <i>xfs</i> 8 on 2 nodes 1.2k ops/s 2k ops/s 2.5k ops/s 25% 2.5 s 3.1 s 120 MB/s 3.5 MB/s",
    "new files: create ext4 8 1.2k ops/s 2k ops/s 2.5k ops/s 25% 2.5 s 3.1 s",
    "new files: delete <i>xfs</i> 8 on 2 nodes 1.2k ops/s 2k ops/s 2.5k ops/s 25% 2.5 s 3.1 s",
  ]);
  assert.match((await of("#ranks"))[0] ?? "", /Received and sent: by network interfaces of all nodes at work together/);
  assert.deepEqual(await of("#ranks li"), [
    "new files: delete, <i>xfs</i>: rank 3 (node 1) was the slowest and far behind in 5 of 6 rounds, in these 35% below the mean of the others (median). Why is not told: its node, its network, or what it worked on.",
  ]);
  assert.deepEqual(await of("#io500 tbody tr"), ["ext4 20 (18 to 22) 2 GiB/s 0.500 kIOPS 5", "<i>xfs</i> – – – –"]);
  const told = await of("#io500 li");
  assert.equal(told[0], "INVALID by the rules of IO500: ior-easy-write wrote for 2.5–3 s in a round, and the rules ask for 300 s.");
  assert.match(told[1] ?? "", /^ior-hard-read read more in a round than the files hold/);
  assert.equal(told[2], "<i>xfs</i> has no score: no round has figures of all phases.");
  await tab.locator(".switches select").first().selectOption("de");
  await tab.waitForFunction(() => document.documentElement.lang === "de");
  assert.match((await of("#ranks li"))[0] ?? "", /: Rang 3 \(Knoten 1\) war in 5 von 6 Runden der langsamste und weit zurück, in diesen 35\s?% unter/);
  await tab.locator(".switches select").first().selectOption("zh");
  await tab.waitForFunction(() => document.documentElement.lang.startsWith("zh"));
  assert.match((await of("#ranks li"))[0] ?? "", /6 轮中有 5 轮 进程 3（节点 1） 最慢且明显落后/);
  assert.deepEqual(await violations(tab), []);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a ladder of ranks is a chart and a table for each kind of work, with where it bends", async () => {
  const race = quick();
  const rows = [
    { ranks: 1, nodes: 1, mean: 100e6, low: 90e6, high: 110e6, rounds: 8 },
    { ranks: 2, nodes: 2, mean: 190e6, low: 180e6, high: 200e6, rounds: 8, share: { share: 0.9, low: 0.8, high: 1 } },
    { ranks: 4, nodes: 2, mean: 180e6, rounds: 8, share: { share: -0.05, low: -0.15, high: 0.05 } },
  ];
  const bends = { is: "bends" as const, from: 2, to: 4, at_most: 0.05, perhaps_before: true };
  race.findings.ladders = [
    {
      title: "overwrite 2 MiB, direct",
      unit: "B/s",
      lanes: [
        { lane: "ext4", rows, scaling: bends },
        { lane: "xfs", rows: rows.slice(0, 2), scaling: { is: "straight" } },
        { lane: "<i>gone</i>", rows: rows.slice(0, 2), scaling: { is: "open" } },
      ],
    },
  ];
  const { tab, context, errors } = await open(browser, written("ladder", page(race)));
  await drawAll(tab);
  const of = async (part: string) =>
    (await tab.locator(`#ladder ${part}`).allInnerTexts()).map((of) => of.replace(/\s+/g, " ").trim());
  assert.equal(await tab.locator("#ladder .plot[data-drawn='true'] svg").count(), 1);
  assert.deepEqual(await of("ul.notes li"), [
    "ext4 bends from 2 to 4 ranks, at the latest: those that are added bring at most 5%.",
    "xfs does not bend up to 2 ranks: every step brings at least half of what it should.",
    "Whether <i>gone</i> bends up to 2 ranks is not known: too noisy, too few rounds, or it stood still in one.",
  ]);
  await tab.locator("#ladder .tools button").first().click();
  const table = await of("tbody tr");
  assert.equal(table.length, 7);
  assert.equal(table[1], "ext4 2 on 2 nodes 190 MB/s (180–200 MB/s) 90% (80% to 100%)");
  assert.match(table[2] ?? "", /^ext4 4 on 2 nodes 180 MB\/s [-−]5% \([-−]15% to 5%\)$/);
  await tab.locator(".switches select").first().selectOption("de");
  await tab.waitForFunction(() => document.documentElement.lang === "de");
  assert.match((await of("ul.notes li"))[0] ?? "", /^ext4 knickt von 2 auf 4 Ränge, spätestens: die hinzukommen, bringen höchstens 5\s?%\.$/);
  await tab.locator(".switches select").first().selectOption("zh");
  await tab.waitForFunction(() => document.documentElement.lang.startsWith("zh"));
  assert.match((await of("ul.notes li"))[0] ?? "", /最迟在 2 到 4 个进程之间出现拐点/);
  assert.deepEqual(await violations(tab), []);
  assert.deepEqual(errors, []);
  await context.close();
});

test("what age did stands in two tables with the ranks that flip, and nowhere where no lane has a past", async () => {
  const race = quick();
  const bare = await open(browser, written("no-pasts", page(race)));
  await drawAll(bare.tab);
  assert.equal(await bare.tab.locator("#aged, a[href='#aged']").count(), 0);
  await bare.context.close();
  const facts = {
    states: "+aged",
    life: "1234",
    seed: 1,
    bytes: 1e9,
    bytes_written: 3e9,
    overwrites: 3,
    refused_for_space: 12,
    files: 5190,
    filesystem_used_share: 0.8,
    used_share: 0.7,
    extents_per_file: 1.234,
  };
  const row = { title: "Random read", ratio: 0.56, low: 0.4, high: 0.79, verdict: "slower" as const };
  race.findings.aged = [
    { lane: "btrfs+aged", facts, beside: "btrfs" },
    { lane: "ext4+aged", facts, beside: "ext4", rows: [row, { title: "Log", ratio: 1.01, verdict: "undecided" }] },
    {
      lane: "<i>xfs</i>",
      facts: {
        ...facts,
        filesystem_used_share: 0,
        layout_score: 0.95,
        dynamic_layout_score: 0.9,
        directories_split: 0.25,
        reached_share: 0.696,
        bytes: 2 ** 30,
        allocated_bytes: 1.5 * 2 ** 30,
        differing_files: 3,
        sizes: { chi_squared: 14.4, degrees: 21, probability: 0.35, misplaced_share: 0.012 },
        ages: { chi_squared: 129, degrees: 9, probability: 1e-9, misplaced_share: 0.055 },
        free_space: [
          { from_bytes: 4096, pieces: 1000, bytes: 2 ** 28 },
          { from_bytes: 65536, pieces: 500, bytes: 3 * 2 ** 28 },
        ],
        cold_read: { disk: "vdb", share_of_files: 0.24, aged_seconds_per_gib: 4.5, fresh_seconds_per_gib: 3 },
      },
    },
  ];
  race.findings.aged_ranks = {
    decided: 2,
    open: 1,
    unequal: 1,
    flips: [{ title: "Random read", fresh: ["ext4", "xfs"], aged: ["xfs+aged", "ext4+aged"] }],
  };
  const { tab, context, errors } = await open(browser, written("pasts", page(race)));
  await drawAll(tab);
  const of = async (part: string) =>
    (await tab.locator(`#aged ${part}`).allInnerTexts()).map((of) => of.replace(/\s+/g, " ").trim());
  assert.deepEqual(await of("tbody tr"), [
    "btrfs+aged 3.0× 12 5,190 80% 1.23 – – – – –",
    "ext4+aged 3.0× 12 5,190 80% 1.23 – – – – –",
    "<i>xfs</i> 3.0× 12 5,190 70% 1.23 0.95 0.90 25% 1 GiB in 1,500 pieces, 25% of it below 64 KiB 4.5 s for a GiB, a fresh copy 3 s: 1.50× as long (24% of the files, each read once on vdb, when the image was made)",
    "Random read 0.56×* (0.40× to 0.79×)",
    "Log 1.01×",
  ]);
  assert.deepEqual(await of("li"), [
    "<i>xfs</i>: files take 69.6% of the lane, by its life 70%; the files hold 1 GiB and take 1.5 GiB; files that are not as its life says: 3; 1% of the files would be in another class of size in another life of its profile (chi-squared, p 0.35); 6% of the files would be in another class of age in another life of its profile (chi-squared, p below 0.01).",
    "<i>xfs</i>: the same lane fresh was not raced, so what age did to it is not known.",
    "btrfs+aged / btrfs: no row has figures of both.",
    "Comparisons decided both fresh and aged, ties among them: 2; ranks that flip: 1; not decided fresh, aged or both: 1.",
    "Pairs of lanes of one past that are left out of this, because they are not equally full: 1.",
    "Random read: fresh ext4 is ahead of xfs, aged xfs+aged of ext4+aged.",
  ]);
  assert.equal(await tab.locator("a[href='#aged']").count(), 1);
  await tab.locator(".switches select").first().selectOption("de");
  await tab.waitForFunction(() => document.documentElement.lang === "de");
  assert.match((await of("li"))[0] ?? "", /belegen 69,6\s?% der Bahn, nach ihrem Leben 70\s?%; .* anderen Altersklasse \(Chi-Quadrat, p unter 0,01\)\.$/);
  assert.match((await of("li"))[5] ?? "", /: frisch liegt ext4 vor xfs, alt xfs\+aged vor ext4\+aged\.$/);
  await tab.locator(".switches select").first().selectOption("zh");
  await tab.waitForFunction(() => document.documentElement.lang.startsWith("zh"));
  assert.match((await of("li"))[0] ?? "", /：文件占赛道的 69\.6%.*年龄类别（卡方检验，p 小于 0\.01）。$/);
  assert.match((await of("li"))[1] ?? "", /没有全新的同一赛道参赛/);
  assert.deepEqual(await violations(tab), []);
  assert.deepEqual(errors, []);
  await context.close();
});
