import type { Clock } from "@sluice/lib";
import type { UpstreamPool } from "../../upstreams/index.ts";
import { presentedAccount, programAccounts, readEncoding } from "./account-states.ts";
import type { Continuity } from "./continuity.ts";
import { type NodeRead, NodeReads } from "./node-reads.ts";
import type { SharedSubscription } from "./shared-subscription.ts";
import { hasReached, type SignatureRead, SignatureReads, signatureResult } from "./signature-reads.ts";

/** A subscription that goes on at another node. */
export interface MovedSubscription {
  readonly shared: SharedSubscription;
  readonly continuity: Continuity;
}

/** How the time between two nodes was bridged: something was told, there was nothing to tell, or it is not known. */
export type BridgeOutcome = "told" | "same" | "unread";

export interface ReconciliationDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly pool: Pick<UpstreamPool, "call" | "slotOf" | "network">;
  readonly events: {
    pubsubBridged(network: string, kind: string, outcome: BridgeOutcome): void;
    internalError(where: string, error: unknown): void;
  };
}

/** The text of a program's accounts that is read at most; beyond it the next change of each account tells its state. */
const programBytesMax = 4 * 1024 * 1024;

/**
 * Bridges the time in which a subscription had no node: what may have happened then is read, once the subscription is
 * made at another node, at a slot that is not before it. Accounts and the accounts of programs tell their final state,
 * signatures what became of them. What cannot be read ends with the loss of the subscription, so that no client waits
 * for what has been: but for programs whose accounts are too many, which tell what changes later.
 */
export class Reconciliation {
  readonly #dependencies: ReconciliationDependencies;
  readonly #reads: NodeReads;
  readonly #signatures: SignatureReads;

  constructor(dependencies: ReconciliationDependencies) {
    const { clock, pool, events } = dependencies;
    this.#dependencies = dependencies;
    this.#reads = new NodeReads({ clock, pool, failed: (error) => events.internalError("pubsub", error) });
    this.#signatures = new SignatureReads({ clock, reads: this.#reads });
  }

  /** The subscription has been made at another node. */
  begin(moved: MovedSubscription): void {
    const { config, commitment, subject, kind } = moved.shared.spec;
    const moves = moved.continuity.moves;
    const form = { encoding: readEncoding(config), commitment };
    if (kind === "account") {
      const ask = (minContextSlot: bigint) => ({
        method: "getAccountInfo",
        params: [subject, { ...form, minContextSlot }],
      });
      this.#reads.read({ commitment, ask }, (read) => isCurrent(moved, moves) && this.#account(moved, read));
    } else if (kind === "program") {
      const options = { ...form, filters: config["filters"] ?? [], withContext: true };
      const ask = (minContextSlot: bigint) => ({
        method: "getProgramAccounts",
        params: [subject, { ...options, minContextSlot }],
      });
      this.#reads.read(
        { commitment, ask, bytesMax: programBytesMax },
        (read) => isCurrent(moved, moves) && this.#program(moved, read),
      );
    } else if (kind === "signature") {
      const signature = String(subject);
      this.#signatures.read({ signature, commitment, done: (read) => this.#signature(moved, read) });
    }
  }

  #account(moved: MovedSubscription, read: NodeRead | null): void {
    const { shared, continuity } = moved;
    const account = read === null ? null : presentedAccount(read.value, shared.spec.config);
    if (read === null || account === null) {
      this.#unread(moved);
      return;
    }
    const isNew = continuity.takesState(read.slot, account);
    if (isNew) shared.notify(`{"context":{"slot":${read.slot}},"value":${account}}`);
    this.#bridged(moved, isNew ? "told" : "same");
  }

  #program(moved: MovedSubscription, read: NodeRead | null): void {
    const { shared, continuity } = moved;
    if (read === null) {
      this.#bridged(moved, "unread");
      return;
    }
    let told = 0;
    for (const { address, account } of programAccounts(read.value)) {
      const text = presentedAccount(account, shared.spec.config);
      if (text === null || !continuity.takesProgramState(address, text)) continue;
      told += 1;
      shared.notify(`{"context":{"slot":${read.slot}},"value":{"pubkey":"${address}","account":${text}}}`);
    }
    this.#bridged(moved, told > 0 ? "told" : "same");
  }

  #signature(moved: MovedSubscription, read: SignatureRead | null): void {
    const { shared } = moved;
    if (read === null) {
      this.#unread(moved);
      return;
    }
    const { known, slot } = read;
    const isReached = known !== null && hasReached(known, shared.spec.commitment);
    if (isReached) shared.notify(signatureResult(slot, known.error), true);
    this.#bridged(moved, isReached ? "told" : "same");
  }

  #unread(moved: MovedSubscription): void {
    this.#bridged(moved, "unread");
    moved.shared.lose();
  }

  #bridged({ shared: { spec } }: MovedSubscription, outcome: BridgeOutcome): void {
    this.#dependencies.events.pubsubBridged(this.#dependencies.pool.network, spec.kind, outcome);
  }
}

/** Whether the subscription has not been moved again, which is bridged by itself, and has not ended. */
const isCurrent = ({ shared, continuity }: MovedSubscription, moves: number): boolean =>
  shared.isOpen && continuity.moves === moves;
