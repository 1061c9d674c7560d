// Words and figures without a browser: what Rust's own tests promise of the text report holds here too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dots, drawnCeiling } from "../src/charts/dots";
import type { Canvas } from "../src/charts/echarts";
import { ratioMarks } from "../src/charts/ratio-axis";
import { LANGUAGES } from "../src/language";
import { ends } from "../src/parts/course";
import { missing } from "../src/parts/operations";
import { rowReference } from "../src/parts/scoreboard";
import type { Choice, OperationsFinding, ResultFinding, Statement, Verdict } from "../src/types";
import { csvCell, csvText } from "../src/words/csv";
import { Figures } from "../src/words/figures";
import { clean, plain, shellLine, shorten, type Said } from "../src/words/say";
import { isServed, SERVED } from "../src/words/served";
import { answerSaid, resultSaid, selfCheckSaid } from "../src/words/told";
import { makeUi } from "../src/ui";
import { GOLDEN, golden } from "./fixture";

const figures = (language: "en" | "zh" | "de") => new Figures(LANGUAGES[language].locale, LANGUAGES[language].units);
const bare = (text: string) => text.replace(/\u00a0/g, " ");

test("gaps are percentages under a factor of two and factors above", () => {
  const said = (ratio: number, low: number, high: number, faster: boolean) => {
    const gap = figures("en").gap(ratio, [low, high], faster);
    return `${gap.size} (${gap.interval?.join("–")})${gap.factor ? " factor" : ""}`;
  };
  assert.equal(said(1.09, 1.06, 1.12, true), "9% (6–12%)");
  assert.equal(said(0.8, 0.75, 0.85, false), "20% (15–25%)");
  assert.equal(said(0.476, 0.43, 0.53, false), "2.1 (1.9–2.3) factor");
  assert.equal(said(12.3, 9, 15, true), "12 (9–15) factor");
  assert.equal(said(1.012, 1.004, 1.02, true), "1.2% (0.4–2.0%)");
  assert.equal(said(0.5, 0.48, 0.52, false), "2 (1.9–2.1) factor");
});

test("gains are percentages with signs and factors from twice on, and no end of a found one reads as zero", () => {
  const said = (language: "en" | "de", ratio: number, low: number, high: number) => {
    const gain = figures(language).gain(ratio, [low, high]);
    return bare(`${gain.size} (${gain.ends?.join(" to ")})`);
  };
  assert.equal(said("en", 1.12, 1.09, 1.15), "+12% (+9% to +15%)");
  assert.equal(said("de", 1.12, 1.09, 1.15), "+12 % (+9 % to +15 %)");
  assert.equal(said("en", 0.9, 0.85, 0.95), "−10% (−15% to −5%)");
  assert.equal(said("en", 1.06, 1.003, 1.12), "+6% (+0.3% to +12%)");
  assert.equal(said("en", 0.98, 0.961, 0.9997), "−2% (−3.9% to −0.03%)");
  assert.equal(said("en", 2.4, 1.9, 3.1), "2.4× (1.90× to 3.1×)");
  assert.deepEqual(figures("en").gain(1.14, null), { size: "+14%", ends: null });
  assert.equal(figures("en").gain(1.14, null, [2.4, null]).size, "1.14×", "a row has one unit");
  assert.equal(figures("en").gain(Number.NaN, null).size, "?×");
});

test("marks of an axis of ratios are round, have one unit and lie apart", () => {
  assert.deepEqual(ratioMarks(2.68, 400, 40), [0.5, 0.8, 1, 1.25, 2]);
  assert.deepEqual(ratioMarks(2.68, 180, 40), [0.5, 1, 2]);
  assert.deepEqual(ratioMarks(50, 400, 40), [0.04, 0.2, 1, 5, 25]);
  assert.deepEqual(ratioMarks(1.9, 300, 40), [0.8, 1, 1.25]);
  const near = (length: number, asFactor: boolean) =>
    ratioMarks(1.185, length, 40).map((ratio) => figures("en").gainMark(ratio, asFactor));
  assert.deepEqual(near(180, false), ["−10%", "0%", "+10%"]);
  assert.deepEqual(near(500, true), ["0.85×", "0.9×", "0.95×", "1×", "1.05×", "1.1×", "1.15×"]);
  assert.deepEqual(ratioMarks(1e9, 100, 40), [1]);
});

