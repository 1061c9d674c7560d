// A plain table of figures, as every chart can be shown.
import { useUi } from "../ui";
import type { Said } from "../words/say";
import { Speak } from "./basics";

export interface Column {
  label: string;
  numeric?: boolean;
}

export interface TableData {
  columns: Column[];
  rows: (Said | string)[][];
  /** Rows in all, where only some are shown. */
  inAll?: number;
}

export function FigureTable({ data, label }: { data: TableData; label: string }) {
  const ui = useUi();
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="figures">
        <thead>
          <tr>
            {data.columns.map((column) => (
              <th key={column.label} scope="col" class={column.numeric ? "number" : ""}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, place) => {
                const content = typeof cell === "string" ? cell : <Speak said={cell} />;
                const numeric = data.columns[place]?.numeric ? "number" : "";
                return place === 0 ? (
                  <th key={place} scope="row" class={numeric}>
                    {content}
                  </th>
                ) : (
                  <td key={place} class={numeric}>
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {data.inAll !== undefined && data.inAll > data.rows.length ? (
        <p class="small">{ui.words.figure.thinned(ui.figures, data.rows.length, data.inAll)}</p>
      ) : null}
    </div>
  );
}

/** At most so many rows, evenly chosen, the first and the last among them. */
export function evenly<T>(rows: readonly T[], most: number): T[] {
  if (rows.length <= most) return [...rows];
  return Array.from({ length: most }, (_, at) => rows[Math.round((at * (rows.length - 1)) / (most - 1))] as T);
}
