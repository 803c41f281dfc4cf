import type { ErrorCode } from "@sluice/contract/errors";
import { metaplexMetadataAddress } from "@sluice/wire/accounts/metaplex";
import { accountsOfCallMax, readAccounts, sha256 } from "../node-accounts.ts";
import type { Asking, NodeCallDependencies } from "../node-calls.ts";
import type { TextCache } from "../text-cache.ts";
import { type OnChainToken, tokenRecord } from "./tokens.ts";

export interface ManyTokensDependencies extends NodeCallDependencies {
  readonly cache: TextCache;
  /** Names the chain that a network is now; null while it is not known. */
  readonly chainOf: (network: Asking["network"]) => string | null;
}

export type TokensRead =
  /** Those that are tokens, by their mints. */
  | { readonly ok: true; readonly records: ReadonlyMap<string, OnChainToken> }
  | { readonly ok: false; readonly code: ErrorCode };

/** The mint and its metadata. */
const mintsOfCall = accountsOfCallMax / 2;

/**
 * Tokens of a list of mints, as the chain alone describes them, by few calls, kept for as long as a token that is asked
 * for by itself.
 */
export class ManyTokens {
  readonly #dependencies: ManyTokensDependencies;

  constructor(dependencies: ManyTokensDependencies) {
    this.#dependencies = dependencies;
  }

  /** Reads what is not kept, fifty mints a call. A mint that is no token is not among the answers. */
  async read(asking: Asking, mints: readonly string[]): Promise<TokensRead> {
    const { cache, chainOf } = this.#dependencies;
    const chain = chainOf(asking.network);
    const keyOf = (mint: string): string => `${asking.network} ${chain} ${mint}`;
    const records = new Map<string, OnChainToken>();
    const missing: string[] = [];
    for (const mint of new Set(mints)) {
      const kept = chain === null ? null : cache.get(keyOf(mint));
      if (kept === null) missing.push(mint);
      else records.set(mint, JSON.parse(kept));
    }
    for (let at = 0; at < missing.length; at += mintsOfCall) {
      const read = await this.#readSome(asking, missing.slice(at, at + mintsOfCall));
      if (!read.ok) return read;
      for (const [mint, record] of read.records) {
        records.set(mint, record);
        if (chain !== null) cache.keep(keyOf(mint), JSON.stringify(record));
      }
    }
    return { ok: true, records };
  }

  async #readSome(asking: Asking, mints: readonly string[]): Promise<TokensRead> {
    const addresses = mints.flatMap((mint) => [mint, metaplexMetadataAddress(mint, sha256) ?? mint]);
    const read = await readAccounts(this.#dependencies, asking, addresses);
    if (!read.ok) return read;
    const records = new Map<string, OnChainToken>();
    for (const [at, mint] of mints.entries()) {
      const record = tokenRecord(mint, read.accounts[2 * at] ?? null, read.accounts[2 * at + 1] ?? null);
      if (record !== null) records.set(mint, record);
    }
    return { ok: true, records };
  }
}
