// Where it was raced, by whom exactly, and the line that runs it again.
import type { ComponentChildren } from "preact";
import type { Lane, Promises, RacePage, Throttle } from "../types";
import { sentence, useUi, wordOf } from "../ui";
import { clean, shellLine } from "../words/say";
import { isServed } from "../words/served";
import { isImported, selfCheckSaid, throttleOf, throttleSaid } from "../words/told";
import { Command, LaneName, Section, Speak } from "./basics";

export function Ground({ race, version }: { race: RacePage; version: string }) {
  const ui = useUi();
  const w = ui.words.ground;
  const { findings } = race;
  const races = findings.calibration?.races;
  const own = selfCheckSaid(ui, race.self_check);
  // Where every lane has the same, the machine's facts say it.
  const apart = Object.keys(findings.lane_throttles ?? {}).length > 0;
  const ownThrottle = (lane: string) => (apart ? throttleOf(findings, lane) : null);
  return (
    <Section id="ground" title={ui.words.sections.ground}>
      <h3 id="warnings">{w.warnings}</h3>
      {findings.warnings.length === 0 ? (
        <p>{w.noWarnings}</p>
      ) : (
        <ul class="notes warnings">
          {findings.warnings.map((warning) => (
            <li key={warning}>
              <Speak said={sentence(ui, warning)} />
              {ui.words.end}
            </li>
          ))}
        </ul>
      )}
      {race.notes.length > 0 ? (
        <>
          <h3>{ui.words.results.notes}</h3>
          <ul class="notes race-notes">
            {race.notes.map((note) => (
              <li key={note}>
                <Speak said={sentence(ui, note)} />
                {ui.words.end}
              </li>
            ))}
          </ul>
        </>
      ) : null}
      <h3>{w.again}</h3>
      <p>
        <Command words={findings.command_line} label={w.again} />
      </p>
      <Facts
        facts={[
          [w.seed, seedOf(race)],
          [w.version, version],
          [w.started, ui.figures.date(findings.started)],
          [w.record, race.record == null ? null : <bdi class="breaks">{clean(race.record)}</bdi>],
        ]}
      />
      <h3>{w.lanes}</h3>
      <div class="lanes">
        {findings.lanes.map((lane, index) => (
          <LaneFacts key={lane.name} lane={lane} index={index} throttle={ownThrottle(lane.name)} />
        ))}
      </div>
      <h3>{w.machine}</h3>
      <Machine race={race} />
      {own || (races && races.races > 0) ? <h3>{w.calibration}</h3> : null}
      {own ? (
        <p class="self-check">
          <Speak said={own} />
        </p>
      ) : null}
      {races && races.races > 0 ? (
        <>
          <p>
            {w.calibrated(ui.figures, races.called_different, races.races, ui.figures.percent(races.low, 1), ui.figures.percent(races.high, 1))}
          </p>
        </>
      ) : null}
    </Section>
  );
}

/** The seed as the command line has it: JSON's numbers do not hold every one. */
function seedOf(race: RacePage): string {
  const { command_line, seed } = race.findings;
  const at = command_line.indexOf("--seed");
  return command_line[at + 1] !== undefined && at >= 0 ? clean(command_line[at + 1] ?? "").slice(0, 24) : String(seed);
}

type Fact = [string, ComponentChildren];

