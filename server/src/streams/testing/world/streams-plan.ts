import type { Random } from "@sluice/lib";
import { type NodeFaults, wellNode } from "../../../ingest/testing/simulated-node.ts";

/** What happens in one schedule. */
export interface StreamsPlan {
  readonly slots: number;
  readonly forks: number;
  /** Blocks in a row that nobody has. */
  readonly unavailable: number;
  /** Share of blocks that come late. */
  readonly late: number;
  readonly hosts: number;
  readonly clients: number;
  /** Clients of Yellowstone gRPC. */
  readonly geysers: number;
  readonly cuts: number;
  readonly kills: number;
  readonly drains: number;
  readonly stalls: number;
  readonly slow: number;
  readonly changes: number;
  readonly revocations: number;
  readonly trims: number;
  /** Whether the ledger holds what the log no longer does. */
  readonly hasPast: boolean;
  readonly isReplaced: boolean;
  /** Milliseconds that a write takes at most. */
  readonly writeMs: number;
  /** Whose word the blocks are, the first a liar's; none where they are in the log as they come. */
  readonly nodes: readonly NodeFaults[];
  /** Processes that ingest from the nodes. */
  readonly ingesters: number;
  readonly ingesterKills: number;
  /** Times that an honest node goes away or comes back. */
  readonly outages: number;
}

export function drawStreamsPlan(random: Random): StreamsPlan {
  const drawn = drawWithoutNodes(random);
  if (random.next() >= 0.35) return drawn;
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
  return {
    ...drawn,
    ...{ unavailable: 0, late: 0, isReplaced: false },
    nodes: Array.from({ length: 3 }, (_, index) => drawNode(random, index === 0)),
    ingesters: pick(1, 2),
    ingesterKills: pick(0, 0, 1, 2),
    outages: pick(0, 0, 1, 2),
  };
}

/** Two that are honest have all blocks between them, sooner or later; the liar alters, invents and withholds some. */
function drawNode(random: Random, isLiar: boolean): NodeFaults {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
  return {
    ...wellNode,
    lag: isLiar ? 0 : pick(0, 0, 1, 3),
    lost: pick(0, 0.1, 0.3),
    doubled: pick(0, 0.2),
    late: pick(0, 0.3, 0.6),
    brings: random.next() < 0.6,
    lies: isLiar ? pick(0.2, 0.5, 1) : 0,
    failures: pick(0, 0.1),
  };
}

function drawWithoutNodes(random: Random): StreamsPlan {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random.next() * of.length)] as T;
  return {
    slots: pick(25, 35, 50),
    forks: pick(0, 1, 2, 3),
    unavailable: random.next() < 0.2 ? pick(1, 3) : 0,
    late: pick(0, 0.1, 0.3),
    hosts: pick(2, 2, 3),
    clients: pick(2, 3, 4),
    geysers: pick(1, 2, 3),
    cuts: pick(2, 5, 12),
    kills: pick(0, 1, 2),
    drains: pick(0, 1, 2),
    stalls: random.next() < 0.2 ? 1 : 0,
    slow: pick(0, 0, 1, 2),
    changes: pick(0, 2, 6),
    revocations: random.next() < 0.2 ? 1 : 0,
    trims: random.next() < 0.4 ? pick(1, 3) : 0,
    hasPast: random.next() < 0.5,
    isReplaced: random.next() < 0.1,
    writeMs: pick(0, 0, 100, 400),
    ...{ nodes: [], ingesters: 0, ingesterKills: 0, outages: 0 },
  };
}