test("figures have the units and signs of each language", () => {
  assert.equal(bare(figures("en").rate("B/s", 512e6)), "512 MB/s");
  assert.equal(bare(figures("de").rate("operations/s", 1180)), "1,18k Op./s");
  assert.equal(bare(figures("zh").iops(88_100)), "88.1k IOPS");
  assert.equal(bare(figures("en").time(0.0009)), "900 µs");
  assert.equal(bare(figures("en").time(1.458)), "1.46 s");
  assert.equal(bare(figures("de").percent(0.094, 1)), "9,4 %");
  assert.equal(bare(figures("en").rates("operations/s", 1047.6, 1113.5)), "1.05k–1.11k ops/s");
  assert.equal(bare(figures("en").bytes(2 ** 31)), "2 GiB");
  assert.deepEqual(figures("en").span(0.97, 1.09).map(bare), ["−3%", "+9%"]);
  assert.deepEqual(figures("en").span(0.4, 2.3), ["0.40×", "2.3×"]);
  assert.equal(bare(figures("de").margin(0.025)), "2,5 %");
  assert.equal(figures("en").times(Number.NaN), "?×");
  // Intervals of two rounds reach anywhere; a narrow one keeps two ends.
  assert.equal(figures("de").times(1e40), ">9.999×");
  assert.equal(figures("en").times(1e-40), "<0.0001×");
  assert.equal(bare(figures("en").rates("operations/s", 12, 1e40)), "12–>999,999G ops/s");
  assert.equal(bare(figures("en").rates("B/s", 163.6e6, 164.2e6)), "163.6–164.2 MB/s");
  assert.equal(bare(figures("en").duration(7800)), "2 h 10 min");
});

test("unsafe characters lose their force and long names are cut", () => {
  assert.equal(clean("a\u001b[31mred\u202ex\u009b2Jy\nz"), "a[31mredx2Jy z");
  assert.equal(shorten("文".repeat(4000), 6), "文文文文文…");
  assert.equal(shellLine(["race", "it's", "", "a=b", "=x", "a\u001bb"]), "race 'it'\\''s' '' a=b '=x' $'a\\U0000001bb'");
  assert.equal(shellLine(["~/runs/a.jsonl", "~/a b", "~x"]), "~/runs/a.jsonl ~/'a b' '~x'");
});

test("the golden race is answered in three languages", () => {
  const findings = golden("three");
  const said = (language: "en" | "zh" | "de") => {
    const ui = makeUi(language, false, null, (of) => of);
    const told = answerSaid(ui, findings);
    return {
      headline: bare(plain(told.headline)),
      claims: (told.claims?.items ?? []).map((item) => bare(plain(item))),
      cannot: told.cannot.map((item) => bare(plain(item))),
      commit: bare(plain(resultSaid(ui, findings.results[0] as ResultFinding))),
      create: bare(plain(resultSaid(ui, findings.results[5] as ResultFinding))),
    };
  };
  assert.deepEqual(said("en"), {
    headline: "ext4 or xfs, depending on your work",
    claims: [
      "btrfs is at least 2.6× slower than ext4 at random overwrites, at least 43% slower at commits and at least 27% slower at file creations (and 1 more below).",
      "xfs is at least 46% slower than ext4 at file deletions and at least 7% faster at commits.",
    ],
    cannot: [
      "In 2 of 8 tests the disk was measured, not the filesystem: sequential read 1 MiB, random read 4 KiB.",
      "Still undecided: small files: create, small files: read; --budget 12m should settle it.",
      "Raced on fresh filesystems of 2 GiB.",
      "Not tested: power cut, aging, your database.",
    ],
    commit: "xfs is 9% faster than ext4 (6–12%); btrfs is 2.1× slower than ext4 (1.9–2.3×).",
    create:
      "btrfs is 34% slower than ext4 (29–39%) and 36% slower than xfs (30–42%); too noisy to rank, xfs is between 3% slower and 9% faster than ext4.",
  });
  assert.deepEqual(said("de"), {
    headline: "ext4 oder xfs, je nach Arbeit",
    claims: [
      "btrfs ist beim wahlfreien Überschreiben mindestens um den Faktor 2,6 langsamer als ext4, bei Commits mindestens um 43 % langsamer und beim Anlegen von Dateien mindestens um 27 % langsamer (und 1 weitere unten).",
      "xfs ist beim Löschen von Dateien mindestens um 46 % langsamer als ext4 und bei Commits mindestens um 7 % schneller.",
    ],
    cannot: [
      "In 2 von 8 Tests wurde die Platte gemessen, nicht das Dateisystem: sequenzielles Lesen 1 MiB, wahlfreies Lesen 4 KiB.",
      "Noch offen: kleine Dateien: Anlegen, kleine Dateien: Lesen; --budget 12m dürfte das klären.",
      // A page brings the statistics' sentences in its languages with it; this findings file has the English alone.
      "raced on fresh filesystems of 2 GiB.",
      "Nicht geprüft: Stromausfall, Alterung, Ihre Datenbank.",
    ],
    commit: "xfs ist um 9 % schneller als ext4 (6–12 %); btrfs ist um den Faktor 2,1 langsamer als ext4 (Faktor 1,9–2,3).",
    create:
      "btrfs ist um 34 % langsamer als ext4 (29–39 %) und um 36 % langsamer als xfs (30–42 %); zu verrauscht für eine Rangfolge, xfs ist zwischen 3 % langsamer und 9 % schneller als ext4.",
  });
  const zh = said("zh");
  assert.equal(zh.headline, "选 ext4 或 xfs，视具体负载而定");
  assert.equal(zh.claims[1], "xfs：删除文件比 ext4 至少慢 46%，提交写入比 ext4 至少快 7%。");
  assert.match(zh.cannot[0] ?? "", /^8 项测试中有 2 项测到的是磁盘/);
});

