// Generated from schema/page.schema.json, which Rust generates of its own types: `npm run types`. Do not edit.

/**
 * A language that people read reports in.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Language".
 */
export type Language = "en" | "zh" | "de";
/**
 * What a page shows.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Show".
 */
export type Show =
  | {
      kind: "race";
      race: RacePage;
    }
  | {
      kind: "dashboard";
    };
/**
 * Why no difference counts.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Equal".
 */
export type Equal = "tie" | "undecided" | "unsure" | "device" | "cache" | "harness" | "no-verdict";
/**
 * A change that would choose another lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Flip".
 */
export type Flip =
  | {
      /**
       * The share at which the other lane draws level; beyond it, seen from `share`, that lane is
       * chosen.
       */
      at: number;
      kind: "weight";
      /**
       * The other lane.
       */
      lane: string;
      /**
       * Its share.
       */
      share: number;
      /**
       * The part of the work.
       */
      what: string;
    }
  | {
      kind: "undecided";
      /**
       * The other lane.
       */
      lane: string;
      /**
       * The part of the work.
       */
      what: string;
    }
  | {
      kind: "without";
      /**
       * The other lane.
       */
      lane: string;
      /**
       * The constraint.
       */
      need: string;
      /**
       * How many times as well that lane does over the measured work: what the constraint costs.
       */
      ratio: number;
    }
  | {
      kind: "with";
      /**
       * The other lane.
       */
      lane: string;
      /**
       * What.
       */
      needs: string[];
      /**
       * How many times as well that lane does over the measured work.
       */
      ratio: number;
    };
/**
 * Why there is no advice.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "NoAdvice".
 */
export type NoAdvice = "too-little-measured" | "all-excluded" | "undecided" | "not-comparable";
/**
 * What a pair's interval means.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Verdict".
 */
export type Verdict = "faster" | "slower" | "tie" | "undecided" | "none";
/**
 * What may be said of several chosen lanes where no difference between them is named.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Level".
 */
export type Level =
  | {
      found: "tie";
    }
  | {
      because: Undecided;
      found: "undecided";
      /**
       * Results in which each pair of these lanes ties, as titles; none where any result told them apart.
       */
      ties?: string[];
    }
  | {
      found: "unnamed";
    };
/**
 * Why a pair is undecided: the one reason that is said wherever it is shown.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Undecided".
 */
export type Undecided = "noise" | "too-few-rounds" | "interrupted" | "out-of-budget" | "machine-busy";
/**
 * What should settle what is undecided.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Settle".
 */
export type Settle =
  | {
      by: "budget";
      /**
       * Whole minutes.
       */
      minutes: number;
      /**
       * Not all of it: the rest would take more rounds or time than are worth asking for.
       */
      some_only: boolean;
    }
  | {
      by: "rounds";
      /**
       * How many.
       */
      rounds: number;
      /**
       * Seconds that the command takes, roughly, by this race's own pace; 0: not known.
       */
      seconds?: number;
      /**
       * Not all of it, as above.
       */
      some_only: boolean;
    }
  | {
      by: "first-rounds";
      /**
       * How many.
       */
      rounds: number;
      /**
       * Seconds that the command takes, roughly; 0: not known.
       */
      seconds: number;
    }
  | {
      by: "resume";
      /**
       * Seconds that are left of it, roughly; 0: not known.
       */
      seconds: number;
    }
  | {
      by: "quiet";
    }
  | {
      by: "out-of-reach";
    };
/**
 * The profiles of the ceilings.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Profile".
 */
export type Profile = "seq-read" | "seq-write" | "rand-read" | "rand-write" | "flush" | "null";
/**
 * A piece of work as an answer names it.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Work".
 */
export type Work =
  | {
      of: "result";
      /**
       * Its place among the results.
       */
      result: number;
    }
  | {
      of: "pairs";
      /**
       * Their places among its pairs.
       */
      pairs: number[];
      /**
       * Its place among the results.
       */
      result: number;
    }
  | {
      /**
       * How many.
       */
      count: number;
      of: "steps";
      /**
       * Its place among the tables.
       */
      table: number;
    };
/**
 * What can be chosen. The lanes are those of the answer.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Choice".
 */
export type Choice =
  | {
      is: "nothing";
    }
  | {
      is: "searched";
    }
  | {
      is: "screened";
    }
  | {
      is: "alone";
    }
  | {
      is: "twice";
    }
  | {
      because: Undecided;
      is: "none-yet";
    }
  | {
      /**
       * The disk was the limit of all that was compared.
       */
      disk_everywhere: boolean;
      is: "none";
    }
  | {
      because: Undecided;
      is: "open";
      /**
       * Where they tie.
       */
      ties?: Work[];
    }
  | {
      is: "unnamed";
    }
  | {
      is: "level";
    }
  | {
      is: "by-work";
    }
  | {
      is: "chosen";
    };
/**
 * What can be decided, for who reads no statistics: the choice, without lanes that may not be ranked, and not where what is
 * open may still turn it.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Decision".
 */
export type Decision =
  | {
      is: "nothing";
    }
  | {
      is: "searched";
    }
  | {
      is: "screened";
    }
  | {
      is: "alone";
    }
  | {
      is: "twice";
    }
  | {
      because: Undecided;
      is: "open";
    }
  | {
      is: "disk";
    }
  | {
      is: "apart";
    }
  | {
      is: "nothing-apart";
    }
  | {
      among: Among;
      is: "take";
      /**
       * One or more.
       */
      lanes: string[];
    };
/**
 * What may be said of the lanes to take.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Among".
 */
export type Among =
  | {
      found: "one";
    }
  | {
      found: "by-work";
    }
  | {
      because: Undecided;
      found: "open";
    }
  | {
      found: "alike";
    }
  | {
      found: "unnamed";
    };
/**
 * What limited a result (method 3.2).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Limit".
 */
export type Limit =
  | "device"
  | "own-disk"
  | "write-amplification"
  | "filesystem-cpu"
  | "cpu"
  | "filesystem-serialised"
  | "flush"
  | "cache"
  | "harness"
  | "other-programs"
  | "unattributed";
/**
 * One sign that something else than a medium answers. Rates in bytes per second.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "DiskSign".
 */
export type DiskSign =
  | Behind
  | {
      /**
       * With it.
       */
      flushed_bytes_per_second: number;
      sign: "flush-lowers";
      /**
       * Without it.
       */
      write_bytes_per_second: number;
    }
  | {
      /**
       * Of the same part, in the fastest look.
       */
      read_bytes_per_second: number;
      sign: "writes-above-reads";
      /**
       * The flush included, in the slowest look.
       */
      write_bytes_per_second: number;
    }
  | {
      /**
       * In the first third.
       */
      first_bytes_per_second: number;
      /**
       * In the last third.
       */
      last_bytes_per_second: number;
      /**
       * Length of the whole.
       */
      seconds: number;
      sign: "falls";
    };
/**
 * What may stand behind a disk.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "BehindKind".
 */
export type BehindKind = "memory" | "page-cache";
/**
 * What a phase of IO500 counts.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Io500Kind".
 */
export type Io500Kind = "bandwidth" | "metadata";
/**
 * Whether more ranks bring half of what they should.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Scaling".
 */
export type Scaling =
  | {
      /**
       * The share is surely no larger.
       */
      at_most: number;
      /**
       * So many ranks.
       */
      from: number;
      is: "bends";
      /**
       * It may bend at a step before already.
       */
      perhaps_before: boolean;
      /**
       * And so many.
       */
      to: number;
    }
  | {
      is: "straight";
    }
  | {
      is: "open";
    };
/**
 * What a mount option changes of what is there after a crash, or of when that is made safe.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "CrashEffect".
 */
export type CrashEffect =
  | "stale-after-crash"
  | "journals-data"
  | "commits-out-of-order"
  | "replaced-may-be-empty"
  | "allocates-at-once"
  | "synchronous-names"
  | "commits-all-data"
  | "commits-all-at-fsync"
  | "older-state"
  | "overwrites-in-place"
  | "keeps-order"
  | "synchronous-writes"
  | "lazy-timestamps"
  | {
      "commits-every": {
        /**
         * Seconds.
         */
        seconds: number;
        /**
         * Seconds without the option.
         */
        usual_seconds: number;
      };
    };
/**
 * When a server answers what a client asks it to make durable. No client sees that: somebody said it who named the lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ServerAnswers".
 */
export type ServerAnswers = "sync" | "async";
/**
 * What one of the operations of a rate is, in the words of its question.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Counts".
 */
export type Counts = "operations" | "requests" | "commits" | "files" | "directories" | "transactions" | "bytes";
/**
 * What an explanation rests on.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Basis".
 */
export type Basis = "profile" | "counters";
/**
 * What a share of the time is.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Part".
 */
export type Part =
  | "device"
  | "flush"
  | "filesystem-cpu"
  | "checksums"
  | "locks"
  | "memory"
  | "kernel-threads"
  | "scheduler"
  | "filesystem-process"
  | "kernel"
  | "kernel-cpu"
  | "fairlane"
  | "not-explained";
/**
 * The form in which a filesystem keeps files that do not lie in blocks of their own as they were written.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "KeptForm".
 */
export type KeptForm = "inline" | "compressed" | "tail";
/**
 * One thing to say about a result. Every pair of lanes is said, or follows from what is said.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Statement".
 */
export type Statement =
  | {
      /**
       * The fastest lane's.
       */
      fastest: number;
      says: "at-the-disk";
      /**
       * The slowest lane's figure.
       */
      slowest: number;
      /**
       * Each pair ties by verdict.
       */
      tie: boolean;
    }
  | {
      /**
       * The highest.
       */
      high?: number | null;
      /**
       * Two or more.
       */
      lanes: string[];
      /**
       * The lowest end of the intervals among them, each turned to lie around the same one; absent where there is none.
       */
      low?: number | null;
      says: "tie";
    }
  | {
      /**
       * The lane.
       */
      lane: string;
      /**
       * The lane is the first of each.
       */
      pairs: Told[];
      says: "apart";
    }
  | {
      because: Undecided;
      /**
       * All of them.
       */
      pairs: Told[];
      /**
       * What their reasons add to the intervals that are said anyway, each once.
       */
      remarks?: string[];
      says: "undecided";
    }
  | {
      /**
       * The pairs; none where their figures mean nothing.
       */
      pairs?: Told[];
      says: "no-verdict";
      /**
       * The reason, where it is known.
       */
      why?: string | null;
    }
  | {
      /**
       * The lane.
       */
      lane: string;
      says: "failed";
    }
  | {
      /**
       * The lane.
       */
      lane: string;
      says: "alone";
    }
  | {
      says: "nothing";
    };
/**
 * What a confirmation comes to.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ConfirmationOutcome".
 */
export type ConfirmationOutcome = "confirmed" | "mixed" | "not-confirmed" | "open";
/**
 * A design.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "DesignKind".
 */
export type DesignKind = "full-factorial" | "folded-plackett-burman";
/**
 * What an option changes beside speed.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OptionClass".
 */
export type OptionClass = "ordinary" | "promises" | "unknown";
/**
 * What became of a combination in a race of tuning.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TunedFate".
 */
export type TunedFate = "chosen" | "goes-on" | "dropped" | "open";
/**
 * What an effect means.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "EffectVerdict".
 */
export type EffectVerdict = "matters" | "does-not" | "open";
/**
 * When a lane sustains its writers.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Criterion".
 */
export type Criterion = "lateness" | "load";
/**
 * How exact a published figure is.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Qualifier".
 */
export type Qualifier = "about" | "above" | "at-most";
/**
 * What a thread with this stack did.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Activity".
 */
export type Activity = "cpu" | "wait";
/**
 * What a thread is to the lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ThreadRole".
 */
export type ThreadRole = "caller" | "io-worker" | "kernel" | "filesystem" | "profiler" | "other";
/**
 * How a trial ended.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Outcome".
 */
export type Outcome = "ok" | "failed" | "repeated" | "void";
/**
 * What `/api/live` sends, one JSON object per server-sent event.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Live".
 */
export type Live =
  | {
      kind: "idle";
    }
  | {
      /**
       * Seconds that it may take.
       */
      budget_seconds?: number | null;
      /**
       * Seconds since the race began.
       */
      elapsed_seconds: number;
      kind: "running";
      /**
       * The lane at work; empty between them.
       */
      lane: string;
      /**
       * From 1.
       */
      number: number;
      /**
       * Workloads in the race.
       */
      of: number;
      /**
       * What it does: `mkfs`, `populate`, `measure`, …; empty between them.
       */
      phase: string;
      /**
       * The last figure of each lane in this workload.
       */
      rates: LiveRate[];
      /**
       * Its record's name.
       */
      record: string;
      /**
       * Round, from 1; 0 before the first.
       */
      round: number;
      /**
       * RFC 3339, UTC.
       */
      started: string;
      /**
       * Name of the suite.
       */
      suite: string;
      /**
       * Trials in the record: when it grows, the race is worth asking for again.
       */
      trials: number;
      /**
       * Title of the workload.
       */
      workload: string;
    };
/**
 * What is watched of the system.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Quantity".
 */
export type Quantity =
  | "operations_per_second"
  | "cpu_share"
  | "iowait_share"
  | "steal_share"
  | "device_read_bytes_per_second"
  | "device_write_bytes_per_second"
  | "device_iops"
  | "device_flushes_per_second"
  | "device_queue"
  | "device_busy_share"
  | "dirty_bytes"
  | "pressure_io_share"
  | "buffers_bytes"
  | "cached_bytes"
  | "writeback_bytes"
  | "iowait_average_share"
  | "load_average"
  | "blocked_tasks"
  | "kworker_share"
  | "device_reads_per_second"
  | "device_writes_per_second";

