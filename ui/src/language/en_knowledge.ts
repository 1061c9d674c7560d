// Names of work that Fairlane itself ships, and advice, in English.
import type { Gap } from "../words/figures";
import { joined, say, toned, type Said } from "../words/say";

/** Titles of the built-in suites and scenarios: what other languages call them, by the English name. */
const known: { [english: string]: string } = {};

/** What the work of a group is called behind "at". */
const works: { [key: string]: string } = {
  commits: "commits",
  "sequential writes": "sequential overwrites",
  "sequential reads": "sequential reads",
  "random reads": "random reads",
  "random writes": "random overwrites",
  "file creations": "file creations",
  "small-file reads": "small-file reads",
  "file deletions": "file deletions",
};

/** What `--need` takes, as people call it. */
const needs: { [need: string]: string } = {
  durable: "writes that survive a power cut once they were fsynced",
  checksums: "checksums of data",
  "metadata-checksums": "checksums of metadata",
  snapshots: "snapshots",
  reflink: "reflinks",
  compression: "compression",
  encryption: "encryption",
  shrink: "shrinking",
  "shrink=online": "shrinking while mounted",
  growth: "growth while mounted",
  quota: "quotas",
  "dynamic-inodes": "a number of files that mkfs does not fix",
  casefold: "case-insensitive names",
  overlay: "an upper directory of overlayfs",
  dax: "DAX",
  journal: "metadata that survives a crash",
  kernel: "the mainline kernel of the version that raced it",
};

const list = (parts: readonly Said[], last: string): Said => {
  const before = parts.slice(0, -1);
  const end = parts[parts.length - 1] ?? [];
  return before.length === 0 ? end : say`${joined(before, ", ")} ${last} ${end}`;
};
const amount = (gap: Gap) => (gap.factor ? `${gap.size}×` : gap.size);

