// 关于 MPI 作业各进程与 IO500 分数的说法，中文。
import { say, type Said } from "../words/say";
import type { io500 as englishIo500, ranks as english } from "./en_ranks";

export const ranks: typeof english = {
  title: "各进程（rank）的表现",
  legend:
    "单个进程每秒的操作数：一轮中最慢的、平均的和最快的。离散度：标准差除以平均值。最先与最后完成：从共同起点算起。各轮的中位数。",
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
  },
  ranks: (ranks: string, nodes: string | null) => (nodes === null ? ranks : `${ranks}，在 ${nodes} 个节点上`),
  rank: (rank: string, node: string | null) => (node === null ? `进程 ${rank}` : `进程 ${rank}（节点 ${node}）`),
  straggler: (work: Said, lane: Said, rank: string, rounds: string, of: string, below: string) =>
    say`${work}，${lane}：${of} 轮中有 ${rounds} 轮 ${rank} 最慢，比其他进程的平均值低 ${below}（中位数）。原因不明：可能是其节点、其网络，或它所处理的文件。`,
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
