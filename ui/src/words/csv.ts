// Cells of a file that a spreadsheet may open, as RFC 4180 says.
import { clean } from "./say";

/** Text that others made, harmless in a spreadsheet, as `report`'s own CSV writes it: spreadsheets skip blanks in
 * front of a formula. */
export function csvText(text: string): string {
  const safe = clean(text);
  return /^\s*[=+\-@|%]/.test(safe) ? `'${safe}` : safe;
}

/** One cell; `null`: no figure. */
export function csvCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = csvText(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
