import { Speak } from "../parts/basics";
import { useUi } from "../ui";
import { name } from "../words/say";
import type { Asked } from "./api";

/** While an answer is awaited, or why there is none. */
export function Waiting<T>({ asked, what, retry }: { asked: Asked<T>; what: string; retry: () => void }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  if (asked.state !== "failed") {
    return (
      <p class="waiting" role="status">
        {w.loading} <Speak said={name(what)} />
      </p>
    );
  }
  return (
    <p class="trouble" role="alert">
      {asked.refused ? w.refused : w.failed(what.slice(0, 100), asked.why)}{" "}
      <button type="button" onClick={retry}>
        {w.retry}
      </button>
    </p>
  );
}