/**
 * The data of the page.
 */
export interface Page {
  language: Language;
  /**
   * [`PAGE_SCHEMA`].
   */
  schema: number;
  show: Show;
  /**
   * Version of Fairlane.
   */
  version: string;
}
/**
 * One race, as the page shows it.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RacePage".
 */
export interface RacePage {
  /**
   * What the system did, in the order of the plan's workloads.
   */
  courses: Timeline[];
  /**
   * What lies behind each result, in the order of `findings.results`.
   */
  details: Detail[];
  findings: Findings;
  /**
   * Of a screening the effects against chance, one per result that tells any; empty where nothing was screened.
   */
  half_normal?: HalfNormal[];
  /**
   * What stands beside verdicts without voiding them, and how job files were taken; each once.
   */
  notes: string[];
  /**
   * Published figures of the same work beside this race.
   */
  published: PublishedComparison[];
  /**
   * Where the record lies, as the user types it; `None`: nowhere.
   */
  record?: string | null;
  /**
   * Of a screening of which something is left the words behind `fairlane` that go on with it, in which `RECORD` stands for where
   * the record lies; empty: nothing is, or nothing was screened.
   */
  resume?: string[];
  /**
   * How the first lane did against itself; `None`: it was not raced twice.
   */
  self_check?: SelfCheck | null;
  /**
   * The sentences of the findings in other languages than English.
   */
  sentences: {
    [k: string]: {
      [k: string]: string;
    };
  };
  stacks?: Stacks;
  trials: Trials;
}
/**
 * What the system did while one workload was raced.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Timeline".
 */
