import type { UpstreamNode } from "./node.ts";

export interface StandingRules {
  /** A node further behind than this gets no calls (decisions: Upstream choice). */
  slotLagMax: bigint;
  /** Nor does a node that said nothing about slots for this long. */
  readonly silenceMsMax: number;
  /** Answers to mirrored calls that have to be good, one after another, before a node that was out is in again. */
  readonly trials: number;
}

export type OutReason = "silent" | "lagging" | "failing" | "cordoned" | "drained" | "on-trial";

/** How one node stands among the others of its network. */
export interface UpstreamHealth {
  readonly label: string;
  readonly slot: bigint | null;
  /** Slots behind the newest slot that any node of the network has shown; null before it showed one itself. */
  readonly slotLag: bigint | null;
  /** Moving average over the last calls, milliseconds; null before the first. */
  readonly latencyMs: number | null;
  /** Moving average, 0..1. */
  readonly errorRate: number;
  readonly inFlight: number;
  /** Whether it is heard of now: what a silent node's last slot says of its lag is worth nothing. */
  readonly speaks: boolean;
  /** Whether it is heard of and near the newest slot, whatever its answers are like. */
  readonly healthy: boolean;
  /** Why it gets no calls; null while it does. */
  readonly out: OutReason | null;
}

const lagOf = (node: UpstreamNode, newest: bigint | null): bigint | null => {
  const slot = node.feed.slotOf("processed");
  return slot === null || newest === null ? null : newest - slot;
};

const speaks = (node: UpstreamNode, rules: StandingRules): boolean =>
  !node.isUnreachable && node.feed.silentForMs() <= rules.silenceMsMax;

/** What keeps a node out by itself, whatever its trials say. A node that was out for its lag must come well within it. */
function faultOf(node: UpstreamNode, newest: bigint | null, rules: StandingRules): OutReason | null {
  if (node.order !== "open") return node.order;
  const lag = lagOf(node, newest);
  if (lag === null || !speaks(node, rules)) return "silent";
  if (lag > (node.isOnTrial ? rules.slotLagMax / 2n : rules.slotLagMax)) return "lagging";
  return node.breaker.state === "open" ? "failing" : null;
}

/**
 * Looks at a node again and says whether its standing changed. Out at once for a fault; in again after as many trials in a
 * row as the rules ask, since a node that has just caught up or restarted is not yet one that answers.
 */
export function judge(node: UpstreamNode, newest: bigint | null, rules: StandingRules): boolean {
  const was = node.isIn;
  const fault = faultOf(node, newest, rules);
  if (fault !== null) {
    node.trialsPassed = 0;
    // A node that was never in has nothing to make up for: it is in as soon as it is heard of.
    if (was || node.breaker.state !== "closed") node.isOnTrial = true;
    node.isIn = false;
  } else if (node.isOnTrial || node.breaker.state !== "closed") {
    node.isOnTrial = node.trialsPassed < rules.trials;
    if (!node.isOnTrial) node.breaker.trusted();
    node.isIn = !node.isOnTrial;
  } else node.isIn = true;
  return was !== node.isIn;
}

/**
 * Whether a trial of the node can bring it back: nothing but trials keeps it out. One that lags, is silent, rests or is
 * cordoned would be asked in vain.
 */
export function mayBeTried(node: UpstreamNode, newest: bigint | null, rules: StandingRules): boolean {
  return node.isOnTrial && faultOf(node, newest, rules) === null;
}

export function healthOf(node: UpstreamNode, newest: bigint | null, rules: StandingRules): UpstreamHealth {
  const out = faultOf(node, newest, rules) ?? (node.isIn ? null : "on-trial");
  const slotLag = lagOf(node, newest);
  return {
    label: node.label,
    slot: node.feed.slotOf("processed"),
    slotLag,
    latencyMs: node.latencyMs,
    errorRate: node.errorRate,
    inFlight: node.inFlight,
    speaks: speaks(node, rules),
    healthy: speaks(node, rules) && slotLag !== null && slotLag <= rules.slotLagMax,
    out,
  };
}

/** The better placed first: in before out, then the smaller lag, then the smaller cost. For when none is in, and for sends. */
export function byPlace({
  newest,
  rules,
  nowMs,
}: {
  readonly newest: bigint | null;
  readonly rules: StandingRules;
  readonly nowMs: number;
}) {
  const far = 2n ** 64n;
  const keyOf = (node: UpstreamNode) => ({
    isOut: node.isIn ? 0 : node.order === "open" ? (speaks(node, rules) ? 1 : 2) : 3,
    lag: lagOf(node, newest) ?? far,
    cost: node.cost(nowMs),
  });
  return (one: UpstreamNode, other: UpstreamNode): number => {
    const [left, right] = [keyOf(one), keyOf(other)];
    if (left.isOut !== right.isOut) return left.isOut - right.isOut;
    if (left.lag !== right.lag) return left.lag < right.lag ? -1 : 1;
    return left.cost - right.cost;
  };
}
