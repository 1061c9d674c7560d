// 自带负载的名称与建议，简体中文。
import type { Gap } from "../words/figures";
import { joined, say, toned, type Said } from "../words/say";
import type { knowledge as english } from "./en_knowledge";

const list = (parts: readonly Said[], last: string): Said => {
  const before = parts.slice(0, -1);
  const end = parts[parts.length - 1] ?? [];
  return before.length === 0 ? end : say`${joined(before, "、")} ${last} ${end}`;
};
/** 比 btrfs 好 9%;是 btrfs 的 2.1 倍;仅为 btrfs 的 48%。 */
/** 至少好 9%；只有方向确定时不说数字。 */
const surely = (gap: Gap, lane: Said, atLeast: boolean): Said => {
  const tone = gap.faster ? "faster" : "slower";
  const word = gap.faster ? "好" : "差";
  if (!atLeast) return say`比 ${lane} ${toned(tone, word)}`;
  if (!gap.factor) return say`比 ${lane} ${toned(tone, `至少${word} ${gap.size}`)}`;
  if (gap.faster) return toned(tone, say`至少是 ${lane} 的 ${gap.size} 倍`);
  return toned(tone, say`至多为 ${lane} 的 ${gap.share}`);
};
const compared = (gap: Gap, lane: Said, better: [string, string]): Said => {
  const tone = gap.faster ? "faster" : "slower";
  if (!gap.factor) {
    const range = gap.interval === null ? "" : `（${gap.interval[0]}–${gap.interval[1]}）`;
    return say`比 ${lane} ${toned(tone, `${gap.faster ? better[0] : better[1]} ${gap.size}`)}${range}`;
  }
  if (gap.faster) {
    const range = gap.interval === null ? "" : `（${gap.interval[0]}–${gap.interval[1]} 倍）`;
    return say`${toned(tone, say`是 ${lane} 的 ${gap.size} 倍`)}${range}`;
  }
  const range = gap.shareInterval === null ? "" : `（${gap.shareInterval[0]}–${gap.shareInterval[1]}）`;
  return say`${toned(tone, say`仅为 ${lane} 的 ${gap.share}`)}${range}`;
};

