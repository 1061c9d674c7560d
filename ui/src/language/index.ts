// The three languages of the page.
import type { Language } from "../types";
import { de } from "./de";
import { en, type Words } from "./en";
import { zh } from "./zh";

export type { Words } from "./en";

export const LANGUAGES: { [language in Language]: Words } = { en, zh, de };

export function isLanguage(text: string | null | undefined): text is Language {
  return text === "en" || text === "zh" || text === "de";
}

/** The reader's own language, where the page's data names none. */
export function browsersLanguage(): Language {
  for (const wanted of navigator.languages) {
    const short = wanted.slice(0, 2).toLowerCase();
    if (isLanguage(short)) return short;
  }
  return "en";
}
