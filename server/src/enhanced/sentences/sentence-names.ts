import type { Clock } from "@sluice/lib";
import { namedIn, type ParsedTransaction } from "@sluice/parser";
import { decodeMplCore, mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import type { LedgerAssetReads } from "../../ledger/index.ts";
import { readAccounts } from "../node-accounts.ts";
import type { Asking, NodeCallDependencies } from "../node-calls.ts";
import type { ManyTokens } from "../tokens/many-tokens.ts";
import type { NamesRead, SentenceSource } from "../transactions/sentence-source.ts";
import type { UsdPrices } from "../wallets/prices.ts";

export interface SentenceNamesDependencies extends NodeCallDependencies {
  readonly tokens: Pick<ManyTokens, "read">;
  /** The index of assets, which alone has the names of compressed NFTs; null where there is none. */
  readonly leaves: Pick<LedgerAssetReads, "byIds"> | null;
  readonly prices: Pick<UsdPrices, "symbolOf" | "symbolsOf">;
  /** What the native currency of the chains is called, by configuration. */
  readonly nativeSymbol: string;
  readonly clock: Pick<Clock, "after">;
}

/** How long sentences wait for names; without them they have addresses. */
const waitMs = 1_000;
/** Symbols are letters and digits of some scripts, with what stands in some of them. */
const symbolForm = /^[$\p{L}\p{N}][\p{L}\p{N}._+-]{0,11}$/u;
const nameLengthMax = 64;

/**
 * What the sentences of transactions call things. A symbol is certain where the server knows what the mint is; else it
 * is what the token says of itself, unless that is the symbol of something certain.
 */
export class SentenceNames implements SentenceSource {
  readonly #dependencies: SentenceNamesDependencies;

  constructor(dependencies: SentenceNamesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Asks nodes and the index once for all that is named and not kept. */
  async of(asking: Asking, parsed: readonly ParsedTransaction[]): Promise<NamesRead> {
    const { prices, nativeSymbol, clock } = this.#dependencies;
    const named = parsed.map(namedIn);
    const tokens = [...new Set(named.flatMap((each) => each.tokens))];
    const nfts = [...new Set(named.flatMap((each) => each.nfts))];
    const compressed = [...new Set(named.flatMap((each) => each.compressed))];
    const certain = new Map<string, string>();
    for (const mint of tokens) {
      const symbol = prices.symbolOf(asking.network, mint);
      if (symbol !== null) certain.set(mint, symbol);
    }
    const unknown = tokens.filter((mint) => !certain.has(mint));
    const told: Told = { symbols: new Map(), names: new Map() };
    let isComplete = true;
    if (unknown.length + nfts.length + compressed.length > 0) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = clock.after(waitMs, () => resolve(false));
      const readings = [
        this.#readNodes(asking, { tokens: unknown, nfts }, told),
        this.#readIndex(asking, compressed, told),
      ].map((reading) => reading.catch(() => false));
      void Promise.all(readings).then((areComplete) => resolve(areComplete.every(Boolean)));
      isComplete = await promise;
      timer.cancel();
    }
    const certainly = [nativeSymbol, ...prices.symbolsOf(asking.network)].map(bare);
    const taken = new Set(certainly.flatMap((symbol) => [symbol, `W${symbol}`]));
    const symbolOf = (mint: string): string | null => {
      const symbol = told.symbols.get(mint) ?? null;
      return certain.get(mint) ?? (symbol === null || taken.has(bare(symbol)) ? null : symbol);
    };
    return { names: { symbolOf, nameOf: (id) => told.names.get(id) ?? null, nativeSymbol }, isComplete };
  }

  async #readNodes(
    asking: Asking,
    { tokens, nfts }: { readonly tokens: readonly string[]; readonly nfts: readonly string[] },
    told: Told,
  ): Promise<boolean> {
    if (tokens.length + nfts.length === 0) return true;
    const read = await this.#dependencies.tokens.read(asking, [...tokens, ...nfts]);
    if (!read.ok) return false;
    for (const [mint, { symbol, name }] of read.records) {
      if (symbol !== null && symbolForm.test(symbol.trim())) told.symbols.set(mint, symbol.trim());
      addName(told, mint, name);
    }
    // What has no mint may be an asset of MPL Core.
    const others = nfts.filter((id) => !read.records.has(id)).slice(0, accountsMax);
    if (others.length === 0) return true;
    const accounts = await readAccounts(this.#dependencies, asking, others);
    if (!accounts.ok) return false;
    for (const [at, account] of accounts.accounts.entries()) {
      if (account?.program === mplCoreProgram)
        addName(told, others[at] ?? "", decodeMplCore(account.data)?.name ?? null);
    }
    return true;
  }

  /** A compressed NFT that the index does not have keeps its id. */
  async #readIndex({ network }: Asking, compressed: readonly string[], told: Told): Promise<boolean> {
    const { leaves } = this.#dependencies;
    if (leaves === null || compressed.length === 0) return true;
    for (const [id, { leaf, description }] of await leaves.byIds(network, compressed)) {
      if (leaf !== null) addName(told, id, description?.name ?? null);
    }
    return true;
  }
}

const accountsMax = 100;

/** What was told so far; it is read when time is up as well. */
interface Told {
  readonly symbols: Map<string, string>;
  readonly names: Map<string, string>;
}

function addName(told: Told, id: string, name: string | null): void {
  // Control characters and those that change the direction of text are left out.
  const shown = (name ?? "").replaceAll(/[\p{C}]/gu, "").trim();
  if (shown !== "") told.names.set(id, [...shown].slice(0, nameLengthMax).join(""));
}

/** A symbol as people take it, whatever its case and signs are. */
const bare = (symbol: string): string => symbol.replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase();
