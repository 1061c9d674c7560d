// 关于有历史的赛道的说法，中文。
import { say, type Said } from "../words/say";
import type { aged as english } from "./en_aged";

type Pair = readonly [Said | string, Said | string];

export const aged: typeof english = {
  title: "老化的影响",
  legend:
    "写入：比赛之前的使用过程写入的量，以赛道大小为单位；被拒：因空间不足而未能完成的操作。每个文件的区段数（FIEMAP）与布局分数（文件中紧跟前一块的块所占比例，Smith 与 Seltzer）是比赛之前老化目录树的数值。遍历分数：按遍历顺序对所有块计算的同一分数。老化/全新：小于 1 表示老化的赛道更慢；括号中为区间，星号表示已有定论。–：未知，或没有这样的赛道参赛。",
  columns: {
    lane: "赛道",
    written: "写入",
    refused: "被拒",
    files: "文件",
    used: "已用",
    extents: "每个文件的区段数",
    layout: "布局分数",
    walk: "遍历分数",
    split: "分散的目录",
    free: "空闲空间",
    cold: "冷读",
  },
  beside: "老化与全新对照",
  work: "工作",
  ratio: (ratio: string, interval: readonly [string, string] | null, decided: boolean) =>
    `${ratio}${decided ? "*" : ""}${interval === null ? "" : `（${interval[0]} 至 ${interval[1]}）`}`,
  free: (all: string, pieces: string, small: string) => `${all}，共 ${pieces} 块，其中 ${small} 小于 64 KiB`,
  cold: (aged: string, fresh: string, ratio: string, share: string, disk: string) => {
    const place = disk === "" ? "" : `在 ${disk} 上`;
    return `每 GiB ${aged}，全新副本 ${fresh}：耗时为 ${ratio}（${share} 的文件，生成映像时${place}各读一次）`;
  },
  state: (lane: Said, known: readonly string[]) => say`${lane}：${known.join("；")}。`,
  filled: (reached: string, byLife: string) => `文件占赛道的 ${reached}，按其使用过程应为 ${byLife}`,
  taken: (held: string, taken: string) => `文件内容为 ${held}，占用 ${taken}`,
  differing: (files: string) => `与其使用过程不符的文件：${files}`,
  sizes: (share: string, probability: string) =>
    `与同一使用模式的另一次使用过程相比，${share} 的文件会落入另一大小类别（卡方检验，p ${probability}）`,
  ages: (share: string, probability: string) =>
    `与同一使用模式的另一次使用过程相比，${share} 的文件会落入另一年龄类别（卡方检验，p ${probability}）`,
  below: (probability: string) => `小于 ${probability}`,
  alone: (lane: Said) => say`${lane}：没有全新的同一赛道参赛，因此老化对它的影响未知。`,
  withoutRows: (lane: Said, fresh: Said) => say`${lane} / ${fresh}：没有一行同时有两者的数值。`,
  ranks: (flips: string, decided: string, open: string) =>
    `全新与老化都有定论的比较（含持平）：${decided}；名次颠倒：${flips}；全新或老化未有定论：${open}。`,
  unequal: (pairs: string) =>
    `因占用程度不同而未计入比较的同一历史赛道对：${pairs} 对。`,
  flip: (title: Said | string, fresh: Pair, aged: Pair) =>
    say`${title}：全新时 ${fresh[0]} 领先 ${fresh[1]}，老化后 ${aged[0]} 领先 ${aged[1]}。`,
};
