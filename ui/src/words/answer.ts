// The answer, taken apart for the page: what to take, what the others cost, what the race cannot say. All of
// it was decided before; here it is gathered and counted.
import type { Answer, Findings, Limit, OperationsFinding, Reason, ResultFinding, Settle, Undecided } from "../types";
import { referenceOf } from "./statements";

/** A difference as the answer tells it. */
export interface Claim {
  /** The lane it is told of. */
  subject: string;
  /** The lane it is held against. */
  other: string;
  /** The subject is the faster one. */
  gain: boolean;
  /** subject/other, above 1 where the subject does better; at least so much where it is known. */
  ratio: number;
  sure: "at-least" | "sign";
  reason: Reason;
  metric: string;
  /** It is about one step of a table of file operations. */
  ofTable: boolean;
}

/** A result by its title, or so many steps of a table of operations. */
export type Title = { title: string; group: string | null; result: ResultFinding | null } | { table: OperationsFinding; count: number };

export interface Outcome {
  choice: "chosen" | "by-work" | "level" | "unnamed" | "open" | "none" | "none-yet" | "nothing" | "searched" | "alone" | "twice";
  lanes: string[];
  /** Of `open`: the one reason, and what ties. */
  open: { because: Undecided; ties: Title[] } | null;
  /** What sets lanes apart, subject by subject. */
  claims: { subject: string; claims: Claim[]; more: number }[];
  /** Results in which something else than the filesystems was measured. */
  limited: { limit: Limit; count: number; titles: Title[] }[];
  /** Results that could not tell the lanes apart for other reasons. */
  cannotTell: Title[];
  /** Apart in their own rows alone. */
  unsure: Title[];
  undecided: Title[];
  /** What should settle it; `null`: nobody knows. */
  settle: Settle | null;
  noVerdict: { why: string; titles: Title[] }[];
  failed: { lane: string; titles: Title[] }[];
}

const CLAIMS_PER_LANE = 3;
/** Limits that mean: not the filesystem was measured. */
export const NOT_THE_FILESYSTEM: readonly Limit[] = ["device", "cache", "harness"];

/** The answer of a race. */
export function outcome(findings: Findings): Outcome {
  const answer = findings.answer ?? null;
  const measured = findings.results.some((result) => result.estimates.some((of) => of.failure == null));
  const raced = findings.lanes.filter((lane) => lane.is_self !== true).length;
  const told = findings.results.some(toldSomething);
  const titles = (of: readonly string[]) => gathered(findings, of);
  const choose = answer?.choose ?? [];
  const level = answer?.level ?? null;
  let choice: Outcome["choice"];
  if ((findings.searches ?? []).length > 0) choice = "searched";
  else if (!answer || !measured) choice = "nothing";
  else if (raced === 1) choice = findings.lanes.length > 1 ? "twice" : "alone";
  else if (!told || choose.length === 0) choice = answer.undecided.length > 0 ? "none-yet" : "none";
  // Whether nothing sets them apart, or nothing may, was decided with the answer.
  else if (answer.reasons.length === 0 && level?.found === "undecided") choice = "open";
  else if (answer.reasons.length === 0 && level?.found === "unnamed") choice = "unnamed";
  else if (answer.reasons.length === 0 && level?.found === "tie" && choose.length >= raced) choice = "level";
  // Each of them is better than another at something: "either" would sound as if it did not matter.
  else if (answer.reasons.some((of) => choose.includes(of.lane) && choose.includes(of.against))) choice = "by-work";
  else choice = "chosen";
  return {
    choice,
    lanes: choose,
    open: level?.found === "undecided" ? { because: level.because, ties: titles(level.ties ?? []) } : null,
    claims: answer ? claimsBySubject(findings, answer) : [],
    limited: limited(findings, answer?.cannot_tell ?? []),
    // What measured something else than the filesystems is said with its limit.
    cannotTell: gathered(findings, answer?.cannot_tell ?? [], (result) => !NOT_THE_FILESYSTEM.includes(result.limit)),
    unsure: titles(answer?.unsure ?? []),
    undecided: titles(answer?.undecided ?? []),
    settle: answer?.settle ?? null,
    noVerdict: answer ? withoutVerdict(findings, answer) : [],
    failed: failures(findings),
  };
}

/** Whether a result set lanes apart, or showed that they are level in something other than the disk. */
function toldSomething(result: ResultFinding): boolean {
  return result.pairs.some(
    (pair) =>
      pair.verdict === "faster" || pair.verdict === "slower" || (pair.verdict === "tie" && result.limit !== "device"),
  );
}

/** Of the results that could not tell, those that measured something else than the filesystems, limit by limit. A
 * step of file operations that memory answered is none of them: the way to memory is the filesystem's. */
