import { type FigurePeriod, figurePeriods, type PnlStrategy } from "@sluice/contract/pool";
import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { type EngineChain, tipAccounts } from "../engine/index.ts";
import {
  type ChainReads,
  type Ledger,
  LedgerQueryError,
  LedgerUnavailableError,
  type SampledPool,
} from "../ledger/index.ts";
import type { StakePoolChain } from "./account-reads.ts";
import type { StakePoolEvents } from "./events.ts";
import { FiguresSource, type ReadFigures } from "./figures-source.ts";
import { Fresh, type Freshness } from "./fresh.ts";
import { PoolHistory, type PoolPast } from "./history.ts";
import type { PoolIdentity } from "./pool-reader.ts";
import { basisOf, type PositionBasis } from "./position/basis.ts";
import { positionFigures, type WalletPosition } from "./position/position-figures.ts";
import { type PositionChain, PositionReader } from "./position/position-reader.ts";
import { type WalletTokens, walletTokens } from "./wallet-tokens.ts";

export interface PoolReadingsOptions {
  readonly network: Network;
  /** Null where no pool is configured: what bundles brought is told all the same. */
  readonly identity: PoolIdentity | null;
}

export interface PoolReadingsDependencies {
  readonly chain: StakePoolChain & Pick<EngineChain, "genesis" | "newestSlot" | "onSlot">;
  readonly samples: Ledger["poolSamples"];
  /** What wallets did, as the ledger has it. */
  readonly movements: PositionChain;
  /** From when on the ledger has the transactions of a network. */
  readonly held: Pick<ChainReads, "heldSinceMs">;
  readonly bundles: Pick<
    Ledger["bundles"],
    "figures" | "byMevType" | "firstAtMs" | "balances" | "newestLanded" | "gains"
  >;
  readonly clock: Clock;
  readonly events: StakePoolEvents;
}

/** What profit and loss is asked of; null as account is everybody. */
export interface PnlQuestion {
  readonly accountId: string | null;
  readonly strategy: PnlStrategy;
  readonly period: FigurePeriod;
}

/** How old figures of the chain may be, and what was compared with the past. */
const chainFreshness: Freshness = { freshMs: 10_000, staleMs: 300_000 };
const pastFreshness: Freshness = { freshMs: 30_000, staleMs: 600_000 };

const noTokens: WalletTokens = { amount: 0n, accounts: [] };

/** What records and their explanations are both made of, so that they never differ. */
export class PoolReadings {
  readonly history: PoolHistory;
  readonly #options: PoolReadingsOptions;
  readonly #dependencies: PoolReadingsDependencies;
  readonly #figures: Fresh<ReadFigures>;
  readonly #past: Fresh<PoolPast>;
  readonly #positions: PositionReader;
  readonly #tipAccounts = tipAccounts();

  constructor(options: PoolReadingsOptions, dependencies: PoolReadingsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.history = new PoolHistory(dependencies);
    this.#positions = new PositionReader({ chain: dependencies.movements, samples: dependencies.samples });
    const source = new FiguresSource(options.identity, {
      ...dependencies,
      sampleBefore: async (updatedIn) => {
        const of = this.sampled();
        return of === null ? null : await dependencies.samples.beforeUpdate(of, updatedIn);
      },
    });
    this.#figures = this.fresh(chainFreshness, "pool", () => source.read());
    this.#past = this.fresh(pastFreshness, "samples", () => this.history.past(this.sampled()));
  }

  /** A value that is read anew when it has become old; failures are told while the last one is served. */
  fresh<T>(freshness: Freshness, what: string, read: () => Promise<T>): Fresh<T> {
    const { clock, events } = this.#dependencies;
    return new Fresh(freshness, { clock, read, failed: (error) => events.readingFailed(what, error) });
  }

  /** Whether a node has been heard of. */
  get hasNode(): boolean {
    return this.#dependencies.chain.newestSlot("processed") !== null;
  }

