// The figures of each lane, as a table; columns that no lane has a figure for are left out.
import type { Estimate, ResultFinding } from "../types";
import { sentence, useUi, type Ui } from "../ui";
import { laneRate, metricSaid } from "../words/told";
import { LaneName, Speak } from "./basics";

type Column = { label: string; of: (estimate: Estimate) => string | null };

function columns(ui: Ui): Column[] {
  const { figures } = ui;
  const c = ui.words.results.columns;
  const figure =
    (key: keyof Estimate, format: (value: number) => string) =>
    (estimate: Estimate): string | null => {
      const value = estimate[key];
      return typeof value === "number" ? format(value) : null;
    };
  const ns = (value: number) => figures.time(value * 1e-9);
  // CPU time is counted in ticks: none is a window that was shorter than one.
  const seconds = (value: number) => (value > 0 ? figures.time(value) : "–");
  const share = (value: number) => figures.smallShare(value);
  return [
    { label: c.meanLatency, of: figure("latency_mean_ns", ns) },
    { label: c.p50, of: figure("latency_p50_ns", ns) },
    { label: c.p99, of: figure("latency_p99_ns", ns) },
    { label: c.p999, of: figure("latency_p999_ns", ns) },
    { label: c.longest, of: figure("latency_max_ns", ns) },
    { label: c.cpu, of: figure("cpu_seconds_per_operation", seconds) },
    { label: c.own, of: figure("agent_cpu_seconds_per_operation", seconds) },
    { label: c.cpuGib, of: figure("cpu_seconds_per_gib", seconds) },
    { label: c.cpuShare, of: figure("cpu_share", share) },
    { label: c.systemShare, of: figure("cpu_system_share", share) },
    { label: c.written, of: figure("write_amplification", (value) => figures.times(value)) },
    { label: c.flushes, of: figure("flushes_per_operation", (value) => figures.number(value, 2)) },
    {
      label: c.deviceUse,
      of: (estimate) => {
        const use = figure("device_use", share)(estimate);
        return use !== null && estimate.device_use_is_impossible === true ? ui.words.results.impossible(use) : use;
      },
    },
    { label: c.extents, of: figure("extents", (value) => figures.number(value, 0)) },
    { label: c.busy, of: figure("device_busy_share", share) },
  ];
}

export function Estimates({ result, lanes }: { result: ResultFinding; lanes: readonly string[] }) {
  const ui = useUi();
  const w = ui.words.results;
  const measured = result.estimates.filter((estimate) => estimate.failure == null);
  const shown = columns(ui).filter((column) => measured.some((estimate) => column.of(estimate) !== null));
  const c = w.columns;
  const needsNote = shown.some((column) => [c.cpu, c.cpuGib, c.written, c.deviceUse].includes(column.label));
  return (
    <>
      <div class="scroll" tabIndex={0} role="group" aria-label={w.figures}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{w.lane}</th>
              <th scope="col" class="number">
                {metricSaid(ui, result.metric)}
              </th>
              {shown.map((column) => (
                <th key={column.label} scope="col" class="number">
                  {column.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {result.estimates.map((estimate) => (
              <tr key={estimate.lane}>
                <th scope="row">
                  <LaneName index={lanes.indexOf(estimate.lane)} name={estimate.lane} />
                </th>
                {estimate.failure == null ? (
                  <>
                    <td class="number">{laneRate(ui, result, estimate.mean, estimate.low, estimate.high)}</td>
                    {shown.map((column) => (
                      <td key={column.label} class="number">
                        {column.of(estimate) ?? "–"}
                      </td>
                    ))}
              
    </>
              ) : (
                <td colSpan={shown.length + 1}>
                  {ui.words.verdict.failed}
                  {ui.words.colon}
                  <Speak said={sentence(ui, estimate.failure)} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    {needsNote ? <p class="small columns-note">{w.columnsNote}</p> : null}
    </>
  );
}
