// One figure over many records.
import { useEffect, useMemo, useState } from "preact/hooks";
import { trend, type TrendChart } from "../charts/trend";
import { LaneKey, Speak } from "../parts/basics";
import { Figure } from "../parts/figure";
import type { RecordList, Trend } from "../types";
import { known, sentence, useUi } from "../ui";
import { Figures } from "../words/figures";
import { name, plain, text } from "../words/say";
import { metricSaid } from "../words/told";
import { address, useAsked } from "./api";
import { href } from "./route";
import { Waiting } from "./waiting";

export function TrendView({ workload, group, records }: { workload: string; group: string; records: RecordList | null }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const [asked, retry] = useAsked<Trend>(
    workload === "" ? null : address("api/trend", [["workload", workload], ["group", group]]),
  );
  return (
    <section class="section" aria-labelledby="trend-title">
      <div class="section-head">
        <h1 id="trend-title" class="page-title">
          {w.trends}
        </h1>
      </div>
      <Choose workload={workload} group={group} records={records} />
      {workload === "" ? null : asked.value ? <Drawn of={asked.value} /> : <Waiting asked={asked} what={workload} retry={retry} />}
    </section>
  );
}

/** The workloads and groups of the newest record. */
function Choose({ workload, group, records }: { workload: string; group: string; records: RecordList | null }) {
  const ui = useUi();
  const w = ui.words.dashboard;
  const newest = records?.records[0];
  const options = useMemo(() => {
    const all = (newest?.workloads ?? []).flatMap((of) => of.groups.map((group) => ({ workload: of.name, group, title: of.title })));
    const there = all.some((one) => one.workload === workload && one.group === group);
    return there || workload === "" ? all : [{ workload, group, title: workload }, ...all];
  }, [newest, workload, group]);
  const [value, setValue] = useState(JSON.stringify([workload, group]));
  useEffect(() => setValue(JSON.stringify([workload, group])), [workload, group]);
  if (options.length === 0) return null;
  return (
    <p class="controls">
      <label>
        {w.trendChoose}{" "}
        <select
          value={value}
          onChange={(event) => {
            const [of, in_] = JSON.parse(event.currentTarget.value) as [string, string];
            location.hash = href({ view: "trend", workload: of, group: in_ });
          }}
        >
          {options.map((one) => {
            const key = JSON.stringify([one.workload, one.group]);
            return (
              <option key={key} value={key}>
                {plain(w.trendTitle(known(ui, one.title), known(ui, one.group)))}
              </option>
            );
          })}
        </select>
      </label>
    </p>
  );
}

/** Whether two identities are of two machines: a record that was shared does not say which one it was. */
function areTwo(a: string, b: string): boolean {
  const tells = (identity: string) => identity !== "" && !/^(boot-of-)?shared-/.test(identity);
  return tells(a) && tells(b) && a !== b;
}

function Drawn({ of }: { of: Trend }) {
  const ui = useUi();
  const { figures } = ui;
  const w = ui.words.dashboard;
  const unit = Figures.unitOf(of.metric);
  const chart = useMemo((): Omit<TrendChart, "description"> => {
    const records = [...new Map(of.points.map((point) => [point.record, point])).values()];
    const changes = records.flatMap((point, at) => {
      const before = records[at - 1];
      if (!before) return [];
      // The line of the machine names the kernel too: a new kernel alone is told as that.
      if (point.kernel !== before.kernel) return [{ at, says: w.newKernel(point.kernel) }];
      if (point.machine !== before.machine || areTwo(point.machine_id_hash, before.machine_id_hash)) return [{ at, says: w.newMachine }];
      return point.disk === before.disk ? [] : [{ at, says: w.newDisk }];
    });
    return {
      records: records.map((point) => ({ name: point.record, started: point.started })),
      lanes: [...new Set(of.points.map((point) => point.lane))],
      points: of.points,
      unit,
      changes,
    };
  }, [of, ui]);
  if (of.points.length === 0) return <p>{w.trendNone}</p>;
  const rate = (value: number) => figures.rate(unit, value);
  const told = chart.lanes.map((lane) => {
    const its = of.points.filter((point) => point.lane === lane);
    return w.trendLane(name(lane), rate(its[0]?.mean ?? 0), rate(its[its.length - 1]?.mean ?? 0));
  });
  const caption = w.trendCaption(chart.records.length, told, chart.changes.length);
  const title = w.trendTitle(known(ui, of.title), known(ui, of.group));
  return (
    <article class="result">
      <h2>
        <Speak said={title} />
      </h2>
      {of.imported ? (
        <p class="small">
          <Speak said={w.trendImported(text(of.imported))} />
        </p>
      ) : null}
      <LaneKey lanes={chart.lanes} />
      <Figure
        level="h3"
        title={metricSaid(ui, of.metric)}
        caption={caption}
        file={`fairlane-trend-${of.workload}-${of.group}`}
        height={(width) => (width < 560 ? 300 : 380)}
        lanes={chart.lanes}
        of={[of]}
        option={(on) => trend(on, figures, { ...chart, description: plain(caption) })}
        table={() => ({
          columns: [
            { label: w.columns.started },
            { label: w.lane },
            { label: w.mean, numeric: true },
            { label: w.columns.kernel },
            { label: w.columns.machine },
            { label: w.disk },
            { label: w.record },
          ],
          rows: of.points.map((point) => [
            figures.shortDate(point.started),
            name(point.lane),
            point.low != null && point.high != null
              ? `${rate(point.mean)} (${figures.rates(unit, point.low, point.high)})`
              : rate(point.mean),
            name(point.kernel),
            name(point.machine),
            name(point.disk),
            name(point.record),
          ]),
        })}
      />
      {of.left_out.length === 0 ? null : (
        <>
          <h3 class="label left-out">{w.trendLeftOut}</h3>
          <ul class="notes">
            {of.left_out.map((why) => (
              <li key={why}>
                <Speak said={sentence(ui, why)} />
                {ui.words.end}
              </li>
            ))}
          </ul>
        </>
      )}
    </article>
  );
}
