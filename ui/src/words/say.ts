// Sentences as pieces: what others named stays apart from what Fairlane says, so that a name is always
// a text node of its own, isolated from the direction of the text around it.

export type Tone = "faster" | "slower" | "tie" | "undecided" | "none" | "strong" | "quiet";

export type Piece =
  | string
  /** What somebody else named: a lane, a record. */
  | { name: string }
  /** Somebody else's sentence or title, in the page's language or in none. */
  | { text: string }
  /** One that is there in English alone. */
  | { english: string }
  /** What is typed at a command line. */
  | { code: string }
  | { tone: Tone; said: Said };

export type Said = readonly Piece[];

export function name(text: string): Said {
  return [{ name: text }];
}

export function text(words: string): Said {
  return [{ text: words }];
}

export function code(text: string): Said {
  return [{ code: text }];
}

export function toned(tone: Tone, said: Said | string): Said {
  return [{ tone, said: typeof said === "string" ? [said] : said }];
}

/** A template of words and pieces. */
export function say(strings: TemplateStringsArray, ...values: (string | number | Said)[]): Said {
  const said: Piece[] = [];
  strings.forEach((text, at) => {
    if (text !== "") said.push(text);
    const value = values[at];
    if (value === undefined) return;
    if (typeof value === "string" || typeof value === "number") said.push(String(value));
    else said.push(...value);
  });
  return said;
}

export function joined(parts: readonly Said[], separator: string): Said {
  return parts.flatMap((part, at) => (at === 0 ? part : [separator, ...part]));
}

/** Characters that move a cursor, reorder a line or cannot be seen, as `model::text::is_unsafe` lists them. */
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** The text without unsafe characters; what breaks a line becomes a space. */
export function clean(text: string): string {
  return text.replace(/[\n\r\t\u2028\u2029]/g, " ").replace(UNSAFE, "");
}

/** At most so many characters, `…` included. */
export function shorten(text: string, characters: number): string {
  const all = Array.from(clean(text).slice(0, characters * 8));
  return all.length <= characters ? all.join("") : all.slice(0, characters - 1).join("") + "…";
}

/** The name as it is shown, never empty. */
export function shown(text: string, characters = 40): string {
  const short = shorten(text, characters);
  return short.trim() === "" ? "(unnamed)" : short;
}

/** The words alone: for labels that assistive technology reads, and for files. */
export function plain(said: Said): string {
  return said
    .map((piece) => {
      if (typeof piece === "string") return piece;
      if ("name" in piece) return shown(piece.name);
      if ("text" in piece) return clean(piece.text);
      if ("english" in piece) return clean(piece.english);
      if ("code" in piece) return clean(piece.code);
      return plain(piece.said);
    })
    .join("");
}

/** Whether nothing is said. */
export function empty(said: Said): boolean {
  return plain(said).trim() === "";
}

/** An argument list as a line that a shell reads back as the same list; `~/` in front of a word stays the shell's own. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  if (word.length > 2 && word.startsWith("~/")) return `~/${shellWord(word.slice(2))}`;
  if (/^[A-Za-z0-9_./:,@%+^-][A-Za-z0-9_./:=,@%+^-]*$/.test(word)) return word;
  if (!word.match(UNSAFE)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const quoted = word.replace(/['\\]/g, "\\$&").replace(UNSAFE, (character) => {
    return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
  });
  return `$'${quoted}'`;
}
