import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import { counter, createErrorEvents, type ErrorEvents, gauge, latency, type Observe } from "../observe/index.ts";
import type { Membership } from "./chain-check.ts";
import type { RestReason } from "./node-rests.ts";
import type { RestartReason } from "./slot-belief.ts";

/** The metrics of the upstreams. */
export const upstreamMetrics = {
  calls: counter("sluice_upstream_calls_total", "Calls to nodes", ["network", "upstream", "outcome"]),
  duration: latency("sluice_upstream_call_duration_seconds", "Time that a node took to answer", [
    "network",
    "upstream",
  ]),
  extra: counter("sluice_upstream_extra_calls_total", "Calls to nodes beyond the clients' own, by reason", [
    "network",
    "upstream",
    "reason",
  ]),
  rests: counter("sluice_upstream_rests_total", "Rests of nodes after they refused calls, by reason", [
    "network",
    "upstream",
    "reason",
  ]),
  floorMissed: counter("sluice_slot_floor_missed_total", "Calls for which no node had reached the slot seen before", [
    "network",
  ]),
  slotLag: gauge(
    "sluice_upstream_slot_lag",
    "Slots behind the believed slot of the network; below 0 for a node that claims a later one",
    ["network", "upstream"],
  ),
  believedSlot: gauge("sluice_believed_slot", "The newest slot that is believed", ["network", "commitment"]),
  chainChanges: counter("sluice_chain_changes_total", "Times that the chain of a network was another one than before", [
    "network",
  ]),
  beliefRestarts: counter(
    "sluice_slot_belief_restarts_total",
    "Times that belief in the slots of a network has started anew, by reason",
    ["network", "commitment", "reason"],
  ),
  healthy: gauge("sluice_upstream_healthy", "1 when a node may be chosen, 0 when it is cordoned or down", [
    "network",
    "upstream",
  ]),
} as const;

/** Why a call was sent beside the one that the client requested. */
export type ExtraCall = "hedge" | "stalled" | "retry" | "stale" | "mirrored" | "probe";

/**
 * How a call to a node ended. `limited` and `denied`: the node refused it for the rate or the credential; `rejected`:
 * for its form; `refused`: it was not sent, since too many wait for the node.
 */
export type UpstreamCallOutcome =
  | "ok"
  | "rpc-error"
  | "timeout"
  | "unreachable"
  | "invalid"
  | "limited"
  | "denied"
  | "rejected"
  | "refused";

/** What a node rests for. */
export type RestEvent = "limited" | "denied" | "method";

/** Why a node gets no calls. */
export type OutReason =
  | "silent"
  | "implausible"
  | "lagging"
  | "failing"
  | "other-chain"
  | "unverified"
  | "cordoned"
  | "drained"
  | "on-trial"
  | RestReason;

/** The health of one node, for metrics and log lines. */
interface UpstreamState {
  readonly network: Network;
  readonly upstream: string;
  readonly health: "healthy" | "cordoned" | "down";
  readonly slotLag: number | null;
  /** Why it gets no calls; null while it does. */
  readonly reason: OutReason | null;
}

/** What is believed of one network. */
interface BelievedState {
  readonly network: Network;
  readonly slots: Readonly<Record<CommitmentName, bigint | null>>;
  /** Whether the only two nodes that are heard contradict each other about the slot. */
  readonly isDisputed: boolean;
}

/** The events of calls to nodes. */
export interface UpstreamCallEvents extends ErrorEvents {
  upstreamCalled(network: string, upstream: string, outcome: UpstreamCallOutcome, latencyMs: number): void;
  /** A call beyond the client's own was sent: a hedge, a repeat elsewhere, or a trial of a node that is out. */
  extraCall(network: string, upstream: string, reason: ExtraCall): void;
  /** A node rests from now on: for its rate, for its refusal of the credential, or of that for one method. */
  rested(network: string, upstream: string, reason: RestEvent): void;
  /** No node had reached the minimum slot of a call in time; the best one answered. */
  floorMissed(network: string): void;
  beliefRestarted(network: string, commitment: CommitmentName, reason: RestartReason): void;
  /** The network's chain is another one than before. */
  chainChanged(network: string, genesis: string): void;
  /** The chain of a network could not be read from the state store, or written to it; it is tried again. */
  chainUnread(network: string, error: unknown): void;
  /** A node has joined its network, or gets no calls since it is of another chain or does not tell of which it is. */
  membershipChanged(network: string, upstream: string, chain: Membership): void;
}

