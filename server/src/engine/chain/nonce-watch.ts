import type { Address, Slot } from "@sluice/wire/identifiers";
import { durableNonceIndex, parseTransaction } from "@sluice/wire/transaction";
import type { BundlePool, BundleRecord } from "../model/bundle.ts";
import type { EngineChain } from "../model/chain-port.ts";
import { readNonces } from "./node-answers.ts";

/** Nonce accounts are looked at again when the chain is so many slots further. */
const everySlots = 8n;
/** As many as a node answers for in one call, and calls of one look. */
const accountsPerCall = 100;
const callsMax = 10;

/** By which slot a nonce is another one. */
export interface SpentNonce {
  readonly slot: Slot;
  readonly detail: string;
}

interface CarriedNonce {
  readonly account: Address;
  readonly nonce: Address;
  /** Whether it was seen in its account: then what the transaction carries is a nonce, and no blockhash. */
  wasSeen: boolean;
}

export interface NonceWatchDependencies {
  readonly pool: Pick<BundlePool, "everyAccepted" | "live">;
  readonly chain: Pick<EngineChain, "read">;
}

/**
 * Finds bundles whose durable nonce was used by another transaction: nothing else ends them before their time is over,
 * since a nonce has no age. The accounts are read, and not the transactions of blocks, because a nonce is advanced by
 * inner instructions and withdrawals, too.
 */
export class NonceWatch {
  readonly #dependencies: NonceWatchDependencies;
  /** By the bundle's id; empty for most. */
  readonly #carried = new Map<string, readonly CarriedNonce[]>();
  #lookedAt: bigint | null = null;

  constructor(dependencies: NonceWatchDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Bundles that cannot land any more, and by which slot. None between two looks. `tip` is the newest block that was
   * read. Rejects with EngineChainError.
   */
  async spent(tip: Slot): Promise<ReadonlyMap<string, SpentNonce>> {
    const found = new Map<string, SpentNonce>();
    if (this.#lookedAt !== null && tip >= this.#lookedAt && tip - this.#lookedAt < everySlots) return found;
    const watched = this.#watched();
    const accounts = [...new Set(watched.flatMap(({ carried }) => carried.map(({ account }) => account)))];
    const present = await this.#read(accounts.slice(0, accountsPerCall * callsMax), tip);
    for (const { record, carried } of watched) {
      for (const each of carried) {
        const stands = present.get(each.account);
        if (stands === undefined) continue;
        if (stands.nonce === each.nonce) each.wasSeen = true;
        // Where every transaction is durable, none carries a blockhash.
        else if (each.wasSeen || record.lastValidBlockHeight === null) {
          const detail = `${each.account} holds another nonce by slot ${stands.slot}`;
          found.set(record.id, { slot: stands.slot, detail });
        }
      }
    }
    this.#lookedAt = tip;
    return found;
  }

  #watched(): { readonly record: BundleRecord; readonly carried: readonly CarriedNonce[] }[] {
    const { pool } = this.#dependencies;
    for (const id of this.#carried.keys()) if (pool.live(id)?.state !== "accepted") this.#carried.delete(id);
    const watched: { readonly record: BundleRecord; readonly carried: readonly CarriedNonce[] }[] = [];
    for (const record of pool.everyAccepted()) {
      const carried = this.#carried.get(record.id) ?? carriedBy(record);
      this.#carried.set(record.id, carried);
      if (carried.length > 0) watched.push({ record, carried });
    }
    return watched;
  }

  async #read(accounts: readonly Address[], tip: Slot) {
    const present = new Map<Address, { readonly slot: Slot; readonly nonce: Address | null }>();
    const batches = Array.from({ length: Math.ceil(accounts.length / accountsPerCall) }, (_, index) =>
      accounts.slice(index * accountsPerCall, (index + 1) * accountsPerCall),
    );
    await Promise.all(
      batches.map(async (batch) => {
        const parameters = [batch, { encoding: "base64", commitment: "confirmed" }];
        const options = { commitment: "confirmed", minimumSlot: tip } as const;
        const answer = await this.#dependencies.chain.read("getMultipleAccounts", parameters, options);
        const { slot, nonces } = readNonces(answer, batch.length);
        for (const [index, account] of batch.entries()) present.set(account, { slot, nonce: nonces[index] ?? null });
      }),
    );
    return present;
  }
}

/** What its transactions carry that begin as durable ones do. */
function carriedBy({ transactions }: BundleRecord): readonly CarriedNonce[] {
  return transactions.flatMap((bytes) => {
    const parsed = parseTransaction(bytes);
    if (!parsed.ok) return [];
    const { message } = parsed.transaction;
    const index = durableNonceIndex(message);
    if (index === null) return [];
    return { account: message.address(index), nonce: message.blockhash, wasSeen: false };
  });
}
