import { walletPageMax } from "@sluice/contract/enhanced";
import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import { ExactDecimal, type RecordValue } from "@sluice/parser";
import { wellKnownAddresses } from "@sluice/wire/programs";
import type { Asking, NodeCallDependencies } from "../node-calls.ts";
import type { ManyTokens } from "../tokens/many-tokens.ts";
import type { OnChainToken } from "../tokens/tokens.ts";
import { type Holdings, readHoldings, type TokenHolding } from "./holdings.ts";
import { dollars, microsOf, priceOf, type UsdPrices } from "./prices.ts";

export interface BalancesDependencies extends NodeCallDependencies {
  readonly tokens: Pick<ManyTokens, "read">;
  readonly prices: UsdPrices;
}

/** Which tokens of a wallet are shown. */
export interface BalancesQuestion extends Asking {
  readonly address: string;
  /** How many of the tokens are left out, of those that come first. */
  readonly skip: number;
  readonly limit: number;
  /** Whether accounts without tokens are shown. */
  readonly showsZero: boolean;
}

/** A token of a wallet. */
export interface TokenBalance {
  readonly holding: TokenHolding;
  /** Null where the mint cannot be read. */
  readonly described: OnChainToken | null;
  readonly price: ExactDecimal | null;
  /** Millionths of a dollar; null without a price. */
  readonly micros: bigint | null;
}

/** What a wallet holds and what it is worth, the most valuable first, then by mint. */
export interface Balances {
  readonly address: string;
  readonly holdings: Holdings;
  readonly native: {
    readonly symbol: string | null;
    readonly price: ExactDecimal | null;
    readonly micros: bigint | null;
  };
  readonly shown: readonly TokenBalance[];
  /** Mints of which something is held, or all where empty accounts are shown. */
  readonly tokensTotal: number;
  /** Of all that has a price; null where nothing has. */
  readonly micros: bigint | null;
}

export type BalancesRead =
  | { readonly ok: true; readonly balances: Balances }
  | { readonly ok: false; readonly code: ErrorCode };

const nativeDecimals = 9;
const accountsShown = 20;

/** What wallets hold, valued by the oracle. */
export class WalletBalances {
  readonly #dependencies: BalancesDependencies;

  constructor(dependencies: BalancesDependencies) {
    this.#dependencies = dependencies;
  }

  async read(question: BalancesQuestion): Promise<BalancesRead> {
    const read = await readHoldings(this.#dependencies, question, question.address);
    return read.ok ? await this.valued(question, read.holdings) : read;
  }

  /**
   * The NFTs among holdings, at most a hundred of them.
   * @throws {SluiceError} with the code under which nodes did not answer
   */
  async nfts(asking: Asking, { tokens: held }: Holdings): Promise<readonly TokenBalance[]> {
    const single = held.filter(({ amount }) => amount === 1n).slice(0, walletPageMax);
    const read = await this.#dependencies.tokens.read(
      asking,
      single.map(({ mint }) => mint),
    );
    if (!read.ok) throw new SluiceError(read.code);
    return single.flatMap((holding) => {
      const described = read.records.get(holding.mint) ?? null;
      return isOneOfAKind(described) ? [{ holding, described, price: null, micros: null }] : [];
    });
  }

  /** Values holdings that were read. Mints are read of the tokens that have a price, and of those that are shown. */
  async valued(question: BalancesQuestion, holdings: Holdings): Promise<BalancesRead> {
    const { tokens, prices } = this.#dependencies;
    const { network, address, skip, limit, showsZero } = question;
    const now = await prices.now();
    const held = holdings.tokens.filter(({ amount }) => showsZero || amount > 0n);
    const priceOfMint = (mint: string): ExactDecimal | null => priceOf(now.get(prices.symbolOf(network, mint) ?? ""));
    const priced = held.filter(({ mint }) => priceOfMint(mint) !== null);
    const known = await tokens.read(
      question,
      priced.map(({ mint }) => mint),
    );
    if (!known.ok) return known;
    const microsOfHolding = ({ mint, amount }: TokenHolding): bigint | null => {
      const decimals = known.records.get(mint)?.decimals;
      return decimals === undefined ? null : microsOf(amount, decimals, priceOfMint(mint));
    };
    const valued = held.map((holding) => ({ holding, micros: microsOfHolding(holding) }));
    valued.sort((one, other) => compare(other.micros ?? -1n, one.micros ?? -1n));
    const page = valued.slice(skip, skip + limit);
    const described = await tokens.read(
      question,
      page.map(({ holding }) => holding.mint),
    );
    if (!described.ok) return described;
    const nativePrice = priceOfMint(wellKnownAddresses.wrappedNativeMint);
    const symbol = prices.symbolOf(network, wellKnownAddresses.wrappedNativeMint);
    const nativeMicros = microsOf(holdings.lamports, nativeDecimals, nativePrice);
    const worth = [nativeMicros, ...valued.map(({ micros }) => micros)].filter((micros) => micros !== null);
    return {
      ok: true,
      balances: {
        address,
        holdings,
        native: { symbol, price: nativePrice, micros: nativeMicros },
        shown: page.map(({ holding, micros }) => ({
          holding,
          described: described.records.get(holding.mint) ?? null,
          price: priceOfMint(holding.mint),
          micros,
        })),
        tokensTotal: held.length,
        micros: worth.length === 0 ? null : worth.reduce((sum, micros) => sum + micros, 0n),
      },
    };
  }
}

const compare = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0);

/** Whether a mint is of one unit that cannot be divided. */
export const isOneOfAKind = (described: OnChainToken | null): boolean =>
  described !== null && described.decimals === 0 && described.supply === "1";

/** The members of balances that every answer has. */
export function balanceMembers({ address, holdings, native, tokensTotal, micros }: Balances) {
  return {
    address,
    slot: holdings.slot,
    native: {
      lamports: holdings.lamports,
      balance: new ExactDecimal(holdings.lamports, nativeDecimals),
      symbol: native.symbol,
      price_usd: native.price,
      value_usd: dollars(native.micros),
    },
    tokens_total: tokensTotal,
    value_usd: dollars(micros),
  } satisfies Record<string, RecordValue>;
}

/** A token of a wallet as the envelope's answers have it. */
export function tokenMembers({ holding, described, price, micros }: TokenBalance) {
  return {
    mint: holding.mint,
    token_program: holding.tokenProgram,
    symbol: described?.symbol ?? null,
    name: described?.name ?? null,
    decimals: described?.decimals ?? null,
    amount: holding.amount.toString(),
    balance: described === null ? null : new ExactDecimal(holding.amount, described.decimals),
    accounts: holding.accounts.slice(0, accountsShown),
    accounts_total: holding.accounts.length,
    frozen: holding.isFrozen,
    is_nft: isOneOfAKind(described),
    price_usd: price,
    value_usd: dollars(micros),
  };
}
