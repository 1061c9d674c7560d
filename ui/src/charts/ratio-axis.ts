// Round ratios for the marks of logarithmic axes, on both sides of one.

/** Steps of marks on an axis that ends before twice. */
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2];
/** Factors above one, finest first; their reciprocals are round too. */
const FINEST = [1.25, 2];
const FACTORS = [
  FINEST,
  [2, 4],
  [5, 25],
  [10, 100],
  [100, 10_000],
];
/** An axis has about so many steps at most. */
const MOST_STEPS = 8;

/** Marks of an axis from 1/far to far that is so long, pixels: `0.5 0.8 1 1.25 2`, or `0.9 1 1.1` where that is near. They are
 * the finest that lie so far apart at least. */
export function ratioMarks(far: number, length: number, gap: number): number[] {
  const near = far < 2;
  const apart = near ? Math.max(gap, length / MOST_STEPS) : gap;
  const least = (apart / length) * 2 * Math.log(far);
  const within = (above: readonly number[], below: readonly number[]) =>
    [...below.filter((of) => of * far >= 1), 1, ...above.filter((of) => of <= far)].sort((a, b) => a - b);
  const stepped = (step: number) => {
    const steps = Array.from({ length: Math.floor((far - 1) / step) }, (_, at) => (at + 1) * step);
    return within(steps.map((of) => 1 + of), steps.map((of) => 1 - of));
  };
  const alike = (above: readonly number[]) => within(above, above.map((of) => 1 / of));
  const all = near ? [...STEPS.map(stepped), alike(FINEST)] : FACTORS.map(alike);
  const fits = (marks: readonly number[]) =>
    marks.every((mark, at) => at === 0 || Math.log(mark / (marks[at - 1] ?? mark)) >= least);
  return all.find(fits) ?? [1];
}
