import type { Network } from "@sluice/contract/tiers";
import type { JsonObject } from "@sluice/encode";
import { BoundedMap, type Clock } from "@sluice/lib";
import type { HeldIdentity, LedgerAssetStore } from "../../ledger/index.ts";
import { readFill } from "../asset-index/fill-state.ts";
import { readSpans } from "../asset-index/progress.ts";

/** What of a chain the index has. */
export interface IndexCoverage {
  /** Blocks up to this one are indexed, from `since` on; null before any is. */
  readonly lastSlot: bigint | null;
  readonly since: bigint | null;
  /** Whether assets with accounts are there since the beginning: by blocks, or by a fill and blocks since. */
  readonly accountsComplete: boolean;
  /** Whether compressed assets are there since the beginning, which blocks alone tell. */
  readonly leavesComplete: boolean;
}

const keptMs = 1_000;
/** The slot of the first block after the genesis, which none with assets is before. */
const firstSlot = 1n;

/** How far the index has come, at most a second old. */
export class Coverage {
  readonly #dependencies: {
    readonly store: Pick<LedgerAssetStore, "progress">;
    readonly clock: Pick<Clock, "monotonic">;
  };
  readonly #kept = new BoundedMap<string, { readonly value: Promise<IndexCoverage>; readonly untilMs: number }>({
    max: 16,
  });

  constructor(dependencies: {
    readonly store: Pick<LedgerAssetStore, "progress">;
    readonly clock: Pick<Clock, "monotonic">;
  }) {
    this.#dependencies = dependencies;
  }

  /** @throws {LedgerUnavailableError | LedgerQueryError} */
  of(network: Network, chain: HeldIdentity): Promise<IndexCoverage> {
    const { clock } = this.#dependencies;
    const name = `${network} ${chain.genesisHash} ${chain.firstBlockhash}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined && clock.monotonic() < kept.untilMs) return kept.value;
    const value = this.#read(network, chain);
    this.#kept.set(name, { value, untilMs: clock.monotonic() + keptMs });
    value.catch(() => this.#kept.delete(name));
    return value;
  }

  async #read(network: Network, chain: HeldIdentity): Promise<IndexCoverage> {
    const { store } = this.#dependencies;
    const { spans } = await readSpans(store, network, chain);
    const fill = await readFill(store, network, chain);
    const newest = spans.at(-1);
    const since = newest?.first ?? null;
    const fromStart = since !== null && since <= firstSlot;
    const isFilled = fill?.record.state === "done" && Object.values(fill.record.of).every((value) => value === null);
    const filledAt = isFilled ? fill.listedSlot : null;
    // What changed between the fill and the first of the blocks that are indexed without a gap nobody has told.
    const goesOn = filledAt !== null && since !== null && since <= filledAt + 1n;
    return {
      lastSlot: newest === undefined ? null : newest.until - 1n,
      since,
      accountsComplete: fromStart || goesOn,
      leavesComplete: fromStart,
    };
  }
}

/** What of the chain the index has, and how many assets of the owner it does not. */
export function indexRecord({ since, accountsComplete, leavesComplete }: IndexCoverage, unread: number): JsonObject {
  return {
    since_slot: since,
    accounts_complete: accountsComplete && unread === 0,
    compressed_complete: leavesComplete,
    unread,
  };
}
