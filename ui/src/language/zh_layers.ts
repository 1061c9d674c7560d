// 关于各层与多块磁盘代价的说法，中文。
import { say, type Said } from "../words/say";
import type { layers as english } from "./en_layers";

export const layers: typeof english = {
  title: "各层的代价",
  legend:
    "写入：应用每写一个字节，所有磁盘上写入的字节数，为各行的平均值；按磁盘的分摊以测量窗口内的写入为准。CPU：整个系统每次操作的 CPU 时间，相对于同一赛道不带各层时的倍数，没有区间。仅各层：没有文件系统时各层的速度，相对于裸磁盘的倍数，只查看一次。–：未知，或没有这样的赛道参赛。",
  columns: {
    lane: "赛道",
    usable: "可用",
    written: "写入",
    byDisk: "按磁盘",
    cpu: "CPU",
    alone: "仅各层",
  },
  usable: (usable: string, all: string) => `${all} 中的 ${usable}`,
  beside: (own: string, other: string, lane: Said) => say`${own}（${lane} ${other}）`,
  cpu: (times: string, range: readonly [string, string] | null, lane: Said, rows: string) =>
    say`${lane} 的 ${times}${range === null ? "" : `（${range[0]} 至 ${range[1]}）`}，${rows} 行`,
  alone: (times: string, kinds: string) => `裸磁盘的 ${times}，${kinds} 种工作`,
  fromTo: (least: string, most: string) => `${least} 至 ${most}`,
};
