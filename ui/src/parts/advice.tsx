// Advice for each scenario: what to take, why, and what would turn it.
import type { Advice as AdviceOf, RacePage } from "../types";
import { known, useUi } from "../ui";
import { adviceLines, chosenSaid, measuredSaid, takeSaid } from "../words/advised";
import { Command, Section, Speak } from "./basics";

export function Advice({ race }: { race: RacePage }) {
  const ui = useUi();
  const { findings } = race;
  if (findings.advice.length === 0) return null;
  return (
    <Section id="advice" title={ui.words.sections.advice} note={ui.words.advice.intro}>
      <div class="scenarios">
        {findings.advice.map((advice) => (
          <Scenario key={advice.scenario} advice={advice} margin={findings.margin} />
        ))}
      </div>
    </Section>
  );
}

function Scenario({ advice, margin }: { advice: AdviceOf; margin: number }) {
  const ui = useUi();
  const w = ui.words.advice;
  return (
    <article class="scenario">
      <h3>
        <Speak said={known(ui, advice.title)} />
      </h3>
      <p class="scenario-take">
        <Speak said={chosenSaid(ui, advice)} />
      </p>
      <p class="scenario-why">
        <Speak said={takeSaid(ui, advice, margin)} /> <span class="small">{measuredSaid(ui, advice)}</span>
      </p>
      <dl>
        {adviceLines(ui, advice).map((line) => (
          <div key={line.label}>
            <dt class="label">{line.label}</dt>
            {line.items.map((item, at) => (
              <dd key={at}>
                <Speak said={item} />
              </dd>
            ))}
          </div>
        ))}
      </dl>
      {advice.next.length > 0 ? (
        <p class="next">
          <span class="label">{w.next}</span>
          <Command words={["fairlane", ...advice.next]} label={w.next} />
        </p>
      ) : null}
    </article>
  );
}
