// 关于大量写入者的话，简体中文。
import { joined, say, toned } from "../words/say";
import type { appenders as english } from "./en_appenders";

export const appenders: typeof english = {
  title: "大量写入者：延误多少，能承受多少",
  heading: (title, writers, files, period, processes) =>
    say`${title}：${writers} 个写入者，各 ${files} 个文件，每 ${period} 一次${processes ? "，各为一个进程" : ""}。`,
  legend:
    "延误从记录到期之时算到追加完成之时。写入者只要有记录晚了一个周期或更多，就算延误。自身延误是其中由测试程序和调度器造成的部分。",
  columns: {
    lane: "赛道",
    lateWriters: "延误的写入者",
    lateRecords: "延误的记录",
    p50: "p50",
    p99: "p99",
    p999: "p99.9",
    max: "最大",
    own: "自身 p99",
    dirty: "Dirty 最大值",
    blocked: "阻塞任务最多",
  },
  group: (lane, group) => say`${lane}，${group}`,
  backlog: (lane, rounds, of) => say`${lane} 在 ${of} 轮中的 ${rounds} 轮跟不上：积压不断增长。`,
  picture: (lane) => say`${lane} 之下的机器：上为内存，下为 iowait 和负载。所有赛道使用相同的坐标轴。`,
  pictureTitle: (lane) => `内存、iowait 和负载：${lane}`,
  lines: {
    buffers_bytes: "Buffers",
    cached_bytes: "Cached",
    dirty_bytes: "Dirty",
    iowait_share: "iowait",
    iowait_average_share: "iowait，10 秒平均",
    load_average: "负载",
  },
  between: (line, low, high) => `${line} ${low} 到 ${high}`,
  search: "各赛道能承受的写入者",
  searchBy: {
    lateness: "能承受：p99 延误小于一个周期，且积压不增长。",
    load: "能承受：仅这一步的平均负载不超过 CPU 数。",
  },
  searchHeading: (title, files, period, passes) =>
    say`${title}，改变写入者数：各 ${files} 个文件，每 ${period} 一次；${passes} 遍。`,
  writers: "写入者",
  interval: "95% 区间",
  edge: "极限处",
  atLeast: (writers) => `至少 ${writers}`,
  times: (a, b, size, interval) =>
    say`${a} 能承受的写入者是 ${b} 的 ${toned("faster", `${size} 倍`)}${interval === null ? "" : `（${interval}）`}`,
  more: (a, b, size, more, interval) =>
    say`${a} 能承受的写入者比 ${b} ${toned(more ? "faster" : "slower", `${more ? "多" : "少"} ${size}`)}${interval === null ? "" : `（${interval}）`}`,
  tie: (a, b) => say`${a} 与 ${b} ${toned("tie", "持平")}`,
  noisy: (a, b) => say`${a} 与 ${b}：${toned("undecided", "尚无定论")}`,
  none: (a, b) => say`${a} 与 ${b}：${toned("none", "无结论")}`,
  because: (said, why) => say`${said}：${why}`,
  and: (parts) => joined(parts, "；"),
  metrics: {
    lateness_p50_ns: "中位延误",
    lateness_p99_ns: "p99 延误",
    late_share: "延误的记录",
    late_writers_share: "延误的写入者",
  },
  quantities: {
    buffers_bytes: "块设备的页缓存（Buffers）",
    cached_bytes: "文件的页缓存（Cached）",
    writeback_bytes: "正在写往磁盘（Writeback）",
    iowait_average_share: "等待 I/O 时的 CPU 空闲，10 秒平均",
    load_average: "一分钟平均负载",
    blocked_tasks: "不可中断地等待的任务（D 状态）",
    kworker_share: "内核工作线程的 CPU，占全部 CPU",
    device_reads_per_second: "设备每秒完成的读取",
    device_writes_per_second: "设备每秒完成的写入",
  },
};