test("where nothing decides, the page denies no difference that is open or may not be named", () => {
  const told = (language: "en" | "zh" | "de", choice: Choice) => {
    const findings = golden("three");
    assert.ok(findings.answer);
    Object.assign(findings.answer, { reasons: [], choose: ["ext4", "xfs", "btrfs"] });
    findings.conclusion = { choice };
    const said = answerSaid(makeUi(language, false, null, (of) => of), findings);
    return [bare(plain(said.headline)), bare(plain(said.why ?? []))];
  };
  const open: Choice = { is: "open", because: "too-few-rounds", ties: [{ of: "result", result: 0 }] };
  assert.deepEqual(told("en", open), [
    "No choice can be made yet",
    "Too few rounds were raced; what was decided ties: commit 4 KiB.",
  ]);
  assert.equal(told("de", { ...open, ties: [] })[1], "Es waren zu wenige Runden.");
  assert.equal(told("zh", { ...open, ties: [] })[1], "测的轮次太少。");
  const unnamed: Choice = { is: "unnamed" };
  assert.deepEqual(told("en", unnamed), [
    "Any of ext4, xfs or btrfs for this mix",
    "No difference that this race may name was found.",
  ]);
  assert.match(told("de", unnamed)[1] ?? "", /keinen Unterschied, den es nennen darf/);
  assert.match(told("zh", unnamed)[1] ?? "", /可以认定的差别/);
  assert.match(told("en", { is: "level" })[1] ?? "", /^No difference above the margin of 5% was found/);
});

test("what another tool measured was not raced", () => {
  const told = (language: "en" | "zh" | "de", imported: string[]) => {
    const findings = golden("three");
    findings.conclusion = { choice: { is: "alone" } };
    findings.imported = imported;
    const said = answerSaid(makeUi(language, false, null, (of) => of), findings);
    return [plain(said.headline), plain(said.why ?? [])].join(" | ");
  };
  for (const language of ["en", "zh", "de"] as const) {
    const w = LANGUAGES[language].answer;
    assert.equal(told(language, ["fio JSON"]), `${w.aloneImported} | ${w.aloneImportedWhy}`);
    assert.equal(told(language, []), `${w.alone} | ${w.aloneWhy}`);
    assert.match(plain(w.imported([{ text: "fio JSON" }], "")), /fio JSON$/);
  }
  assert.equal(plain(LANGUAGES.en.answer.imported([{ text: "fio JSON" }], "1 May")), "Imported from fio JSON, measured 1 May");
});

test("a time without a zone is told as it stands", () => {
  assert.equal(bare(figures("en").date("2026-02-03T04:05:06Z")), `${bare(figures("en").date("2026-02-03T04:05:06"))} UTC`);
  assert.equal(figures("en").shortDate("2026-02-03T04:05:06"), figures("en").shortDate("2026-02-03T04:05:06Z"));
  assert.equal(figures("en").day("2026-02-03T23:59:06"), figures("en").day("2026-02-03T00:00:00Z"));
  assert.equal(figures("en").date(""), "");
});

