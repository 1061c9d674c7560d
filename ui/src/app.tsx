// The page around what it shows: language, appearance, skip link, landmarks.
import { useEffect, useMemo, useState } from "preact/hooks";
import { browsersLanguage, isLanguage, LANGUAGES } from "./language";
import { Dashboard } from "./dashboard/dashboard";
import { Race } from "./parts/race";
import type { Language, Page } from "./types";
import { makeUi, UiContext } from "./ui";

type Theme = "auto" | "light" | "dark";

/** What the reader chose stays for the next visit, where the browser keeps such things. */
function kept(key: string): string | null {
  try {
    return localStorage.getItem(`fairlane-${key}`);
  } catch {
    return null;
  }
}

function keep(key: string, value: string): void {
  try {
    localStorage.setItem(`fairlane-${key}`, value);
  } catch {
    // Then it is chosen again next time.
  }
}

function useDark(theme: Theme): boolean {
  const query = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [system, setSystem] = useState(query.matches);
  useEffect(() => {
    const changed = (event: MediaQueryListEvent) => setSystem(event.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, [query]);
  return theme === "auto" ? system : theme === "dark";
}

export function App({ page, alone }: { page: Page; alone: boolean }) {
  const wanted = kept("language");
  const [language, setLanguage] = useState<Language>(
    page.show.kind === "dashboard" ? (isLanguage(wanted) ? wanted : alone ? browsersLanguage() : page.language) : page.language,
  );
  const keptTheme = kept("theme");
  const [theme, setTheme] = useState<Theme>(keptTheme === "light" || keptTheme === "dark" ? keptTheme : "auto");
  const dark = useDark(theme);
  const race = page.show.kind === "race" ? page.show.race : null;
  const ui = useMemo(() => makeUi(language, dark, race, (section) => `#${section}`), [language, dark, race]);
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
    document.documentElement.dataset["theme"] = theme;
    document.title = race ? `${race.findings.suite} · ${ui.words.page.report}` : ui.words.dashboard.title;
  }, [language, theme, ui, race]);
  return (
    <UiContext.Provider value={ui}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The dashboard's addresses are hashes too.
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        {ui.words.page.skip}
      </a>
      <header class="top">
        <span class="wordmark">Fairlane</span>
        <div class="switches">
          <label>
            <span class="visually-hidden">{ui.words.page.language}</span>
            <select
              value={language}
              onChange={(event) => {
                const value = event.currentTarget.value;
                if (!isLanguage(value)) return;
                setLanguage(value);
                keep("language", value);
              }}
            >
              {(Object.keys(LANGUAGES) as Language[]).map((of) => (
                <option key={of} value={of} lang={of}>
                  {LANGUAGES[of].name}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span class="visually-hidden">{ui.words.page.theme}</span>
            <select
              value={theme}
              onChange={(event) => {
                const value = event.currentTarget.value as Theme;
                setTheme(value);
                keep("theme", value);
              }}
            >
              {(["auto", "light", "dark"] as const).map((of) => (
                <option key={of} value={of}>
                  {ui.words.page.themes[of]}
                </option>
              ))}
            </select>
          </label>
          <button type="button" onClick={() => window.print()}>
            {ui.words.page.print}
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {race ? (
          <Race race={race} version={page.version} section={location.hash.slice(1) || null} />
        ) : (
          <Dashboard version={page.version} language={language} dark={dark} />
        )}
      </main>
      <footer class="bottom">
        <p class="small">{race ? ui.words.page.madeBy(page.version) : `Fairlane ${page.version}`}</p>
      </footer>
    </UiContext.Provider>
  );
}
