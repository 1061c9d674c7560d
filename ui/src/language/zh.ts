// 页面所说的一切，简体中文。
import type { Undecided } from "../types";
import type { Figures } from "../words/figures";
import { joined, say, toned, type Said } from "../words/say";
import type { Difference, End, Latency, WorkDifference, Words } from "./en";
import { dashboard } from "./zh_dashboard";
import { knowledge } from "./zh_knowledge";
import { appenders } from "./zh_appenders";
import { explain } from "./zh_explain";
import { aged } from "./zh_aged";
import { layers } from "./zh_layers";
import { io500, ladder, ranks } from "./zh_ranks";
import { screening } from "./zh_screening";
import { transactions } from "./zh_transactions";

const list = (parts: readonly Said[], last: "and" | "or"): Said => {
  const before = parts.slice(0, -1);
  const end = parts[parts.length - 1] ?? [];
  return before.length === 0 ? end : say`${joined(before, "、")} ${last === "and" ? "和" : "或"} ${end}`;
};
const latencies: Record<Latency, string> = {
  p50: "中位延迟",
  p99: "p99 延迟",
  p999: "p99.9 延迟",
  mean: "平均延迟",
  other: "延迟",
};
const range = (of: [string, string] | null, unit = ""): string => (of === null ? "" : `（${of[0]}–${of[1]}${unit}）`);
/** 比 ext4 快 9%(6–12%);速度是 ext4 的 2.1 倍;速度仅为 ext4 的 48%。 */
const compared = (of: Difference & Partial<WorkDifference>, other: Said, withInterval: boolean): Said => {
  const { gap, latency, sure } = of;
  const tone = gap.faster ? "faster" : "slower";
  const interval = (pair: [string, string] | null, unit = "") => (withInterval ? range(pair, unit) : "");
  if (sure === "sign") {
    const told = latency === null ? (gap.faster ? "快" : "慢") : gap.faster ? "低" : "高";
    return say`${latency === null ? "" : latencies[latency]}比${other}${toned(tone, told)}`;
  }
  if (sure === "at-least") {
    const what = latency === null ? "速度" : latencies[latency];
    // 比值越小差距越大，所以“至少”在这里成了“至多”。
    const down = latency === null ? !gap.faster : gap.faster;
    if (gap.factor && down) return say`${what}${toned(tone, say`至多为${other}的 ${gap.share}`)}`;
    if (gap.factor) return say`${what}${toned(tone, say`至少是${other}的 ${gap.size} 倍`)}`;
    if (latency !== null) return say`${what}比${other}${toned(tone, `至少${gap.faster ? "低" : "高"} ${gap.size}`)}`;
    return say`比${other}${toned(tone, `至少${gap.faster ? "快" : "慢"} ${gap.size}`)}`;
  }
  if (latency !== null) {
    const what = latencies[latency];
    // 延迟以时间本身计：较低者更快。
    if (gap.factor && gap.faster) return say`${what}${toned(tone, say`仅为${other}的 ${gap.share}`)}${interval(gap.shareInterval)}`;
    if (gap.factor) return say`${what}${toned(tone, say`是${other}的 ${gap.size} 倍`)}${interval(gap.interval, " 倍")}`;
    return say`${what}比${other}${toned(tone, `${gap.faster ? "低" : "高"} ${gap.size}`)}${interval(gap.interval)}`;
  }
  if (gap.factor && gap.faster) return say`速度${toned(tone, say`是${other}的 ${gap.size} 倍`)}${interval(gap.interval, " 倍")}`;
  if (gap.factor) return say`速度${toned(tone, say`仅为${other}的 ${gap.share}`)}${interval(gap.shareInterval)}`;
  return say`比${other}${toned(tone, `${gap.faster ? "快" : "慢"} ${gap.size}`)}${interval(gap.interval)}`;
};
const spaced = (name: Said): Said => say` ${name} `;

const because: Record<Undecided, string> = {
  noise: "噪声太大，不能排名",
  "too-few-rounds": "轮次太少，不能排名",
  interrupted: "判定之前被中断",
  "out-of-budget": "判定之前时间已用完",
  "machine-busy": "受到其他程序干扰",
};