  /** Reads the chain once there is a node, so that the first caller need not wait for it. Never rejects. */
  begin(): Disposable {
    const { chain, events } = this.#dependencies;
    const waiting = new DisposableStack();
    const read = (): void => {
      waiting.dispose();
      this.#figures.read().catch((error: unknown) => events.readingFailed("pool", error));
    };
    if (this.hasNode) read();
    else waiting.use(chain.onSlot(read));
    return waiting;
  }

  /** The figures by a reading that begins when it is asked for. */
  async figuresAnew(): Promise<ReadFigures> {
    return await this.#figures.readAnew();
  }

  /** The figures and what they were computed from; the same object while nothing newer is read. */
  async figures(): Promise<ReadFigures> {
    return await this.#figures.get();
  }

  /** What samples say beside the present. */
  async past(): Promise<PoolPast> {
    return await this.#past.get();
  }

  /** Which pool the ledger's samples are of; null without one. */
  sampled(): SampledPool | null {
    const { identity, network } = this.#options;
    if (identity === null) return null;
    return { network, chain: this.#dependencies.chain.genesis() ?? "", pool: identity.address };
  }

  /** A wallet's part of the pool, with what it was computed from. */
  async position(wallet: Address): Promise<WalletPosition> {
    const { figures: pool, snapshot, epochSeconds } = await this.figures();
    const { chain } = this.#dependencies;
    const of = this.sampled();
    const asked = { wallet, pool, epochSeconds, slot: snapshot?.slot ?? null };
    if (snapshot === null || of === null) return this.#positionOf(asked, noTokens, basisOf([], 0n));
    const held = await walletTokens(chain, { wallet, mint: snapshot.pool.poolMint });
    const basis = await this.#basis(held, () => this.#positions.read({ wallet, snapshot, of, held }));
    return this.#positionOf(asked, held, basis);
  }

  /** Bundles of this network that ended in a period until now. */
  bundlesSince(fromMs: number) {
    const untilMs = this.#dependencies.clock.now() + 1;
    return { network: this.#options.network, fromMs, untilMs, searcherId: null, mevType: null };
  }

  /** The same for profit and loss. */
  profitsOf({ accountId, strategy, period }: PnlQuestion) {
    const question = this.bundlesSince(this.#dependencies.clock.now() - figurePeriods[period]);
    return { ...question, accountId, tipAccounts: this.#tipAccounts, mevType: strategy === "all" ? null : strategy };
  }

  /** Since when there are outcomes of bundles; without one it is now. Unix milliseconds. */
  async bundlesKnownSince(): Promise<number> {
    const { bundles, clock } = this.#dependencies;
    return (await bundles.firstAtMs(this.#options.network)) ?? clock.now();
  }

  /** From when on the ledger has transactions without a gap; without one it is now. Unix milliseconds. */
  async transactionsKnownSince(): Promise<number> {
    const { held, clock } = this.#dependencies;
    return (await held.heldSinceMs(this.#options.network)) ?? clock.now();
  }

  /** While the ledger is away nothing is known of what tokens cost, and their value is served all the same. */
  async #basis(held: WalletTokens, read: () => Promise<PositionBasis>): Promise<PositionBasis> {
    try {
      return await read();
    } catch (error) {
      const isAway = error instanceof LedgerUnavailableError || error instanceof LedgerQueryError;
      if (!isAway) throw error;
      this.#dependencies.events.readingFailed("position", error);
      return basisOf([], held.amount);
    }
  }

  #positionOf(
    asked: Pick<WalletPosition, "wallet" | "pool" | "slot" | "epochSeconds">,
    { amount: tokens, accounts }: WalletTokens,
    basis: PositionBasis,
  ): WalletPosition {
    const nowMs = this.#dependencies.clock.now();
    const figures = positionFigures(asked.pool, { tokens, basis }, { nowMs, epochSeconds: asked.epochSeconds });
    return { ...asked, figures, basis, accounts, nowMs };
  }
}

/** From when a position is known; null where nothing of it is unknown. Unix milliseconds. */
export const positionSince = ({ basis, nowMs }: WalletPosition): number | null =>
  basis.unknown === 0n ? null : (basis.sinceMs ?? nowMs);
