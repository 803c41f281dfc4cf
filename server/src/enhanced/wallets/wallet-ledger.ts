import { SluiceError } from "@sluice/contract/errors";
import type { Network, PlatformTier } from "@sluice/contract/tiers";
import { type Reach, type ReachDependencies, reachOf } from "../../history/index.ts";
import type { ChainReads, SlotWindow } from "../../ledger/index.ts";
import type { Asking, NodeCallDependencies } from "../node-calls.ts";
import type { LedgerQuestion } from "../transactions/ledger-pages.ts";
import { type Holdings, readHoldings } from "./holdings.ts";
import type { UsdPrices } from "./prices.ts";

/** Who asks of wallets. */
export interface WalletAsking extends Asking {
  readonly tier: PlatformTier;
}

export interface WalletLedgerDependencies extends NodeCallDependencies, Omit<ReachDependencies, "chain"> {
  readonly chain: ChainReads;
  readonly prices: UsdPrices;
}

/** A wallet and the token accounts that it has open, of which so many are looked at. */
export interface WatchedWallet {
  /** The wallet first. */
  readonly addresses: readonly string[];
  readonly open: number;
}

/** Token accounts of a wallet that are looked at beside it: each of them is a read of its own in the ledger. */
const watchedMax = 32;

/** What a caller sees of the ledger, and which addresses of it are a wallet's. */
export class WalletLedger {
  readonly #dependencies: WalletLedgerDependencies;

  constructor(dependencies: WalletLedgerDependencies) {
    this.#dependencies = dependencies;
  }

  /** The slots of a range that the caller's tier sees. @throws {SluiceError} TIER_REQUIRED where the range is older */
  reach(
    { network, tier }: WalletAsking,
    { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined } = {},
  ): Promise<Reach> {
    const range = {
      fromSlot: null,
      toSlot: null,
      sinceMs: since === undefined ? null : Date.parse(since),
      untilMs: until === undefined ? null : Date.parse(until),
    };
    if (range.sinceMs !== null && range.untilMs !== null && range.sinceMs >= range.untilMs) {
      const message = "must be before until";
      throw new SluiceError("INVALID_INPUT", {
        message: `since ${message}`,
        details: { errors: [{ path: "since", message }] },
      });
    }
    return reachOf({ network, tier, range }, this.#dependencies);
  }

  /** The slots of which the ledger holds blocks; null without one. */
  async held(network: Network): Promise<SlotWindow | null> {
    return (await this.#dependencies.chain.held(network)).blocks;
  }

  /**
   * A wallet with its open token accounts: those of tokens that have a price first, then those with most units.
   * @throws {SluiceError} with the code under which nodes did not answer
   */
  async watched(asking: Asking, address: string): Promise<WatchedWallet> {
    const read = await readHoldings(this.#dependencies, asking, address);
    if (!read.ok) throw new SluiceError(read.code);
    return this.watchedOf(asking.network, address, read.holdings);
  }

  watchedOf(network: Network, address: string, { tokens }: Holdings): WatchedWallet {
    const rank = (mint: string): number => (this.#dependencies.prices.symbolOf(network, mint) === null ? 1 : 0);
    const accounts = tokens
      .toSorted((one, other) => rank(one.mint) - rank(other.mint) || descending(one.amount, other.amount))
      .flatMap(({ accounts: list }) => list);
    return { addresses: [address, ...accounts.slice(0, watchedMax)], open: accounts.length };
  }
}

const descending = (one: bigint, other: bigint): number => (one > other ? -1 : one < other ? 1 : 0);

/** No filter. */
export const anyRecord: LedgerQuestion["filter"] = { type: null, source: null };
