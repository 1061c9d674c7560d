// What the disk does without a filesystem.
import type { RacePage } from "../types";
import { known, useUi, wordOf } from "../ui";
import { Section, Speak } from "./basics";

export function Ceilings({ race }: { race: RacePage }) {
  const ui = useUi();
  const { words, figures } = ui;
  const w = words.ceilings;
  const { ceilings, results } = race.findings;
  const titleOf = (workload: string) => results.find((result) => result.workload === workload)?.title ?? workload;
  const file = ceilings.some((ceiling) => ceiling.through_filesystem && ceiling.profile !== "null");
  const guest = ceilings.some((ceiling) => ceiling.in_page_cache);
  const title = guest ? words.sections.guestCeilings : words.sections.ceilings;
  return (
    <Section id="ceilings" title={title} note={ceilings.length === 0 ? w.none : w.intro}>
      {ceilings.length === 0 ? null : (
        <div class="scroll" tabIndex={0} role="group" aria-label={title}>
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">{words.scoreboard.workload}</th>
                <th scope="col">{w.profile}</th>
                <th scope="col" class="number">
                  {w.throughput}
                </th>
                <th scope="col" class="number">
                  {w.iops}
                </th>
                <th scope="col" class="number">
                  {w.time}
                </th>
                <th scope="col" class="number">
                  {w.probes}
                </th>
              </tr>
            </thead>
            <tbody>
              {ceilings.map((ceiling) => (
                <tr key={`${ceiling.workload} ${ceiling.profile}`}>
                  <th scope="row">
                    <Speak said={known(ui, titleOf(ceiling.workload))} />
                  </th>
                  <td>{wordOf(w.profiles, ceiling.profile)}</td>
                  <td class="number">{figures.bandwidth(ceiling.bandwidth_bytes_per_second)}</td>
                  <td class="number">{figures.count(ceiling.operations_per_second)}</td>
                  <td class="number">
                    {ceiling.profile === "flush" && ceiling.operations_per_second > 0
                      ? figures.time(1 / ceiling.operations_per_second)
                      : "–"}
                  </td>
                  <td class="number">{figures.whole(ceiling.probes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {guest ? <p class="small">{w.inPageCache}</p> : null}
      {file ? <p class="small">{w.file}</p> : null}
    </Section>
  );
}