test("what other programs disturbed asks for a quiet machine, not for more rounds", () => {
  const findings = golden("three");
  assert.ok(findings.answer);
  findings.answer.settle = { by: "quiet" };
  const told = answerSaid(makeUi("en", false, null, (of) => of), findings);
  const open = told.cannot.map((item) => bare(plain(item))).find((item) => item.startsWith("Still undecided"));
  assert.match(open ?? "", /other programs disturbed most of these rounds, so race again when the machine is idle\.$/);
});

test("emulated disks are said once for all lanes, or lane by lane where they differ", () => {
  const cannot = (throttle: object | null, own: object, differ: boolean) => {
    const findings = golden("three");
    Object.assign(findings, { throttle, lane_throttles: own });
    if (findings.answer) findings.answer.different_disks = differ;
    const ui = makeUi("en", false, null, (of) => of);
    return answerSaid(ui, findings).cannot.map((item) => bare(plain(item))).filter((item) => /disks? (was held|of their own)/.test(item));
  };
  const both = { read_bytes_per_second: 151 * 2 ** 20, write_bytes_per_second: 151 * 2 ** 20, read_iops: 8050, write_iops: 8050 };
  const one = { read_iops: 3000 };
  assert.deepEqual(cannot(null, {}, false), []);
  const alike = ["Every lane’s disk was held to 151 MiB/s, 8,050 IOPS for reads and for writes: the figures are those of that emulated disk."];
  assert.deepEqual(cannot(both, {}, false), alike);
  assert.deepEqual(cannot(null, { ext4: both, xfs: both, btrfs: both }, false), alike);
  assert.deepEqual(cannot(both, { xfs: one }, true), [
    "Lanes stood on disks of their own (ext4: 151 MiB/s, 8,050 IOPS for reads and for writes; xfs: reads 3,000 IOPS; btrfs: 151 MiB/s, 8,050 IOPS for reads and for writes): every verdict is of filesystem and disk together.",
  ]);
});

/** A result of five lanes with given verdicts. */
function result(verdicts: Verdict[], turned: boolean[]): ResultFinding {
  const lanes = ["a", "b", "c", "d", "e"];
  const pairs = lanes.flatMap((x, at) => lanes.slice(at + 1).map((y) => [x, y] as const));
  return {
    workload: "w",
    title: "w",
    group: "g",
    metric: "operations_per_second",
    unit: "operations/s",
    higher_is_better: true,
    rounds: 6,
    limit: "unattributed",
    limit_reason: "",
    estimates: lanes.map((lane) => ({ lane, mean: 1, rounds: 6 })),
    pairs: pairs.map(([x, y], at) => {
      const verdict = verdicts[at] ?? "none";
      const [ratio, low, high] = verdict === "faster" ? [2, 1.5, 2.5] : verdict === "slower" ? [0.5, 0.4, 0.6] : [1.01, 0.99, 1.03];
      const [a, b] = turned[at] === true ? [y, x] : [x, y];
      return { a, b, ratio, low, high, verdict, why: verdict === "none" ? `reason ${at % 2}` : null };
    }),
    ranking: [],
    warnings: [],
  };
}

/** Everything that a sentence of verdicts rests on: whose, which verdict, and its figures, in the order in which they
 * are said. Each report has its own units, signs and words between. */
function skeleton(text: string): string[] {
  const words =
    /`[^`]+`|faster|slower|lower|higher|\btie\b|too noisy|too few|no verdict|failed|only lane|no figures|should settle|may settle|would be needed|−?-?\d+(?:\.\d+)?/g;
  return [...text.replace(/(\d),(?=\d{3})/g, "$1").matchAll(words)].map(([found]) =>
    /\d/.test(found) && !found.startsWith("`") ? String(Math.abs(Number(found.replace("−", "-")))) : found,
  );
}

function withTicks(said: Said): string {
  return said
    .map((piece) =>
      typeof piece === "object" && "name" in piece ? `\`${piece.name}\`` : typeof piece === "object" && "said" in piece ? withTicks(piece.said) : plain([piece]),
    )
    .join("");
}

