// The page's data as the Rust model describes it. Generated from schema/page.schema.json by
// `npm run types` once that file exists; until then written by hand, one to one.

export type Language = "en" | "zh" | "de";

export interface Page {
  schema: number;
  version: string;
  language: Language;
  show: Show;
}

export type Show = { kind: "race"; race: RacePage } | { kind: "dashboard" };

export interface RacePage {
  record?: string | null;
  findings: Findings;
  details: Detail[];
  courses: Course[];
  trials: Trials;
  published: PublishedComparison[];
  sentences: { [k: string]: { [k: string]: string } };
}

export interface Detail {
  lanes: LaneDetail[];
}

export interface LaneDetail {
  lane: string;
  rounds: RoundFigure[];
  rounds_in_all: number;
  latency: PercentilePoint[];
}

export interface RoundFigure {
  round: number;
  value: number;
}

export interface PercentilePoint {
  percentile: number;
  ns: number;
}

export interface Course {
  workload: string;
  title: string;
  lanes: LaneCourse[];
}

export interface LaneCourse {
  lane: string;
  seconds: number[];
  rounds: number[];
  quantities: { [k: string]: number[] };
}

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
  | "pressure_io_share";

export type Outcome = "ok" | "failed" | "repeated" | "void";

export interface Trials {
  in_all: number;
  names: string[];
  workload: number[];
  group: number[];
  lane: number[];
  round: number[];
  attempt: number[];
  outcome: Outcome[];
  started_seconds: number[];
  value: (number | null)[];
  operations: number[];
  bytes: number[];
  seconds: number[];
  p99_ns: (number | null)[];
  remarks: { [k: string]: string };
}

export interface Findings {
  schema: number;
  started: string;
  suite: string;
  seed: number;
  margin: number;
  outcome: string;
  throttle?: Throttle | null;
  command_line: string[];
  machine: Machine;
  lanes: Lane[];
  ceilings: Ceiling[];
  results: ResultFinding[];
  operations?: OperationsFinding[];
  answer?: Answer | null;
  advice: Advice[];
  warnings: string[];
  calibration?: Calibration | null;
  trials: TrialCounts;
}

export interface Throttle {
  read_bytes_per_second?: number | null;
  write_bytes_per_second?: number | null;
  read_iops?: number | null;
  write_iops?: number | null;
}

export interface Machine {
  os?: string;
  kernel?: string;
  kernel_build?: string;
  cpu?: string;
  cpus?: number;
  memory_bytes?: number;
  memory_copy_bytes_per_second?: number;
  governor?: string;
  dirty_ratio?: number;
  dirty_background_ratio?: number;
  dirty_expire_centisecs?: number;
  dirty_writeback_centisecs?: number;
  machine_id_hash?: string;
  virtualization?: string;
  device?: Device;
  tools?: string[];
}

export interface Device {
  name?: string;
  model?: string;
  size_bytes?: number;
  rotational?: boolean;
  write_cache?: string;
  fua?: boolean;
  scheduler?: string;
  host_filesystem?: string;
  host_mount_options?: string;
}

export interface Lane {
  name: string;
  spec: string;
  filesystem: string;
  mkfs_command: string[];
  mount_options: string[];
  venue: string;
  ground: string;
  backing: string;
  size_bytes: number;
  promises: Promises;
  is_self?: boolean;
  geometry?: string[];
}

export interface Promises {
  journal: boolean;
  data_checksums: boolean;
  fsync_reaches_stable_storage: boolean;
  barriers: boolean;
}

export type Profile = "seq-read" | "seq-write" | "rand-read" | "rand-write" | "flush" | "null";

export interface Ceiling {
  workload: string;
  profile: Profile;
  operations_per_second: number;
  bandwidth_bytes_per_second: number;
  probes: number;
  through_filesystem: boolean;
}

export interface SharedRate {
  workload: string;
  share: number;
  slowest: string;
  maxima_operations_per_second: { [k: string]: number };
  operations_per_second: number;
}

