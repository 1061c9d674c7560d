// The smallest parts: names, sentences, marks.
import { Fragment, type ComponentChildren, type JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { laneColour, laneStyle } from "../lanes";
import type { Limit, ResultFinding, Verdict } from "../types";
import { known, sentence, useUi, wholeSentence, type Ui } from "../ui";
import { clean, name, plain, say, shellLine, shown, type Said, type Tone } from "../words/say";

/** What somebody else named: always text, isolated, and cut where it is long. */
export function Name({ text, characters = 40 }: { text: string; characters?: number }) {
  const short = shown(text, characters);
  const whole = clean(text);
  return (
    <bdi class="name" {...(short === whole ? {} : { title: whole.slice(0, 4100) })}>
      {short}
    </bdi>
  );
}

const TONE_CLASS: { [tone in Tone]: string } = {
  faster: "tone-faster",
  slower: "tone-slower",
  tie: "tone-tie",
  undecided: "tone-undecided",
  none: "tone-none",
  strong: "tone-strong",
  quiet: "tone-quiet",
};

export function Speak({ said }: { said: Said }): JSX.Element {
  return (
    <>
      {said.map((piece) => {
        if (typeof piece === "string") return piece;
        if ("name" in piece) return <Name text={piece.name} />;
        if ("text" in piece) return <bdi>{clean(piece.text)}</bdi>;
        if ("english" in piece) return <bdi lang="en">{clean(piece.english)}</bdi>;
        if ("code" in piece) return <code>{clean(piece.code)}</code>;
        return (
          <span class={TONE_CLASS[piece.tone]}>
            <Speak said={piece.said} />
          </span>
        );
      })}
    </>
  );
}

/** Heard alone, a button has to say whose it is. */
export function Whose({ of }: { of: string }) {
  const ui = useUi();
  return (
    <span class="visually-hidden">
      {ui.words.colon}
      {of}
    </span>
  );
}

/** The lane's symbol in its colour, on a piece of its line. */
export function Swatch({ index, line = false }: { index: number; line?: boolean }) {
  const style = laneStyle(index, false);
  const colour = laneColour(index);
  return line ? (
    <svg class="swatch" viewBox="0 0 30 10" width="30" height="10" aria-hidden="true" focusable="false">
      <path d="M0 5H30" style={{ stroke: colour }} stroke-width="1.6" stroke-dasharray={style.dash.join(" ")} fill="none" />
      <path d={style.path} style={{ fill: colour }} transform="translate(10 0)" />
    </svg>
  ) : (
    <svg class="swatch" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" focusable="false">
      <path d={style.path} style={{ fill: colour }} />
    </svg>
  );
}

export function LaneName({ index, name, line }: { index: number; name: string; line?: boolean }) {
  return (
    <span class="lane">
      <Swatch index={index} {...(line === undefined ? {} : { line })} />
      <Name text={name} characters={28} />
    </span>
  );
}

/** Which symbol and dash is whose. */
export function LaneKey({ lanes }: { lanes: readonly string[] }) {
  return (
    <ul class="key">
      {lanes.map((lane, at) => (
        <li key={lane}>
          <LaneName index={at} name={lane} line />
        </li>
      ))}
    </ul>
  );
}

export const MARKS: { [verdict in Verdict]: string } = {
  faster: "▲",
  slower: "▼",
  tie: "=",
  undecided: "?",
  none: "–",
};

export function Mark({ verdict }: { verdict: Verdict }) {
  return (
    <span class={`mark mark-${verdict}`} aria-hidden="true">
      {MARKS[verdict]}
    </span>
  );
}

/** What limited a result, in a word; pressed, it says the whole. */
export function LimitMark({ result }: { result: ResultFinding }) {
  const ui = useUi();
  const [open, setOpen] = useState(false);
  const id = useId();
  const limit = limitOf(result.limit);
  const { mark, says } = limitSaid(ui, result);
  const reason = sentence(ui, result.limit_reason);
  const whole = `${plain(says)} ${wholeSentence(ui, result.limit_reason)}`;
  return (
    <span class="limit">
      <button
        type="button"
        class={`limit-mark limit-${limit}`}
        aria-expanded={open}
        aria-controls={id}
        aria-label={`${ui.words.scoreboard.why(plain(known(ui, result.title)))}${ui.words.colon}${mark}`}
        title={whole}
        onClick={() => setOpen(!open)}
      >
        {mark}
      </button>
      <span class="print-only">{mark}</span>
      <span id={id} class="limit-says" hidden={!open}>
        <Speak said={says} />
        {plain(reason) === "" ? null : (
          <>
            {" "}
            <Speak said={reason} />
            {ui.words.end}
          </>
        )}
      </span>
    </span>
  );
}

/** A share of which no part is known from here on is said to be unknown; as `model::findings::Headline` has it. */
const MOST_UNEXPLAINED = 1 / 3;

/** The mark, and what it says: the limit, or where the time of the slowest lane went. */
function limitSaid(ui: Ui, result: ResultFinding): { mark: string; says: Said } {
  const limit = limitOf(result.limit);
  const words = ui.words.limits[limit];
  const of = result.headline;
  if (limit !== "unattributed" || !of) return { mark: words.mark, says: [words.says] };
  const w = ui.words.explain;
  const basis = w.headline.basis[of.basis] ?? "";
  const lane = name(of.lane);
  if (of.part) {
    const bare = ui.figures.percent(of.share);
    const [part, share] = [w.parts[of.part] ?? of.part, of.at_most ? w.headline.atMost(bare) : bare];
    return { mark: w.headline.part(part, share), says: say`${w.headline.says(lane, part, share)} ${basis}` };
  }
  const share = ui.figures.percent(of.not_explained);
  if (of.not_explained > MOST_UNEXPLAINED) {
    return { mark: w.headline.unknown(share), says: say`${w.headline.saysUnknown(lane, share)} ${basis}` };
  }
  return { mark: w.headline.several, says: say`${w.headline.saysSeveral(lane)} ${basis}` };
}

/** Limits that this page knows; a newer one is told as not known. */
export function limitOf(limit: Limit): Limit {
  const limits: readonly string[] = [
    "device",
    "own-disk",
    "write-amplification",
    "filesystem-cpu",
    "cpu",
    "filesystem-serialised",
    "flush",
    "cache",
    "harness",
    "other-programs",
  ];
  return limits.includes(limit) ? limit : "unattributed";
}

/** Characters of a word of a command that never stands on two lines: `--throttle` would be read as two words. */
const WHOLE_WORD = 32;

/** A command to type, with a button that copies it. */
export function Command({ words, label }: { words: readonly string[]; label?: string }) {
  const ui = useUi();
  const [copied, setCopied] = useState(false);
  const line = shellLine(words);
  const copy = () => {
    void navigator.clipboard?.writeText(line).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return (
    <span class="command">
      <code tabIndex={0} role="group" aria-label={label ?? line.slice(0, 200)}>
        {words.map((word, at) => (
          <Fragment key={at}>
            {at > 0 ? " " : null}
            <span class={word.length <= WHOLE_WORD ? "whole" : ""}>{shellLine([word])}</span>
          </Fragment>
        ))}
      </code>
      <button type="button" class="quiet" onClick={copy}>
        <span aria-live="polite">{copied ? ui.words.page.copied : ui.words.page.copy}</span>
      </button>
    </span>
  );
}

export function Section({
  id,
  title,
  children,
  note,
}: {
  id: string;
  title: string;
  children: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} class={`section section-${id}`}>
      <div class="section-head">
        <h2 id={`${id}-title`} tabIndex={-1}>
          {title}
        </h2>
        {note === undefined ? null : <div class="section-note">{note}</div>}
      </div>
      {children}
    </section>
  );
}