test("what the page says of a result is what Rust's own report says of it", () => {
  const ui = makeUi("en", false, null, (of) => of);
  let compared = 0;
  for (const line of readFileSync(join(GOLDEN, "results.txt"), "utf8").trim().split("\n")) {
    const { race, results } = JSON.parse(line) as { race: string; results: ResultFinding[] };
    const markdown = readFileSync(join(GOLDEN, `markdown-${race}.txt`), "utf8");
    const verdicts = markdown.split(/Verdicts? with their intervals<\/summary>\n\n/)[1]?.split("\n") ?? [];
    for (const [at, of] of results.entries()) {
      const several = results.some((other) => other.workload === of.workload && other.group !== of.group);
      const rust = verdicts[at] ?? "";
      const title = `- ${of.title}${several ? `, ${of.group}` : ""}`;
      const told = rust.startsWith(title) ? /^(?:, [^:]*latency)?: (.*)$/.exec(rust.slice(title.length))?.[1] : undefined;
      assert.ok(told !== undefined, `${race}: ${rust} does not begin with ${title}`);
      assert.deepEqual(skeleton(bare(withTicks(resultSaid(ui, of)))), skeleton(told), `${race}: ${rust}`);
      compared += 1;
    }
  }
  assert.ok(compared > 30, String(compared));
});

test("an undecided pair without a ratio says why", () => {
  const of = { ...result(Array.from({ length: 10 }, () => "tie"), []), rounds: 3 };
  const pair = of.pairs[0];
  assert.ok(pair);
  const open = (remarks: string[]): Statement[] => [{ says: "undecided", because: "noise", pairs: [{ pair: 0, turned: true }], remarks }];
  const why = "b stood still in 1 of 3 rounds, and nothing is no rate to compare: give the work more time, or more operations";
  Object.assign(pair, { verdict: "undecided", ratio: null, low: null, high: null, why });
  of.statements = open([why]);
  const said = (language: "en" | "zh" | "de") => bare(plain(resultSaid(makeUi(language, false, null, (to) => to), of)));
  for (const language of ["en", "zh", "de"] as const) assert.match(said(language), /b stood still in 1 of 3 rounds/);
  assert.doesNotMatch(said("en"), /not measured together/);
  pair.why = null;
  of.statements = open([]);
  assert.match(said("en"), /b and a not measured together yet/);
  // Told of `b`, although it was judged the other way round.
  Object.assign(pair, { ratio: 1.25, low: 0.8, high: 2, why: "6 of 8 rounds done; both directories are on vda" });
  of.statements = open(["6 of 8 rounds done"]);
  assert.match(said("en"), /b is between 2× slower and 25% faster than a; 6 of 8 rounds done\.$/);
});

test("a lane against itself is told in three languages", () => {
  const said = (language: "en" | "zh" | "de", apart: number) => {
    const check = { lane: "ext4", ties: 3, undecided: 1, apart, without_verdict: 0, low: 0.98, high: 1.02 };
    return bare(plain(selfCheckSaid(makeUi(language, false, null, (of) => of), check) ?? []));
  };
  assert.equal(said("en", 0), "ext4 against itself: tie in 3 of 4 (within 3%), undecided in 1 of 4.");
  assert.match(said("en", 1), /^ext4 against itself: apart in 1 of 5, .*; believe no difference of that size in this race\.$/);
  assert.match(said("de", 1), /^ext4 gegen sich selbst: verschieden in 1 von 5/);
  assert.match(said("zh", 1), /^ext4 与自身相比：有差异 1 \/ 5 项/);
  assert.equal(selfCheckSaid(makeUi("en", false, null, (of) => of), null), null);
});