export interface ResultFinding {
  workload: string;
  title: string;
  group: string;
  section?: string | null;
  metric: string;
  unit: string;
  higher_is_better: boolean;
  shared_rate?: SharedRate | null;
  rounds: number;
  limit: Limit;
  limit_reason: string;
  estimates: Estimate[];
  pairs: Pair[];
  ranking: string[][];
  warnings: string[];
}

export type Limit =
  | "device"
  | "write-amplification"
  | "filesystem-cpu"
  | "filesystem-serialised"
  | "flush"
  | "cache"
  | "harness"
  | "other-programs"
  | "unattributed";

export interface Estimate {
  lane: string;
  mean: number;
  low?: number | null;
  high?: number | null;
  rounds: number;
  cpu_seconds_per_gib?: number | null;
  cpu_seconds_per_operation?: number | null;
  agent_cpu_seconds_per_operation?: number | null;
  write_amplification?: number | null;
  flushes_per_operation?: number | null;
  latency_p50_ns?: number | null;
  latency_p99_ns?: number | null;
  latency_p999_ns?: number | null;
  latency_mean_ns?: number | null;
  cpu_share?: number | null;
  cpu_system_share?: number | null;
  device_busy_share?: number | null;
  device_use?: number | null;
  failure?: string | null;
}

export interface Pair {
  a: string;
  b: string;
  ratio?: number | null;
  low?: number | null;
  high?: number | null;
  verdict: Verdict;
  why?: string | null;
  minutes_to_settle?: number | null;
  rounds_to_settle?: number | null;
}

export type Verdict = "faster" | "slower" | "tie" | "undecided" | "none";

export interface OperationsFinding {
  workload: string;
  title: string;
  reference: string;
  floor?: string | null;
  rounds: number;
  passes: number;
  rows: OperationRow[];
  totals: OperationTotal[];
  pairs: OperationsPair[];
  process_startup_share?: number | null;
  warnings: string[];
}

export interface OperationRow {
  section: string;
  group: string;
  operation: string;
  figures: OperationFigure[];
}

export interface OperationFigure {
  lane: string;
  seconds?: number | null;
  low?: number | null;
  high?: number | null;
  sync_seconds?: number | null;
  operations: number;
  bytes: number;
  operations_per_second?: number | null;
  bandwidth_bytes_per_second?: number | null;
  floor_share?: number | null;
  process_startup_share?: number | null;
  failure?: string | null;
}

export interface OperationTotal {
  lane: string;
  seconds?: number | null;
  steps: number;
  sync_seconds?: number | null;
  unmount_seconds?: number | null;
}

export interface OperationsPair {
  a: string;
  b: string;
  geometric_mean?: number | null;
  steps: number;
  wins: number;
  ties: number;
  losses: number;
  undecided: number;
  without_verdict: number;
  why?: string | null;
}

export interface Answer {
  choose: string[];
  reasons: Reason[];
  undecided: string[];
  cannot_tell: string[];
  not_ranked?: NotRanked[];
  not_tested: string[];
  next: string[];
}

export interface NotRanked {
  lanes: string[];
  against: string;
  what: string;
}

export interface Reason {
  lane: string;
  against: string;
  title: string;
  workload: string;
  group: string;
  ratio: number;
}

export interface TrialCounts {
  ok: number;
  repeated: number;
  failed: number;
  void?: number;
}

export interface Advice {
  scenario: string;
  title: string;
  lane?: string | null;
  level_with: string[];
  no_advice?: NoAdvice | null;
  why: AdviceReason[];
  leads: AdviceLead[];
  equal: EqualWork[];
  excluded: Excluded[];
  share_of_resampled_races?: number | null;
  flips_if: Flip[];
  measured_share: number;
  not_measured: NotMeasured[];
  next: string[];
  raced_without: RacedWithout[];
  notes: AdviceNote[];
}

export type NoAdvice = "too-little-measured" | "all-excluded" | "undecided";

export interface AdviceReason {
  what: string;
  share: number;
  series: string[];
  against: string;
  ratio: number;
  low?: number | null;
  high?: number | null;
}

