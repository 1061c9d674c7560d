// Numbers as people read them in each language: percentages under a factor of two and factors above,
// units always there, three significant digits.

const GLUE = "\u00a0";

/** How far apart two lanes are. */
export interface Gap {
  /** On which side the first one lies. */
  faster: boolean;
  /** Twice or more: told as a factor, otherwise as a percentage. */
  factor: boolean;
  /** `9 %`, or the factor, from 1 up. */
  size: string;
  /** Both ends in the unit of the size, the one nearer to no difference first. */
  interval: [string, string] | null;
  /** The first one's share of the other one. */
  share: string;
  shareInterval: [string, string] | null;
}

/** A minus as wide as a plus. */
function minus(text: string): string {
  return text.replace("-", "\u2212");
}

export interface UnitWords {
  operations: string;
}

/** Nothing has no sign. (`signDisplay: "negative"` says so too, in browsers from 2023 on.) */
function signed(format: Intl.NumberFormat, value: number): string {
  const text = format.format(value);
  return /[1-9]/.test(text) ? text : format.format(0);
}

/** Whether a time has no zone: of an import the tool's local one, and nobody told which zone that is. */
function hasNoZone(rfc3339: string): boolean {
  return /T[\d:.]+$/.test(rfc3339);
}

/** A time without a zone stands as it was told, wherever the page is read. */
function moment(rfc3339: string): Date {
  return new Date(hasNoZone(rfc3339) ? `${rfc3339}Z` : rfc3339);
}

export class Figures {
  private readonly formats = new Map<string, Intl.NumberFormat>();

  constructor(
    readonly locale: string,
    private readonly units: UnitWords,
    /** Digits beyond the three that figures usually have. */
    private readonly extra = 0,
  ) {}

  private format(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const key = JSON.stringify(options);
    let format = this.formats.get(key);
    if (!format) {
      format = new Intl.NumberFormat(this.locale, options);
      this.formats.set(key, format);
    }
    return format;
  }

  /** At most so many digits behind the point; no zeros that say nothing. */
  number(value: number, digits: number): string {
    if (!Number.isFinite(value)) return "?";
    return this.format({ maximumFractionDigits: digits }).format(value === 0 ? 0 : value);
  }

  /** Exactly so many digits behind the point. */
  fixed(value: number, digits: number): string {
    if (!Number.isFinite(value)) return "?";
    return minus(signed(this.format({ minimumFractionDigits: digits, maximumFractionDigits: digits }), value));
  }

  whole(value: number): string {
    return this.number(value, 0);
  }

  /** Three significant digits and the extra ones, without trailing zeros. */
  significant(value: number): string {
    const size = Math.abs(value);
    return this.number(value, (size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2) + this.extra);
  }

  private scaled(value: number, step: number, units: readonly string[], glue: string): string {
    if (!Number.isFinite(value)) return "?";
    let unit = 0;
    let scaled = value;
    // 999.5 would print as 1000: take the next unit already there.
    while (Math.abs(scaled) >= step - 0.5 && unit + 1 < units.length) {
      scaled /= step;
      unit += 1;
    }
    const name = units[unit] ?? "";
    if (scaled > 999_999) return `>${this.number(999_999, 0)}${name === "" ? "" : glue + name}`;
    return this.significant(scaled) + (name === "" ? "" : glue + name);
  }

  /** A count: `88.1k`. */
  count(value: number): string {
    return this.scaled(value, 1000, ["", "k", "M", "G"], "");
  }

