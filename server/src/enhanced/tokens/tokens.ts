import type { ErrorCode } from "@sluice/contract/errors";
import type { TokenMetadataRecord } from "@sluice/contract/schemas";
import {
  decodeMetaplexMetadata,
  type MetaplexMetadata,
  metaplexMetadataAddress,
  tokenMetadataProgram,
} from "@sluice/wire/accounts/metaplex";
import { decodeMint, type Mint } from "@sluice/wire/accounts/token";
import { decodeTokenExtensions, type TokenMetadata } from "@sluice/wire/accounts/token-extensions";
import { programs } from "@sluice/wire/programs";
import { ownMetadata } from "../assets/mint-metadata.ts";
import type { EnhancedEvents } from "../events.ts";
import { readAccounts, type ShownAccount, sha256 } from "../node-accounts.ts";
import type { Asking, NodeCallDependencies } from "../node-calls.ts";
import { type DocumentSource, documentWaitMs } from "../off-chain/documents.ts";
import { isSettled, offChainRecord } from "../off-chain/record.ts";
import type { TextCache } from "../text-cache.ts";

export interface TokensDependencies extends NodeCallDependencies {
  readonly documents: DocumentSource;
  readonly cache: TextCache;
  /** Names the chain that a network is now; null while it is not known. */
  readonly chainOf: (network: Asking["network"]) => string | null;
  readonly events: EnhancedEvents;
}

export type TokenAnswer =
  | { readonly ok: true; readonly text: string; readonly kept: boolean }
  | { readonly ok: false; readonly code: ErrorCode };

/** Tokens as their mints and the metadata on the chain say. */
export class Tokens {
  readonly #dependencies: TokensDependencies;

  constructor(dependencies: TokensDependencies) {
    this.#dependencies = dependencies;
  }

  async read(asking: Asking, mint: string): Promise<TokenAnswer> {
    const { documents, cache, chainOf, events } = this.#dependencies;
    const chain = chainOf(asking.network);
    const key = `${asking.network} ${chain} ${mint}`;
    const kept = chain === null ? null : cache.get(key);
    if (kept !== null) {
      events.answered("token", "kept");
      return { ok: true, text: kept, kept: true };
    }
    const read = await this.#readAccounts(asking, mint);
    if (!read.ok) {
      events.readFailed(read.code);
      return read;
    }
    events.answered("token", "chain");
    const document = await documents.read(read.record.uri ?? "", documentWaitMs, asking.keyId);
    const text = JSON.stringify({ ...read.record, off_chain: offChainRecord(document) } satisfies TokenMetadataRecord);
    if (chain !== null && isSettled(document)) cache.keep(key, text);
    return { ok: true, text, kept: false };
  }

  async #readAccounts(
    asking: Asking,
    mint: string,
  ): Promise<{ ok: true; record: OnChainToken } | { ok: false; code: ErrorCode }> {
    const metadataAddress = metaplexMetadataAddress(mint, sha256);
    const addresses = metadataAddress === null ? [mint] : [mint, metadataAddress];
    const answer = await readAccounts(this.#dependencies, asking, addresses);
    if (!answer.ok) return answer;
    const [account = null, metadata = null] = answer.accounts;
    const record = tokenRecord(mint, account, metadata);
    return record === null ? { ok: false, code: "TOKEN_NOT_FOUND" } : { ok: true, record };
  }
}

/** A token by the accounts of its mint and its metadata; null for what is no mint. */
export function tokenRecord(
  mint: string,
  account: ShownAccount | null,
  metadata: ShownAccount | null,
): OnChainToken | null {
  const isToken = account?.program === programs.token || account?.program === programs.token2022;
  const decoded = account === null || !isToken ? null : decodeMint(account.data);
  if (account === null || decoded === null || !decoded.isInitialized) return null;
  const described = metadata?.program === tokenMetadataProgram ? decodeMetaplexMetadata(metadata.data) : null;
  return recordOf(mint, { account, decoded, described });
}

interface TokenAccounts {
  readonly account: ShownAccount;
  readonly decoded: Mint;
  readonly described: MetaplexMetadata | null;
}

/** What the chain says, without what a document does. */
export type OnChainToken = Omit<TokenMetadataRecord, "off_chain">;

type Told = Omit<
  OnChainToken,
  "mint" | "token_program" | "decimals" | "supply" | "mint_authority" | "freeze_authority" | "extensions"
>;

const untold: Told = {
  metadata_source: null,
  name: null,
  symbol: null,
  uri: null,
  update_authority: null,
  is_mutable: null,
  seller_fee_basis_points: null,
  creators: [],
  collection: null,
  token_standard: null,
  additional_metadata: {},
};

function recordOf(mint: string, { account, decoded, described }: TokenAccounts): OnChainToken {
  const extensions = account.program === programs.token2022 ? (decodeTokenExtensions(account.data) ?? []) : [];
  const own = ownMetadata(mint, extensions);
  const told = own === null ? (described === null ? untold : toldByMetaplex(described)) : toldByMint(own);
  return {
    mint,
    token_program: account.program,
    decimals: decoded.decimals,
    supply: decoded.supply.toString(),
    mint_authority: decoded.mintAuthority,
    freeze_authority: decoded.freezeAuthority,
    extensions: extensions.map(({ name }) => name),
    ...told,
  };
}

function toldByMint({ name, symbol, uri, updateAuthority, additional }: TokenMetadata): Told {
  return {
    ...untold,
    metadata_source: "token_2022",
    name,
    symbol,
    uri,
    update_authority: updateAuthority,
    is_mutable: updateAuthority !== null,
    additional_metadata: Object.fromEntries(additional),
  };
}

function toldByMetaplex(described: MetaplexMetadata): Told {
  const { name, symbol, uri, updateAuthority, isMutable, sellerFeeBasisPoints, tokenStandard } = described;
  const { collection, creators } = described;
  return {
    ...untold,
    metadata_source: "metaplex",
    name,
    symbol,
    uri,
    update_authority: updateAuthority,
    is_mutable: isMutable,
    seller_fee_basis_points: sellerFeeBasisPoints,
    creators: creators.map(({ address, isVerified, share }) => ({ address, verified: isVerified, share })),
    collection: collection === null ? null : { address: collection.key, verified: collection.isVerified },
    token_standard: tokenStandard,
  };
}