export interface AdviceLead {
  against: string;
  ratio: number;
}

export interface EqualWork {
  what: string;
  share: number;
  because: Equal;
}

export type Equal = "tie" | "undecided" | "device" | "cache" | "harness" | "no-verdict";

export interface Excluded {
  lane: string;
  constraint: string;
  why?: string | null;
  facts: LaneFact[];
  source: string;
}

export interface LaneFact {
  need: string;
  is: string;
  with?: string | null;
  note?: string | null;
}

export type Flip =
  | { kind: "weight"; what: string; share: number; at: number; lane: string }
  | { kind: "undecided"; what: string; lane: string }
  | { kind: "without"; need: string; lane: string; ratio: number }
  | { kind: "with"; needs: string[]; lane: string; ratio: number };

export interface NotMeasured {
  what: string;
  share: number;
  suite?: string | null;
}

export interface RacedWithout {
  need: string;
  with: string;
  source: string;
}

export interface AdviceNote {
  lanes: string[];
  text: string;
  source: string;
}

export interface Calibration {
  started: string;
  kernel: string;
  suite: string;
  lane: string;
  lane_bytes: number;
  margin: number;
  races: EqualRaces;
  results: unknown[];
}

export interface EqualRaces {
  races: number;
  called_different: number;
  ties: number;
  undecided: number;
  low: number;
  high: number;
}

export interface PublishedComparison {
  schema: number;
  record: string;
  started: string;
  published: string;
  title: string;
  source: Source;
  lanes: PublishedPairing[];
  rows: PublishedRow[];
  differences: Difference[];
  caveats: string[];
  warnings: string[];
}

export interface Source {
  site: string;
  author?: string | null;
  year?: number | null;
  language: string;
}

export interface PublishedPairing {
  published: string;
  yours?: string | null;
  about?: string | null;
}

export interface PublishedRow {
  workload: string;
  title: string;
  group: string;
  metric: string;
  higher_is_better: boolean;
  lanes: PublishedFigures[];
  pairs: PublishedRatio[];
}

export interface PublishedFigures {
  lane: string;
  yours?: number | null;
  published?: number | null;
  published_to?: number | null;
  qualifier?: Qualifier | null;
  note?: string | null;
}

export type Qualifier = "about" | "above" | "at-most";

export interface PublishedRatio {
  a: string;
  b: string;
  yours?: number | null;
  published?: number | null;
}

export interface Difference {
  subject: string;
  what: string;
}

export interface RecordList {
  records: RecordEntry[];
  unreadable: string[];
}

export interface RecordEntry {
  name: string;
  started: string;
  suite: string;
  lanes: string[];
  machine: string;
  kernel: string;
  outcome: string;
  trials: number;
}

export type Live =
  | { kind: "idle" }
  | {
  kind: "running";
  record: string;
  started: string;
  suite: string;
  workload: string;
  number: number;
  of: number;
  round: number;
  lane: string;
  phase: string;
  elapsed_seconds: number;
  budget_seconds?: number | null;
  rates: LiveRate[];
  trials: number;
};

export interface LiveRate {
  lane: string;
  group: string;
  metric: string;
  value: number;
  round: number;
}

export interface Trend {
  workload: string;
  title: string;
  group: string;
  metric: string;
  higher_is_better: boolean;
  points: TrendPoint[];
}

export interface TrendPoint {
  record: string;
  started: string;
  kernel: string;
  machine: string;
  lane: string;
  mean: number;
  low?: number | null;
  high?: number | null;
}

export interface Comparisons {
  comparisons: Comparison[];
}

export interface Comparison {
  schema: number;
  a: string;
  b: string;
  rows: ComparisonRow[];
  warnings: string[];
}

export interface ComparisonRow {
  lane: string;
  workload: string;
  title: string;
  group: string;
  metric: string;
  a: number;
  b: number;
  ratio: number;
  low?: number | null;
  high?: number | null;
  verdict: Verdict;
  why?: string | null;
}