  /** A size in binary units: `2 GiB`. */
  bytes(value: number): string {
    return this.scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], GLUE);
  }

  /** A disk's size, decimal as disks are sold. */
  diskBytes(value: number): string {
    return this.scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"], GLUE);
  }

  bandwidth(value: number): string {
    return this.scaled(value, 1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], GLUE);
  }

  iops(value: number): string {
    return Number.isFinite(value) ? `${this.count(value)}${GLUE}IOPS` : "?";
  }

  /** A figure with its unit, as findings name the unit. */
  rate(unit: string, value: number): string {
    if (!Number.isFinite(value)) return "?";
    switch (unit) {
      case "B/s":
        return this.bandwidth(value);
      case "operations/s":
        return `${this.count(value)}${GLUE}${this.units.operations}`;
      case "ns":
        return this.time(value * 1e-9);
      case "s":
        return this.time(value);
      case "B":
        return this.bytes(value);
      case "%":
        return this.percent(value / 100, 2);
      default:
        return unit === "" ? this.significant(value) : `${this.count(value)}${GLUE}${unit}`;
    }
  }

  /** A metric's unit, where only its name is known. */
  static unitOf(metric: string): string {
    const own = /^(?:more|less)_of:(.*)$/s.exec(metric);
    if (own !== null) return own[1] ?? "";
    if (metric === "bandwidth_bytes_per_second") return "B/s";
    if (metric.endsWith("_per_second")) return "operations/s";
    if (metric.endsWith("_ns")) return "ns";
    if (metric === "seconds" || metric.endsWith("_seconds") || metric.endsWith("seconds_per_operation")) return "s";
    if (metric.endsWith("_bytes")) return "B";
    if (metric.endsWith("_percent")) return "%";
    return "";
  }

  /** A time, three digits: `41 µs`, `2.1 ms`, `1.46 s`, `25 min`. */
  time(seconds: number): string {
    if (!Number.isFinite(seconds) || seconds < 0) return "?";
    if (seconds === 0) return `0${GLUE}s`;
    if (seconds < 0.5e-9) return `<1${GLUE}ns`;
    if (seconds < 999.5e-9) return `${this.significant(seconds * 1e9)}${GLUE}ns`;
    if (seconds < 999.5e-6) return `${this.significant(seconds * 1e6)}${GLUE}µs`;
    if (seconds < 0.9995) return `${this.significant(seconds * 1e3)}${GLUE}ms`;
    if (seconds < 999.5) return `${this.significant(seconds)}${GLUE}s`;
    return this.duration(seconds);
  }

  /** A longer time: `2 min 30 s`, `2 h 10 min`. */
  duration(seconds: number): string {
    if (!Number.isFinite(seconds) || seconds <= 0) return `0${GLUE}s`;
    if (seconds > 9999 * 3600) return `>${this.number(9999, 0)}${GLUE}h`;
    const whole = Math.round(seconds);
    if (whole < 60) return `${whole}${GLUE}s`;
    if (whole < 5400) {
      const rest = whole % 60;
      return `${Math.floor(whole / 60)}${GLUE}min${rest === 0 ? "" : `${GLUE}${rest}${GLUE}s`}`;
    }
    const minutes = Math.round(whole / 60);
    const rest = minutes % 60;
    return `${Math.floor(minutes / 60)}${GLUE}h${rest === 0 ? "" : `${GLUE}${rest}${GLUE}min`}`;
  }

  percent(share: number, digits = 0): string {
    if (!Number.isFinite(share)) return "?";
    return this.format({ style: "percent", maximumFractionDigits: digits }).format(share === 0 ? 0 : share);
  }

  private percentFixed(share: number, digits: number): string {
    const format = this.format({ style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits });
    return minus(signed(format, share));
  }

  /** With its sign: `+9 %`. */
  private signed(share: number, digits: number): string {
    return minus(
      this.format({ style: "percent", maximumFractionDigits: digits, signDisplay: "exceptZero" }).format(share),
    );
  }

  /** A share that may be small: `0.88 %`, `4.2 %`, `97 %`. */
  smallShare(share: number): string {
    const percent = share * 100;
    return this.percent(share, percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0);
  }

  /** A margin with the digits that it has. */
  margin(share: number): string {
    return this.percent(share, 1);
  }

  /** A factor as a table holds it: `2.1×`, `0.96×`, `12×`. */
  times(factor: number): string {
    return `${this.factor(factor)}×`;
  }

  /** A factor without its sign. */
  factor(factor: number): string {
    if (!Number.isFinite(factor)) return "?";
    const size = Math.abs(factor);
    // Two rounds that differ have intervals of any length: beyond these the digits say nothing.
    if (size >= 9999.5) return `>${this.number(9999, 0)}`;
    if (size < 0.0001 && size > 0) return `<${this.number(0.0001, 4)}`;
    if (size < 0.0995) return this.format({ maximumSignificantDigits: 2 }).format(factor);
    // Near one the zeros say something: 1.00 is measured, 1 sounds like a guess.
    if (size < 1.995) return this.fixed(factor, 2);
    return this.number(factor, size < 9.95 ? 1 : 0);
  }

  /** The gap of a decided pair; `faster` says on which side it lies. */
  gap(ratio: number, interval: readonly [number, number] | null, faster: boolean): Gap {
    const asFactor = (of: number) => (faster ? of : 1 / of);
    const asShare = (of: number) => (faster ? of - 1 : 1 - of);
    const ordered = interval === null ? null : faster ? interval : ([interval[1], interval[0]] as const);
    const factor = asFactor(ratio) >= 1.995;
    const coarse = (of: number) => this.number(of, Math.abs(of) < 9.95 ? 1 : 0);
    const size = asShare(ratio);
    // Under three percent whole numbers would show an interval that seems to touch zero.
    const digits = Math.abs(size) < 0.0295 ? 1 : 0;
    const share = (of: number) => this.smallShare(of);
    return {
      faster,
      factor,
      size: factor ? coarse(asFactor(ratio)) : this.percentFixed(size, digits),
      interval:
        ordered === null
          ? null
          : factor
            ? [coarse(asFactor(ordered[0])), coarse(asFactor(ordered[1]))]
            : [this.fixed(asShare(ordered[0]) * 100, digits), this.percentFixed(asShare(ordered[1]), digits)],
      share: share(ratio),
      shareInterval: interval === null ? null : [share(interval[0]), share(interval[1])],
    };
  }

  /** Where an undecided ratio lies, with signs, or in factors where it is wider. */
  span(low: number, high: number): [string, string] {
    if (low <= 0.5 || high >= 2) return [this.times(low), this.times(high)];
    const digits = Math.max(Math.abs(low - 1), Math.abs(high - 1)) < 0.0295 ? 1 : 0;
    return [this.signed(low - 1, digits), this.signed(high - 1, digits)];
  }

  /** Whether ratios that stand together are told as factors: one of them is half or twice. */
  isFactor(ratios: readonly (number | null | undefined)[]): boolean {
    return !ratios.every((of) => of == null || (of > 0.5 && of < 2));
  }

  /** A mark of an axis of gains: `1.25×`, or `+25%`. */
  gainMark(ratio: number, asFactor: boolean): string {
    return asFactor ? `${this.format({ maximumSignificantDigits: 3 }).format(ratio)}×` : this.signed(ratio - 1, 0);
  }

  /** A ratio and its interval as percentages with signs, or as factors where one of them is half or twice: all of one
   * kind, and of that of what else stands in its row. Where the interval leaves out zero, no end of it reads as zero. */
  gain(
    ratio: number,
    ends: readonly [number, number] | null,
    beside: readonly (number | null | undefined)[] = [],
  ): { size: string; ends: [string, string] | null } {
    const all = ends === null ? [ratio] : [ratio, ...ends];
    if (this.isFactor([...all, ...beside])) {
      return { size: this.times(ratio), ends: ends === null ? null : [this.times(ends[0]), this.times(ends[1])] };
    }
    const [low, high] = ends ?? [ratio, ratio];
    const far = Math.max(...all.map((of) => Math.abs(of - 1)));
    const near = (low - 1) * (high - 1) > 0 ? Math.min(Math.abs(low - 1), Math.abs(high - 1)) : far;
    const digits = near < 0.0005 ? 2 : near < 0.005 || far < 0.0295 ? 1 : 0;
    const share = (of: number) => this.signed(of - 1, digits);
    return { size: share(ratio), ends: ends === null ? null : [share(low), share(high)] };
  }

  /** The bound of a tie as a percentage that no value inside exceeds. */
  within(low: number, high: number): string {
    const farthest = Math.max(high, 1 / low) - 1;
    return this.percent(Math.max(Math.ceil(farthest * 100 - 1e-6), 1) / 100);
  }

  /** Two figures as a range that names a shared unit once. */
  range(low: string, high: string): string {
    if (low === high) return low;
    const [number, unit] = low.split(GLUE);
    const other = high.split(GLUE)[1];
    return unit !== undefined && unit === other ? `${number}–${high}` : `${low}–${high}`;
  }

  /** An interval in rates: `1.05k–1.11k ops/s`. */
  rates(unit: string, low: number, high: number): string {
    // A narrow one gets the digits that show it: with both ends alike it would read as none.
    for (const extra of [0, 1]) {
      const finer = extra === 0 ? this : new Figures(this.locale, this.units, extra);
      const ends = [finer.rate(unit, low), finer.rate(unit, high)] as const;
      if (ends[0] !== ends[1]) return this.range(...ends);
    }
    return this.rate(unit, low);
  }

  date(rfc3339: string): string {
    const date = moment(rfc3339);
    if (Number.isNaN(date.getTime())) return rfc3339;
    const said = new Intl.DateTimeFormat(this.locale, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }).format(date);
    return hasNoZone(rfc3339) ? said : `${said}${GLUE}UTC`;
  }

  /** The day alone, for an axis. */
  day(rfc3339: string): string {
    const date = moment(rfc3339);
    if (Number.isNaN(date.getTime())) return "";
    return new Intl.DateTimeFormat(this.locale, { day: "numeric", month: "short", timeZone: "UTC" }).format(date);
  }

  shortDate(rfc3339: string): string {
    const date = moment(rfc3339);
    if (Number.isNaN(date.getTime())) return rfc3339;
    return new Intl.DateTimeFormat(this.locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }).format(
      date,
    );
  }
}
