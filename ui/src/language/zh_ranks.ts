// 关于 MPI 作业各进程与 IO500 分数的说法，中文。
import { say, type Said } from "../words/say";
import type { io500 as englishIo500, ladder as englishLadder, ranks as english } from "./en_ranks";

export const ranks: typeof english = {
  title: "各进程（rank）的表现",
  legend:
    "单个进程每秒的操作数：一轮中最慢的、平均的和最快的。离散度：标准差除以平均值。最先与最后完成：从共同起点算起。各轮的中位数。",
  networkLegend:
    "接收与发送：所有参与工作的节点的网络接口合计，包括所有程序；绕过内核的流量（RDMA）不在其中。",
  columns: {
    work: "工作",
    lane: "赛道",
    ranks: "进程数",
    slowest: "最慢",
    mean: "平均",
    fastest: "最快",
    spread: "离散度",
    first: "最先完成",
    last: "最后完成",
    received: "接收",
    sent: "发送",
  },
  ranks: (ranks: string, nodes: string | null) => (nodes === null ? ranks : `${ranks}，在 ${nodes} 个节点上`),
  rank: (rank: string, node: string | null) => (node === null ? `进程 ${rank}` : `进程 ${rank}（节点 ${node}）`),
  straggler: (work: Said, lane: Said, rank: string, rounds: string, of: string, below: string) =>
    say`${work}，${lane}：${of} 轮中有 ${rounds} 轮 ${rank} 最慢且明显落后，在这些轮中比其他进程的平均值低 ${below}（中位数）。原因不明：可能是其节点、其网络，或它所处理的文件。`,
};

export const io500: typeof englishIo500 = {
  title: "IO500",
  legend:
    "每一轮的 IO500 分数，与其他数值一样汇总：两个几何平均值之积的平方根，一个是四项带宽（GiB/s），一个是八项速率（每秒千次操作，kIOPS）。括号中为该赛道自身的 95% 区间。各阶段是 Fairlane 自己的，与 IO500 程序的不同（docs/mpi.md）：这些分数可以相互比较，但不能与该程序给出的分数比较。",
  columns: { lane: "赛道", score: "分数", bandwidth: "带宽", metadata: "元数据", rounds: "轮数" },
  score: (score: string, interval: readonly [string, string] | null) =>
    interval === null ? score : `${score}（${interval[0]} 至 ${interval[1]}）`,
  invalid: (phases: Said, seconds: string, rule: number) =>
    say`按 IO500 的规则为 INVALID：${phases} 在一轮中写入了 ${seconds}，而规则要求 ${rule} s。`,
  readAgain: (phases: Said) =>
    say`${phases} 在一轮中经页缓存读取的数据多于文件所含：其中一部分是内存的数值，分数也是如此。更大的文件只会被读一遍。`,
  noScore: (lane: Said) => say`${lane} 没有分数：没有一轮具备所有阶段的数值。`,
};

export const ladder: typeof englishLadder = {
  title: "更多进程带来什么",
  legend:
    "每种工作由越来越多的进程完成，各节点轮流各取一个。新增：比前一数目多出的进程所带来的，占前一数目中同样多进程所做的份额：100% 为同样多，0 为没有；整场比赛的这些区间以 95% 同时成立。新增进程确定带来不到一半之处为拐点。各数目先后参赛：其间的变化也包含在内。单独一个进程读取的是它自己写的内容，可能来自内存。原因不明。",
  caption: "标记：各轮的几何平均值及其 95% 区间。点线：第一个进程数目所做的相应倍数。",
  ranks: "进程数",
  ofRanks: (ranks: string) => `${ranks} 个进程`,
  columns: { lane: "赛道", ranks: "进程数", together: "合计", added: "新增" },
  added: (share: string, low: string, high: string) => `${share}（${low} 至 ${high}）`,
  bends: (lane: Said, from: string, to: string, atMost: string, perhapsBefore: boolean) =>
    say`${lane} ${perhapsBefore ? "最迟" : ""}在 ${from} 到 ${to} 个进程之间出现拐点：新增的进程至多带来 ${atMost}。`,
  straight: (lane: Said, most: string) => say`${lane} 直到 ${most} 个进程都没有拐点：每一级至少带来应有的一半。`,
  open: (lane: Said, most: string) => say`${lane} 直到 ${most} 个进程是否有拐点未知：噪声太大，或轮数太少，或在某一轮中停滞不动。`,
};