export const knowledge: typeof english = {
  known: {
    "commit 4 KiB, preallocated log": "提交写入 4 KiB，预分配的日志",
    "append and commit 4 KiB": "追加并提交 4 KiB",
    "commit 4 KiB, several threads": "提交写入 4 KiB，多线程",
    "random read 4 KiB, direct": "随机读 4 KiB，直接 I/O",
    "random overwrite 4 KiB, direct": "随机覆写 4 KiB，直接 I/O",
    "sequential overwrite 1 MiB, direct": "顺序覆写 1 MiB，直接 I/O",
    "sequential read 1 MiB, direct": "顺序读 1 MiB，直接 I/O",
    "random overwrite 4 KiB, direct, 4 threads": "随机覆写 4 KiB，直接 I/O，4 线程",
    "random read 4 KiB, direct, 4 threads": "随机读 4 KiB，直接 I/O，4 线程",
    "random 4 KiB, 70 % reads, direct, 4 threads": "随机 4 KiB，70% 读，直接 I/O，4 线程",
    "latency of random reads 4 KiB, direct": "随机读 4 KiB 的延迟，直接 I/O",
    "latency of random overwrites 4 KiB, direct": "随机覆写 4 KiB 的延迟，直接 I/O",
    "a large file, page cache": "大文件，经页缓存",
    "400 writers append every 1 s": "400 个写入者，每 1 秒追加一次",
    "1000 writers append every 1 s": "1000 个写入者，每 1 秒追加一次",
    "2000 writers append every 0.75 s": "2000 个写入者，每 0.75 秒追加一次",
    "3200 writers append every 0.5 s": "3200 个写入者，每 0.5 秒追加一次",
    "4000 writers append every 0.5 s": "4000 个写入者，每 0.5 秒追加一次",
    "sequential read 4 KiB, direct": "顺序读 4 KiB，直接 I/O",
    "sequential overwrite 4 KiB, direct": "顺序覆写 4 KiB，直接 I/O",
    "random 60 % reads 4 KiB, direct": "随机，60% 读 4 KiB，直接 I/O",
    "sequential read 16 KiB, direct": "顺序读 16 KiB，直接 I/O",
    "sequential overwrite 16 KiB, direct": "顺序覆写 16 KiB，直接 I/O",
    "random read 16 KiB, direct": "随机读 16 KiB，直接 I/O",
    "random overwrite 16 KiB, direct": "随机覆写 16 KiB，直接 I/O",
    "random 60 % reads 16 KiB, direct": "随机，60% 读 16 KiB，直接 I/O",
    "sequential read 64 KiB, direct": "顺序读 64 KiB，直接 I/O",
    "sequential overwrite 64 KiB, direct": "顺序覆写 64 KiB，直接 I/O",
    "random read 64 KiB, direct": "随机读 64 KiB，直接 I/O",
    "random overwrite 64 KiB, direct": "随机覆写 64 KiB，直接 I/O",
    "random 60 % reads 64 KiB, direct": "随机，60% 读 64 KiB，直接 I/O",
    "sequential read 128 KiB, direct": "顺序读 128 KiB，直接 I/O",
    "sequential overwrite 128 KiB, direct": "顺序覆写 128 KiB，直接 I/O",
    "random read 128 KiB, direct": "随机读 128 KiB，直接 I/O",
    "random overwrite 128 KiB, direct": "随机覆写 128 KiB，直接 I/O",
    "random 60 % reads 128 KiB, direct": "随机，60% 读 128 KiB，直接 I/O",
    "sequential read 512 KiB, direct": "顺序读 512 KiB，直接 I/O",
    "sequential overwrite 512 KiB, direct": "顺序覆写 512 KiB，直接 I/O",
    "random read 512 KiB, direct": "随机读 512 KiB，直接 I/O",
    "random overwrite 512 KiB, direct": "随机覆写 512 KiB，直接 I/O",
    "random 60 % reads 512 KiB, direct": "随机，60% 读 512 KiB，直接 I/O",
    "create 4 KiB, own directories": "创建 4 KiB，各自目录",
    "create 4 KiB, one directory": "创建 4 KiB，同一目录",
    "commit 4 KiB, preallocated": "提交写入 4 KiB，预分配的文件",
    "commit 4 KiB, growing file": "提交写入 4 KiB，增长的文件",
    "sequential overwrite 1 MiB": "顺序覆写 1 MiB",
    "random overwrite 4 KiB": "随机覆写 4 KiB",
    "commit 4 KiB": "提交写入 4 KiB",
    "sequential write 1 MiB": "顺序写 1 MiB",
    "sequential read 1 MiB": "顺序读 1 MiB",
    "random write 4 KiB": "随机写 4 KiB",
    "random read 4 KiB": "随机读 4 KiB",
    "random 4 KiB, 70 % reads": "随机 4 KiB，70% 读",
    "small files": "小文件",
    "10,000 small files": "10,000 个小文件",
    "1,000 directories of 10 files": "1,000 个目录，各 10 个文件",
    "latency of random reads 4 KiB": "随机读 4 KiB 的延迟",
    "latency of random writes 4 KiB": "随机写 4 KiB 的延迟",
    "operations on files": "文件操作",
    "large files": "大文件",
    random: "随机",
    append: "追加",
    metadata: "元数据操作",
    delete: "删除",
    create: "创建",
    read: "读取",
    write: "写入",
    rename: "重命名",
    MySQL: "MySQL",
    PostgreSQL: "PostgreSQL",
    "big data": "大数据",
    "container images": "容器镜像",
    "database containers": "数据库容器",
    "home server": "家用服务器",
    logs: "日志",
    mail: "邮件",
    "source code hosting": "源代码托管",
    video: "视频",
    "web server": "Web 服务器",
    appends: "追加写",
    commits: "提交写入",
    "deletions of large files": "删除大文件",
    "file creations": "创建文件",
    "file deletions": "删除文件",
    "large files, both ways at once": "大文件同时读写",
    "latency of reads under load": "负载下的读延迟",
    "latency of writes under load": "负载下的写延迟",
    "random reads": "随机读",
    "random writes": "随机写",
    "reads of small files": "读取小文件",
    "sequential reads": "顺序读",
    "sequential writes": "顺序写",
    transactions: "事务",
    "power cut": "断电",
    aging: "老化",
    "buffered writes": "缓冲写",
    "buffered I/O": "缓冲 I/O",
    "your database": "您的数据库",
    fsync: "fsync",
    "many files in one directory": "单个目录中的大量文件",
    "new files": "新文件",
    "several threads": "多线程",
    "cold caches": "冷缓存",
    "other loads than 70 % of the slowest lane's": "最慢者的 70% 以外的负载",
    mkdir: "创建目录",
    "remove-tree": "删除目录树",
  },
  works: {
    commits: "提交写入",
    "sequential writes": "顺序覆写",
    "sequential reads": "顺序读",
    "random reads": "随机读",
    "random writes": "随机覆写",
    "file creations": "创建文件",
    "small-file reads": "读取小文件",
    "file deletions": "删除文件",
  },
  workAt: (title) => say`“${title}”`,
  needs: {
    durable: "fsync 之后断电不丢的写入",
    checksums: "数据校验和",
    "metadata-checksums": "元数据校验和",
    snapshots: "快照",
    reflink: "reflink",
    compression: "压缩",
    encryption: "加密",
    shrink: "缩容",
    "shrink=online": "在线缩容",
    growth: "在线扩容",
    quota: "配额",
    "dynamic-inodes": "不由 mkfs 限定的文件数",
    casefold: "不区分大小写的文件名",
    overlay: "可作 overlayfs 的上层目录",
    dax: "DAX",
    journal: "崩溃后仍完好的元数据",
    kernel: "参赛内核版本的主线支持",
  },
  needOr: "或",
  needValue: (need, value) =>
    need === "quota"
      ? `按 ${value} 的配额`
      : need === "file-size"
        ? `${value} 的单个文件`
        : need === "filesystem-size"
          ? `${value} 的文件系统`
          : need === "kernel"
            ? `主线内核 ${value}`
            : `${need} ${value}`,

  advice: {
    intro: "按场景给测得的各项工作加权，并加上该场景不可缺少的条件。只有已判定的差别才算数。",
    chosen: (lanes) => (lanes.length < 2 ? list(lanes, "或") : say`${list(lanes, "或")} 均可`),
    none: "这些赛道都不合适",
    undecided: "尚无定论",
    tooLittle: "测得太少",
    measured: (own, proxies) =>
      [own === null ? "" : `本身的工作 ${own}`, proxies === null ? "" : `相近的工作 ${proxies}`].filter((part) => part !== "").join("，") ||
      "未测",
    leaning: (lanes) => say`${lanes}（仅凭相近的工作）`,
    noOwnWork: (suite) => `没有测它本身的工作，套件 ${suite} 会测`,
    noiseAlone: "这只涵盖各轮之间的噪声",
    tooFewRounds: (share) => `${share} 的权重测的轮次太少，说明不了什么；至少要测 6 轮。`,
    because: "理由",
    equal: "没有差别",
    out: "排除",
    unless: "何时改选",
    missing: "未测",
    note: "注意",
    next: "下一步",
    ahead: (leads) =>
      say`就已测的工作而言，${joined(
        leads.map((lead) => compared(lead.gap, lead.lane, ["领先", "落后"])),
        "，",
      )}`,
    only: "唯一没有被条件排除的赛道，没有可比较的对象",
    nothingApart: "已测的内容分不出它们的高下",
    level: (_count, margin) => `它们在这些工作上相差不到 ${margin}`,
    wins: (share, several) => `在 ${share} 的重抽样比赛中${several ? "其中之一" : ""}胜出`,
    unsafe: "并不稳妥",
    over99: "99% 以上",
    nothingMeasured: "这类工作一项也没有测。",
    tooLittleWhy: (share) => `只测了 ${share} 的权重，而建议至少要依据一半。`,
    undecidedWhy: "测到的内容尚无定论，因此没有什么能分出高下。",
    allExcluded: "参赛的赛道没有一条满足条件。",
    part: (what, share) => say`${what}（${share}）`,
    reason: (part, pairs) =>
      say`${part}：${joined(
        pairs.map(({ gap, lane, atLeast }) => surely(gap, lane, atLeast)),
        "，",
      )}。`,
    equals: {
      tie: "持平，确定相差不到界限",
      undecided: "尚无定论，因此不计",
      unsure: "只在自己的行里有差别，行数这么多还不确定，因此不计",
      device: "测到的是磁盘，对所有赛道都一样",
      cache: "测到的是页缓存，不是文件系统",
      harness: "测到的是 Fairlane 自身，不是文件系统",
      "no-verdict": "无法判定",
    },
    equalParts: (parts, why) => say`${parts}：${why}。`,
    outDone: (lanes, note) => say`${lanes}：做不了这项工作${note ? say`（${note}）` : ""}。`,
    outMounted: (lanes) => say`${lanes}：没有内核能挂载它；它在 Fairlane 内部参赛，仅供对照。`,
    outKept: (lanes) => say`${lanes}：重启后什么都不留；它在内存中参赛，仅供对照。`,
    outComparable: (lanes, note) => say`${lanes}：其速度不与其他赛道排名${note ? say`（${note}）` : ""}。`,
    outNeed: (lanes, asked, facts) => say`${lanes}：${asked}；${facts}。`,
    youAsk: (need) => say`您要求${need}`,
    scenarioAsks: (scenario, why) => say`${scenario}：${why}`,
    factNo: (need) => say`不具备${need}`,
    factUnknown: (need) => say`是否具备${need}，没有资料`,
    factOff: (need, way) => say`${need}需要 ${way}`,
    factIs: (need, is) => say`${need}：${is}`,
    flipWeight: (lane, what, under, at, share) =>
      say`若${what}的权重${under ? "低于" : "高于"} ${at}（现为 ${share}），则选 ${lane}。`,
    flipUndecided: (lane, what) => say`若尚无定论的${what}落在可能范围的一端，则选 ${lane}。`,
    flipWithout: (lane, distance, scenario, need) => say`若${scenario}可以不要${need}，则选 ${lane}${distance}。`,
    flipWith: (lane, distance, needs) => say`若还要求${needs}，则选 ${lane}${distance}。`,
    distance: (gap) =>
      gap.factor
        ? say`（${gap.faster ? `领先至 ${gap.size} 倍` : `仅为其 ${gap.share}`}）`
        : say`（${gap.faster ? "领先" : "落后"} ${gap.size}）`,
    missingSuite: (parts, suite) => (suite ? say`${parts}：测试集 ${suite}。` : say`${parts}：目前没有测试集能测。`),
    racedWithout: (lane, need, way) => say`${lane} 参赛时没有${need}；${way} 可以开启。`,
    source: (source) => say`[${source}]`,
  },
};