/** The events of calls and of the health of nodes. */
export interface UpstreamEvents extends UpstreamCallEvents {
  /** Reported periodically; logged only when the health changes. */
  upstreamObserved(state: UpstreamState): void;
  /** Reported periodically; a dispute is logged when it begins. */
  beliefObserved(state: BelievedState): void;
}

/** Reasons for which a node is out that tell an operator that its configuration may be wrong: each is logged. */
const toldReasons: ReadonlySet<OutReason | null> = new Set<OutReason | null>([
  "implausible",
  "denied",
  "other-chain",
  "unverified",
]);

/** Registers the metrics of the upstreams and gives the functions that feed them. */
export function createUpstreamEvents(observe: Observe): UpstreamEvents {
  const { log, metrics } = observe;
  const families = metrics.register(upstreamMetrics);
  const healthOf = new Map<string, string>();
  const disputed = new Set<string>();
  /** Networks of which a failure of the store was logged. */
  const unread = new Set<string>();
  return {
    ...createErrorEvents(observe),
    upstreamCalled: (network, upstream, outcome, latencyMs) => {
      families.calls.with(network, upstream, outcome).add();
      families.duration.with(network, upstream).observe(latencyMs / 1_000);
    },
    extraCall: (network, upstream, reason) => families.extra.with(network, upstream, reason).add(),
    rested: (network, upstream, reason) => families.rests.with(network, upstream, reason).add(),
    floorMissed: (network) => families.floorMissed.with(network).add(),
    beliefRestarted: (network, commitment, reason) => {
      families.beliefRestarts.with(network, commitment, reason).add();
      const fields = { network, commitment, reason };
      if (reason === "removed") log.info(fields, "the believed slot of a network is determined anew");
      else log.warn(fields, "the believed slot of a network is determined anew");
    },
    chainChanged: (network, genesis) => {
      families.chainChanges.with(network).add();
      log.warn(
        { network, genesis },
        "the chain of a network is another one than before; nothing that was kept of it counts",
      );
    },
    chainUnread: (network, error) => {
      if (!unread.has(network)) log.warn({ network, error }, "the chain of a network cannot be read or stored");
      unread.add(network);
    },
    membershipChanged: (network, upstream, chain) => {
      const fields = { network, upstream };
      if (chain === "joined") log.info(fields, "a node is of the chain of its network");
      else if (chain === "other-chain") {
        log.warn(fields, "a node is of another chain than its network; GENESIS_<NETWORK> says which chain that is");
      } else log.warn(fields, "a node does not tell its genesis; GENESIS_ALLOW_UNKNOWN lets it join all the same");
    },
    beliefObserved: ({ network, slots, isDisputed }) => {
      for (const commitment of commitments) {
        const slot = slots[commitment];
        if (slot !== null) families.believedSlot.with(network, commitment).set(Number(slot));
      }
      if (isDisputed && !disputed.has(network)) {
        log.warn(
          { network },
          "two nodes contradict each other about the slot; the later one that advances is believed",
        );
      }
      if (isDisputed) disputed.add(network);
      else disputed.delete(network);
    },
    upstreamObserved: ({ network, upstream, health, slotLag, reason }) => {
      families.healthy.with(network, upstream).set(health === "healthy" ? 1 : 0);
      if (slotLag !== null) families.slotLag.with(network, upstream).set(slotLag);
      const name = `${network}/${upstream}`;
      const state = toldReasons.has(reason) ? `${health}: ${reason}` : health;
      if (healthOf.get(name) === state) return;
      healthOf.set(name, state);
      const fields = { network, upstream, health, slotLag, reason };
      if (health === "healthy") log.info(fields, "the health of a node changed");
      else log.warn(fields, "the health of a node changed");
    },
  };
}