export const knowledge = {
  known,
  works,
  /** Work that only its title names. */
  workAt: (title: Said): Said => title,
  needs,
  needOr: " or ",
  needValue: (need: string, value: string) =>
    need === "quota"
      ? `quotas by ${value}`
      : need === "file-size"
        ? `files of ${value}`
        : need === "filesystem-size"
          ? `a filesystem of ${value}`
          : need === "kernel"
            ? `mainline kernel ${value}`
            : `${need} ${value}`,

  advice: {
    intro: "Weightings of the measured work, with what each scenario cannot do without. Only decided differences count.",
    chosen: (lanes: readonly Said[]): Said =>
      say`${lanes.length < 2 ? "" : lanes.length === 2 ? "either " : "any of "}${list(lanes, "or")}`,
    none: "none of these lanes",
    undecided: "undecided",
    tooLittle: "too little measured",
    measured: (own: string | null, proxies: string | null): string =>
      [own === null ? "" : `${own} by its own work`, proxies === null ? "" : `${proxies} by similar work`]
        .filter((part) => part !== "")
        .join(", ") || "nothing measured",
    leaning: (lanes: Said) => say`${lanes}, by similar work alone`,
    noOwnWork: (suite: string) => `no work of its own was raced, which suite ${suite} does`,
    noiseAlone: "which covers the noise between rounds alone",
    tooFewRounds: (share: string) => `${share} of its weight was raced in too few rounds to say anything; race at least 6.`,
    because: "Because",
    equal: "No difference",
    out: "Excluded",
    unless: "Changes to",
    missing: "Not measured",
    note: "Note",
    next: "Next",
    ahead: (leads: readonly { gap: Gap; lane: Said }[]) =>
      say`over the measured work ${list(
        leads.map((lead) => say`${toned("faster", `${amount(lead.gap)} ahead`)} of ${lead.lane}`),
        "and",
      )}`,
    only: "the only lane that no constraint excludes; nothing was left to compare it with",
    nothingApart: "nothing that was measured sets them apart",
    level: (count: number, margin: string) =>
      `${count === 1 ? "the two are" : "they are"} apart by less than ${margin} over it`,
    wins: (share: string, several: boolean) => `${several ? "one of them wins" : "it wins"} ${share} of resampled races`,
    unsafe: "which is not safe",
    over99: "over 99%",
    nothingMeasured: "Nothing of its work was measured.",
    tooLittleWhy: (share: string) =>
      `Only ${share} of its weight was measured, and advice needs half of it.`,
    undecidedWhy: "What was measured is undecided, so nothing sets the lanes apart.",
    allExcluded: "No lane that was raced meets the constraints.",
    part: (what: Said, share: string) => say`${what} (${share})`,
    reason: (part: Said, pairs: readonly { gap: Gap; lane: Said; atLeast: boolean }[]) =>
      say`${part}: ${list(
        pairs.map(({ gap, lane, atLeast }) => {
          const size = atLeast ? `at least ${amount(gap)} ` : "";
          return say`${toned(gap.faster ? "faster" : "slower", `${size}${gap.faster ? "better" : "worse"}`)} than ${lane}`;
        }),
        "and",
      )}.`,
    equals: {
      tie: "tie, surely apart by less than the margin",
      undecided: "undecided, so nothing is counted",
      unsure: "apart in its own row, which is not sure among so many, so nothing is counted",
      device: "the disk was measured, which is the same for all lanes",
      cache: "the page cache was measured, not the filesystems",
      harness: "Fairlane itself was measured, not the filesystems",
      "no-verdict": "no verdict is possible",
    },
    equalParts: (parts: Said, why: string) => say`${parts}: ${why}.`,
    outDone: (lanes: Said, note: Said | null) => say`${lanes}: it could not do the work${note ? say` (${note})` : ""}.`,
    outMounted: (lanes: Said) => say`${lanes}: no kernel mounts it; it raced inside Fairlane, for comparison.`,
    outKept: (lanes: Said) => say`${lanes}: it keeps nothing across a reboot; it raced in memory, for comparison.`,
    outComparable: (lanes: Said, note: Said | null) =>
      say`${lanes}: its speed is not ranked beside the others${note ? say` (${note})` : ""}.`,
    outNeed: (lanes: Said, asked: Said, facts: Said) => say`${lanes}: ${asked}; ${facts}.`,
    youAsk: (need: Said) => say`you ask for ${need}`,
    scenarioAsks: (scenario: Said, why: Said) => say`${scenario} ${why}`,
    factNo: (need: Said) => say`no ${need}`,
    factUnknown: (need: Said) => say`nothing is known of its ${need}`,
    factOff: (need: Said, way: Said) => say`${need} only with ${way}`,
    factIs: (need: Said, is: Said) => say`${need}: ${is}`,
    flipWeight: (lane: Said, what: Said, under: boolean, at: string, share: string) =>
      say`${lane}, if ${what} weighed ${under ? "under" : "over"} ${at} (here ${share}).`,
    flipUndecided: (lane: Said, what: Said) =>
      say`${lane}, if ${what}, which is undecided, came out at the end of what is possible.`,
    flipWithout: (lane: Said, distance: Said, scenario: Said, need: Said) =>
      say`${lane}${distance}, if ${scenario} could do without ${need}.`,
    flipWith: (lane: Said, distance: Said, needs: Said, several: boolean) =>
      say`${lane}${distance}, if ${needs} ${several ? "were" : "was"} required.`,
    distance: (gap: Gap) => say` (${amount(gap)} ${gap.faster ? "ahead" : "behind"})`,
    missingSuite: (parts: Said, suite: Said | null) =>
      suite ? say`${parts}: suite ${suite}.` : say`${parts}: no suite measures it yet.`,
    racedWithout: (lane: Said, need: Said, way: Said) => say`${lane} was raced without ${need}; ${way} brings it.`,
    source: (source: Said) => say` [${source}]`,
  },
};
