// What every part of the page needs to know: language, figures, appearance, and whose lanes they are.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { LANGUAGES, type Words } from "./language";
import type { Language, RacePage, ResultFinding } from "./types";
import type { Title } from "./words/answer";
import { Figures } from "./words/figures";
import { clean, joined, say, shorten, type Said } from "./words/say";

/** Characters of a sentence or title that somebody else wrote. */
const SENTENCE = 600;
const TITLE = 90;

export interface Ui {
  language: Language;
  words: Words;
  figures: Figures;
  dark: boolean;
  /** Translations of what the statistics say, by the English sentence. */
  sentences: { [english: string]: string };
  /** Address of a section of the page. */
  href: (section: string) => string;
}

export function makeUi(language: Language, dark: boolean, race: RacePage | null, href: Ui["href"]): Ui {
  const words = LANGUAGES[language];
  return {
    language,
    words,
    figures: new Figures(words.locale, words.units),
    dark,
    sentences: race?.sentences[language] ?? {},
    href,
  };
}

export const UiContext = createContext<Ui | null>(null);

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) throw new Error("a part stands outside of the page");
  return ui;
}

/** What the statistics said, in the reader's language where it is known, without a full stop: it stands
 * inside another sentence. */
export function sentence(ui: Ui, english: string, characters = SENTENCE): Said {
  const own = lookedUp(ui, english);
  const bare = (of: string) => shorten(of.trim().replace(/[.。]+$/, ""), characters);
  if (own !== null) return [{ text: bare(own) }];
  return ui.language === "en" ? [{ text: bare(english) }] : [{ english: bare(english) }];
}

/** The whole of a sentence for a title attribute. */
export function wholeSentence(ui: Ui, english: string): string {
  return clean(lookedUp(ui, english) ?? english);
}

function lookedUp(ui: Ui, english: string): string | null {
  return own(ui.sentences, english) ?? own(ui.sentences, english.replace(/\.$/, "")) ?? null;
}

/** A key of the object itself: names are data, and `constructor` is one that somebody may use. */
function own<T>(of: { [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

/** What a person calls a workload, a scenario or a part of it. */
export function known(ui: Ui, english: string): Said {
  const title = shorten(lookedUp(ui, english) ?? own(ui.words.known, english) ?? english, TITLE);
  // A size and its unit stay on one line.
  return [{ text: title.replace(/(\d) (?=[KMGT]iB\b|%)/g, "$1\u00a0") }];
}

/** A word of a table of the language, by a key that the data brings. */
export function wordOf(table: { [key: string]: string }, key: string): string {
  return own(table, key) ?? key.replaceAll("_", " ");
}

export function resultTitle(ui: Ui, result: ResultFinding, withGroup: boolean): Said {
  return withGroup ? say`${known(ui, result.title)}${ui.words.colon}${known(ui, result.group)}` : known(ui, result.title);
}

export function titleOf(ui: Ui, title: Title): Said {
  if ("table" in title) return ui.words.answer.steps(known(ui, title.table.title), title.count, title.table.rows.length);
  return title.group === null
    ? known(ui, title.title)
    : say`${known(ui, title.title)}${ui.words.colon}${known(ui, title.group)}`;
}

export function titlesOf(ui: Ui, titles: readonly Title[]): Said {
  return joined(
    titles.map((title) => titleOf(ui, title)),
    ui.words.comma,
  );
}
