import type { Address, Slot } from "@sluice/wire/identifiers";
import type { BundlePool } from "../model/bundle.ts";
import type { EngineChain } from "../model/chain-port.ts";

export interface RpcFallbackDependencies {
  readonly pool: Pick<BundlePool, "everyAccepted" | "forwarded">;
  readonly chain: Pick<EngineChain, "send">;
  readonly leaderAt: (slot: bigint) => Address | null;
  readonly settledThrough: () => Slot | null;
  /** Opens the sealed bundles that may be sent in this slot. */
  readonly openSealed: (at: { readonly slot: Slot; readonly isOpen: boolean }) => Promise<void>;
}

/** Transactions that are sent in one slot. */
const sendsMax = 64;

interface Due {
  readonly id: string;
  readonly transaction: Uint8Array;
}

/**
 * The way of bundles where no leader takes any: a bundle of one transaction is whole however it travels, so it is sent
 * to the nodes as anybody's transaction is. Longer ones, and those for one slot, are not accepted then.
 */
export class RpcFallback {
  readonly #dependencies: RpcFallbackDependencies;
  /** Bundles that no node took when they were last sent: others go first. Live ones, and those of the last pass. */
  #refused: ReadonlySet<string> = new Set();

  constructor(dependencies: RpcFallbackDependencies) {
    this.#dependencies = dependencies;
  }

  /** Sends what may land in this slot and is not under way already. */
  async send(slot: Slot): Promise<number> {
    const { pool, chain, leaderAt, openSealed } = this.#dependencies;
    const leader = leaderAt(slot);
    if (leader === null) return 0;
    await openSealed({ slot, isOpen: true });
    const due = this.#due();
    // Noted before: a bundle may land while its node has not answered yet, or though it says nothing.
    if (due.length > 0)
      pool.forwarded(
        due.map(({ id }) => id),
        { slot, leader },
      );
    const sent = await Promise.allSettled(due.map(({ transaction }) => chain.send(transaction)));
    const isTaken = (index: number): boolean => {
      const each = sent[index];
      return each?.status === "fulfilled" && each.value;
    };
    const ids = due.flatMap(({ id }, index) => (isTaken(index) ? [id] : []));
    this.#refused = new Set([...this.#refused, ...due.map(({ id }) => id)]).difference(new Set(ids));
    return ids.length;
  }

  #due(): readonly Due[] {
    const settled = this.#dependencies.settledThrough();
    const due: Due[] = [];
    const again: Due[] = [];
    for (const { id, transactions, targetSlot, forwarded } of this.#dependencies.pool.everyAccepted()) {
      const [transaction] = transactions;
      if (transaction === undefined || transactions.length > 1) continue;
      // It is not known in which slot a transaction lands that is sent to nodes.
      if (targetSlot !== null) continue;
      if (forwarded !== null && (settled === null || forwarded.slot > settled)) continue;
      const bundles = this.#refused.has(id) ? again : due;
      if (bundles.length < sendsMax) bundles.push({ id, transaction });
      if (due.length === sendsMax) break;
    }
    const chosen = [...due, ...again].slice(0, sendsMax);
    // Once every bundle that is due has had its turn, they begin anew.
    if (due.length < sendsMax) this.#refused = new Set();
    return chosen;
  }
}
