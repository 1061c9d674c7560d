// What is said of a screening, in English.
import type { ConfirmationOutcome, EffectVerdict, TunedFate, Undecided, Verdict } from "../types";
import { say, type Said } from "../words/say";

const count = (of: number, one: string, many: string) => (of === 1 ? `1 ${one}` : `${of} ${many}`);

export const screening = {
  title: "Which options matter",
  headline: {
    untold: (base: Said, why: Said | null) =>
      say`No effect of the options of ${base} could be told${why === null ? "" : say`: ${why}`}`,
    unfinished: (base: Said) => say`Cannot tell yet which options of ${base} matter: the race is not over`,
    keep: (base: Said) => say`Keep the default of ${base}: of what was screened nothing is proposed`,
    keepYet: (base: Said, open: number, all: number) =>
      say`Keep the default of ${base} for now: nothing is proposed, and ${all === 1 ? "its one option" : `of ${all} options ${open}`} cannot be told yet`,
    tuning: (base: Said) => say`Cannot tell yet what to take of the options of ${base}: tuning is not done`,
    yet: (base: Said, options: Said) =>
      say`${base} would gain with ${options} by this screening, and was not raced so against the default yet`,
    confirmed: (base: Said, options: Said) => say`Take ${base} with ${options}`,
    mixed: (base: Said, options: Said) => say`${base} with ${options} is better in some of the work and found worse in other`,
    "not-confirmed": (base: Said, options: Said) =>
      say`Keep the default of ${base}: raced again, ${options} does not show beyond doubt the gain that was expected`,
    open: (base: Said, options: Said) =>
      say`Keep the default of ${base} for now: raced again, ${options} is not known to gain yet`,
  },
  noLane: "a lane that cannot be screened",
  summary: (base: Said, options: number, lanes: number, combinations: string, rounds: string) =>
    say`${count(options, "option", "options")} of ${base} in ${lanes} lanes, ${combinations}; ${rounds}.`,
  /** `each`: in how many lanes each combination is; 0: not each is in one, and all would take `full` lanes. */
  combinations: (each: number, full: string) =>
    each === 0
      ? `where all combinations would take ${full} lanes`
      : each === 1
        ? "which are all combinations"
        : `all combinations in ${each} lanes each`,
  rounds: (fewest: number, most: number) => (fewest === most ? count(most, "round", "rounds") : `${fewest} to ${most} rounds`),
  scatter: (deviation: string) => `a lane scatters by ${deviation} from round to round`,
  legend: (margin: string, few: boolean) =>
    `An effect is what the other level does to the figure, on average over all settings of the other options; above 0 or 1× it is better, of times too. Matters: with 95% none of those that are called so is false, ${few ? "if lanes differ by nothing but their options" : "as far as what else lanes differ by is chance"}. Does not: the interval of that row lies within ${margin}. Cannot tell yet: neither, even where the interval of that row alone leaves out 0 or 1×, as some of many rows do by chance.`,
  option: "Option",
  levels: "Usual → other",
  effect: "Effect",
  interval: "95% interval",
  verdict: "Does it matter",
  within: (margin: string) => `within ${margin}`,
  verdicts: { matters: "matters", "does-not": "does not", open: "cannot tell yet" } as Record<EffectVerdict, string>,
  to: (low: string, high: string) => `${low} to ${high}`,
  /** Stands for an interval that leaves out nothing. */
  noInterval: "too few rounds to tell",
  effects: "Effects of the options",
  promises: "Effects of options that change what is promised",
  promisesNote: "They change what is promised after a power cut, or of what is read back, and are never proposed.",
  unknownOptions: "Effects of options that are in no table",
  unknownOptionsNote: "Nobody looked at what they change beside speed, so that they are never proposed.",
  effectsCaption: (margin: string, counts: string, told: Said | null) =>
    say`Each mark is an option at its other level, its bar the 95% interval of that row, the band ±${margin}; to the right of the line the other level is better. A filled circle matters, a square does not, a hollow circle cannot be told yet. ${counts}${told === null ? "" : say` It matters: ${told}.`}`,
  counts: (matter: number, not: number, open: number) =>
    `${count(matter, "option matters", "options matter")}, ${count(not, "does not", "do not")}, ${count(open, "cannot be told yet", "cannot be told yet")}.`,
  halfNormal: "Effects against chance",
  halfNormalCaption: (options: number, spare: number, largest: Said) =>
    say`Sizes of ${count(options, "effect", "effects")} and of ${count(spare, "column", "columns")} without an option (crosses), from small to large, over what chance alone would make them: what is chance lies on a line through zero, and what is not lies above it. The largest is ${largest}.`,
  quantile: "half-normal quantile",
  size: "size",
  noOption: "no option",
  interaction: (one: Said, other: Said, ratio: string, low: string, high: string, aliases: Said | null, partial: number) =>
    say`${one} and ${other} together: ${ratio} (${low} to ${high}) of the product of what each brings alone${aliases === null ? "" : say`; the design cannot tell it from ${aliases}`}${partial === 0 ? "" : `; ${partial === 1 ? "1 other pair shares" : `${partial} other pairs share`} a part of it`}.`,
  pair: (one: Said, other: Said) => say`${one} × ${other}`,
  together: "Options together",
  togetherCaption: (told: Said) =>
    say`Each mark is two options that change each other's effect, both at their other level: what they bring together, as a ratio to the product of what each brings alone; its bar is the 95% interval of that row. ${told}.`,
  togetherPair: "Options",
  togetherRatio: "Together / product of both alone",
  lanesDiffer: "By a test at 5% the lanes differ by more than their rounds scatter and the options tell, so the intervals are wider by that.",
  fewSpare:
    "The design has fewer than 3 columns without an option, so that lanes that differ by themselves would not be noticed: what matters here, or changes another effect, may be such a difference, and what does not matter may be hidden by one.",
  unusual: (option: Said, level: Said, usual: Said) =>
    say`In the default of this screening ${option} is ${level}; Fairlane's table has ${usual} as usual.`,
  loopQueue: "The disk's queue that was varied is that of the loop device of each image; the disk below has its own.",
  noRound: "Nothing is told: there is no round in which every lane has a figure.",
  unknown: (why: Said) => say`Nothing is told: ${why}.`,
  spare: (columns: number, size: string) =>
    `${count(columns, "column", "columns")} without an option: effects of ${size} (root mean square), which are chance, lanes that differ, or options together.`,
  leftOut: "Left out",
  because: (option: Said, why: Said) => say`${option}: ${why}.`,
  proposal: "Proposal",
  cutShort: (raced: string, planned: number) =>
    `The time was up (--budget) after ${raced} of ${planned} planned rounds. A race that is over takes no more of them: screen again with a larger --budget, or with --rounds and without one.`,
  openOptions: (open: number, all: number, options: Said, hidden: boolean) =>
    say`${all === 1 ? "Its one option" : `Of ${all} options ${open}`} cannot be told yet: ${options}. ${hidden ? "Lanes that differ by themselves, or options together, hide what is left: more rounds may not help." : "A screening with more rounds may tell."}`,
  keep: "Keep the default: nothing that was screened is better beyond doubt.",
  keepOthers: "Keep the default: no option that changes no promise is better beyond doubt and found worse nowhere.",
  untold: (why: Said | null) => say`Nothing is proposed, because no effect could be told${why === null ? "" : say`: ${why}`}.`,
  unfinished: "Cannot tell yet: the race is not over, and nothing is proposed before all of its rounds are done.",
  soFar: "The race is not over: this is what its finished work says, and the rest cannot be told yet.",
  tuned: (options: Said, raced: boolean) => say`As tuned: ${options}${raced ? "; this was raced against the default" : ""}.`,
  tuningUnfinished: "Tuning is not done, and what it makes of the proposal is not known yet.",
  tuning: "Tuning",
  tuningNote:
    "Combinations of levels raced the default. Mean and worst are of a combination's figures beside the default's, above 0 or 1× it is better; their order is that of the worst one. The last race chose by these figures, so that those of what it chose are too high, and they have no interval: what is chosen is known to gain only where it is confirmed.",
  tuningRace: (record: Said, combinations: number, rounds: string) =>
    say`${record}: ${count(combinations, "combination", "combinations")} and the default, ${rounds}`,
  combination: (options: Said, mean: string | null, worst: string | null, fate: string) =>
    say`${options}: ${mean === null || worst === null ? "" : `mean ${mean}, worst ${worst}, `}${fate}`,
  fates: { chosen: "chosen", "goes-on": "goes on", dropped: "dropped", open: "not over" } as Record<TunedFate, string>,
  /** What became of a combination that was raced alone. */
  theOnlyOne: "the only one",
  costsUntold: "what this level costs is told by no table",
  tunedAlone: (options: Said, one: boolean) =>
    say`The screening could not tell whether ${options} ${one ? "matters" : "matter"}: it is tuning alone that chose so.`,
  untuned: (options: Said) => say`By the screening alone: ${options}.`,
  instead: (option: Said, usual: Said) => say`${option} instead of ${usual}`,
  take: (options: Said) => say`${options}.`,
  expected: (gains: Said) =>
    say`Expected: ${gains}. The same figures chose these options, so that this is too high on average; the race of the proposal against the default shows what is left of it.`,
  gain: (title: Said, gain: string) => say`${title} ${gain}`,
  mixed: (options: Said) => say`Better with some work or options and worse with others, so not proposed: ${options}.`,
  notTaken: (options: Said, one: boolean) =>
    say`Would gain, and not taken because ${one ? "it changes" : "they change"} what is promised: ${options}.`,
  notInATable: (options: Said, one: boolean) =>
    say`Would gain, and not taken because ${one ? "it is" : "they are"} in no table, and nobody looked at what that changes: ${options}.`,
  confirmed: "Confirmed",
  notRaced: "Not yet: the proposal was not raced against the default, and before that nothing is sure of it as a whole.",
  confirmationLeftOut: (why: Said) => say`Not yet: the record that lies beside as the race of the proposal is left out: ${why}.`,
  setIt: "Set it",
  confirmedIn: (gained: number, counted: number, expected: boolean) =>
    `Confirmed: in a race of its own the proposal is better beyond doubt in ${counted === 1 ? "the one figure" : `${gained} of ${counted} figures`}${expected ? " where that was expected" : ""}, and found worse nowhere.`,
  outcomes: {
    mixed: "It gains in some and is found worse in others: take it only where the work that gains is what counts.",
    "not-confirmed": "Not confirmed: keep the default. In a race of its own the proposal does not show beyond doubt the gain that was expected.",
    open: "Open: the race of the proposal against the default is over and cannot tell. Keep the default until more rounds can.",
  } as Record<Exclude<ConfirmationOutcome, "confirmed">, string>,
  notConfirmedTuned:
    "Not confirmed: keep the default. In a race of its own what tuning made of the proposal does not show beyond doubt the gain that it was chosen for.",
  loses: "It is found worse in some of the work, which is enough to keep the default.",
  openBecause: (why: string) =>
    `Open: the race of the proposal against the default is over and cannot tell: ${why}. Keep the default until more rounds can.`,
  whyOpen: {
    noise: "its rounds differ too much",
    "too-few-rounds": "too few rounds for a verdict",
    interrupted: "it was interrupted before a verdict",
    "out-of-budget": "its time was up before a verdict",
    "machine-busy": "other programs disturbed most of it",
  } as Record<Undecided, string>,
  openRunning:
    "Open: the race of the proposal against the default is not over. Keep the default until it is.",
  raceMore: "Race more",
  raced: (lane: Said, other: Said, seed: string) => say`${lane} against ${other}, seed ${seed}.`,
  ofItsRace: (warning: Said) => say`Of that race: ${warning}.`,
  confirmation: "The proposal against the default",
  confirmationCaption: (rows: Said) =>
    say`Each mark is the proposal against the default, its bar the interval at the confidence of that look; to the right of the line the proposal is better. A dashed stroke is what the screening expected. ${rows}`,
  row: (title: Said, measured: string, verdict: string) => say`${title}: ${measured}, ${verdict}`,
  work: "Work",
  expectedColumn: "Expected",
  measured: "Measured",
  lookInterval: "Interval",
  rowVerdict: "Verdict",
  cpu: "CPU share, proposal / default",
  /** Stands for shares that too little CPU time tells. */
  littleCpu: "<\u00a01\u00a0s",
  written: "Bytes written at the device for each of the work, proposal / default",
  rowVerdicts: {
    faster: "better",
    slower: "worse",
    tie: "tie",
    undecided: "undecided",
    none: "no verdict",
  } as Record<Verdict, string>,
  lanes: "Figures of the lanes",
  lanesNote: "Each lane is a run of the design; none is judged against another.",
  lanesOpen: "All rounds, latencies and costs, lane by lane",
};