export interface Timeline {
  /**
   * One per lane, in the order of the findings' lanes.
   */
  lanes: LaneTimeline[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * What the system did while one lane was at one workload. All lists are of equal length, in time
 * order, at most 2,000 points; of more the smallest and the largest of each stretch are kept.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LaneTimeline".
 */
export interface LaneTimeline {
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * What was watched, one list per quantity; a quantity that was not known is absent.
   */
  quantities: {
    [k: string]: number[];
  };
  /**
   * The round of each point.
   */
  rounds: number[];
  /**
   * Seconds of this lane's measured time so far: its windows one after the other, so that lanes can
   * be laid over each other.
   */
  seconds: number[];
}
/**
 * What lies behind one result: every round, and the latencies.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Detail".
 */
export interface Detail {
  /**
   * What the bare disk does of this very work, in the unit of the result; `None`: that is not known, or
   * a lane's disk was held to other limits.
   */
  ceiling?: number | null;
  /**
   * One per lane, in the order of the findings' lanes.
   */
  lanes: LaneDetail[];
}
/**
 * One lane of a result.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LaneDetail".
 */
export interface LaneDetail {
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * Latency of single operations, all rounds merged: rising percentiles up to where 20 operations
   * are slower; empty where no histogram was kept.
   */
  latency: PercentilePoint[];
  /**
   * The result's metric in each round that counts; at most 2,000, evenly chosen with the smallest
   * and the largest.
   */
  rounds: RoundFigure[];
  /**
   * How many rounds count in all.
   */
  rounds_in_all: number;
}
/**
 * A point of a curve of percentiles.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PercentilePoint".
 */
export interface PercentilePoint {
  /**
   * Nanoseconds.
   */
  ns: number;
  /**
   * 0 to 100.
   */
  percentile: number;
}
/**
 * The figure of one round.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RoundFigure".
 */
export interface RoundFigure {
  /**
   * Round, from 1.
   */
  round: number;
  /**
   * In the unit of the result.
   */
  value: number;
}
/**
 * What the statistics make of a record.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Findings".
 */
export interface Findings {
  /**
   * Advice for scenarios of which at least half was measured.
   */
  advice: Advice[];
  /**
   * One per lane with a past: what that did to it.
   */
  aged?: AgedFinding[];
  /**
   * Which of two filesystems is better, fresh and aged; absent where no two of one past were raced with their fresh ones.
   */
  aged_ranks?: AgedRanks | null;
  /**
   * What to do; `None` where nothing was measured, and of a screening.
   */
  answer?: Answer | null;
  /**
   * What was known of this machine's noise when the race began; of a calibration what it found.
   */
  calibration?: Calibration | null;
  /**
   * What the device can do without a filesystem.
   */
  ceilings: Ceiling[];
  /**
   * What has to be known before any verdict is read: lanes' disks are no disks.
   */
  code_only?: string | null;
  /**
   * The command line that runs the race again.
   */
  command_line: string[];
  conclusion?: Conclusion;
  /**
   * What the disk showed when it was written for longer than a slice, flushed and read back; absent where nobody looked.
   */
  disk?: DiskFinding | null;
  /**
   * Formats of other tools' results that its figures were read from; empty: it was raced.
   */
  imported?: string[];
  /**
   * One per lane of a race of IO500's phases, with its score.
   */
  io500?: Io500Finding[];
  /**
   * One per workload and group that growing numbers of ranks did.
   */
  ladders?: LadderFinding[];
  /**
   * Lanes' own disks by the lane's name; each replaces `throttle` wholly.
   */
  lane_throttles?: {
    [k: string]: Throttle;
  };
  /**
   * The contestants.
   */
  lanes: Lane[];
  /**
   * One per lane on layers or on several disks: what those cost.
   */
  layers?: LayerCost[];
  machine: Machine;
  /**
   * Tie margin as a share.
   */
  margin: number;
  /**
   * One per workload of file operations: its groups as one table.
   */
  operations?: OperationsFinding[];
  /**
   * `complete`, `interrupted`, `unexplained` (interrupted once all rounds were done), `failed`, `running`, or
   * `unfinished` where no end was written and no race is known to go on.
   */
  outcome: string;
  /**
   * One per workload and group that ranks of an MPI job did: what each did by itself.
   */
  ranks?: RanksFinding[];
  /**
   * One per workload and group.
   */
  results: ResultFinding[];
  /**
   * Schema of the findings.
   */
  schema: number;
  /**
   * Of a screening which options matter; absent: it is none.
   */
  screening?: ScreeningFinding | null;
  /**
   * One per search for the largest number of writers that the lanes sustain.
   */
  searches?: SearchFinding[];
  /**
   * Seed of the race.
   */
  seed: number;
  /**
   * When the race started, RFC 3339; of an import as the header of its record has it.
   */
  started: string;
  /**
   * Name of the suite.
   */
  suite: string;
  /**
   * One per workload of appenders: how late they were, and what the system did meanwhile.
   */
  swarms?: AppendersFinding[];
  /**
   * The disk that the device of every lane was held to that had none of its own.
   */
  throttle?: Throttle | null;
  /**
   * One per workload of transactions: what each one waits for, writes and costs.
   */
  transactions?: TransactionsFinding[];
  trials: TrialCounts;
  /**
   * Why no pass looked at some of the race, and what would change that (method 7.1).
   */
  unexplained?: string[];
  /**
   * What a reader should know before believing the figures.
   */
  warnings: string[];
}
/**
 * Advice for one scenario: which of the raced lanes to take, and how far that can be trusted.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Advice".
 */
export interface Advice {
  /**
   * Parts of the work in which no difference counts.
   */
  equal: EqualWork[];
  /**
   * Lanes that a constraint excludes.
   */
  excluded: Excluded[];
  /**
   * The smallest changes that would choose another lane; of shares and noise one that is not level.
   */
  flips_if: Flip[];
  /**
   * The lane to take; `None`: `no_advice` says why there is none.
   */
  lane?: string | null;
  /**
   * The lane against each other one that was not excluded, over all the measured work.
   */
  leads: AdviceLead[];
  /**
   * Lanes that are as good: over all the work apart by less than the margin.
   */
  level_with: string[];
  /**
   * Share of the scenario's weight that was measured, 0 to 1.
   */
  measured_share: number;
  /**
   * The command that measures the most of that, or that should settle what is too noisy, after
   * `fairlane`; empty: none does.
   */
  next: string[];
  /**
   * Why there is no advice.
   */
  no_advice?: NoAdvice | null;
  /**
   * What the race did not measure.
   */
  not_measured: NotMeasured[];
  /**
   * Filesystems that meet every constraint, as far as the table of features knows, and were not raced; named where a
   * constraint excludes a lane.
   */
  not_raced?: string[];
  /**
   * What is worth knowing about the chosen lanes for this scenario, and about lanes in which parts of it
   * were not measured.
   */
  notes: AdviceNote[];
  /**
   * Share of the scenario's weight that its own suite measured, 0 to 1; the rest of what was measured stands on similar work:
   * kinds of I/O that other suites do.
   */
  own_share?: number;
  /**
   * The suite that does this work itself.
   */
  own_suite?: string;
  /**
   * What the lane meets a constraint with, though it was raced without it.
   */
  raced_without: RacedWithout[];
  /**
   * Name of the scenario.
   */
  scenario: string;
  /**
   * Share of resampled races in which the lane, or one that is level with it, is the choice: the one
   * whose worst comparison is the best. `None`: only one lane was left, or nothing sets those left
   * apart.
   */
  share_of_resampled_races?: number | null;
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Share of the weight that was raced in too few rounds to say anything.
   */
  too_few_rounds_share?: number;
  /**
   * What speaks for the lane and against it, one per part of the work and lane that was not
   * excluded; the weightiest first. Differences that hold over the whole race alone.
   */
  why: AdviceReason[];
}
/**
 * A part of the work in which no difference counts.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "EqualWork".
 */
export interface EqualWork {
  because: Equal;
  /**
   * Its share of the scenario.
   */
  share: number;
  /**
   * What the part is.
   */
  what: string;
}
/**
 * A lane that a constraint excludes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Excluded".
 */
export interface Excluded {
  /**
   * What it had to have, as `--need` takes it; `done` (it could not do the work, or not in every
   * round), `measured` (less than half of the work was measured in it), `mounted` (no kernel mounts
   * it), `kept` (it lies in memory), `comparable` (it promises other things, or lives elsewhere, than
   * the lanes that were ranked, or than the others where none were).
   */
  constraint: string;
  /**
   * What is known of the lane, one per alternative of the constraint.
   */
  facts: LaneFact[];
  /**
   * The lane.
   */
  lane: string;
  /**
   * Where that stands, each once.
   */
  source: string;
  /**
   * Why the scenario asks for it; `None`: the user does, or every scenario.
   */
  why?: string | null;
}
/**
 * What is known of one feature of one lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LaneFact".
 */
export interface LaneFact {
  /**
   * `no`, `off` (an option at mkfs or mount brings it), `unknown`, or the value that is not enough.
   */
  is: string;
  /**
   * What was asked for, as `--need` takes it.
   */
  need: string;
  /**
   * What the word does not say.
   */
  note?: string | null;
  /**
   * What brings it.
   */
  with?: string | null;
}
/**
 * The lane against another one over all the measured work.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AdviceLead".
 */
export interface AdviceLead {
  /**
   * The other lane.
   */
  against: string;
  /**
   * Weighted geometric mean of the decided ratios, the near end of each one's interval, over the work that both were
   * measured in; above 1 the lane does better.
   */
  ratio: number;
}
/**
 * A part of a scenario that was not measured.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "NotMeasured".
 */
export interface NotMeasured {
  /**
   * Titles of work of that kind that was raced and does not stand for it.
   */
  raced?: string[];
  /**
   * Its share of the scenario.
   */
  share: number;
  /**
   * A suite that measures it, that of `next` where it does; `None`: none does yet.
   */
  suite?: string | null;
  /**
   * What a person calls that workload.
   */
  title?: string | null;
  /**
   * What the part is.
   */
  what: string;
  /**
   * Name of that suite's workload, as `--workload` takes it.
   */
  workload?: string | null;
}
/**
 * What is worth knowing about lanes for a scenario.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AdviceNote".
 */
export interface AdviceNote {
  /**
   * The lanes, among those that are chosen or were held against them.
   */
  lanes: string[];
  /**
   * Where that stands.
   */
  source: string;
  /**
   * What.
   */
  text: string;
}
/**
 * Something that a lane can be given without making it anew, and was raced without.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RacedWithout".
 */
export interface RacedWithout {
  /**
   * What was asked for, as `--need` takes it.
   */
  need: string;
  /**
   * Where that stands.
   */
  source: string;
  /**
   * What brings it.
   */
  with: string;
}
/**
 * One part of the work in which the lane and another one are apart.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AdviceReason".
 */
export interface AdviceReason {
  /**
   * The other lane.
   */
  against: string;
  /**
   * The ratio is so far from 1 at least, beside all other differences of the race; otherwise its sign alone is sure.
   */
  at_least?: boolean;
  /**
   * How many times as well the lane does as the other one: what was counted, the near end of an interval.
   */
  ratio: number;
  /**
   * The series that stood for it: `SUITE/WORKLOAD/GROUP`.
   */
  series: string[];
  /**
   * Its share of the scenario.
   */
  share: number;
  /**
   * What the part is.
   */
  what: string;
}
/**
 * A lane with a past, beside the same lane without (method 8.6).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AgedFinding".
 */
export interface AgedFinding {
  /**
   * The same lane of this race, fresh; absent: none was raced.
   */
  beside?: string | null;
  facts: AgedLane;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * One per result in which both have a figure.
   */
  rows?: AgedRow[];
}
/**
 * What became of a lane's past, in the record.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AgedLane".
 */
export interface AgedLane {
  /**
   * Their ages: what was written since, in tenths of the other life's files; absent: as of `sizes`.
   */
  ages?: AlikeFiles | null;
  /**
   * What the filesystem says that these files take (`st_blocks`), bytes; absent: it was not asked.
   */
  allocated_bytes?: number | null;
  /**
   * See `files`.
   */
  bytes: number;
  /**
   * Bytes that its life wrote into files, refused ones too.
   */
  bytes_written: number;
  /**
   * Its files beside a fresh copy of them, read with cold caches when the image was made; absent: there was no room for a copy,
   * its disk was throttled, or it was not read to its end.
   */
  cold_read?: ColdRead | null;
  /**
   * Files that are missing, too many, or of another size than its life says; absent: they were not looked at.
   */
  differing_files?: number | null;
  /**
   * Share of folders that lie in more than one extent, 0 to 1.
   */
  directories_split?: number | null;
  /**
   * The same for all blocks in the order in which a walk reads them, by where they lie, 0 to 1.
   */
  dynamic_layout_score?: number | null;
  /**
   * Extents per file (FIEMAP), 1 or more; absent: the filesystem does not tell.
   */
  extents_per_file?: number | null;
  /**
   * Files that were there in the end, and the sum of their sizes in bytes.
   */
  files: number;
  /**
   * Share of its own room that the filesystem called used, 0 to 1; 0: not known.
   */
  filesystem_used_share: number;
  /**
   * Bytes that it called free; 0: not known.
   */
  free_bytes?: number;
  /**
   * Free space by the sizes of its pieces, from small to large; empty: the filesystem does not tell.
   */
  free_space?: FreePieces[];
  /**
   * Whether it was restored from an image of an earlier race.
   */
  from_cache?: boolean;
  /**
   * Hash of the image that every round begins with: a life that is lived once more leaves another one.
   */
  image?: string;
  /**
   * Share of the files' blocks that follow the one before them (Smith and Seltzer), 0 to 1.
   */
  layout_score?: number | null;
  /**
   * Hash of all that decides the acts of its life.
   */
  life: string;
  /**
   * The same in sizes of the lane.
   */
  overwrites: number;
  /**
   * The same as it was found there: less where acts had no room; absent: it was not looked at.
   */
  reached_share?: number | null;
  /**
   * Acts for which there was no room, and acts on files that were missing for that reason.
   */
  refused_for_space: number;
  /**
   * The seed of its life; lanes of one seed and profile lived the same life.
   */
  seed: number;
  /**
   * Sizes of the files, by powers of two; absent: they were compared with nothing.
   */
  sizes?: AlikeFiles | null;
  /**
   * The states as the lane has them: `+aged=git:10x`.
   */
  states: string;
  /**
   * Share of the lane's size that they take by the life, 0 to 1.
   */
  used_share: number;
}
/**
 * Files beside those of another life of their profile: Pearson's chi-squared of two samples.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AlikeFiles".
 */
export interface AlikeFiles {
  /**
   * The sum.
   */
  chi_squared: number;
  /**
   * Degrees of freedom.
   */
  degrees: number;
  /**
   * Share of the files that would be in another class, 0 to 1.
   */
  misplaced_share: number;
  /**
   * The probability of such a sum and of larger ones where both are alike, 0 to 1.
   */
  probability: number;
}
/**
 * Aged files and a fresh copy of them, each read once, as `grep -r` reads.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ColdRead".
 */
export interface ColdRead {
  /**
   * Seconds for a gibibyte of the aged ones.
   */
  aged_seconds_per_gib: number;
  /**
   * The disk that the image lay on, as /proc/diskstats names it; empty: not known.
   */
  disk?: string;
  /**
   * Seconds for a gibibyte of the copy.
   */
  fresh_seconds_per_gib: number;
  /**
   * Share of the files that were copied and read, 0 to 1.
   */
  share_of_files: number;
}
/**
 * Pieces of free space of one class of sizes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "FreePieces".
 */
export interface FreePieces {
  /**
   * Bytes together.
   */
  bytes: number;
  /**
   * Pieces of at least so many bytes, and of less than twice that.
   */
  from_bytes: number;
  /**
   * How many.
   */
  pieces: number;
}
/**
 * What a lane does aged, as a multiple of what it does fresh.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AgedRow".
 */
export interface AgedRow {
  /**
   * See `low`.
   */
  high?: number | null;
  /**
   * Interval at the confidence of the look.
   */
  low?: number | null;
  /**
   * Aged/fresh of rates and fresh/aged of times, so that below 1 age made it slower.
   */
  ratio: number;
  /**
   * The work, with its group where it has several.
   */
  title: string;
  verdict: Verdict;
}
/**
 * Two filesystems of one past each, compared fresh and aged.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AgedRanks".
 */
export interface AgedRanks {
  /**
   * Pairs of lanes in rows that were decided both fresh and aged, ties among them.
   */
  decided: number;
  /**
   * Those of which the other one is better aged.
   */
  flips?: AgedFlip[];
  /**
   * Pairs in rows that could have been, and were not decided fresh, aged or both.
   */
  open: number;
  /**
   * Pairs of lanes of one past that are left out, because their files do not make them equally full.
   */
  unequal?: number;
}
/**
 * A rank that flips with age.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AgedFlip".
 */
export interface AgedFlip {
  /**
   * The lane that does better of the two aged ones, then the other.
   */
  aged: string[];
  /**
   * The lane that does better of the two fresh ones, then the other.
   */
  fresh: string[];
  /**
   * The work, with its group where it has several.
   */
  title: string;
}
/**
 * What to do, from the measured results alone.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Answer".
 */
export interface Answer {
  /**
   * The disk answers from a cache, or is memory ([`DiskFinding::said`]): figures are that cache's.
   */
  cached_disk?: string | null;
  /**
   * Results that could not tell the lanes apart, as titles.
   */
  cannot_tell: string[];
  /**
   * Lanes that no other lane beats anywhere without losing elsewhere; one: a clear winner.
   */
  choose: string[];
  /**
   * The lanes stand on disks that are held to different limits: a difference may be the disk's.
   */
  different_disks?: boolean;
  /**
   * Other programs disturbed more than half of the trials of what is undecided, where a quiet machine would do more than
   * further rounds; or of the differences that are named, which a quiet machine may not show.
   */
  disturbed?: boolean;
  /**
   * What may be said of several chosen lanes; absent where one was chosen, or a difference between two is named.
   */
  level?: Level | null;
  /**
   * The command that is worth running next, after `fairlane`.
   */
  next: string[];
  /**
   * Lanes of that command that this race did not have: beside one that sent direct writes through the page cache, one
   * of the same filesystem that would not.
   */
  next_adds?: string[];
  /**
   * Lanes that may not be ranked against the others, each fact once.
   */
  not_ranked?: NotRanked[];
  /**
   * What this race did not test.
   */
  not_tested: string[];
  /**
   * On what the lanes were raced, as a sentence: fresh filesystems of a size, a device, directories as they are.
   */
  raced?: string | null;
  /**
   * How much of the work was raced; absent where all of it was.
   */
  reached?: Reached | null;
  /**
   * What each other lane costs, and where the chosen ones differ.
   */
  reasons: Reason[];
  /**
   * What should settle what is undecided: computed once, and said alike wherever it is said. Absent where nothing is
   * undecided, or nobody knows.
   */
  settle?: Settle | null;
  /**
   * Results with an undecided pair, as titles.
   */
  undecided: string[];
  /**
   * Results with a difference that holds for its own row and not over the whole race ([`Pair::over_race`]), as titles.
   */
  unsure?: string[];
}
/**
 * One fact that keeps lanes from being ranked against the reference.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "NotRanked".
 */
export interface NotRanked {
  /**
   * The lane that the others are held against.
   */
  against: string;
  /**
   * The lanes that it is true of.
   */
  lanes: string[];
  /**
   * What is true of them, from the verb on: `promise no crash-safe metadata`.
   */
  what: string;
}
/**
 * How much of the work was raced.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Reached".
 */
export interface Reached {
  /**
   * Workloads that were to be raced.
   */
  of: number;
  /**
   * Workloads that have a figure.
   */
  workloads: number;
}
/**
 * One decided difference that the answer rests on.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Reason".
 */
export interface Reason {
  /**
   * What one of the two did otherwise than the other ([`ResultFinding::acts`]).
   */
  acts?: string[];
  /**
   * The lane it loses to.
   */
  against: string;
  /**
   * What it comes to at least ([`Pair::at_least`]), below 1; absent where only the sign holds over the whole race.
   */
  at_least?: number | null;
  /**
   * The one of the two that sent direct I/O through the page cache, where the other did not.
   */
  buffers?: string | null;
  /**
   * Group of the workload.
   */
  group: string;
  /**
   * The slower lane.
   */
  lane: string;
  /**
   * lane/against, below 1.
   */
  ratio: number;
  /**
   * Title of the workload.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * What `fairlane calibrate` found on a machine: how often equal lanes are called different, how much
 * figures scatter, and what can be resolved.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Calibration".
 */
export interface Calibration {
  /**
   * Its kernel's release.
   */
  kernel: string;
  /**
   * The filesystem that raced against itself, as written on a command line.
   */
  lane: string;
  /**
   * Bytes of each lane.
   */
  lane_bytes: number;
  /**
   * Differences below this share are a tie: 0.05.
   */
  margin: number;
  /**
   * Titles of the workloads of the race that quotes it which it did not do, or did in another way: of
   * them it says nothing, and its results are those of the others alone.
   */
  not_covered?: string[];
  races: EqualRaces;
  /**
   * One for each group of each workload.
   */
  results: CalibratedResult[];
  /**
   * When its race began, RFC 3339.
   */
  started: string;
  /**
   * The suite.
   */
  suite: string;
}
/**
 * How races between equal lanes ended, the rounds of a calibration being cut into as many races, one
 * after the other, as they are enough for.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "EqualRaces".
 */
export interface EqualRaces {
  /**
   * Called `faster` or `slower`: false.
   */
  called_different: number;
  /**
   * Its upper end; 1 where there were no races.
   */
  high: number;
  /**
   * Lower end of the 95 % interval of the share called different (Clopper and Pearson 1934), of as many
   * races as these are worth.
   */
  low: number;
  /**
   * Races.
   */
  races: number;
  /**
   * Called a tie: right.
   */
  ties: number;
  /**
   * Neither.
   */
  undecided: number;
  /**
   * Independent races that these are worth at the least, however alike the results of one workload
   * are, whose races share their rounds; absent: each is independent of the others.
   */
  worth?: number | null;
}
/**
 * One group of one workload.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "CalibratedResult".
 */
export interface CalibratedResult {
  /**
   * Standard deviation of ln(a/b) from round to round; `None` for fewer than three rounds.
   */
  deviation?: number | null;
  /**
   * Name of the group.
   */
  group: string;
  /**
   * Lag-1 correlation of ln(a/b) from round to round, corrected for its bias.
   */
  lag1?: number | null;
  /**
   * The figure that scatters: `operations_per_second`.
   */
  metric: string;
  races: EqualRaces;
  /**
   * Geometric mean of a/b: 1 but for noise.
   */
  ratio?: number | null;
  /**
   * The smallest difference that a race of this suite probably tells from none.
   */
  resolves: Resolution[];
  /**
   * Rounds in which both lanes have a figure.
   */
  rounds: number;
  /**
   * Seconds that a round took with both lanes, all phases included.
   */
  seconds_per_round?: number | null;
  /**
   * As a person reads it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * What a race of two lanes resolves in a time.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Resolution".
 */
export interface Resolution {
  /**
   * The smallest difference, as a share, that is found with a probability of 0.8; `None` where not
   * even the first look is reached.
   */
  difference?: number | null;
  /**
   * Minutes for the whole suite, shared equally between its workloads.
   */
  minutes: number;
}
/**
 * What the device can do without a filesystem.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Ceiling".
 */
export interface Ceiling {
  /**
   * Median over probes.
   */
  bandwidth_bytes_per_second: number;
  /**
   * Seconds of one flush alone by the device's own counter, median over probes; absent where none flushed.
   */
  flush_seconds?: number | null;
  /**
   * Of disks of user-mode Linux, which lie in the host's page cache: no disk's own.
   */
  in_page_cache?: boolean;
  /**
   * Median over probes.
   */
  operations_per_second: number;
  /**
   * Number of probes.
   */
  probes: number;
  profile: Profile;
  /**
   * Measured on a written file, because the lane is a directory.
   */
  through_filesystem: boolean;
  /**
   * The workload it matches.
   */
  workload: string;
}
/**
 * What the answer of a race tells.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Conclusion".
 */
export interface Conclusion {
  /**
   * Work that could not tell the lanes apart: something else than the filesystems was measured.
   */
  cannot_tell?: Work[];
  choice: Choice;
  /**
   * What sets lanes apart, lane by lane, in the order in which it is told.
   */
  claims?: LaneClaims[];
  decision?: Decision;
  /**
   * Lanes that could not do some of the work.
   */
  failed?: FailedLane[];
  /**
   * The same by what was measured.
   */
  limited?: LimitedWork[];
  /**
   * Work with pairs that have no verdict, by the reason. What keeps a lane from being ranked at all is said of the lane,
   * and not here.
   */
  no_verdict?: UnrankedWork[];
  /**
   * The same by the one reason of each, in the order in which reasons are told.
   */
  open?: OpenWork[];
  /**
   * Work that is undecided.
   */
  undecided?: Work[];
  /**
   * Work with a difference that holds for its own row and not over the whole race.
   */
  unsure?: Work[];
}
/**
 * What sets one lane apart.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LaneClaims".
 */
export interface LaneClaims {
  /**
   * What is surest to be large comes first.
   */
  claims: Claim[];
  /**
   * The lane that it is told of.
   */
  lane: string;
}
/**
 * A difference as the answer tells it: held against the same lane as in the verdicts, so that a figure reads the same in
 * both places.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Claim".
 */
export interface Claim {
  /**
   * The lane that it is held against.
   */
  against: string;
  /**
   * The lane that it is told of is the better one.
   */
  gain: boolean;
  /**
   * Its place among the reasons of the answer.
   */
  reason: number;
  /**
   * The place of its result; absent where there is none.
   */
  result?: number | null;
}
/**
 * A lane that could not do some of the work.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "FailedLane".
 */
export interface FailedLane {
  /**
   * The lane.
   */
  lane: string;
  /**
   * The same by the reason.
   */
  reasons: FailedWork[];
  /**
   * All of that work.
   */
  works: Work[];
}
/**
 * Work that a lane could not do for one reason.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "FailedWork".
 */
export interface FailedWork {
  /**
   * The reason.
   */
  reason: string;
  /**
   * The work.
   */
  works: Work[];
}
/**
 * Work in which one thing was measured instead of the filesystems.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LimitedWork".
 */
export interface LimitedWork {
  limit: Limit;
  /**
   * How many results.
   */
  results: number;
  /**
   * The work.
   */
  works: Work[];
}
/**
 * Work with pairs that have no verdict for one reason.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "UnrankedWork".
 */
export interface UnrankedWork {
  /**
   * The reason.
   */
  why: string;
  /**
   * The work.
   */
  works: Work[];
}
/**
 * Work that is undecided for one reason.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OpenWork".
 */
export interface OpenWork {
  because: Undecided;
  /**
   * The work.
   */
  works: Work[];
}
/**
 * The disk under the lanes, written in long requests, flushed and read back: medians over the looks at it.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "DiskFinding".
 */
export interface DiskFinding {
  /**
   * Seconds of the flush.
   */
  flush_seconds: number;
  /**
   * Until all of it was flushed.
   */
  flushed_bytes_per_second: number;
  /**
   * How often it was looked at.
   */
  looks: number;
  /**
   * Of the same part, after the flush; 0: not measured.
   */
  read_bytes_per_second: number;
  /**
   * The same as a sentence, with what was observed.
   */
  said?: string | null;
  /**
   * What shows that something else than a medium answers; empty: nothing does.
   */
  signs?: DiskSign[];
  /**
   * As a program sees it that does not flush.
   */
  write_bytes_per_second: number;
  /**
   * Bytes written before the flush.
   */
  written_bytes: number;
}
/**
 * What answers for a disk in place of a medium, as far as this machine's kernel shows it.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Behind".
 */
export interface Behind {
  /**
   * The device that it is true of, as the kernel names it: `loop7`, `ram0`, `zram0`.
   */
  device: string;
  kind: BehindKind;
}
/**
 * What a lane did in the phases of IO500.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Io500Finding".
 */
export interface Io500Finding {
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * In the order of IO500; those without a figure are left out.
   */
  phases: Io500Phase[];
  /**
   * Absent where no round has figures of all phases.
   */
  score?: Io500Score | null;
}
/**
 * One phase.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Io500Phase".
 */
export interface Io500Phase {
  counts: Io500Kind;
  /**
   * Mean over rounds, in GiB/s or thousands of operations per second.
   */
  figure: number;
  /**
   * As IO500 calls it.
   */
  name: string;
  /**
   * It read more in a round than its files hold, through the page cache: in part it is a figure of memory.
   */
  read_again?: boolean;
  /**
   * Rounds with a figure.
   */
  rounds: number;
  /**
   * Seconds that were measured in the shortest round.
   */
  seconds: number;
}
/**
 * The score: one number in each round, put together as any other figure is.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Io500Score".
 */
export interface Io500Score {
  /**
   * Geometric mean of the four bandwidths, over rounds, in GiB/s.
   */
  bandwidth: number;
  /**
   * See `low`.
   */
  high?: number | null;
  /**
   * 95 % interval of this lane alone; absent with fewer than two rounds.
   */
  low?: number | null;
  /**
   * Geometric mean of the eight rates of names, over rounds, in thousands of operations per second.
   */
  metadata: number;
  /**
   * Rounds that have all phases.
   */
  rounds: number;
  /**
   * Geometric mean over rounds of the root of the two figures' product.
   */
  score: number;
}
/**
 * One group of work that was raced by growing numbers of ranks (method 10.3).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LadderFinding".
 */
export interface LadderFinding {
  /**
   * Name of the group; empty: the work has one.
   */
  group?: string;
  /**
   * One per lane that has figures of two numbers of ranks and more.
   */
  lanes: LadderLane[];
  /**
   * What a person calls the work, however many do it.
   */
  title: string;
  /**
   * `operations/s` or `B/s`.
   */
  unit: string;
}
/**
 * One lane on a ladder.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LadderLane".
 */
export interface LadderLane {
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * From the fewest ranks to the most; those without a figure are left out.
   */
  rows: LadderRow[];
  scaling: Scaling;
}
/**
 * What so many ranks did together.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LadderRow".
 */
export interface LadderRow {
  /**
   * See `low`.
   */
  high?: number | null;
  /**
   * 95 % interval of this lane alone.
   */
  low?: number | null;
  /**
   * Geometric mean over rounds; arithmetic, and without an interval, where the lane stood still in some.
   */
  mean: number;
  /**
   * Machines that they were on.
   */
  nodes: number;
  /**
   * How many.
   */
  ranks: number;
  /**
   * Rounds that count.
   */
  rounds: number;
  /**
   * What the ranks brought that the row before does not have; absent in the first row, and where it is not known.
   */
  share?: LadderShare | null;
}
/**
 * What added ranks brought, as a share of what as many of those before did: 1 as much, 0 nothing.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LadderShare".
 */
export interface LadderShare {
  /**
   * See `low`.
   */
  high: number;
  /**
   * Its interval, which holds with 95 % together with those of all others of the race.
   */
  low: number;
  /**
   * The share.
   */
  share: number;
}
/**
 * The limits of an emulated disk; reads and writes are counted apart. What is absent is not limited.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Throttle".
 */
export interface Throttle {
  /**
   * Bytes read per second.
   */
  read_bytes_per_second?: number | null;
  /**
   * Read requests per second.
   */
  read_iops?: number | null;
  /**
   * Bytes written per second.
   */
  write_bytes_per_second?: number | null;
  /**
   * Write requests per second; a flush is one too.
   */
  write_iops?: number | null;
}
/**
 * A lane as it was built for a race, kept in the record's header.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Lane".
 */
export interface Lane {
  /**
   * What lies above the filesystem, as the lane names it: `overlay`; empty: nothing.
   */
  above?: string;
  /**
   * What became of its past; absent: it is fresh.
   */
  aged?: AgedLane | null;
  /**
   * The disk under it, as the kernel names it (`nvme0n1`); empty: none.
   */
  backing: string;
  /**
   * SHA-256 of the file that describes a filesystem of the user's own, in hexadecimal; empty: it is one of the table,
   * or the record is older than this key.
   */
  definition_sha256?: string;
  /**
   * Disks that it stands on, of `size_bytes` each.
   */
  disks?: number;
  /**
   * `ext4`, …; for a directory the filesystem found there.
   */
  filesystem: string;
  /**
   * No flush of this lane reaches a disk, whatever its filesystem promises: it lives in user-mode Linux, whose
   * images are not opened O_SYNC.
   */
  flushes_stop_short?: boolean;
  /**
   * Journal or log size, allocation groups, profiles: `name: value` as the tools name them.
   */
  geometry?: string[];
  /**
   * What identifies the ground: lanes whose grounds differ do not stand on equal ground.
   * The same for all images of a race; a device's or a directory's path otherwise.
   */
  ground: string;
  /**
   * What it guarantees beside that; absent: the record is older than this key, or another tool's.
   */
  guarantees?: Guarantees | null;
  /**
   * This lane is the first one again (`--with-self`).
   */
  is_self?: boolean;
  /**
   * Release of the guest's kernel; empty: the host's own kernel mounts it.
   */
  kernel?: string;
  /**
   * FNV-1a of that kernel's image, 64 bits in hexadecimal: two kernels may bear one release. Empty: not known.
   */
  kernel_build?: string;
  /**
   * Layers under the filesystem, from top to bottom, as the lane names them; empty: it stands on its disks itself.
   */
  layers?: string[];
  /**
   * The mkfs command as an argument list, with `{device}` where the device stands; empty: none.
   */
  mkfs_command: string[];
  /**
   * Mount options, Fairlane's own included.
   */
  mount_options: string[];
  /**
   * What reports call it.
   */
  name: string;
  promises: Promises;
  /**
   * What the filesystem sees of the lane's own block device; absent where it has none on this machine, and in records
   * of before it was kept.
   */
  queue?: QueueLimits | null;
  /**
   * When the server of a directory answers, as who started the race said; absent: nobody said it.
   */
  server_answers?: ServerAnswers | null;
  /**
   * Size of the lane in bytes; 0: unknown.
   */
  size_bytes: number;
  /**
   * The line that makes this lane again.
   */
  spec: string;
  /**
   * Bytes below the filesystem, where layers stand; 0: none do, or it is not known.
   */
  usable_bytes?: number;
  /**
   * `image`, `device`, `directory`, `memory`, `library`, `uml`, `qemu`.
   */
  venue: string;
}
/**
 * What a lane guarantees after a crash, or when it does, beside its promises: said beside a verdict, and void none.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Guarantees".
 */
export interface Guarantees {
  /**
   * Whether its metadata has checksums; absent: nobody told.
   */
  metadata_checksums?: boolean | null;
  /**
   * How often its metadata is kept on one device; absent: nobody told, or it is spread over several.
   */
  metadata_copies?: number | null;
  /**
   * Its mount options that change what it guarantees; of those that speak of one thing the last.
   */
  options?: OptionEffect[];
}
/**
 * A mount option, and what it changes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OptionEffect".
 */
export interface OptionEffect {
  effect: CrashEffect;
  /**
   * As it is given: `data=writeback`.
   */
  option: string;
}
/**
 * What a lane promises: what decides whether two lanes' speeds may be ranked.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Promises".
 */
export interface Promises {
  /**
   * Writes are ordered with flushes on the way to stable storage.
   */
  barriers: boolean;
  /**
   * Data is checksummed.
   */
  data_checksums: boolean;
  /**
   * `fsync` returns only after the data was handed to the device as stable.
   */
  fsync_reaches_stable_storage: boolean;
  /**
   * Metadata survives a crash without a full check: a journal, a log or copy-on-write.
   */
  journal: boolean;
  /**
   * What was made durable does not go with the disk of a cache: none stands under the filesystem, or it keeps nothing that
   * the disk behind it lacks.
   */
  outlives_cache?: boolean;
}
/**
 * What filesystems and mkfs see of a block device, from /sys/block/NAME/queue (the kernel's
 * Documentation/ABI/stable/sysfs-block). What the kernel does not tell is absent.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "QueueLimits".
 */
export interface QueueLimits {
  /**
   * Bytes of the unit in which it discards; 0: it takes none.
   */
  discard_granularity_bytes?: number | null;
  /**
   * Bytes of the largest discard; 0: it takes none.
   */
  discard_max_bytes?: number | null;
  /**
   * It makes a single write stable (forced unit access); otherwise the kernel sends a flush behind such a write.
   */
  fua?: boolean | null;
  /**
   * Bytes of the smallest unit that the device addresses.
   */
  logical_block_bytes?: number | null;
  /**
   * Bytes of the smallest request that costs no read before it: the chunk of a RAID, where it is larger than a block.
   */
  minimum_io_bytes?: number | null;
  /**
   * Bytes of the request that suits it best: the stripe of a RAID; 0: it names none.
   */
  optimal_io_bytes?: number | null;
  /**
   * Bytes that it writes without reading first; mkfs.xfs takes them for its sectors.
   */
  physical_block_bytes?: number | null;
  /**
   * Spinning, as the kernel believes.
   */
  rotational?: boolean | null;
  /**
   * `write back`: it has a cache that a flush empties; `write through`: the kernel sends it no flush at all.
   */
  write_cache?: string | null;
}
/**
 * What a lane's layers, or its several disks, cost in the whole race (method 3.9).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LayerCost".
 */
export interface LayerCost {
  /**
   * The same lane of this race on one disk and without layers; absent: none was raced.
   */
  beside?: string | null;
  /**
   * CPU of the whole system per operation, as a multiple of that lane's: the geometric mean over `rows`. No interval.
   */
  cpu_times?: number | null;
  /**
   * The least and the most of those multiples.
   */
  cpu_times_range?: unknown[] | null;
  /**
   * Bytes of all its disks; 0: not known, as of disks that may differ.
   */
  disk_bytes: number;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * How fast they are so, as a multiple of a bare disk: the geometric mean over what was looked at of both. No interval.
   */
  of_a_bare_disk?: number | null;
  /**
   * Rows of figures in which both spent a measurable CPU time, those left out whose limit was Fairlane itself.
   */
  rows: number;
  /**
   * What its filesystem stands on: `raid5:3 on 3 disks`.
   */
  stands_on: string;
  /**
   * Bytes below the filesystem; absent where the filesystem joins the disks itself, and where it is not known.
   */
  usable_bytes?: number | null;
  /**
   * What its layers did without a filesystem, once before the rounds; empty: it has none, or nobody looked.
   */
  without_filesystem?: LayerSpeed[];
  /**
   * `written_per_byte` of that lane in the same rows.
   */
  written_beside?: number | null;
  /**
   * The part of `written_per_byte` of each disk, in the lane's order; empty: one disk, or not known.
   */
  written_by_disk?: number[];
  /**
   * Bytes written at all disks per byte that the application wrote, the geometric mean over rows of figures; absent: none
   * has it.
   */
  written_per_byte?: number | null;
}
/**
 * How fast layers are without a filesystem, beside a bare disk.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LayerSpeed".
 */
export interface LayerSpeed {
  /**
   * The same of one bare disk before the first round, the median over the disks that were looked at; absent: none was.
   */
  bare_operations_per_second?: number | null;
  /**
   * Operations per second of the layers, the median over slices.
   */
  operations_per_second: number;
  profile: Profile;
  /**
   * The workload whose block size and depth it has.
   */
  workload: string;
}
/**
 * The machine a race ran on; a record is resumed only where `same_ground` holds.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Machine".
 */
export interface Machine {
  /**
   * Model name.
   */
  cpu?: string;
  /**
   * Online CPUs.
   */
  cpus?: number;
  device?: Device;
  /**
   * vm.dirty_background_bytes; 0: the ratio counts. Absent in records of before it was kept.
   */
  dirty_background_bytes?: number | null;
  /**
   * vm.dirty_background_ratio.
   */
  dirty_background_ratio?: number;
  /**
   * vm.dirty_bytes; 0: the ratio counts. Absent in records of before it was kept.
   */
  dirty_bytes?: number | null;
  /**
   * vm.dirty_expire_centisecs.
   */
  dirty_expire_centisecs?: number;
  /**
   * vm.dirty_ratio.
   */
  dirty_ratio?: number;
  /**
   * vm.dirty_writeback_centisecs.
   */
  dirty_writeback_centisecs?: number;
  /**
   * The disks behind the first, of lanes that take turns on several; empty: there are none.
   */
  further_disks?: Device[];
  /**
   * cpufreq governor of the first CPU; empty where the kernel shows none.
   */
  governor?: string;
  /**
   * `uname -r`.
   */
  kernel?: string;
  /**
   * `uname -v`.
   */
  kernel_build?: string;
  /**
   * A stable identity: /etc/machine-id, hashed; empty where there is none.
   */
  machine_id_hash?: string;
  /**
   * Main memory.
   */
  memory_bytes?: number;
  /**
   * Bytes per second that all CPUs together copied at their best, within their caches; 0: not measured.
   */
  memory_copy_bytes_per_second?: number;
  /**
   * `PRETTY_NAME` of os-release.
   */
  os?: string;
  /**
   * vm.swappiness; absent in records of before it was kept.
   */
  swappiness?: number | null;
  /**
   * Versions of the tools used: `mkfs.ext4 1.47.0`.
   */
  tools?: string[];
  /**
   * vm.vfs_cache_pressure; absent in records of before it was kept.
   */
  vfs_cache_pressure?: number | null;
  /**
   * Hypervisor as the CPU shows it; empty: none seen.
   */
  virtualization?: string;
}
/**
 * The disk under the lanes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Device".
 */
export interface Device {
  /**
   * What answers for it in place of a medium; absent where the kernel shows nothing of the kind.
   */
  behind?: Behind | null;
  /**
   * Forced unit access.
   */
  fua?: boolean;
  /**
   * Filesystem that holds the images; empty on bare devices.
   */
  host_filesystem?: string;
  /**
   * Its mount options.
   */
  host_mount_options?: string;
  /**
   * Model as the device tells it; empty where it does not.
   */
  model?: string;
  /**
   * Kernel name: `nvme0n1`.
   */
  name?: string;
  /**
   * What filesystems see of it; absent in records of before it was kept.
   */
  queue?: QueueLimits | null;
  /**
   * Spinning, as the kernel believes.
   */
  rotational?: boolean;
  /**
   * Active I/O scheduler.
   */
  scheduler?: string;
  /**
   * Size.
   */
  size_bytes?: number;
  /**
   * `write back` or `write through`.
   */
  write_cache?: string;
}
/**
 * A workload of file operations as one table.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OperationsFinding".
 */
export interface OperationsFinding {
  /**
   * The lane in memory that shows what the system calls alone cost.
   */
  floor?: string | null;
  /**
   * One per pair of lanes, in the order of the totals: `b` is the one that comes first there, so
   * that every pair with the reference is held against it.
   */
  pairs: OperationsPair[];
  /**
   * How often a round does every step; a figure of a round is the median of so many.
   */
  passes: number;
  /**
   * Of the time of all steps and lanes the share that starting processes took, where each
   * operation was a process of its own.
   */
  process_startup_share?: number | null;
  /**
   * The lane that the others are held against: the first filesystem on a disk that may get a
   * verdict against another one.
   */
  reference: string;
  /**
   * Rounds in which every lane did the work.
   */
  rounds: number;
  /**
   * One per step, section by section in the order in which sections first occur.
   */
  rows: OperationRow[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * One per lane: the reference, the other filesystems on disks, what stands beside them.
   */
  totals: OperationTotal[];
  /**
   * What a reader should know of this workload's rounds, gathered over its steps.
   */
  warnings: string[];
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * Two lanes over all steps of a workload of file operations.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OperationsPair".
 */
export interface OperationsPair {
  /**
   * The lane that is judged.
   */
  a: string;
  /**
   * The lane it is judged against.
   */
  b: string;
  /**
   * Geometric mean of the steps' ratios, above 1 where `a` does better. Steps in which Fairlane
   * itself was measured are left out.
   */
  geometric_mean?: number | null;
  /**
   * Steps in which `a` is slower by verdict.
   */
  losses: number;
  /**
   * Steps whose ratio is in it.
   */
  steps: number;
  /**
   * Steps in which they tie by verdict.
   */
  ties: number;
  /**
   * Steps whose interval is still too wide.
   */
  undecided: number;
  /**
   * Why, where all of those share the reason.
   */
  why?: string | null;
  /**
   * Steps in which `a` is faster by verdict.
   */
  wins: number;
  /**
   * Steps with a ratio that can have no verdict.
   */
  without_verdict: number;
}
/**
 * One step of file operations across the lanes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OperationRow".
 */
export interface OperationRow {
  /**
   * One per lane.
   */
  figures: OperationFigure[];
  /**
   * Name of the group; the result of the same workload and group holds the verdicts.
   */
  group: string;
  /**
   * What was done: `create`, `random-read`, …
   */
  operation: string;
  /**
   * The section that it belongs to; empty: none.
   */
  section: string;
}
/**
 * One lane's figures of one step. Times are of the whole step, its charged sync included.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OperationFigure".
 */
export interface OperationFigure {
  /**
   * Bytes by seconds, where bytes were moved.
   */
  bandwidth_bytes_per_second?: number | null;
  /**
   * Bytes that the application moved in one round; 0: the operation moves none.
   */
  bytes: number;
  /**
   * Why there is no figure, where there is none.
   */
  failure?: string | null;
  /**
   * The floor lane's time by this lane's: the share that the system calls alone would take.
   * Above 1 the lane needs less than the system calls do.
   */
  floor_share?: number | null;
  /**
   * 95 % interval of this lane alone.
   */
  high?: number | null;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * 95 % interval of this lane alone; absent with fewer than two rounds.
   */
  low?: number | null;
  /**
   * Operations of one round.
   */
  operations: number;
  /**
   * Operations by seconds.
   */
  operations_per_second?: number | null;
  /**
   * The share of the time that starting processes took, where each operation was one.
   */
  process_startup_share?: number | null;
  /**
   * Geometric mean over rounds; absent where the lane has no figure.
   */
  seconds?: number | null;
  /**
   * Of the seconds those of the charged sync, median over rounds.
   */
  sync_seconds?: number | null;
}
/**
 * What one lane took in all.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OperationTotal".
 */
export interface OperationTotal {
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * Sum over the steps that every lane with figures did; absent where there is none.
   */
  seconds?: number | null;
  /**
   * How many steps that are.
   */
  steps: number;
  /**
   * The sync after the work, of what no step was charged for; median over rounds.
   */
  sync_seconds?: number | null;
  /**
   * The unmount after it, median over rounds.
   */
  unmount_seconds?: number | null;
}
/**
 * One group of one workload, done by the ranks of a job (method 10).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RanksFinding".
 */
export interface RanksFinding {
  /**
   * Name of the group.
   */
  group: string;
  /**
   * One per lane that has figures of ranks.
   */
  rows: RanksRow[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * What the ranks did in one lane. Figures are medians over rounds, each by itself.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RanksRow".
 */
export interface RanksRow {
  /**
   * Seconds from the common start to when the first rank was done.
   */
  first_done_seconds: number;
  /**
   * Of whichever was the fastest.
   */
  highest_operations_per_second: number;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * The same of the last rank.
   */
  last_done_seconds: number;
  /**
   * Operations per second of whichever rank was the slowest of its round.
   */
  lowest_operations_per_second: number;
  /**
   * Mean of all ranks.
   */
  mean_operations_per_second: number;
  /**
   * What networks of their machines carried; absent: there is one machine and hardly anything, or it is not known.
   */
  network?: NetworkUse | null;
  /**
   * Machines that they were on.
   */
  nodes: number;
  /**
   * How many ranks worked.
   */
  ranks: number;
  /**
   * Rounds that count.
   */
  rounds: number;
  /**
   * Standard deviation of the ranks' operations per second as a share of their mean.
   */
  spread: number;
  /**
   * Seconds from the first rank's start to the last one's, all windows of a round together.
   */
  start_spread_seconds: number;
  /**
   * The rank that stays far behind; absent: no one can be told.
   */
  straggler?: Straggler | null;
}
/**
 * What network interfaces of all machines together carried while ranks worked, of all programs: medians over rounds.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "NetworkUse".
 */
export interface NetworkUse {
  /**
   * Bytes received per second.
   */
  received_bytes_per_second: number;
  /**
   * Bytes sent per second.
   */
  sent_bytes_per_second: number;
}
/**
 * A rank that was the slowest in so many rounds, and so far behind, that chance hardly makes it (method 10.2).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Straggler".
 */
export interface Straggler {
  /**
   * How far it was below the mean of the other ranks, as a share: the median of those rounds.
   */
  below: number;
  /**
   * Number of its node, from 0 in the order of the ranks.
   */
  node: number;
  /**
   * Of how many.
   */
  of: number;
  /**
   * Its number, from 0.
   */
  rank: number;
  /**
   * Rounds in which it was the slowest, and far behind.
   */
  rounds: number;
}
/**
 * One workload and group across the lanes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ResultFinding".
 */
export interface ResultFinding {
  /**
   * What of this work lanes did otherwise than others: the two lists above as sentences, to be said beside a verdict.
   */
  acts?: string[];
  /**
   * Lanes that sent half and more of this work's I/O, which asks to be direct, through the page cache, where another
   * lane did not.
   */
  buffered?: string[];
  /**
   * Its rates are means over all of the time instead of medians over slices, because a lane of this work stalls or
   * works in bursts.
   */
  by_means?: boolean;
  counts?: Counts;
  /**
   * One per lane.
   */
  estimates: Estimate[];
  /**
   * What of it makes lanes differ, in sentences.
   */
  explained?: string[];
  /**
   * Where each lane's time went: by a profile where the race was told to explain itself, else by what was counted in
   * the rounds.
   */
  explanations?: Explanation[];
  /**
   * Name of the group.
   */
  group: string;
  /**
   * What heads it where `limit` is not known; absent where that is, or nothing tells.
   */
  headline?: Headline | null;
  /**
   * Whether more is better: rates; of latencies less is.
   */
  higher_is_better: boolean;
  /**
   * Lanes that keep half and more of the files that were looked at in another form than in blocks of their own.
   */
  kept?: Kept[];
  limit: Limit;
  /**
   * One sentence with the figures.
   */
  limit_reason: string;
  /**
   * `operations_per_second`, `bandwidth_bytes_per_second`, or a latency such as `latency_p99_ns`.
   */
  metric: string;
  /**
   * What was measured never passed the disk (writes that stayed in memory, figures above the disk's that
   * holes or a cache gave): no verdict rests on it.
   */
  missed_the_disk?: boolean;
  /**
   * One per pair of lanes.
   */
  pairs: Pair[];
  /**
   * Best first; lanes in one list are not told apart.
   */
  ranking: string[][];
  /**
   * The lane that the others are held against; absent where nothing is compared.
   */
  reference?: string | null;
  /**
   * Rounds in which two lanes have a figure, of the pair that has the most; of a single lane its own.
   */
  rounds: number;
  /**
   * Of a step of file operations the section of the table that it stands in, possibly empty;
   * `None`: other work.
   */
  section?: string | null;
  /**
   * The rate that all lanes shared, where the work was an open loop at a share of the slowest
   * lane's maximum.
   */
  shared_rate?: SharedRate | null;
  /**
   * Somebody waits for each operation (it ends with its flush, or comes at a rate of its own): its longest waits
   * belong beside its rate.
   */
  stalls_matter?: boolean;
  /**
   * What there is to say about it, in reading order.
   */
  statements?: Statement[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Lanes that were raced and of whose time nothing is told, with why.
   */
  unexplained?: string[];
  /**
   * `operations/s`, `B/s` or `ns`.
   */
  unit: string;
  /**
   * Remarks: not steady, correlated rounds, failed lanes.
   */
  warnings: string[];
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * One lane's figure.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Estimate".
 */
export interface Estimate {
  /**
   * The agent's own user time per operation.
   */
  agent_cpu_seconds_per_operation?: number | null;
  /**
   * CPU of the whole system per GiB of the application.
   */
  cpu_seconds_per_gib?: number | null;
  /**
   * CPU of the whole system per operation.
   */
  cpu_seconds_per_operation?: number | null;
  /**
   * CPU time of the whole system as a share of all CPUs, 0 to 1.
   */
  cpu_share?: number | null;
  /**
   * Of that CPU time the kernel's share: system / (user + system), 0 to 1.
   */
  cpu_system_share?: number | null;
  /**
   * Share of the time in which the lane's device had a request in flight, 0 to 1. It decides
   * nothing: a device that serves many requests at once is busy long before it is full.
   */
  device_busy_share?: number | null;
  /**
   * Use of the device against its ceiling (method 3.2).
   */
  device_use?: number | null;
  /**
   * That use is more than the measured ceiling allows: the ceiling is wrong, and the use is not known.
   */
  device_use_is_impossible?: boolean;
  /**
   * Extents of the files that the work left (FIEMAP), median over rounds: in how many pieces they lie.
   */
  extents?: number | null;
  /**
   * Why there is no figure, where there is none.
   */
  failure?: string | null;
  /**
   * Flushes at the device per operation.
   */
  flushes_per_operation?: number | null;
  /**
   * 95 % interval of this lane alone.
   */
  high?: number | null;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * Longest latency of a single operation in all rounds, nanoseconds.
   */
  latency_max_ns?: number | null;
  /**
   * Arithmetic mean latency of single operations, median over rounds, nanoseconds.
   */
  latency_mean_ns?: number | null;
  /**
   * Median latency, all rounds' histograms merged, nanoseconds.
   */
  latency_p50_ns?: number | null;
  /**
   * 99.9th percentile of latency, all rounds' histograms merged, nanoseconds.
   */
  latency_p999_ns?: number | null;
  /**
   * 99th percentile of latency, all rounds' histograms merged, nanoseconds.
   */
  latency_p99_ns?: number | null;
  /**
   * 95 % interval of this lane alone; absent with fewer than two rounds, or where the lane stood still in
   * some.
   */
  low?: number | null;
  /**
   * Geometric mean over rounds; the arithmetic one where the lane stood still in some of them.
   */
  mean: number;
  /**
   * The rate over all of the time as a share of the median of the slices, geometric mean over rounds, where it
   * differs by more than noise: below 1 the lane stalls, above it works in bursts.
   */
  mean_to_median?: number | null;
  /**
   * Wall seconds of work that is done once and whose metric is a rate, such as removing large files; median over
   * rounds.
   */
  once_seconds?: number | null;
  /**
   * Of work that asks for direct I/O, the larger of two figures, each the least of all rounds. Bytes of its files that
   * lay in the page cache afterwards per byte that was read or written; of writes, bytes of pages that became dirty in
   * the whole system per byte that was written. Near 0: the data did not pass the page cache; from 0.5 on it is said
   * that it did.
   */
  page_cache_share?: number | null;
  /**
   * Rounds that count.
   */
  rounds: number;
  /**
   * The figure that stands beside those of the other lanes, where that is not `mean`: a lane that raced fewer rounds
   * stands at its ratio to the reference lane, so that two figures of a row divide to the ratio that is told.
   */
  row_mean?: number | null;
  /**
   * Its trials are void: the throttle did not hold, the machine slept, or its clock changed. That is no failure of the lane.
   */
  void?: boolean;
  /**
   * Bytes written at the device per byte of the application.
   */
  write_amplification?: number | null;
}
/**
 * Where callers' time went in one lane. The shares of `parts` add up to one.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Explanation".
 */
export interface Explanation {
  basis?: Basis;
  /**
   * The same in more detail, the largest first; none by counters, which know parts alone.
   */
  causes: CauseShare[];
  /**
   * The device's shares rest on its own counters: they are what callers waited for it at most.
   */
  device_by_counters?: boolean;
  /**
   * The lane.
   */
  lane: string;
  /**
   * Events that were lost.
   */
  lost_events?: number;
  /**
   * Operations per second while it was profiled.
   */
  operations_per_second: number;
  /**
   * Parts with a share, the largest first.
   */
  parts: PartShare[];
  /**
   * Samples on CPUs that it rests on.
   */
  samples: number;
  /**
   * Seconds that callers waited for one operation while it was profiled: all of their time, by the operations; of work
   * with several requests in flight, the time of one request.
   */
  seconds_per_operation: number;
  /**
   * Functions that no row of the table knows, the largest first, with the share of their time.
   */
  unknown?: UnknownShare[];
  /**
   * The same in the rounds that count, the median; absent where there are none.
   */
  unprofiled_operations_per_second?: number | null;
}
/**
 * A cause's share.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "CauseShare".
 */
export interface CauseShare {
  /**
   * What callers did, or waited for.
   */
  cause: string;
  part: Part;
  /**
   * Of the callers' time, 0 to 1.
   */
  share: number;
}
/**
 * A part's share.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PartShare".
 */
export interface PartShare {
  part: Part;
  /**
   * Of the callers' time, 0 to 1.
   */
  share: number;
}
/**
 * A function that no row of the table knows.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "UnknownShare".
 */
export interface UnknownShare {
  /**
   * Its name, as the kernel has it.
   */
  function: string;
  /**
   * Of the callers' time, 0 to 1.
   */
  share: number;
}
/**
 * What a row is headed by whose limit no rule tells.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Headline".
 */
export interface Headline {
  /**
   * The share of the part is an upper bound.
   */
  at_most?: boolean;
  basis: Basis;
  /**
   * The slowest lane, whose time it is.
   */
  lane: string;
  /**
   * The share that is not explained, 0 to 1.
   */
  not_explained: number;
  /**
   * The part that takes more than half; absent: none does.
   */
  part?: Part | null;
  /**
   * The share of the largest part that is known, 0 to 1.
   */
  share: number;
}
/**
 * A lane and how it keeps the files of a result, as its filesystem tells it (FIEMAP).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Kept".
 */
export interface Kept {
  form: KeptForm;
  /**
   * Name of the lane.
   */
  lane: string;
}
/**
 * Two lanes.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Pair".
 */
export interface Pair {
  /**
   * The lane that is judged.
   */
  a: string;
  /**
   * What the difference comes to at least, as `ratio` is written: the near end of an interval that holds together
   * with those of all other pairs of the race. Absent where that interval does not leave 1 out.
   */
  at_least?: number | null;
  /**
   * The lane it is judged against.
   */
  b: string;
  /**
   * Interval at the confidence of the look.
   */
  high?: number | null;
  /**
   * Interval at the confidence of the look.
   */
  low?: number | null;
  /**
   * For `undecided`: minutes of racing that would probably settle it.
   */
  minutes_to_settle?: number | null;
  /**
   * The difference holds beside all others of its race: with 95 % none that says so is false. ANSWER and
   * advice rest on these alone, because of many rows some differ by chance.
   */
  over_race?: boolean;
  /**
   * a/b of rates and b/a of times, geometric, so that above 1 `a` does better; absent where
   * nothing could be paired.
   */
  ratio?: number | null;
  /**
   * For `undecided`: rounds in all that would probably settle it. An adaptive race ends after 20;
   * more are asked for with `--rounds`.
   */
  rounds_to_settle?: number | null;
  /**
   * For `undecided`: the reason.
   */
  undecided?: Undecided | null;
  verdict: Verdict;
  /**
   * Why there is no verdict, or what stands beside it.
   */
  why?: string | null;
}
/**
 * The rate that all lanes of a workload share: a share of the slowest lane's maximum, measured in
 * the same race (method 4.1).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "SharedRate".
 */
export interface SharedRate {
  /**
   * What disturbed the measurement of the maxima, where it could not be made again; one sentence.
   */
  disturbed?: string | null;
  /**
   * Each lane's maximum of a closed loop, operations per second, median over slices.
   */
  maxima_operations_per_second: {
    [k: string]: number;
  };
  /**
   * The rate that came of it, all workers together.
   */
  operations_per_second: number;
  /**
   * The share: 0.7.
   */
  share: number;
  /**
   * The slowest lane.
   */
  slowest: string;
  /**
   * The workload.
   */
  workload: string;
}
/**
 * A pair of a result as a statement tells it.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Told".
 */
export interface Told {
  /**
   * Its place among the pairs of the result.
   */
  pair: number;
  /**
   * It is told of `b` against `a`.
   */
  turned?: boolean;
}
/**
 * What a screening found (method 9).
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ScreeningFinding".
 */
export interface ScreeningFinding {
  /**
   * The words of the command of a screening anew, where more rounds may tell what is open; empty: they may not, or nobody
   * knows.
   */
  anew?: string[];
  /**
   * The lane that was screened, as it was typed; empty: nobody could have typed it so, and nothing is told.
   */
  base: string;
  /**
   * The race of the proposal against the default; absent: it was not raced.
   */
  confirmation?: Confirmation | null;
  /**
   * Why the record that lies beside as that race is none, as a sentence without a full stop; absent: none was left out.
   */
  confirmation_left_out?: string | null;
  design: DesignKind;
  /**
   * Other programs disturbed more than half of its trials.
   */
  disturbed?: boolean;
  /**
   * What was varied, in the order of the effects.
   */
  factors: Factor[];
  /**
   * The design has fewer columns without an option than [`FEWEST_SPARE`]: lanes that differ by themselves would not be
   * noticed.
   */
  few_spare?: boolean;
  /**
   * Lanes that a full factorial of the same options takes.
   */
  full_factorial_lanes: number;
  /**
   * What columns without an option show, lanes that differ by themselves or options together, alone would keep open all that
   * cannot be told (method 9.5): more rounds may not help.
   */
  hidden_by_lanes?: boolean;
  /**
   * Lanes of the design.
   */
  lanes: number;
  /**
   * What was not, and why.
   */
  left_out?: LeftOutOption[];
  /**
   * An option of the disk's queue was varied on images: the queue is that of each image's loop device.
   */
  loop_queue?: boolean;
  /**
   * Effects within this share do not matter.
   */
  margin: number;
  /**
   * What its suite does not test, as it says that.
   */
  not_tested?: string[];
  proposal: Proposal;
  /**
   * On what it was raced, as a sentence: fresh filesystems of a size, a device.
   */
  raced?: string | null;
  /**
   * One per workload and group.
   */
  results: ScreenedResult[];
  /**
   * The race is not over: what is open may still be told.
   */
  unfinished?: boolean;
}
/**
 * The race of the proposal against the default, with another seed.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Confirmation".
 */
export interface Confirmation {
  /**
   * Why it is over and cannot tell: the one reason, that of most of its rows; absent: it tells, is not over, or no row is
   * undecided.
   */
  because?: Undecided | null;
  /**
   * The commands that set by hand what was raced, a line each; empty where it was not confirmed.
   */
  commands?: string[];
  /**
   * Rows whose gain confirms: those that were expected to gain, or all where nothing was expected.
   */
  counted?: number;
  /**
   * The default.
   */
  default_lane: string;
  /**
   * Other programs disturbed more than half of its trials.
   */
  disturbed?: boolean;
  /**
   * Those of them that gain, sure over the whole race.
   */
  gained?: number;
  /**
   * The lane of the proposal.
   */
  lane: string;
  /**
   * The command that races the two again, for longer, in words; empty: it is not over, or what it came to is told.
   */
  more?: string[];
  outcome: ConfirmationOutcome;
  /**
   * One per result.
   */
  rows: ConfirmedRow[];
  /**
   * The seed of that race.
   */
  seed: number;
  /**
   * Levels that tuning chose and that were raced instead of the proposal's, of options that are not as usual; empty: the
   * proposal was raced as it is.
   */
  tuned?: TunedLevel[];
  /**
   * The race is not over.
   */
  unfinished?: boolean;
  /**
   * What has to be heeded of that race, and is not of the screening; empty: nothing.
   */
  warnings?: string[];
}
/**
 * A row of the confirmation.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ConfirmedRow".
 */
export interface ConfirmedRow {
  /**
   * CPU time of the whole system as a share of all CPUs: proposal, default; absent: not known.
   */
  cpu_shares?: number[] | null;
  /**
   * What the screening expected; absent: no option of the proposal mattered there.
   */
  expected?: number | null;
  /**
   * Group; empty: not known.
   */
  group?: string;
  /**
   * See `low`.
   */
  high?: number | null;
  /**
   * The shares are not told, because a lane took too little CPU time, which is counted in ticks.
   */
  little_cpu?: boolean;
  /**
   * Interval at the confidence of the look.
   */
  low?: number | null;
  /**
   * Proposal by default; above 1 it is better. Absent: nothing could be paired.
   */
  ratio?: number | null;
  /**
   * As in [`ScreenedResult`].
   */
  title: string;
  verdict: Verdict;
  /**
   * Workload; empty: not known.
   */
  workload?: string;
  /**
   * Bytes written at the device per byte of the work: proposal, default; absent: not known.
   */
  written_per_byte?: number[] | null;
}
/**
 * An option at a level that tuning chose.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TunedLevel".
 */
export interface TunedLevel {
  /**
   * What that level costs, in a few words; empty: no table tells it.
   */
  costs?: string;
  /**
   * The factor.
   */
  factor: string;
  /**
   * Label of the level.
   */
  level: string;
}
/**
 * An option with two levels.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Factor".
 */
export interface Factor {
  class?: OptionClass;
  /**
   * What the other level costs, in a few words; empty: nothing that is known.
   */
  costs?: string;
  /**
   * Levels that the screening leaves to tuning.
   */
  further?: OptionLevel[];
  /**
   * What it is called: `logbsize`; unique in a screening.
   */
  name: string;
  other: OptionLevel;
  /**
   * What Fairlane's table calls the usual level, where `usual` is another one; empty: it is that one, or no table tells it.
   */
  table_usual?: string;
  usual: OptionLevel;
}
/**
 * A level of an option.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "OptionLevel".
 */
export interface OptionLevel {
  /**
   * As it is shown: `256k`, `on`.
   */
  label: string;
  /**
   * Words for mkfs: a flag and its value in turns, or flags alone; empty: none.
   */
  mkfs?: string[];
  /**
   * Options for mount; empty: none.
   */
  mount?: string[];
  /**
   * Settings of the block device's queue, as layer `queue` takes them: `scheduler=none`; empty: none.
   */
  queue?: string[];
  /**
   * Settings of the kernel while the lane works, as layer `vm` takes them: `dirty_ratio=5`; empty: none.
   */
  vm?: string[];
}
/**
 * An option that is not screened, and why.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LeftOutOption".
 */
export interface LeftOutOption {
  /**
   * The option with its level: `bigalloc on`.
   */
  option: string;
  /**
   * Why, as a sentence without a full stop: `mkfs.ext4 refuses it: …`.
   */
  why: string;
}
/**
 * What to take.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Proposal".
 */
export interface Proposal {
  /**
   * The time was up before all planned rounds; absent: it was not.
   */
  cut_short?: CutShort | null;
  /**
   * The product of its effects on each figure in which one of them matters: what the confirmation has to show.
   */
  expected?: ExpectedGain[];
  /**
   * Factors that are taken at their other level; empty: keep the default.
   */
  factors: string[];
  /**
   * Factors that are better in some work and worse in other, or expected to be worse beside what is taken: nothing is
   * proposed of them.
   */
  mixed?: string[];
  /**
   * Factors that would gain, and are not taken because they change what is promised, or are in no table.
   */
  promises?: string[];
  /**
   * How it was tuned; absent: it was not.
   */
  tuning?: Tuning | null;
}
/**
 * A race of a screening that its time (`--budget`) ended before all planned rounds.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "CutShort".
 */
export interface CutShort {
  /**
   * Rounds of the workload that has fewest.
   */
  fewest: number;
  /**
   * Rounds of the workload that has most.
   */
  most: number;
  /**
   * Rounds that were planned for each.
   */
  planned: number;
}
/**
 * What a proposal is expected to gain of one figure.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ExpectedGain".
 */
export interface ExpectedGain {
  /**
   * Name of the group.
   */
  group: string;
  /**
   * Proposal by default; above 1 it is better.
   */
  ratio: number;
  /**
   * As in [`ScreenedResult`]; two workloads may have one.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * How a proposal was tuned.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Tuning".
 */
export interface Tuning {
  /**
   * What it made of the proposal: the options that are not as usual, each with its level. Empty: the proposal stays
   * as the screening has it.
   */
  chosen?: TunedLevel[];
  /**
   * Its races, in their order; empty: their records do not lie beside the screening's.
   */
  races?: TuningRace[];
  /**
   * It was begun and is not done: nothing is chosen yet.
   */
  unfinished?: boolean;
}
/**
 * A race of combinations of levels against the default.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TuningRace".
 */
export interface TuningRace {
  /**
   * The combinations: those that go on by their order, then the others.
   */
  combinations: TunedCombination[];
  /**
   * Name of its record, which lies beside the screening's.
   */
  record: string;
  /**
   * Its planned rounds.
   */
  rounds: number;
}
/**
 * A combination of levels in a race of tuning.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TunedCombination".
 */
export interface TunedCombination {
  fate: TunedFate;
  /**
   * The options that are not as usual, each with its level.
   */
  levels: TunedLevel[];
  /**
   * Geometric mean of its figures beside the default's; above 1 it is better. Absent: it lacks one of them.
   */
  mean?: number | null;
  /**
   * The worst of them.
   */
  worst?: number | null;
}
/**
 * The effects on one figure.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ScreenedResult".
 */
export interface ScreenedResult {
  /**
   * Standard deviation of a lane's figure from round to round beside the other lanes, of its logarithm.
   */
  deviation?: number | null;
  /**
   * One per factor, in its order; empty where nothing is told.
   */
  effects: Effect[];
  /**
   * Name of the group.
   */
  group: string;
  /**
   * Whether more of it is better.
   */
  higher_is_better: boolean;
  /**
   * Pairs of options that change each other's effect.
   */
  interactions?: Interaction[];
  /**
   * Lanes differ by more than their rounds scatter and the options tell: intervals are wider by that.
   */
  lanes_differ?: boolean;
  /**
   * The figure: `operations_per_second`.
   */
  metric: string;
  /**
   * Rounds in which every lane has a figure; effects need two at least.
   */
  rounds: number;
  /**
   * Effects of columns that no option stands in, beside the interactions (ratios): what differs there is chance, lanes that
   * differ by themselves, or options together.
   */
  spare?: number[];
  /**
   * As a person reads it, with its group where it has several.
   */
  title: string;
  /**
   * Why nothing is told; absent: effects are.
   */
  unknown?: string | null;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * The effect of one option on one figure.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Effect".
 */
export interface Effect {
  /**
   * The factor.
   */
  factor: string;
  /**
   * See `low`.
   */
  high: number;
  /**
   * 95 % interval of this row alone.
   */
  low: number;
  /**
   * Two-sided p of a ratio of 1, of this row alone.
   */
  p: number;
  /**
   * Other level by usual level, of rates; turned for times, so that above 1 the other level is better.
   */
  ratio: number;
  verdict: EffectVerdict;
}
/**
 * Two options that change each other's effect.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Interaction".
 */
export interface Interaction {
  /**
   * Other pairs that the design cannot tell from this one: their lanes are the same.
   */
  aliases?: string[][];
  /**
   * Names of the two.
   */
  factors: string[];
  /**
   * See `low`.
   */
  high: number;
  /**
   * 95 % interval of this row alone.
   */
  low: number;
  /**
   * How many further pairs share a part of it: beside them it is told less exactly, or may be theirs in part.
   */
  partial?: number;
  /**
   * What the effect of the first one is multiplied by where the second is at its other level.
   */
  ratio: number;
}
/**
 * The largest number of writers that each lane sustains.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "SearchFinding".
 */
export interface SearchFinding {
  criterion: Criterion;
  /**
   * Files of each writer.
   */
  files: number;
  /**
   * One per lane.
   */
  lanes: SearchLane[];
  /**
   * More writers than this were not tried.
   */
  most_writers: number;
  /**
   * One per pair of lanes; above 1 `a` sustains more.
   */
  pairs: Pair[];
  /**
   * Passes that all lanes which are still searched have ended.
   */
  passes: number;
  /**
   * Seconds from one append of a writer to the next.
   */
  period_seconds: number;
  /**
   * Most writers first; lanes in one list are not told apart.
   */
  ranking: string[][];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * What a reader should know.
   */
  warnings: string[];
  /**
   * Name of the workload whose writers were varied.
   */
  workload: string;
}
/**
 * One lane's search.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "SearchLane".
 */
export interface SearchLane {
  /**
   * The lane sustains these or more: some pass ended at the most writers that are tried, or one of the next two
   * holds.
   */
  at_least: boolean;
  /**
   * Some pass ended at a number that could not be tried: the lane was full, or something else was short.
   */
  could_not_go_on: boolean;
  /**
   * Why there is no figure, where there is none.
   */
  failure?: string | null;
  /**
   * Some pass ended where Fairlane and the scheduler gave way, not the lane.
   */
  harness?: boolean;
  /**
   * 95 % interval between passes of this lane alone.
   */
  high?: number | null;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * 95 % interval between passes of this lane alone; absent with fewer than two.
   */
  low?: number | null;
  /**
   * Its passes that ended.
   */
  passes: SearchPass[];
  /**
   * What was the matter where it did not sustain them, of the step next to its maximum: in the last pass, or in
   * the last one that says why the lane may sustain more.
   */
  reason?: string | null;
  /**
   * Writers that it sustains: the geometric mean over passes.
   */
  writers?: number | null;
}
/**
 * One pass of a search in one lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "SearchPass".
 */
export interface SearchPass {
  /**
   * From 1.
   */
  pass: number;
  /**
   * Steps that it took.
   */
  steps: number;
  /**
   * The largest number that was sustained below every number that was not; 0: none was.
   */
  sustained: number;
  /**
   * The smallest number that was not sustained; `None`: every one was.
   */
  too_many?: number | null;
}
/**
 * A workload of appenders as one table.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AppendersFinding".
 */
export interface AppendersFinding {
  /**
   * Files of each.
   */
  files: number;
  /**
   * Seconds from one append of a writer to the next.
   */
  period_seconds: number;
  /**
   * Each writer is a process of its own.
   */
  processes: boolean;
  /**
   * One per lane and group: appends, and reads where there are readers.
   */
  rows: AppendersRow[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
  /**
   * Number of writers.
   */
  writers: number;
}
/**
 * One lane's appenders.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "AppendersRow".
 */
export interface AppendersRow {
  /**
   * Rounds in which the backlog grew.
   */
  backlog_rounds: number;
  /**
   * Most tasks in state D in any round.
   */
  blocked_tasks_max?: number | null;
  /**
   * How the lane's device is written, where that is in bursts.
   */
  bursts?: Bursts | null;
  /**
   * Largest `Dirty` of any round, bytes.
   */
  dirty_bytes_max?: number | null;
  /**
   * Why there is no figure, where there is none.
   */
  failure?: string | null;
  /**
   * `append` or `read`.
   */
  group: string;
  /**
   * Largest share of iowait of any round, the mean of ten seconds, 0 to 1.
   */
  iowait_share_max?: number | null;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * Records that were late by a period or more as a share of those that were due, 0 to 1; median over rounds.
   */
  late_share?: number | null;
  /**
   * Writers that were late at least once as a share of all, 0 to 1; median over rounds.
   */
  late_writers_share?: number | null;
  /**
   * Largest load average of any round.
   */
  load_average_max?: number | null;
  /**
   * Largest lateness.
   */
  max_ns?: number | null;
  /**
   * Median lateness, all rounds' histograms merged, nanoseconds.
   */
  p50_ns?: number | null;
  /**
   * 99.9th percentile of lateness.
   */
  p999_ns?: number | null;
  /**
   * 99th percentile of lateness.
   */
  p99_ns?: number | null;
  /**
   * Rounds that count.
   */
  rounds: number;
  /**
   * 99th percentile of the harness's own lateness, median over rounds, nanoseconds.
   */
  scheduling_p99_ns?: number | null;
  /**
   * The same as one sentence.
   */
  story?: string | null;
}
/**
 * A device that is written in bursts.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Bursts".
 */
export interface Bursts {
  /**
   * Bytes of one, the median.
   */
  bytes: number;
  /**
   * Bursts in all rounds.
   */
  count: number;
  /**
   * Seconds from one to the next, the median; `None`: no round holds two.
   */
  every_seconds?: number | null;
  /**
   * 99th percentile of lateness between bursts, the median over intervals, nanoseconds.
   */
  p99_between_ns?: number | null;
  /**
   * The same in bursts: the median over bursts of the worst interval of each.
   */
  p99_in_ns?: number | null;
  /**
   * Seconds that one lasts, the median.
   */
  seconds: number;
  /**
   * Of all bytes written those in bursts, 0 to 1.
   */
  share: number;
}
/**
 * A workload of transactions as one table.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TransactionsFinding".
 */
export interface TransactionsFinding {
  /**
   * The pool holds all of the data: reads are served from memory.
   */
  fits_pool: boolean;
  /**
   * One per group and lane.
   */
  rows: TransactionsRow[];
  /**
   * Who keeps the data, as people write it: `MariaDB`.
   */
  server: string;
  /**
   * What decides whether a commit survives a power cut, as the server says, or as it was
   * told: `synchronous = FULL`.
   */
  settings: string[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * One lane's transactions with one number of clients.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TransactionsRow".
 */
export interface TransactionsRow {
  /**
   * The same by their causes: `deadlocks`, `lock_timeouts`, `serialisation_failures`, `duplicate_keys`, `busy`.
   */
  again?: {
    [k: string]: number;
  };
  /**
   * CPU time of the clients for each transaction, nanoseconds, median over rounds; of SQLite it holds the
   * database's own.
   */
  client_cpu_ns?: number | null;
  /**
   * Why there is no figure, where there is none.
   */
  failure?: string | null;
  /**
   * What a flush takes there, nanoseconds, median over rounds.
   */
  flush_ns?: number | null;
  /**
   * Flushes of the lane's device for each transaction, median over rounds.
   */
  flushes?: number | null;
  /**
   * What a sync takes in SQLite, nanoseconds, median over rounds.
   */
  fsync_ns?: number | null;
  /**
   * Syncs of files for each transaction as the server counts them, median over rounds; of PostgreSQL those of
   * its log alone.
   */
  fsyncs?: number | null;
  /**
   * Name of the group: `mariadb 12 threads (cold)`.
   */
  group: string;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * Connections that were lost while the server went on, in all rounds.
   */
  lost_connections?: number;
  /**
   * Median latency of a transaction, all rounds' histograms merged, nanoseconds.
   */
  p50_ns?: number | null;
  /**
   * 99th percentile of it.
   */
  p99_ns?: number | null;
  /**
   * Transactions that were done again after a deadlock or a busy database, in all rounds.
   */
  retries: number;
  /**
   * Rounds that count.
   */
  rounds: number;
  /**
   * CPU time of the server for each transaction, nanoseconds, median over rounds.
   */
  server_cpu_ns?: number | null;
  /**
   * Transactions per second: the mean over rounds that the verdicts rest on.
   */
  transactions_per_second?: number | null;
  /**
   * Transactions per second in the first tenth of a window that begins cold, median over rounds: what follows is
   * ever warmer.
   */
  transactions_per_second_at_first?: number | null;
  /**
   * Bytes that the device is asked to write for each transaction within the window, median over rounds.
   */
  written_bytes?: number | null;
  /**
   * Bytes that it is asked to write for each transaction until all of them lie in their tables and on the device,
   * median over rounds.
   */
  written_until_stable_bytes?: number | null;
}
/**
 * How many trials there were and what became of them.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TrialCounts".
 */
export interface TrialCounts {
  /**
   * Could not be done.
   */
  failed: number;
  /**
   * They count.
   */
  ok: number;
  /**
   * Replaced because of foreign noise.
   */
  repeated: number;
  /**
   * The throttle did not hold, or the machine slept.
   */
  void?: number;
}
/**
 * The effects of a screening on one figure against what chance alone would make them: a half-normal plot.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "HalfNormal".
 */
export interface HalfNormal {
  /**
   * Name of the group.
   */
  group: string;
  /**
   * From the smallest effect to the largest.
   */
  points: HalfNormalPoint[];
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * One effect of a half-normal plot.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "HalfNormalPoint".
 */
export interface HalfNormalPoint {
  /**
   * The option; absent: a column that none stands in, whose effect is chance, or three options together.
   */
  factor?: string | null;
  /**
   * What a normal effect of this place would be, in standard deviations.
   */
  quantile: number;
  /**
   * Size of the effect's logarithm, 0 or more.
   */
  size: number;
}
/**
 * A race beside figures that somebody published. There are no verdicts between the two: machine,
 * method and years lie between them. What can be compared is how far the lanes of each are apart.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PublishedComparison".
 */
export interface PublishedComparison {
  /**
   * What the article itself leaves open.
   */
  caveats: string[];
  /**
   * Why the article's figures differ: hardware, method, promises, disk-bound ties.
   */
  differences: Difference[];
  /**
   * The article's lanes and yours beside them.
   */
  lanes: PublishedPairing[];
  /**
   * Name of the published figures.
   */
  published: string;
  /**
   * The record's name.
   */
  record: string;
  /**
   * One per workload, group and metric that the article and the record share.
   */
  rows: PublishedRow[];
  /**
   * Schema of the findings.
   */
  schema: number;
  source: Source;
  /**
   * When its race started, RFC 3339.
   */
  started: string;
  /**
   * What they compare.
   */
  title: string;
  /**
   * What is not compared, and why.
   */
  warnings: string[];
}
/**
 * One reason why figures differ.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Difference".
 */
export interface Difference {
  /**
   * `hardware`, `kernel`, `method`, `promises`, `disk`.
   */
  subject: string;
  /**
   * One sentence.
   */
  what: string;
}
/**
 * An article's lane and yours.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PublishedPairing".
 */
export interface PublishedPairing {
  /**
   * What the article's lane was, where its name does not say it.
   */
  about?: string | null;
  /**
   * Name in the article.
   */
  published: string;
  /**
   * Your lane; `None`: none raced.
   */
  yours?: string | null;
}
/**
 * One workload, group and metric in a record and in an article.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PublishedRow".
 */
export interface PublishedRow {
  /**
   * Name of the group; `total`: all groups together.
   */
  group: string;
  /**
   * Whether more is better.
   */
  higher_is_better: boolean;
  /**
   * One per lane of the article that has a figure.
   */
  lanes: PublishedFigures[];
  /**
   * The metric; its unit stands in the name.
   */
  metric: string;
  /**
   * One per pair of the article's lanes.
   */
  pairs: PublishedRatio[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * One lane in a record and in an article.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PublishedFigures".
 */
export interface PublishedFigures {
  /**
   * Name in the article.
   */
  lane: string;
  /**
   * What is remarkable about it.
   */
  note?: string | null;
  /**
   * The article's figure in the same unit; absent where it gives only a ratio.
   */
  published?: number | null;
  /**
   * The end of the article's range.
   */
  published_to?: number | null;
  /**
   * How exact the article's figure is.
   */
  qualifier?: Qualifier | null;
  /**
   * Geometric mean over the record's rounds.
   */
  yours?: number | null;
}
/**
 * How far two lanes are apart in a record and in an article: above 1 `a` does better.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "PublishedRatio".
 */
export interface PublishedRatio {
  /**
   * The article's lane that is compared.
   */
  a: string;
  /**
   * The one it is compared with.
   */
  b: string;
  /**
   * In the article.
   */
  published?: number | null;
  /**
   * In the record: the geometric mean over rounds; no verdict.
   */
  yours?: number | null;
}
/**
 * Where figures were published, as far as is known.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Source".
 */
export interface Source {
  /**
   * Who wrote it.
   */
  author?: string | null;
  /**
   * The article's language.
   */
  language: string;
  /**
   * The site.
   */
  site: string;
  /**
   * When.
   */
  year?: number | null;
}
/**
 * How the same lane, raced twice, did against itself: results by their verdict.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "SelfCheck".
 */
export interface SelfCheck {
  /**
   * Called faster or slower: the race shows differences of that size where there are none.
   */
  apart: number;
  /**
   * The highest.
   */
  high?: number | null;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * The lowest bound among the ties, as a ratio; `None`: none has an interval.
   */
  low?: number | null;
  /**
   * Ties.
   */
  ties: number;
  /**
   * Too noisy to rank.
   */
  undecided: number;
  /**
   * Without a verdict.
   */
  without_verdict: number;
}
/**
 * Stacks that passes of `--explain` saw, for flame graphs. At most 60,000; of more each lane keeps those with the most time.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Stacks".
 */
export interface Stacks {
  /**
   * One per workload, group and lane.
   */
  lanes: LaneStacks[];
  /**
   * Names of functions, each once; frames are places in it.
   */
  names: string[];
}
/**
 * Stacks of one group of one workload in one lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LaneStacks".
 */
export interface LaneStacks {
  /**
   * Name of the group; empty: all groups share a window, and so the stacks.
   */
  group: string;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * Seconds of stacks that are not among them.
   */
  left_out_seconds: number;
  /**
   * Operations that were done meanwhile.
   */
  operations: number;
  /**
   * Samples on CPUs.
   */
  samples: number;
  /**
   * Those with the most time first.
   */
  stacks: Stack[];
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * Time of threads in one stack.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Stack".
 */
export interface Stack {
  activity: Activity;
  /**
   * Outermost first, as places in the names; none: outside of the kernel, or a wait that began before anybody looked.
   */
  frames: number[];
  part: Part;
  role: ThreadRole;
  /**
   * Seconds.
   */
  seconds: number;
}
/**
 * Every trial as a table of columns; of each row what the record holds of it. Lists are of equal
 * length. At most 20,000 rows; where there were more, `in_all` says how many.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Trials".
 */
export interface Trials {
  /**
   * 1, or 2 and up where a noisy round was repeated.
   */
  attempt: number[];
  /**
   * Bytes of the application.
   */
  bytes: number[];
  /**
   * Index into `names`; of a trial without figures the empty name.
   */
  group: number[];
  /**
   * How many rows there would be.
   */
  in_all: number;
  /**
   * Index into `names`.
   */
  lane: number[];
  /**
   * Names that the columns `workload`, `group` and `lane` point into.
   */
  names: string[];
  /**
   * Completed operations.
   */
  operations: number[];
  /**
   * How it ended.
   */
  outcome: Outcome[];
  /**
   * 99th percentile of latency, nanoseconds.
   */
  p99_ns: (number | null)[];
  /**
   * Why it failed, was repeated or is void, and its flags, in one text; by row.
   */
  remarks: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^\d+$".
     */
    [k: string]: string;
  };
  /**
   * Round, from 1.
   */
  round: number[];
  /**
   * Measured seconds.
   */
  seconds: number[];
  /**
   * Seconds after the race started.
   */
  started_seconds: number[];
  /**
   * The group's own metric; `None`: no figure.
   */
  value: (number | null)[];
  /**
   * Index into `names`.
   */
  workload: number[];
}
/**
 * Two records side by side: no pairs, because the races ran apart.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Comparison".
 */
export interface Comparison {
  /**
   * The first record's name.
   */
  a: string;
  /**
   * The second record's name.
   */
  b: string;
  /**
   * One per lane, workload and group that both records hold.
   */
  rows: ComparisonRow[];
  /**
   * Schema of the findings.
   */
  schema: number;
  /**
   * Lanes, workloads or machines that differ.
   */
  warnings: string[];
}
/**
 * One lane, workload and group in two records.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "ComparisonRow".
 */
export interface ComparisonRow {
  /**
   * Geometric mean in the first record.
   */
  a: number;
  /**
   * Geometric mean in the second record.
   */
  b: number;
  /**
   * Name of the group.
   */
  group: string;
  /**
   * 95 % interval of the ratio.
   */
  high?: number | null;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * 95 % interval of the ratio between rounds (Welch on logarithms); absent with too few rounds.
   */
  low?: number | null;
  /**
   * The metric.
   */
  metric: string;
  /**
   * b/a of rates and a/b of times, so that above 1 `b` does better.
   */
  ratio: number;
  /**
   * What a person calls it.
   */
  title: string;
  verdict: Verdict;
  /**
   * Why there is no verdict, or the caveat.
   */
  why?: string | null;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * What `/api/compare?a=NAME&b=NAME[&b=NAME…]` answers: the first record against each other one.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Comparisons".
 */
export interface Comparisons {
  /**
   * One per further record, in the order asked for.
   */
  comparisons: Comparison[];
}
/**
 * A workload of a record that is kept.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "EntryWorkload".
 */
export interface EntryWorkload {
  /**
   * Names of its groups, in order.
   */
  groups: string[];
  /**
   * Its name.
   */
  name: string;
  /**
   * What a person calls it.
   */
  title: string;
}
/**
 * The last figure of a lane.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "LiveRate".
 */
export interface LiveRate {
  /**
   * Name of the group.
   */
  group: string;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * The group's own metric.
   */
  metric: string;
  /**
   * That round.
   */
  round: number;
  /**
   * Its value in the last round.
   */
  value: number;
}
/**
 * One record that is kept.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RecordEntry".
 */
export interface RecordEntry {
  /**
   * Kernel release.
   */
  kernel: string;
  /**
   * Names of the lanes.
   */
  lanes: string[];
  /**
   * Operating system, kernel and CPU in one line.
   */
  machine: string;
  /**
   * Name by which `/api/race/NAME` answers it.
   */
  name: string;
  /**
   * `complete`, `interrupted`, `failed`, `running`, or `unfinished` where no end was written and
   * nobody writes it.
   */
  outcome: string;
  /**
   * RFC 3339, UTC.
   */
  started: string;
  /**
   * Name of the suite.
   */
  suite: string;
  /**
   * Trials so far.
   */
  trials: number;
  /**
   * What is raced, in order.
   */
  workloads: EntryWorkload[];
}
/**
 * What `/api/records` of the dashboard answers.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "RecordList".
 */
export interface RecordList {
  /**
   * Newest first.
   */
  records: RecordEntry[];
  /**
   * Files that are no records, each with the reason.
   */
  unreadable: string[];
}
/**
 * What `/api/trend` answers: one figure over many records.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "Trend".
 */
export interface Trend {
  /**
   * Name of the group.
   */
  group: string;
  /**
   * Whether more is better.
   */
  higher_is_better: boolean;
  /**
   * The format of another tool's results that all of its figures were read from; empty: they were raced.
   */
  imported?: string;
  /**
   * What has a figure of this name and is no point, because it is other work than the newest record's
   * or of a lane made in another way; one sentence each.
   */
  left_out: string[];
  /**
   * The metric.
   */
  metric: string;
  /**
   * One per record and lane, in the order of starts.
   */
  points: TrendPoint[];
  /**
   * What a person calls it.
   */
  title: string;
  /**
   * Name of the workload.
   */
  workload: string;
}
/**
 * One record's figure.
 *
 * This interface was referenced by `Page`'s JSON-Schema
 * via the `definition` "TrendPoint".
 */
export interface TrendPoint {
  /**
   * Name, model and size of the disk: figures of different disks are no trend.
   */
  disk: string;
  /**
   * 95 % interval of this lane alone.
   */
  high?: number | null;
  /**
   * Kernel release.
   */
  kernel: string;
  /**
   * Name of the lane.
   */
  lane: string;
  /**
   * 95 % interval of this lane alone.
   */
  low?: number | null;
  /**
   * Operating system, kernel and CPU in one line: figures of different machines are no trend.
   */
  machine: string;
  /**
   * Tells machines apart that look alike; empty: the record does not say.
   */
  machine_id_hash: string;
  /**
   * Geometric mean over rounds; arithmetic, and without an interval, where the lane stood still in some.
   */
  mean: number;
  /**
   * Name of the record.
   */
  record: string;
  /**
   * RFC 3339, UTC.
   */
  started: string;
}
