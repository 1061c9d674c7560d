// Words and figures without a browser: what Rust's own tests promise of the text report holds here too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LANGUAGES } from "../src/language";
import type { ResultFinding, Verdict } from "../src/types";
import { Figures } from "../src/words/figures";
import { clean, plain, shellLine, shorten } from "../src/words/say";
import { statements } from "../src/words/statements";
import { answerSaid, resultSaid } from "../src/words/told";
import { makeUi } from "../src/ui";
import { golden } from "./fixture";

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
    headline: "Either ext4 or xfs for this mix",
    claims: [
      "btrfs is 3.6× slower than ext4 at random writes, 2.1× slower at commits and 34% slower at file creations (and 1 more below).",
      "xfs is 2.3× slower than ext4 at file deletions and 9% faster at commits.",
    ],
    cannot: [
      "In 2 of 8 tests the disk was measured, not the filesystem: sequential read 1 MiB, random read 4 KiB.",
      "Still undecided: small files: create, small files: read; --budget 12m should settle it.",
      "Not tested: power cut, aging, your database.",
    ],
    commit: "xfs is 9% faster than ext4 (6–12%); btrfs is 2.1× slower than ext4 (1.9–2.3×).",
    create:
      "btrfs is 34% slower than ext4 (29–39%) and 36% slower than xfs (30–42%); too noisy to rank, xfs to ext4 between −3% and +9%; about 12 min more should settle it.",
  });
  assert.deepEqual(said("de"), {
    headline: "Für diese Mischung entweder ext4 oder xfs",
    claims: [
      "btrfs ist beim wahlfreien Schreiben um den Faktor 3,6 langsamer als ext4, bei Commits um den Faktor 2,1 langsamer und beim Anlegen von Dateien um 34 % langsamer (und 1 weitere unten).",
      "xfs ist beim Löschen von Dateien um den Faktor 2,3 langsamer als ext4 und bei Commits um 9 % schneller.",
    ],
    cannot: [
      "In 2 von 8 Tests wurde die Platte gemessen, nicht das Dateisystem: sequenzielles Lesen 1 MiB, wahlfreies Lesen 4 KiB.",
      "Noch offen: kleine Dateien: Anlegen, kleine Dateien: Lesen; --budget 12m dürfte das klären.",
      "Nicht geprüft: Stromausfall, Alterung, Ihre Datenbank.",
    ],
    commit: "xfs ist um 9 % schneller als ext4 (6–12 %); btrfs ist um den Faktor 2,1 langsamer als ext4 (Faktor 1,9–2,3).",
    create:
      "btrfs ist um 34 % langsamer als ext4 (29–39 %) und um 36 % langsamer als xfs (30–42 %); zu verrauscht für eine Rangfolge, xfs zu ext4 zwischen −3 % und +9 %; weitere 12 min dürften das klären.",
  });
  const zh = said("zh");
  assert.equal(zh.headline, "这组负载选 ext4 或 xfs 均可");
  assert.equal(zh.claims[1], "xfs：删除文件速度仅为 ext4 的 44%，提交写入比 ext4 快 9%。");
  assert.match(zh.cannot[0] ?? "", /^8 项测试中有 2 项测到的是磁盘/);
});

test("what other programs disturbed asks for a quiet machine, not for more rounds", () => {
  const findings = golden("three");
  assert.ok(findings.answer);
  findings.answer.disturbed = true;
  const told = answerSaid(makeUi("en", false, null, (of) => of), findings);
  const open = told.cannot.map((item) => bare(plain(item))).find((item) => item.startsWith("Still undecided"));
  assert.match(open ?? "", /other programs disturbed most of these rounds, so race again while they rest\.$/);
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

test("every pair is said or follows from what is said", () => {
  let state = 5;
  const next = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const kinds: Verdict[] = ["faster", "slower", "tie", "undecided", "none"];
  for (let run = 0; run < 300; run += 1) {
    const of = result(
      Array.from({ length: 10 }, () => kinds[Math.floor(next() * 5)] ?? "none"),
      Array.from({ length: 10 }, () => next() < 0.5),
    );
    const said = statements(of);
    for (const pair of of.pairs) {
      const listed = (pairs: readonly { a: string; b: string }[]) =>
        pairs.some((one) => (one.a === pair.a && one.b === pair.b) || (one.a === pair.b && one.b === pair.a));
      const known =
        pair.verdict === "faster"
          ? follows(said, pair.a, pair.b)
          : pair.verdict === "slower"
            ? follows(said, pair.b, pair.a)
            : said.some((one) =>
                pair.verdict === "tie"
                  ? one.kind === "tie" && one.lanes.includes(pair.a) && one.lanes.includes(pair.b)
                  : pair.verdict === "undecided"
                    ? one.kind === "undecided" && listed(one.pairs)
                    : one.kind === "no-verdict" && listed(one.pairs) && one.why === pair.why,
              );
      assert.ok(known, `${JSON.stringify(pair)} is missing from ${JSON.stringify(said)}`);
    }
  }
});

/** Whether a reader of the statements knows that `above` beats `below`. */
function follows(said: ReturnType<typeof statements>, above: string, below: string): boolean {
  const level = new Set([above]);
  const beaten = new Set<string>();
  for (let time = 0; time < 12; time += 1) {
    for (const one of said) {
      if (one.kind === "apart") {
        for (const pair of one.pairs) {
          const [winner, loser] = pair.verdict === "faster" ? [pair.a, pair.b] : [pair.b, pair.a];
          if (level.has(winner) || beaten.has(winner)) beaten.add(loser);
        }
      } else if (one.kind === "tie") {
        for (const known of [level, beaten]) {
          if (one.lanes.some((lane) => known.has(lane))) for (const lane of one.lanes) known.add(lane);
        }
      }
    }
  }
  return beaten.has(below);
}

test("a result that Fairlane's own speed set shows no ratio", () => {
  const of = { ...result(Array.from({ length: 10 }, () => "none"), []), limit: "harness" as const };
  for (const statement of statements(of)) {
    assert.ok(statement.kind === "no-verdict" && statement.pairs.length === 0, JSON.stringify(statement));
  }
});