test("an interval that there is not is not drawn, and a bare disk far beyond the lanes is not either", () => {
  const of = result([], []);
  const estimate = (low: number | null, high: number | null) => ({ lane: "a", mean: 100, low, high, rounds: 2 });
  const detail = { lane: "a", rounds: [{ round: 1, value: 90 }, { round: 2, value: 110 }], rounds_in_all: 2, latency: [] };
  const lanes = [
    { name: "a", estimate: estimate(null, null), detail },
    { name: "b", estimate: estimate(80, 125), detail },
  ];
  assert.equal(drawnCeiling(null, lanes), null);
  assert.equal(drawnCeiling(300, lanes), 300);
  assert.equal(drawnCeiling(5000, lanes), null);
  assert.equal(drawnCeiling(300, []), null);
  const ink = new Proxy({}, { get: () => "#000" });
  const on = { width: 600, height: 200, dark: false, ink } as unknown as Canvas;
  const option = dots(on, figures("en"), { result: of, lanes, ceiling: null, ceilingName: "", meanName: "Mean", roundName: String, description: "" });
  type Means = {
    name?: string;
    data: number[][];
    renderItem: (params: unknown, api: { value: (at: number) => number; coord: (of: number[]) => number[] }) => { children: unknown[] };
  };
  const means = (option["series"] as Means[]).find((one) => one.name === "means");
  assert.ok(means);
  const parts = means.data.map((row) =>
    means.renderItem({}, { value: (at) => row[at] ?? Number.NaN, coord: ([x = 0, y = 0]) => [x, y] }).children.length,
  );
  assert.deepEqual(parts, [1, 4], "the mean alone; the mean, its bar and two caps");
});

test("a course tells its ends alone, and no middle of thinned points", () => {
  assert.deepEqual(ends([3, 1, 2, 9, 4]), [1, 9]);
  assert.deepEqual(ends(Array.from({ length: 300_000 }, (_, at) => at)), [0, 299_999]);
  for (const language of ["en", "zh", "de"] as const) {
    const said = plain(LANGUAGES[language].results.courseFigure(["ext4"], "1", "9"));
    assert.match(said, /ext4.*1.*9/);
    assert.doesNotMatch(said, /[Mm]edian|中位/);
  }
});

test("a row whose reference has no figure stands against its own", () => {
  const of = result(Array.from({ length: 10 }, () => "faster"), []);
  assert.equal(rowReference(of, "c"), "c");
  Object.assign(of.estimates[0] ?? {}, { failure: "mkfs failed" });
  assert.equal(rowReference({ ...of, reference: "b" }, "a"), "b");
  assert.equal(rowReference(of, "a"), "a");
});

test("what a filesystem cannot do is said once, apart from what failed", () => {
  const figure = (lane: string, seconds: number | null, failure: string | null) => ({ lane, seconds, failure });
  const rows = [
    { section: "", group: "a", figures: [figure("ext4", 1, null), figure("vfat", null, "no symbolic links"), figure("bad", null, "mount failed")] },
    { section: "", group: "b", figures: [figure("ext4", 1, null), figure("vfat", null, "no symbolic links"), figure("bad", null, "mount failed")] },
    { section: "", group: "c", figures: [figure("ext4", 1, null), figure("vfat", 2, null), figure("bad", null, "mount failed")] },
  ];
  assert.deepEqual(missing({ rows } as unknown as OperationsFinding), [
    { lane: "vfat", why: "no symbolic links", some: true },
    { lane: "bad", why: "mount failed", some: false },
  ]);
});

test("directories that servers keep are told as in Rust", () => {
  const rust = readFileSync(join(GOLDEN, "../../../model/src/promises.rs"), "utf8");
  const [, list] = /pub const SERVED: \[&str; \d+\] = \[([^\]]*)\]/.exec(rust) ?? [];
  assert.deepEqual(SERVED, [...(list ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name));
  assert.ok(isServed({ venue: "directory", backing: "", filesystem: "nfs4" }));
  // What lies above a lane's own filesystem is no directory, and a filesystem of this machine is seen.
  assert.ok(!isServed({ venue: "image", backing: "", filesystem: "nfs4" }));
  assert.ok(!isServed({ venue: "directory", backing: "", filesystem: "tmpfs" }));
});

test("no cell of the saved table is a formula, as in Rust's own CSV", () => {
  for (const [text, safe] of [
    ["=1+1", "'=1+1"],
    ["  =1+1", "'  =1+1"],
    ["\t+1", "' +1"],
    ["\r\n-2", "'  -2"],
    ["@x", "'@x"],
    ["|cmd", "'|cmd"],
    ["%x", "'%x"],
    ["\u200b=1", "'=1"],
    ["\u202e\u00a0=1", "'\u00a0=1"],
    ["\u3000=1", "'\u3000=1"],
    ["a=1", "a=1"],
    ["", ""],
  ] as const) {
    assert.equal(csvText(text), safe, JSON.stringify(text));
  }
  assert.equal(csvCell('say "a,b"'), '"say ""a,b"""');
  assert.equal(csvCell(-2), "-2");
  assert.equal(csvCell(null), "");
});