const notYet: Record<Undecided, string> = {
  noise: "测得的数据噪声太大",
  "too-few-rounds": "测的轮次太少",
  interrupted: "还没能分出高下，比赛就被中断了",
  "out-of-budget": "还没能分出高下，时间就用完了",
  "machine-busy": "大部分测量受到其他程序干扰",
};

export const zh: Words = {
  name: "中文",
  locale: "zh-CN",
  units: { operations: "次/秒" },
  list,
  end: "。",
  colon: "：",
  semicolon: "；",
  comma: "、",
  clause: "，",
  brackets: (inside) => say`（${inside}）`,
  latencies,
  ...dashboard,
  ...knowledge,

  page: {
    report: "Fairlane 报告",
    skip: "跳到结论",
    contents: "目录",
    language: "语言",
    theme: "外观",
    themes: { auto: "跟随系统", light: "浅色", dark: "深色" },
    print: "打印",
    copy: "复制",
    copied: "已复制",
    madeBy: (version) => `由 Fairlane ${version} 生成。本文件不访问任何网络。`,
    noData: "本页没有数据。用 fairlane report --format html 可生成带数据的页面。",
    noInflate: "本报告的数据经过压缩，而此浏览器无法解压（缺少 DecompressionStream）。请用 2023 年以后的浏览器打开。",
    badData: (why) => `无法读取本页的数据（${why}）。请重新生成报告。`,
    otherSchema: (schema) => `数据的 schema 为 ${schema}，本页不认识。请用同一版本的 Fairlane 重新生成报告。`,
    unnamed: "（未命名）",
  },

  sections: {
    answer: "结论",
    scoreboard: "总览",
    advice: "什么工作选哪个",
    results: "各项结果",
    operations: "文件操作",
    ceilings: "裸盘能做到多少",
    guestCeilings: "客户机的裸盘能做到多少",
    published: "与已发表数据对照",
    ground: "机器、赛道与复现方法",
    trials: "全部试验",
  },

  appenders,
  explain,
  aged,
  io500,
  ladder,
  layers,
  ranks,
  screening,
  transactions,

  verdict: {
    faster: "更快",
    slower: "更慢",
    tie: "持平",
    undecided: "未定",
    none: "不作判定",
    reference: "基准",
    failed: "失败",
    missing: "无数据",
  },

  limits: {
    device: { mark: "磁盘", says: "测到的是磁盘：这项测试分不出这些文件系统的高下。" },
    "own-disk": { mark: "各自磁盘", says: "测到的是每条赛道各自的磁盘：判定针对文件系统与磁盘的组合。" },
    "write-amplification": { mark: "写放大", says: "磁盘已满负荷，而各赛道写入磁盘的量不同。" },
    "filesystem-cpu": { mark: "CPU", says: "受限于文件系统的 CPU 时间。" },
    cpu: { mark: "全部 CPU", says: "受限于全部 CPU，其中也包括负载自身的开销。" },
    "filesystem-serialised": { mark: "等待", says: "文件系统让磁盘空等。" },
    flush: { mark: "刷盘", says: "受限于刷盘（flush）。" },
    cache: { mark: "缓存", says: "由内存而非磁盘应答。" },
    harness: { mark: "Fairlane", says: "瓶颈是 Fairlane 自身：不作判定。" },
    "other-programs": { mark: "其他程序", says: "当时有其他程序在运行，因此瓶颈不明。" },
    unattributed: { mark: "不明", says: "瓶颈不明。" },
  },

  answer: {
    dateline: (suite, date) => say`测试集 ${suite}，测于 ${date}`,
    imported: (formats, date) => say`导入自 ${formats}${date === "" ? "" : `，测于 ${date}`}`,
    choice: (lanes) => (lanes.length < 2 ? say`这组负载选 ${list(lanes, "or")}` : say`这组负载选 ${list(lanes, "or")} 均可`),
    byWork: (lanes) => say`选 ${list(lanes, "or")}，视具体负载而定`,
    level: (lanes) => say`差别都不作数：选 ${list(lanes, "or")} 均可`,
    levelWhy: (margin) => say`没有发现超过 ${margin} 界限的差别。`,
    unnamed: "这场比赛没有发现可以认定的差别。",
    yet: (reason, ties) =>
      say`${notYet[reason]}${ties.length > 0 ? say`；已有判定的都持平：${ties}` : ""}。`,
    none: "无法给出选择",
    noneYet: "暂时无法给出选择",
    searched: "每条赛道能承受多少个写入者，见下文",
    nothing: "还没有测到任何数据，比赛就结束了",
    alone: "只测了一条赛道，没有可比较的对象",
    aloneWhy: "请再指定一条赛道。",
    aloneImported: "只导入了一条赛道，没有可比较的对象",
    aloneImportedWhy: "请再导入另一条赛道的文件。",
    twice: "同一条赛道与自身比赛：这只显示噪声，不决定任何选择",
    costs: "选其他的代价",
    apart: "它们的差别",
    cannot: "这场比赛说不清的",
    claims: (subject: Said, claims: readonly WorkDifference[], more: number): Said => {
      // 每项都点明对手：中文的“比”不能省宾语。
      const parts = claims.map((claim) => say`${claim.work}${compared(claim, spaced(claim.other), false)}`);
      return say`${subject}：${joined(parts, "，")}${more > 0 ? `（另有 ${more} 项见下文）` : ""}。`;
    },
    limited: {
      device: (count, of, titles) =>
        say`${of} 项测试中有 ${toned("strong", `${count} 项`)}测到的是磁盘，而不是文件系统：${titles}。`,
      cache: (count, of, titles) =>
        say`${of} 项测试中有 ${toned("strong", `${count} 项`)}由内存而非磁盘应答：${titles}。`,
      harness: (count, of, titles) =>
        say`${of} 项测试中有 ${toned("strong", `${count} 项`)}的瓶颈是 Fairlane 自身：${titles}。`,
    },
    disturbed: "多数轮次受到其他程序干扰：请在机器空闲时重新测试，再依此决定。",
    reached: (workloads, of) => say`${String(of)} 项工作中只测到 ${String(workloads)} 项，以上只就这些而言。`,
    unsure: (titles) => say`行数这么多，以下差别还不确定：${titles}。`,
    undecided: (titles, settle) => say`尚无定论：${titles}；${settle}。`,
    settleFirst: (option, value, about) =>
      say`${[{ code: `${option} ${value}` }]}${about === null ? "" : `（约 ${about}）`}是通常能判定的最少轮数`,
    settleResume: (about) => say`用 ${[{ code: "--resume" }]} 可以继续${about === null ? "" : `（约 ${about}）`}`,
    settleBy: (option, value, about, someOnly) =>
      say`用 ${[{ code: `${option} ${value}` }]}${about === null ? "" : `（约 ${about}）`}应可${someOnly ? "定论其中一部分，其余的需要半天以上" : "定论"}`,
    settleLong: say`要定论，在这台机器上需要测半天以上`,
    settleQuiet: say`其中多数轮次受到其他程序干扰，请在机器空闲时重测`,
    settleMore: say`再测几轮或可定论`,
    noVerdictAt: (titles, why) => say`${titles} 不作判定：${why}。`,
    notRanked: (lanes, what, against) => say`${lanes} 不与 ${against} 排名：${what}。`,
    failedAt: (lane, titles) => say`${lane} 在以下测试中失败：${titles}。`,
    saidOfTheGround: (said) => say`${said}。`,
    notTested: (what) => say`未测试：${what}。`,
    next: "接下来值得运行",
    brief: "按使用场景",
    briefShares: "百分比：测了多少这类工作。",
    steps: (title, count, of) => say`${title}（${of} 步中的 ${count} 步）`,
    counted: (f: Figures, ok, repeated, failed, voided, margin) =>
      [
        `${f.whole(ok)} 次试验计入`,
        repeated > 0 ? `${f.whole(repeated)} 次因外来干扰重做` : "",
        failed > 0 ? `${f.whole(failed)} 次失败` : "",
        voided > 0 ? `${f.whole(voided)} 次因限速未守住或机器休眠而作废` : "",
        margin === null ? "" : `确定相差不到 ${margin} 视为持平`,
      ]
        .filter((part) => part !== "")
        .join("；") + "。",
    outcomes: {
      interrupted: "比赛被中断：以下只依据已完成的轮次。",
      unexplained: "各轮都已完成。比赛在其后不计入结论的几遍中被中断；--resume 会补做所缺的。",
      failed: "比赛因错误而终止：以下只依据已完成的轮次。",
      running: "比赛仍在进行：以下只依据目前已完成的轮次。",
      unfinished: "比赛被终止或已崩溃：以下只依据已完成的轮次。",
    },
    throttled: (limits) => say`每条赛道的磁盘都被限速（${limits}）：所有数据都是在这块模拟的磁盘上得到的。`,
    ownDisks: (disks) => say`各赛道用的是各自的磁盘（${disks}）：每项判定都针对文件系统与磁盘的组合。`,
    noLimits: "未限速",
  },

  statements: {
    atTheDisk: (rates, tie, once) =>
      say`${tie ? toned("tie", "持平") : toned("none", "不作判定")}，${once ? "一轮中" : ""}都达到磁盘自身的 ${rates}：这项测试分不出文件系统的高下`,
    tie: (lanes, latency, within) =>
      say`${lanes} ${latency ? `${latencies[latency]}` : ""}${toned("tie", "持平")}${within ? `（相差不超过 ${within}）` : ""}`,
    apart: (lane, differences) => {
      const parts = differences.map((of) => compared(of, spaced(of.other), true));
      return say`${lane} ${joined(parts, "，")}`;
    },
    between: (a, b, latency, low, high) => {
      const [less, more] = latency === null ? ["慢", "快"] : ["低", "高"];
      const told = (of: End) => `${of.more ? more : less} ${of.size}`;
      return say`${a} 比${b}${latency === null ? "" : `的${latencies[latency]}`}${told(low)}到${told(high)}之间`;
    },
    soFar: (a, b, latency, part) => say`${a}${latency === null ? "" : `的${latencies[latency]}`}为 ${b} 的 ${part}`,
    notTogether: (a, b) => say`${a} 与 ${b} 还没有一同测过`,
    undecided: (reason, pairs) => say`${toned("undecided", because[reason])}，${pairs}`,
    noVerdict: (pairs, why) =>
      say`${pairs}${pairs.length > 0 ? "，" : ""}${toned("none", "不作判定")}${why ? say`：${why}` : ""}`,
    ratios: (a, to) => say`${a} 是 ${joined(to.map((of) => say`${of.other} 的 ${of.factor}`), "、")}`,
    against: (a, b) => say`${a} 对 ${b}`,
    failed: (lane, why) => say`${lane} ${toned("slower", "失败")}：${why}`,
    alone: (lane, rate) => say`${lane} ${rate}；只有这一条赛道有数据，没有可比较的对象`,
    nothing: say`没有数据：没有完成任何一轮`,
    atRate: (rate) => say`（每条赛道的负载均为 ${rate}）`,
  },

  scoreboard: {
    intro: (lane, margin) =>
      say`以 ${lane} 的速度为基准；大于 1× 即更好，延迟也一样。横条：比值的区间，刻度从四分之一到四倍；底带：${margin} 的持平界限。`,
    against: "比较基准",
    workload: "负载",
    limit: "受限于",
    why: (title) => `${title} 的瓶颈`,
    cell: (verdict, ratio, low, high) =>
      low === null || high === null ? `${verdict}，${ratio}` : `${verdict}，${ratio}，区间 ${low} 到 ${high}`,
    table: (steps) => `${steps} 步的几何平均`,
    counts: (wins, ties, losses, undecided, none) =>
      [
        wins > 0 ? `▲ ${wins}` : "",
        ties > 0 ? `= ${ties}` : "",
        losses > 0 ? `▼ ${losses}` : "",
        undecided > 0 ? `? ${undecided}` : "",
        none > 0 ? `– ${none}` : "",
      ]
        .filter((part) => part !== "")
        .join(" · "),
    other: (lane) => say`对比 ${lane}`,
    key: "符号：▲ 更快，▼ 更慢，= 持平，? 未定，– 不作判定。",
  },

  results: {
    ranking: "名次",
    rounds: (count) => `${count} 轮`,
    lane: "赛道",
    mean: "均值",
    figures: "各赛道的数据",
    metrics: {
      operations_per_second: "每秒操作数",
      bandwidth_bytes_per_second: "吞吐量",
      latency_p50_ns: "中位延迟",
      latency_p99_ns: "p99 延迟",
      ...appenders.metrics,
      time_ns: "时间",
      latency_p999_ns: "p99.9 延迟",
      latency_mean_ns: "平均延迟",
      seconds: "时间",
      cpu_percent: "作业的 CPU 占用",
      system_percent: "其中内核态",
      device_busy_percent: "设备繁忙",
    },
    columns: {
      p50: "p50",
      p99: "p99",
      p999: "p99.9",
      longest: "各轮中最长",
      meanLatency: "平均延迟",
      cpu: "每次操作的 CPU",
      cpuGib: "每 GiB 的 CPU",
      own: "其中 Fairlane 自身",
      cpuShare: "CPU 占用",
      systemShare: "其中内核态",
      written: "写放大",
      extents: "文件的区段数",
      flushes: "每次操作的刷盘",
      deviceUse: "磁盘利用",
      busy: "磁盘繁忙",
    },
    columnsNote: "CPU：整个系统的，含内核线程。写放大：负载每写一字节，磁盘写入的字节数。磁盘利用：占裸盘能力的比例。",
    impossible: (share) => `${share}（不可能）`,
    bareDisk: (rate) => `裸盘 ${rate}`,
    dots: "各轮与区间",
    dotsCaption: (f, metric, rounds, lanes, ceiling) =>
      say`${metric}：${f.whole(rounds)} 轮各为一个淡点；标记与横条为几何平均及其 95% 区间。${joined(lanes, "；")}。${ceiling ? `虚线：裸盘，${ceiling}。` : ""}`,
    laneFigure: (lane, rate, range) => (range ? say`${lane} ${rate}（${range}）` : say`${lane} ${rate}`),
    thinned: (f, shown, all) => `图中为 ${f.whole(all)} 轮中的 ${f.whole(shown)} 轮。`,
    latency: "单次操作的延迟",
    latencyCaption: (lanes) =>
      say`按百分位排列的延迟，各轮合并，直到只剩 20 次更慢的操作为止；横轴每一格多一个九。${joined(lanes, "；")}。`,
    latencyFigure: (lane, p50, p99, last, lastAt) =>
      say`${lane} ${p50 ? `中位 ${p50}，` : ""}${p99 ? `p99 ${p99}，` : ""}${lastAt} ${last}`,
    percentile: "百分位",
    cost: "代价",
    cpuOf: { gib: "每 GiB 的全系统 CPU 时间", operation: "每次操作的全系统 CPU 时间" },
    amplification: "每写一字节，磁盘写入的字节数",
    costCaption: (parts) => joined(parts, ""),
    costPart: (what, lanes) => say`${what}：${joined(lanes, "，")}。`,
    courseOpen: "显示系统的变化过程",
    courseOverlay: "把各赛道叠在一起",
    courseApart: "各赛道并列",
    zoomIn: "放大",
    zoomOut: "缩小",
    earlier: "向前",
    later: "向后",
    zoomAll: "全部",
    courseHelp: "横轴是各赛道的测量时间，各测量窗口首尾相接；所有赛道使用相同的坐标轴。",
    second: "秒",
    round: "轮次",
    courseCaption: (what, lanes) => say`${what}。${joined(lanes, "；")}。`,
    courseFigure: (lane, low, high) => say`${lane} 在 ${low} 与 ${high} 之间`,
    courseSame: (lane, figure) => say`${lane} 始终为 ${figure}`,
    courseNothing: (quantities) => `在所有赛道上始终为零：${quantities}。`,
    quantities: {
      operations_per_second: "每秒操作数",
      cpu_share: "CPU 占用，占全部 CPU",
      iowait_share: "等待 I/O 时的 CPU 空闲",
      steal_share: "被虚拟机监控程序占走的 CPU",
      device_read_bytes_per_second: "设备读取速率",
      device_write_bytes_per_second: "设备写入速率",
      device_iops: "设备每秒完成的请求",
      device_flushes_per_second: "设备每秒刷盘次数",
      device_queue: "设备上未完成的请求",
      device_busy_share: "设备有请求在处理的时间",
      dirty_bytes: "页缓存中待写回的数据",
      pressure_io_share: "有任务等待 I/O 的时间",
      ...appenders.quantities,
    },
    steps: "此表各步详情",
    notes: "备注",
  },

  figure: {
    table: "表格",
    svg: "SVG",
    png: "PNG",
    save: "保存此图",
    thinned: (f, shown, all) => `共 ${f.whole(all)} 行，均匀选取 ${f.whole(shown)} 行`,
  },

  operations: {
    heading: (f, steps, rounds, passes, reference) =>
      say`${steps} 步，${rounds} 轮${passes > 1 ? `，每轮取 ${f.whole(passes)} 遍的中位数` : ""}${reference ? say`；基准：${reference}（2.0× 即快一倍）` : ""}。`,
    step: "步骤",
    unnamed: "步骤",
    floor: (share) => `下限 ${share}`,
    noFloor: "无下限",
    floorNote: (floor) =>
      say`下限：${floor} 做同一步所用时间占该赛道时间的比例，大致是没有磁盘时系统调用与复制的开销。`,
    total: (steps, of) => (steps === of ? "全部步骤" : `${of} 步中的 ${steps} 步`),
    sync: "工作之后的 sync",
    unmount: "卸载",
    startup: (share) => `进程启动 ${share}`,
    startupWarning: (share) => `每次操作都是一个单独的进程，全部时间中有 ${share} 是进程启动：这些数字反映的是进程启动有多快。`,
    perSecond: "/秒",
    pair: (a, b, mean, steps) =>
      mean === null ? say`${a} 对 ${b}：没有比值` : say`${a} 对 ${b}：${steps} 步的几何平均为 ${mean}`,
    counts: (wins, ties, losses, undecided, none) => {
      const parts = [`更快 ${wins} 步`, `持平 ${ties} 步`, `更慢 ${losses} 步`];
      if (undecided > 0) parts.push(`未定 ${undecided} 步`);
      if (none > 0) parts.push(`不作判定 ${none} 步`);
      return parts.join("，");
    },
    byChance: (f, expected, of) =>
      `每一步各自保证 5% 的错误率：即使所有赛道完全一样，${f.whole(of)} 步中预计仍会有至多 ${f.whole(expected)} 步分出快慢。`,
    missing: (lane, why) => say`${lane} 没有数据（–）：${why}`,
    open: (step) => `${step} 的详情`,
  },

  ceilings: {
    none: "没有测过裸设备，因此无法指出瓶颈。",
    intro: "相同的引擎、块大小和队列深度，不经文件系统；取各次探测的中位数。",
    file: "因有赛道是目录，故在写满的文件上测得。",
    inPageCache: "该磁盘位于主机的页缓存中：这些数字说明客户机有多快，与你的磁盘无关。",
    profile: "类型",
    probes: "探测次数",
    profiles: {
      "seq-read": "顺序读",
      "seq-write": "顺序写",
      "rand-read": "随机读",
      "rand-write": "随机写",
      flush: "写入并刷盘",
      null: "引擎，无设备",
    },
    time: "单次耗时",
    throughput: "吞吐量",
    iops: "IOPS",
  },

  published: {
    intro: "不作判定：两者之间隔着不同的机器和方法。可以比较的是各自赛道之间的差距。",
    source: (title, site, author, year) => say`${title}；${site}${author ? `，${author}` : ""}${year ? `，${year}` : ""}`,
    lane: "赛道",
    yours: "本次",
    article: "文章",
    about: "约",
    above: "超过",
    "at-most": "至多",
    differ: "为何不同",
    caveats: "文章没有说明的",
    notCompared: "未作比较",
    nothing: "没有共同之处：记录中的负载与分组在文章里都没有。",
    stands: (yours, theirs) => say`${yours} 对应文章的 ${theirs}`,
    ratio: (a, b) => say`${a} 对 ${b}`,
    total: "合计",
    metric: "指标",
  },

  ground: {
    machine: "机器",
    lanes: "赛道",
    again: "重新运行",
    warnings: "相信这些数字之前应当知道的",
    noWarnings: "没有需要注意的事项。",
    selfCheck: (lane, parts, believe) =>
      say`${lane} 与自身相比：${parts}${believe ? "；这次竞速中不要相信这种大小的差异" : ""}。`,
    selfPart: (verdict, count, of, within) =>
      `${verdict} ${count === of ? `全部 ${of}` : `${count} / ${of}`} 项${within ? `（相差不超过 ${within}）` : ""}`,
    selfApart: "有差异",
    calibration: "这台机器的噪声",
    seed: "随机种子",
    version: "Fairlane",
    record: "记录",
    started: "开始时间",
    facts: {
      cpu: "CPU",
      memory: "内存",
      os: "系统",
      kernel: "内核",
      governor: "调频策略",
      virtual: "虚拟机",
      disk: "磁盘",
      cache: "写缓存",
      scheduler: "I/O 调度器",
      host: "镜像所在",
      dirty: "脏页比例",
      tools: "工具",
      throttle: "限速",
    },
    cpus: (cpu, cpus) => `${cpu}，${cpus} 个 CPU`,
    rotational: "旋转盘（据内核所知）",
    notRotating: "非旋转盘",
    unknown: "未知",
    mkfs: "mkfs",
    mount: "挂载选项",
    venue: "位置",
    venues: { image: "镜像文件", device: "块设备", directory: "目录", memory: "内存", library: "进程内的库", foreign: "由其他工具测得" },
    filesystem: "文件系统",
    geometry: "布局",
    promises: "保证",
    kept: {
      journal: "元数据崩溃安全",
      fsync_reaches_stable_storage: "fsync 到达稳定存储",
      barriers: "写屏障",
      data_checksums: "数据校验和",
      outlives_cache: "fsync 的数据在缓存盘丢失后仍在",
    },
    not: (what) => `无“${what}”`,
    server: {
      unsaid: "其服务器保证什么尚不清楚",
      sync: "其服务器在数据写到磁盘之后才应答客户端的同步（据所说）",
      async: "其服务器在数据写到磁盘之前就应答客户端的同步（据所说）",
    },
    self: "第一条赛道再跑一次：两者之间的任何差别都是噪声",
    none: "无",
    bothWays: (limits) => `读、写各 ${limits}`,
    reads: "读",
    writes: "写",
    calibrated: (f, different, races, low, high) =>
      `相同赛道之间的 ${f.whole(races)} 场比赛中，有 ${f.whole(different)} 场被判为不同（95% 置信区间 ${low} 到 ${high}；承诺不超过 5%）。`,
  },

  trials: {
    all: (f, shown, all) =>
      shown === all ? `共 ${f.whole(all)} 行。` : `本文件含 ${f.whole(all)} 行中的 ${f.whole(shown)} 行，其余见记录。`,
    columns: {
      workload: "负载",
      group: "分组",
      lane: "赛道",
      round: "轮次",
      attempt: "第几次",
      outcome: "结局",
      started: "开始于",
      value: "数值",
      operations: "操作数",
      bytes: "字节",
      seconds: "秒",
      p99: "p99",
      remark: "备注",
    },
    outcomes: { ok: "计入", failed: "失败", repeated: "重做", void: "作废" },
    filter: "筛选",
    every: "全部",
    page: (from, to, of) => `第 ${from}–${to} 行，共 ${of} 行`,
    previous: "上一页",
    next: "下一页",
    csv: "全部存为 CSV",
    json: "全部存为 JSON",
    sortBy: (column) => `按${column}排序`,
    none: "没有符合条件的试验。",
    table: "试验，每次试验的每个分组一行",
  },
};

