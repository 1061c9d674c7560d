// What the answer's places point to: claims with their figures, work by its titles. All of it was decided and
// gathered before.
import type { Conclusion, Findings, LaneClaims, OperationsFinding, Reason, ResultFinding, Work } from "../types";

/** A difference as the answer tells it. */
export interface Claim {
  /** The lane it is held against. */
  other: string;
  /** The lane it is told of, by the other one: above 1 where it does better; at least so much where it is known. */
  ratio: number;
  sure: "at-least" | "sign";
  reason: Reason;
  metric: string;
  /** It is about one step of a table of file operations. */
  ofTable: boolean;
}

/** A result by its title, or so many steps of a table of operations. */
export type Title = { title: string; group: string | null } | { table: OperationsFinding; count: number };

const CLAIMS_PER_LANE = 3;
const NOTHING: Conclusion = { choice: { is: "nothing" } };

export function conclusionOf(findings: Findings): Conclusion {
  return findings.conclusion ?? NOTHING;
}

/** Whether the result's workload has several groups, so that its title alone names none. */
export function hasGroups(findings: Findings, result: ResultFinding): boolean {
  return findings.results.some((other) => other.workload === result.workload && other.group !== result.group);
}

export function tableOf(findings: Findings, workload: string): OperationsFinding | null {
  return (findings.operations ?? []).find((table) => table.workload === workload) ?? null;
}

/** Work by its titles. */
export function titles(findings: Findings, works: readonly Work[] | undefined): Title[] {
  return (works ?? []).flatMap((work): Title[] => {
    if (work.of === "steps") {
      const table = findings.operations?.[work.table];
      return table ? [{ table, count: work.count }] : [];
    }
    const result = findings.results[work.result];
    return result ? [{ title: result.title, group: hasGroups(findings, result) ? result.group : null }] : [];
  });
}

/** What sets a lane apart, as much of it as has room, and how much more there is. */
export function claimsOf(findings: Findings, of: LaneClaims): { claims: Claim[]; more: number } {
  const claims = of.claims.slice(0, CLAIMS_PER_LANE).flatMap((claim): Claim[] => {
    const reason = findings.answer?.reasons[claim.reason];
    if (!reason) return [];
    const result = claim.result == null ? undefined : findings.results[claim.result];
    const size = reason.at_least ?? reason.ratio;
    return [
      {
        other: claim.against,
        ratio: claim.gain ? 1 / size : size,
        sure: reason.at_least == null ? "sign" : "at-least",
        reason,
        metric: result?.metric ?? "",
        ofTable: result?.section != null,
      },
    ];
  });
  return { claims, more: Math.max(of.claims.length - CLAIMS_PER_LANE, 0) };
}