function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function LaneFacts({ lane, index, throttle }: { lane: Lane; index: number; throttle: Throttle | null }) {
  const ui = useUi();
  const w = ui.words.ground;
  const served = isServed(lane);
  // What only some lanes are asked for is absent of the others, and that a server does not promise something nobody sees.
  const kept = (Object.keys(w.kept) as (keyof Promises)[]).filter(
    (of) => lane.promises[of] === true || (lane.promises[of] === false && !served),
  );
  const promises = [
    ...kept.map((of) => (lane.promises[of] ? w.kept[of] : w.not(w.kept[of]))),
    ...(served ? [w.server[lane.server_answers ?? "unsaid"]] : []),
  ].join(ui.words.comma);
  // How another tool's lane was made, and what it promises, nobody told.
  const foreign = lane.venue === "foreign";
  const venue = [wordOf(w.venues, lane.venue), lane.size_bytes > 0 ? ui.figures.bytes(lane.size_bytes) : "", clean(lane.backing)];
  return (
    <article class="lane-facts">
      <h4>
        <LaneName index={index} name={lane.name} />
      </h4>
      <WholeName name={lane.name} />
      <Facts
        facts={[
          [
            w.mkfs,
            lane.mkfs_command.length > 0 ? (
              <code class="breaks">{shellLine(lane.mkfs_command.map((word) => word.replace("{device}", "DEVICE")))}</code>
            ) : foreign ? null : (
              w.none
            ),
          ],
          [
            w.mount,
            lane.mount_options.length > 0 ? (
              <code class="breaks">{clean(lane.mount_options.join(","))}</code>
            ) : foreign ? null : (
              w.none
            ),
          ],
          [w.filesystem, foreign && lane.filesystem !== "" ? <bdi class="breaks">{clean(lane.filesystem)}</bdi> : null],
          [w.venue, <bdi>{venue.filter((part) => part !== "").join(", ")}</bdi>],
          [w.facts.throttle, throttle === null ? null : throttleSaid(ui, throttle)],
          [w.geometry, (lane.geometry ?? []).length > 0 ? <bdi class="breaks">{clean((lane.geometry ?? []).join(", "))}</bdi> : null],
          [w.promises, foreign ? null : lane.is_self === true ? `${promises}${ui.words.semicolon}${w.self}` : promises],
        ]}
      />
    </article>
  );
}

/** A name that is cut everywhere else, in full. */
function WholeName({ name }: { name: string }) {
  const whole = clean(name);
  if (Array.from(whole).length <= 28) return null;
  return (
    <details class="whole-name">
      <summary>…</summary>
      <bdi class="breaks">{whole}</bdi>
    </details>
  );
}

function Machine({ race }: { race: RacePage }) {
  const ui = useUi();
  const { figures } = ui;
  const w = ui.words.ground;
  const f = w.facts;
  const { machine } = race.findings;
  const device = machine.device ?? {};
  const bdi = (text: string | undefined) => (text == null || text.trim() === "" ? null : <bdi class="breaks">{clean(text)}</bdi>);
  const imported = isImported(race.findings);
  const disk = [
    device.name ?? "",
    device.model?.trim() ?? "",
    (device.size_bytes ?? 0) > 0 ? figures.diskBytes(device.size_bytes ?? 0) : "",
    // Of another tool's disk nobody looked whether it rotates.
    imported ? "" : device.rotational ? w.rotational : w.notRotating,
  ];
  const host = device.host_mount_options ? `${device.host_filesystem} (${device.host_mount_options})` : device.host_filesystem;
  return (
    <Facts
      facts={[
        [f.cpu, imported && !machine.cpus ? bdi(machine.cpu) : bdi(w.cpus(machine.cpu?.trim() || w.unknown, machine.cpus ?? 0))],
        [f.memory, machine.memory_bytes ? figures.bytes(machine.memory_bytes) : null],
        [f.os, bdi(machine.os)],
        [f.kernel, bdi([machine.kernel, machine.kernel_build].filter(Boolean).join(" "))],
        [f.governor, bdi(machine.governor)],
        [f.virtual, bdi(machine.virtualization)],
        [f.disk, bdi(disk.filter((part) => part !== "").join(", "))],
        [f.cache, bdi(device.write_cache)],
        [f.scheduler, bdi(device.scheduler)],
        [f.host, bdi(host)],
        [f.dirty, machine.dirty_ratio ? `${machine.dirty_ratio} / ${machine.dirty_background_ratio}` : null],
        [f.throttle, race.findings.throttle == null || Object.keys(race.findings.lane_throttles ?? {}).length > 0 ? null : throttleSaid(ui, race.findings.throttle)],
        [f.tools, bdi((machine.tools ?? []).join(", "))],
      ]}
    />
  );
}
