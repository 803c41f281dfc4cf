import type { Random } from "@sluice/lib";
import { type NodeFaults, wellNode } from "./simulated-node.ts";

/** Where the ingesters write: one alone, two that share a log, two with logs of their own. */
type Form = "alone" | "shared" | "apart";

/** What happens in one schedule. */
export interface Plan {
  readonly form: Form;
  readonly slots: number;
  readonly nodes: readonly NodeFaults[];
  readonly unavailable: readonly number[];
  readonly forks: boolean;
  readonly kills: number;
  readonly stalls: number;
  readonly outages: number;
}

export function drawPlan(random: Random): Plan {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
  const hasLiar = random.next() < 0.35;
  const count = hasLiar ? 3 : pick(1, 2, 2, 3);
  const nodes = Array.from({ length: count }, (_, index): NodeFaults => {
    const isLiar = hasLiar && index === 0;
    return {
      ...wellNode,
      lag: isLiar ? 0 : pick(0, 0, 1, 4),
      lost: pick(0, 0.1, 0.5),
      doubled: pick(0, 0.2),
      late: pick(0, 0.3),
      brings: random.next() < 0.6,
      lies: isLiar ? pick(0.1, 0.5, 1) : 0,
      // Somebody has to have the blocks.
      keeps: !hasLiar && index > 0 ? pick(100_000, 30) : 100_000,
      lists: index === count - 1 || random.next() < 0.8,
      failures: pick(0, 0.1),
    };
  });
  const slots = pick(30, 50, 70);
  const isUnavailable = random.next() < 0.2;
  const from = 110 + Math.floor(random.next() * (slots - 25));
  const unavailable = isUnavailable ? Array.from({ length: pick(1, 1, 3) }, (_, index) => from + index) : [];
  const plan = {
    form: pick<Form>("alone", "shared", "apart"),
    slots,
    nodes,
    unavailable,
    forks: !isUnavailable && random.next() < 0.6,
    kills: random.next() < 0.4 ? pick(1, 2) : 0,
    stalls: random.next() < 0.25 ? 1 : 0,
    outages: random.next() < 0.4 ? pick(1, 2) : 0,
  };
  const forks = plan.forks || (isUnavailable && random.next() < 0.6);
  const alterer = random.next() < 0.3 ? Math.floor(random.next() * count) : -1;
  const alters = pick(0.5, 1);
  return {
    ...plan,
    forks,
    nodes: nodes.map((node, index) => (index === alterer && count > 1 ? { ...node, alters } : node)),
  };
}