function limited(findings: Findings, cannotTell: readonly string[]): Outcome["limited"] {
  const told = new Set(cannotTell);
  const said = (of: ResultFinding) => told.has(of.title) || told.has(`${of.title}: ${of.group}`);
  return NOT_THE_FILESYSTEM.map((limit) => {
    const results = findings.results.filter((result) => result.limit === limit && said(result));
    return { limit, count: results.length, titles: ofResults(findings, results) };
  }).filter((one) => one.count > 0);
}

/** Titles of results, those of one table of file operations as their number. */
export function ofResults(findings: Findings, results: readonly ResultFinding[]): Title[] {
  const titles: Title[] = [];
  for (const result of results) {
    const table = tableOf(findings, result.workload);
    if (!table) {
      titles.push({ title: result.title, group: hasGroups(findings, result) ? result.group : null, result });
      continue;
    }
    const known = titles.find((title) => "table" in title && title.table === table);
    if (known && "table" in known) known.count += 1;
    else titles.push({ table, count: 1 });
  }
  return titles;
}

/** Whether the result's workload has several groups, so that its title alone names none. */
export function hasGroups(findings: Findings, result: ResultFinding): boolean {
  return findings.results.some((other) => other.workload === result.workload && other.group !== result.group);
}

export function tableOf(findings: Findings, workload: string): OperationsFinding | null {
  return (findings.operations ?? []).find((table) => table.workload === workload) ?? null;
}

/** Titles as the findings name them: `title`, or `title: group` where a workload has several. */
function gathered(
  findings: Findings,
  titles: readonly string[],
  keep: (result: ResultFinding) => boolean = () => true,
): Title[] {
  const found: ResultFinding[] = [];
  const unknown: Title[] = [];
  for (const title of new Set(titles)) {
    const result = findings.results.find((of) => title === `${of.title}: ${of.group}` || title === of.title);
    if (result && keep(result)) found.push(result);
    else if (!result) unknown.push({ title, group: null, result: null });
  }
  return [...ofResults(findings, found), ...unknown];
}

/** The reasons, told with the same lane as reference as the verdicts are, so that a figure reads the same in
 * both places; lanes that were not chosen first, unless there is one choice alone. */
function claimsBySubject(findings: Findings, answer: Answer): Outcome["claims"] {
  const claims = answer.reasons.map((reason): Claim => {
    const result = findings.results.find((of) => of.workload === reason.workload && of.group === reason.group);
    const table = tableOf(findings, reason.workload);
    const reference = table ? table.reference : result ? referenceOf(result) : null;
    const gain = reference === reason.lane;
    const size = reason.at_least ?? reason.ratio;
    return {
      subject: gain ? reason.against : reason.lane,
      other: gain ? reason.lane : reason.against,
      gain,
      ratio: gain ? 1 / size : size,
      sure: reason.at_least == null ? "sign" : "at-least",
      reason,
      metric: result?.metric ?? "",
      ofTable: result?.section != null,
    };
  });
  const subjects = [...new Set(claims.map((claim) => claim.subject))];
  const chosen = (lane: string) => answer.choose.includes(lane);
  const onlyOne = answer.choose.length === 1;
  const place = (lane: string) => (chosen(lane) === onlyOne ? 0 : 1);
  return subjects
    .sort((x, y) => place(x) - place(y))
    .map((subject) => {
      const all = claims.filter((claim) => claim.subject === subject);
      const sure = (claim: Claim) => claim.reason.at_least ?? 1;
      all.sort((x, y) => sure(x) - sure(y) || x.reason.ratio - y.reason.ratio);
      return { subject, claims: all.slice(0, CLAIMS_PER_LANE), more: Math.max(all.length - CLAIMS_PER_LANE, 0) };
    });
}

/** Results whose pairs have no verdict, gathered by reason. What keeps a lane from being ranked at all is
 * said of the lane, and not here. */
function withoutVerdict(findings: Findings, answer: Answer): Outcome["noVerdict"] {
  const apart = new Set((answer.not_ranked ?? []).flatMap((fact) => fact.lanes));
  const reasons = new Map<string, ResultFinding[]>();
  for (const result of findings.results.filter((of) => of.limit !== "device" && of.limit !== "harness")) {
    for (const pair of result.pairs) {
      if (pair.verdict !== "none" || pair.ratio == null || apart.has(pair.a) || apart.has(pair.b)) continue;
      const why = pair.why ?? "";
      const known = reasons.get(why) ?? [];
      if (!known.includes(result)) reasons.set(why, [...known, result]);
    }
  }
  return [...reasons].filter(([why]) => why !== "").map(([why, results]) => ({ why, titles: ofResults(findings, results) }));
}

function failures(findings: Findings): Outcome["failed"] {
  return findings.lanes
    .map((lane) => ({
      lane: lane.name,
      titles: ofResults(
        findings,
        findings.results.filter((result) => result.estimates.some((of) => of.lane === lane.name && of.failure != null)),
      ),
    }))
    .filter((one) => one.titles.length > 0);
}
