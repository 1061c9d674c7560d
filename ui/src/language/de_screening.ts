// Was von einer Prüfung der Optionen gesagt wird, auf Deutsch.
import type { ConfirmationOutcome, EffectVerdict, TunedFate, Undecided, Verdict } from "../types";
import { say } from "../words/say";
import type { screening as english } from "./en_screening";

const count = (of: number, one: string, many: string) => (of === 1 ? `1 ${one}` : `${of} ${many}`);

export const screening: typeof english = {
  title: "Welche Optionen zählen",
  headline: {
    untold: (base, why) =>
      say`Keine Wirkung der Optionen von ${base} ließ sich bestimmen${why === null ? "" : say`: ${why}`}`,
    unfinished: (base) => say`Welche Optionen von ${base} zählen, ist noch offen: Das Rennen ist nicht zu Ende`,
    keep: (base) => say`Bei der Voreinstellung von ${base} bleiben: Von dem, was geprüft wurde, wird nichts vorgeschlagen`,
    keepYet: (base, open, all) =>
      say`Vorerst bei der Voreinstellung von ${base} bleiben: Nichts wird vorgeschlagen, und ${all === 1 ? "die eine Option ist" : `von ${all} Optionen ${open === 1 ? "ist" : "sind"} ${open}`} noch offen`,
    tuning: (base) => say`Was von den Optionen von ${base} zu nehmen ist, ist noch offen: Die Feinabstimmung ist nicht zu Ende`,
    yet: (base, options) =>
      say`${base} würde nach dieser Prüfung mit ${options} gewinnen und lief so noch nicht gegen die Voreinstellung`,
    confirmed: (base, options) => say`${base} mit ${options} nehmen`,
    mixed: (base, options) => say`${base} mit ${options} ist bei einem Teil der Arbeit besser und erwies sich bei anderem als schlechter`,
    "not-confirmed": (base, options) =>
      say`Bei der Voreinstellung von ${base} bleiben: Im zweiten Rennen zeigt sich der Gewinn nicht zweifelsfrei, der von ${options} erwartet war`,
    open: (base, options) =>
      say`Vorerst bei der Voreinstellung von ${base} bleiben: Im zweiten Rennen ist noch offen, ob ${options} gewinnt`,
  },
  noLane: "Bahnen ohne gültigen Namen",
  summary: (base, options, lanes, combinations, rounds) =>
    say`${count(options, "Option", "Optionen")} von ${base} in ${lanes} Bahnen, ${combinations}; ${rounds}.`,
  combinations: (each, full) =>
    each === 0
      ? `alle Kombinationen bräuchten ${full}`
      : each === 1
        ? "das sind alle Kombinationen"
        : `alle Kombinationen in je ${each} Bahnen`,
  rounds: (fewest, most) => (fewest === most ? count(most, "Runde", "Runden") : `${fewest} bis ${most} Runden`),
  scatter: (deviation) => `eine Bahn streut von Runde zu Runde um ${deviation}`,
  legend: (margin, few) =>
    `Wirkung heißt, was die andere Stufe am Wert ändert, im Mittel über alle Einstellungen der übrigen Optionen; über 0 oder 1× ist sie besser, auch bei Zeiten. Zählt: mit 95 % ist keine von denen falsch, die so heißen, ${few ? "wenn Bahnen sich durch nichts als ihre Optionen unterscheiden" : "soweit Zufall ist, was Bahnen sonst unterscheidet"}. Zählt nicht: das Intervall dieser Zeile liegt innerhalb von ${margin}. Noch offen: keines von beiden, auch wo das Intervall dieser Zeile allein die 0 oder 1× auslässt, wie es von vielen Zeilen einige durch Zufall tun.`,
  option: "Option",
  levels: "Üblich → anders",
  effect: "Wirkung",
  interval: "95-%-Intervall",
  verdict: "Zählt sie",
  within: (margin) => `innerhalb von ${margin}`,
  verdicts: { matters: "zählt", "does-not": "zählt nicht", open: "noch offen" } as Record<EffectVerdict, string>,
  to: (low, high) => `${low} bis ${high}`,
  noInterval: "zu wenige Runden",
  effects: "Wirkungen der Optionen",
  promises: "Wirkungen von Optionen, die Zusagen ändern",
  promisesNote: "Sie ändern, was nach einem Stromausfall oder von Gelesenem zugesagt ist, und werden nie vorgeschlagen.",
  unknownOptions: "Wirkungen von Optionen, die in keiner Tabelle stehen",
  unknownOptionsNote: "Niemand hat nachgesehen, was sie außer dem Tempo ändern; sie werden nie vorgeschlagen.",
  effectsCaption: (margin, counts, told) =>
    say`Jedes Zeichen ist eine Option auf ihrer anderen Stufe, sein Balken das 95-%-Intervall dieser Zeile, das Band ±${margin}; rechts der Linie ist die andere Stufe besser. Ein gefüllter Kreis zählt, ein Quadrat zählt nicht, ein hohler Kreis ist noch offen. ${counts}${told === null ? "" : say` Es zählt: ${told}.`}`,
  counts: (matter, not, open) =>
    `${count(matter, "Option zählt", "Optionen zählen")}, ${count(not, "zählt nicht", "zählen nicht")}, ${count(open, "ist noch offen", "sind noch offen")}.`,
  halfNormal: "Wirkungen neben dem Zufall",
  halfNormalCaption: (options, spare, largest) =>
    say`Größen von ${count(options, "Wirkung", "Wirkungen")} und von ${count(spare, "Spalte", "Spalten")} ohne Option (Kreuze), von klein nach groß, über dem, was der Zufall allein aus ihnen machte: Was Zufall ist, liegt auf einer Linie durch null, was keiner ist, darüber. Die größte ist ${largest}.`,
  quantile: "Halbnormal-Quantil",
  size: "Größe",
  noOption: "keine Option",
  interaction: (one, other, ratio, low, high, aliases, partial) =>
    say`${one} und ${other} zusammen: ${ratio} (${low} bis ${high}) vom Produkt dessen, was jede allein bringt${aliases === null ? "" : say`; der Plan kann es nicht unterscheiden von ${aliases}`}${partial === 0 ? "" : `; ${partial === 1 ? "1 anderes Paar hat" : `${partial} andere Paare haben`} Anteil daran`}.`,
  pair: (one, other) => say`${one} × ${other}`,
  together: "Optionen zusammen",
  togetherCaption: (told) =>
    say`Jedes Zeichen sind zwei Optionen, die einander in der Wirkung ändern, beide auf ihrer anderen Stufe: was sie zusammen bringen, im Verhältnis zum Produkt dessen, was jede allein bringt; sein Balken ist das 95-%-Intervall dieser Zeile. ${told}.`,
  togetherPair: "Optionen",
  togetherRatio: "Zusammen / Produkt beider allein",
  lanesDiffer: "Nach einem Test mit 5 % unterscheiden sich die Bahnen mehr, als ihre Runden streuen und die Optionen erklären; um so viel sind die Intervalle breiter.",
  fewSpare:
    "Der Plan hat weniger als 3 Spalten ohne Option; Bahnen, die sich von sich aus unterscheiden, fielen deshalb nicht auf: Was hier zählt oder eine andere Wirkung ändert, kann ein solcher Unterschied sein, und was nicht zählt, von einem verdeckt.",
  unusual: (option, level, usual) =>
    say`${option} steht in der Voreinstellung dieser Prüfung auf ${level}; üblich ist nach Fairlanes Tabelle ${usual}.`,
  loopQueue: "Verändert wurde die Warteschlange des Loop-Geräts jedes Abbilds; der Datenträger darunter hat seine eigene.",
  noRound: "Nichts ist bestimmt: In keiner Runde hat jede Bahn einen Wert.",
  unknown: (why) => say`Nichts ist bestimmt: ${why}.`,
  spare: (columns, size) =>
    `${count(columns, "Spalte", "Spalten")} ohne Option: Wirkungen von ${size} (quadratisches Mittel), das sind Zufall, Bahnen, die sich unterscheiden, oder Optionen zusammen.`,
  leftOut: "Weggelassen",
  because: (option, why) => say`${option}: ${why}.`,
  proposal: "Vorschlag",
  cutShort: (raced, planned) =>
    `Die Zeit war um (--budget): Gelaufen sind ${raced} von ${planned} geplanten Runden. Ein Rennen, das zu Ende ist, nimmt keine weiteren: noch einmal prüfen, mit größerem --budget oder mit --rounds und ohne eines.`,
  openOptions: (open, all, options, hidden) =>
    say`${all === 1 ? "Die eine Option ist" : `Von ${all} Optionen ${open === 1 ? "ist" : "sind"} ${open}`} noch offen: ${options}. ${hidden ? "Bahnen, die von sich aus verschieden sind, oder Optionen gemeinsam verdecken den Rest: Mehr Runden helfen vielleicht nicht." : "Eine Prüfung mit mehr Runden kann es zeigen."}`,
  keep: "Bei der Voreinstellung bleiben: Nichts von dem, was geprüft wurde, ist zweifelsfrei besser.",
  keepOthers: "Bei der Voreinstellung bleiben: Keine Option, die keine Zusage ändert, ist zweifelsfrei besser, ohne dass sie sich irgendwo als schlechter zeigt.",
  untold: (why) => say`Nichts wird vorgeschlagen, weil sich keine Wirkung bestimmen ließ${why === null ? "" : say`: ${why}`}.`,
  unfinished: "Noch offen: Das Rennen ist nicht zu Ende, und vor seiner letzten Runde wird nichts vorgeschlagen.",
  soFar: "Das Rennen ist nicht zu Ende: So viel sagt, was davon fertig ist; der Rest ist noch offen.",
  tuned: (options, raced) => say`Nach der Feinabstimmung: ${options}${raced ? "; so lief es gegen die Voreinstellung" : ""}.`,
  tuningUnfinished:
    "Die Feinabstimmung ist nicht zu Ende, und was sie aus dem Vorschlag macht, ist noch offen.",
  tuning: "Feinabstimmung",
  tuningNote:
    "Kombinationen von Stufen liefen gegen die Voreinstellung. Mittel und schlechtester Wert gelten für die Werte einer Kombination neben denen der Voreinstellung, über 0 oder 1× ist sie besser; geordnet sind sie nach dem schlechtesten. Das letzte Rennen hat nach diesen Werten gewählt, deshalb sind die der gewählten Kombination zu hoch, und sie haben kein Intervall: Dass sie gewinnt, steht erst fest, wenn es bestätigt ist.",
  tuningRace: (record, combinations, rounds) =>
    say`${record}: ${count(combinations, "Kombination", "Kombinationen")} und die Voreinstellung, ${rounds}`,
  combination: (options, mean, worst, fate) =>
    say`${options}: ${mean === null || worst === null ? "" : `Mittel ${mean}, schlechtester Wert ${worst}, `}${fate}`,
  fates: { chosen: "gewählt", "goes-on": "kommt weiter", dropped: "fällt weg", open: "nicht zu Ende" } as Record<TunedFate, string>,
  theOnlyOne: "die einzige",
  costsUntold: "was diese Stufe kostet, sagt keine Tabelle",
  tunedAlone: (options, one) =>
    say`Ob ${options} ${one ? "zählt" : "zählen"}, konnte die Prüfung nicht sagen: So gewählt hat allein die Feinabstimmung.`,
  untuned: (options) => say`Nach der Prüfung allein: ${options}.`,
  instead: (option, usual) => say`${option} statt ${usual}`,
  take: (options) => say`${options}.`,
  expected: (gains) =>
    say`Erwartet: ${gains}. Dieselben Werte haben diese Optionen ausgewählt, deshalb ist das im Mittel zu hoch; was davon bleibt, zeigt das Rennen des Vorschlags gegen die Voreinstellung.`,
  gain: (title, gain) => say`${title} ${gain}`,
  mixed: (options) => say`Bei manchem (Arbeit oder anderen Optionen) besser und bei anderem schlechter, deshalb nicht vorgeschlagen: ${options}.`,
  notTaken: (options) => say`Würde gewinnen und wird nicht genommen, weil sich damit Zusagen ändern: ${options}.`,
  notInATable: (options) =>
    say`Würde gewinnen und wird nicht genommen, weil es in keiner Tabelle steht und niemand nachgesehen hat, was sich damit ändert: ${options}.`,
  confirmed: "Bestätigung",
  notRaced: "Noch keine: Der Vorschlag lief nicht gegen die Voreinstellung, und vorher ist von ihm als Ganzem nichts sicher.",
  confirmationLeftOut: (why) => say`Noch keine: Die Aufzeichnung, die als Rennen des Vorschlags daneben liegt, zählt nicht: ${why}.`,
  setIt: "So wird es eingestellt",
  confirmedIn: (gained, counted, expected) =>
    `Bestätigt: In einem eigenen Rennen ist der Vorschlag zweifelsfrei besser, und zwar bei ${counted === 1 ? "dem einen Wert" : `${gained} von ${counted} Werten`}${expected ? ", wo das erwartet war" : ""}, und zeigt sich nirgends schlechter.`,
  outcomes: {
    mixed: "Er gewinnt bei einigem und erwies sich bei anderem als schlechter: nur nehmen, wo es auf die Arbeit ankommt, die gewinnt.",
    "not-confirmed": "Nicht bestätigt: bei der Voreinstellung bleiben. In einem eigenen Rennen zeigt der Vorschlag den erwarteten Gewinn nicht zweifelsfrei.",
    open: "Offen: Das Rennen des Vorschlags gegen die Voreinstellung ist zu Ende und lässt nichts erkennen. Bei der Voreinstellung bleiben, bis mehr Runden es zeigen.",
  } as Record<Exclude<ConfirmationOutcome, "confirmed">, string>,
  notConfirmedTuned:
    "Nicht bestätigt: bei der Voreinstellung bleiben. In einem eigenen Rennen zeigt das, was die Feinabstimmung aus dem Vorschlag machte, nicht den Gewinn, für den es gewählt wurde.",
  loses: "Bei einem Teil der Arbeit erwies er sich als schlechter, und das genügt, um bei der Voreinstellung zu bleiben.",
  openBecause: (why) =>
    `Offen: Das Rennen des Vorschlags gegen die Voreinstellung ist zu Ende und lässt nichts erkennen: ${why}. Bei der Voreinstellung bleiben, bis mehr Runden es zeigen.`,
  whyOpen: {
    noise: "seine Runden streuen zu stark",
    "too-few-rounds": "zu wenige Runden für ein Urteil",
    interrupted: "es wurde vor einem Urteil unterbrochen",
    "out-of-budget": "seine Zeit war vor einem Urteil um",
    "machine-busy": "andere Programme störten das meiste davon",
  } as Record<Undecided, string>,
  openRunning:
    "Offen: Das Rennen des Vorschlags gegen die Voreinstellung ist nicht zu Ende. Bis dahin bei der Voreinstellung bleiben.",
  raceMore: "Länger laufen lassen",
  raced: (lane, other, seed) => say`${lane} gegen ${other}, Seed ${seed}.`,
  ofItsRace: (warning) => say`Von diesem Rennen: ${warning}.`,
  confirmation: "Der Vorschlag gegen die Voreinstellung",
  confirmationCaption: (rows) =>
    say`Jedes Zeichen ist der Vorschlag gegen die Voreinstellung, sein Balken das Intervall mit dem Vertrauen dieses Blicks; rechts der Linie ist der Vorschlag besser. Ein gestrichelter Strich ist, was die Prüfung erwartete. ${rows}`,
  row: (title, measured, verdict) => say`${title}: ${measured}, ${verdict}`,
  work: "Arbeit",
  expectedColumn: "Erwartet",
  measured: "Gemessen",
  lookInterval: "Intervall",
  rowVerdict: "Urteil",
  cpu: "CPU-Anteil, Vorschlag / Voreinstellung",
  littleCpu: "<\u00a01\u00a0s",
  written: "Auf den Datenträger geschriebene Bytes je Byte der Arbeit, Vorschlag / Voreinstellung",
  rowVerdicts: {
    faster: "besser",
    slower: "schlechter",
    tie: "gleichauf",
    undecided: "offen",
    none: "kein Urteil",
  } as Record<Verdict, string>,
  lanes: "Werte der Bahnen",
  lanesNote: "Jede Bahn ist ein Lauf des Plans; keine wird gegen eine andere beurteilt.",
  lanesOpen: "Alle Runden, Latenzen und Kosten, Bahn für Bahn",
};
