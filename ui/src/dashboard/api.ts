// Talks to the server that the page came from, and to no other: relative addresses alone.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Live } from "../types";
import { clean } from "../words/say";

/** The token of the page's own address goes with every question. */
const token = new URLSearchParams(location.search).get("token");

/** An address of the server's, with its parameters in order. */
export function address(path: string, parameters: readonly (readonly [string, string])[] = []): string {
  const query = new URLSearchParams();
  for (const [key, value] of parameters) query.append(key, value);
  if (token !== null) query.append("token", token);
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

export type Asked<T> =
  | { state: "loading"; value: T | null }
  | { state: "done"; value: T }
  | { state: "failed"; value: T | null; why: string; refused: boolean };

/** Asks the server; a new address asks again, what stood before stays until the answer is there. */
export function useAsked<T>(of: string | null): [Asked<T>, () => void] {
  const [asked, setAsked] = useState<Asked<T>>({ state: "loading", value: null });
  const [again, setAgain] = useState(0);
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (of === null) return undefined;
    const stop = new AbortController();
    const same = last.current === of;
    last.current = of;
    setAsked((before) => ({ state: "loading", value: same ? before.value : null }));
    ask<T>(of, stop.signal).then(
      (value) => setAsked({ state: "done", value }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const refused = error instanceof Refused;
        const why = error instanceof Error ? error.message : String(error);
        setAsked((before) => ({ state: "failed", value: before.value, why, refused }));
      },
    );
    return () => stop.abort();
  }, [of, again]);
  const retry = useCallback(() => setAgain((count) => count + 1), []);
  return [asked, retry];
}

class Refused extends Error {}

/** The sentence of a refusal: the fact, then the remedy. */
function reason(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    if (typeof error === "string") return clean(error).slice(0, 400);
  } catch {
    // Something between the page and its server answered: its text is the best there is.
  }
  return clean(body).slice(0, 200).trim();
}

async function ask<T>(of: string, signal: AbortSignal): Promise<T> {
  const response = await fetch(of, { signal, headers: { accept: "application/json" }, cache: "no-store" });
  if (response.status === 401 || response.status === 403) throw new Refused(String(response.status));
  if (!response.ok) throw new Error(reason(await response.text()) || String(response.status));
  return (await response.json()) as T;
}

/** How long to wait before the next try after a lost connection, milliseconds. */
const WAITS = [1000, 2000, 5000, 10_000];

/** What runs now, as the server tells it; connects again when the connection is lost. */
export function useLive(): { live: Live | null; connected: boolean } {
  const [live, setLive] = useState<Live | null>(null);
  const [connected, setConnected] = useState(true);
  useEffect(() => {
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let tries = 0;
    const open = () => {
      source = new EventSource(address("api/live"));
      source.onopen = () => {
        tries = 0;
        setConnected(true);
      };
      source.onmessage = (event: MessageEvent<string>) => {
        try {
          setLive(JSON.parse(event.data) as Live);
          setConnected(true);
        } catch {
          // Half a message: the next one is whole.
        }
      };
      source.onerror = () => {
        // The browser's own tries end for good when the server answers with an error: these do not.
        source?.close();
        setConnected(false);
        timer = setTimeout(open, WAITS[Math.min(tries, WAITS.length - 1)]);
        tries += 1;
      };
    };
    open();
    return () => {
      source?.close();
      clearTimeout(timer);
    };
  }, []);
  return { live, connected };
}
