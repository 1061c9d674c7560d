// What is said of the ranks of an MPI job and of IO500's score, in English.
import { say, type Said } from "../words/say";

export const ranks = {
  title: "What each rank did",
  legend:
    "Operations a second of single ranks: of the slowest of a round, their mean, and the fastest. Spread: standard deviation by mean. First and last done: from the common start. Medians over rounds.",
  networkLegend:
    " Received and sent: by network interfaces of all nodes at work together, of all programs; what goes past the kernel (RDMA) is not in it.",
  columns: {
    work: "Work",
    lane: "Lane",
    ranks: "Ranks",
    slowest: "Slowest",
    mean: "Mean",
    fastest: "Fastest",
    spread: "Spread",
    first: "First done",
    last: "Last done",
    received: "Received",
    sent: "Sent",
  },
  ranks: (ranks: string, nodes: string | null) => (nodes === null ? ranks : `${ranks} on ${nodes} nodes`),
  rank: (rank: string, node: string | null) => (node === null ? `rank ${rank}` : `rank ${rank} (node ${node})`),
  straggler: (work: Said, lane: Said, rank: string, rounds: string, of: string, below: string) =>
    say`${work}, ${lane}: ${rank} was the slowest and far behind in ${rounds} of ${of} rounds, in these ${below} below the mean of the others (median). Why is not told: its node, its network, or what it worked on.`,
};

export const io500 = {
  title: "IO500",
  legend:
    "The score of IO500 in each round, put together as any other figure is: the root of the product of two geometric means, of four bandwidths in GiB/s and of eight rates in thousands of operations a second (kIOPS). In brackets the 95% interval of the lane alone. The phases are Fairlane’s own and differ from those of IO500’s program (docs/mpi.md): these scores compare with each other, and with none that it gave.",
  columns: { lane: "Lane", score: "Score", bandwidth: "Bandwidth", metadata: "Metadata", rounds: "Rounds" },
  score: (score: string, interval: readonly [string, string] | null) =>
    interval === null ? score : `${score} (${interval[0]} to ${interval[1]})`,
  invalid: (phases: Said, seconds: string, rule: number) =>
    say`INVALID by the rules of IO500: ${phases} wrote for ${seconds} in a round, and the rules ask for ${rule} s.`,
  readAgain: (phases: Said) =>
    say`${phases} read more in a round than the files hold, through the page cache: in part it is a figure of memory, and so is the score. A larger size reads it once.`,
  noScore: (lane: Said) => say`${lane} has no score: no round has figures of all phases.`,
};

export const ladder = {
  title: "What more ranks bring",
  legend:
    "Each kind of work by growing numbers of ranks, of each node one in turn. Added: what the ranks brought that the number before does not have, as a share of what as many of those before did: 100% as much, 0 nothing; its intervals hold with 95% together, those of the whole race. It bends where added ranks surely bring less than half. Numbers were raced one after another: what changed meanwhile is in it. One rank alone reads what it wrote itself, perhaps from memory. Why it bends is not told.",
  caption: "Marks: geometric mean of the rounds, with its 95% interval. Dotted: as many times what the first number of ranks did.",
  ranks: "Ranks",
  ofRanks: (ranks: string, count: number) => (count === 1 ? `${ranks} rank` : `${ranks} ranks`),
  columns: { lane: "Lane", ranks: "Ranks", together: "Together", added: "Added" },
  added: (share: string, low: string, high: string) => `${share} (${low} to ${high})`,
  bends: (lane: Said, from: string, to: string, atMost: string, perhapsBefore: boolean) =>
    say`${lane} bends from ${from} to ${to} ranks${perhapsBefore ? ", at the latest" : ""}: those that are added bring at most ${atMost}.`,
  straight: (lane: Said, most: string) =>
    say`${lane} does not bend up to ${most} ranks: every step brings at least half of what it should.`,
  open: (lane: Said, most: string) =>
    say`Whether ${lane} bends up to ${most} ranks is not known: too noisy, too few rounds, or it stood still in one.`,
};
