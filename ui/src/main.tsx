import { render } from "preact";
import { App } from "./app";
import { readPage, Trouble } from "./data";
import { browsersLanguage, LANGUAGES } from "./language";
import { watchPrinting } from "./parts/figure";

async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) return;
  const alone = (document.getElementById("data")?.textContent?.trim() ?? "") === "";
  try {
    const page = await readPage();
    watchPrinting();
    render(<App page={page} alone={alone} />, root);
  } catch (error) {
    root.replaceChildren(explained(error));
    document.documentElement.dataset["ready"] = "true";
  }
}

/** Why nothing is shown, in the reader's own language. */
function explained(error: unknown): HTMLElement {
  const words = LANGUAGES[browsersLanguage()].page;
  const element = document.createElement("p");
  element.className = "trouble";
  element.setAttribute("role", "alert");
  if (!(error instanceof Trouble)) {
    element.textContent = words.badData(error instanceof Error ? error.message : String(error));
    return element;
  }
  switch (error.kind) {
    case "no-data":
      element.textContent = words.noData;
      break;
    case "no-inflate":
      element.textContent = words.noInflate;
      break;
    case "schema":
      element.textContent = words.otherSchema(Number(error.detail));
      break;
    case "bad":
      element.textContent = words.badData(error.detail);
  }
  return element;
}

void start();
