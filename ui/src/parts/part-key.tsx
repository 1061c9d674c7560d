// Which colour is which part of the time.
import type { Part } from "../types";
import { useUi } from "../ui";

/** Every part, in the order in which bars show them. */
export const PARTS: readonly Part[] = [
  "device",
  "flush",
  "filesystem-cpu",
  "checksums",
  "locks",
  "memory",
  "kernel-threads",
  "scheduler",
  "filesystem-process",
  "kernel",
  "kernel-cpu",
  "fairlane",
  "not-explained",
];

export function PartKey({ parts }: { parts: readonly Part[] }) {
  const w = useUi().words.explain;
  return (
    <ul class="key part-key">
      {parts.map((part) => (
        <li key={part}>
          <span class={`part-swatch part-${part}`} aria-hidden="true" /> {w.parts[part]}
        </li>
      ))}
    </ul>
  );
}
