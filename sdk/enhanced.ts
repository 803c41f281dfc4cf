import type {
  EnhancedTransaction,
  NftMetadataRecord,
  TokenMetadataRecord,
  WalletAnalytics,
  WalletBalances,
  WalletBalancesQuery,
  WalletHistoryQuery,
  WalletTransfer,
  WalletTransfersQuery,
} from "@sluice/contract/schemas";
import type { HistoryOptions, HistoryPage } from "./history.ts";
import { ProblemError } from "./problem-error.ts";

/** What stands in the place of a transaction that was not parsed. */
export interface EnhancedTransactionFailure {
  readonly signature: string;
  /** `NOT_FOUND`, or the code of a failure. */
  readonly error: string;
}

/** The members of a query that may be left out; the network is the client's. */
type Asked<Query> = Partial<Omit<Query, "network">>;

/** The enhanced API: what transactions were, tokens, and wallets. A refusal rejects with `ProblemError`. */
export interface Enhanced {
  /** One record or failure for each of at most 100 signatures, in their order. */
  transactions(
    signatures: readonly string[],
    commitment?: "confirmed" | "finalized",
  ): Promise<readonly (EnhancedTransaction | EnhancedTransactionFailure)[]>;
  /** @throws {ProblemError} TOKEN_NOT_FOUND */
  token(mint: string): Promise<TokenMetadataRecord>;
  /** @throws {ProblemError} NFT_NOT_FOUND */
  nft(mint: string): Promise<NftMetadataRecord>;
  /** What a wallet holds, and what it did, in figures. */
  wallet(address: string): Promise<WalletAnalytics>;
  walletBalances(address: string, query?: Asked<WalletBalancesQuery>): Promise<WalletBalances>;
  /** A page may hold fewer items than its limit while `next_cursor` is not null; so may the next one. */
  walletTransfers(address: string, query?: Asked<WalletTransfersQuery>): Promise<HistoryPage<WalletTransfer>>;
  walletHistory(address: string, query?: Asked<WalletHistoryQuery>): Promise<HistoryPage<EnhancedTransaction>>;
}

/** Where the gateway is, and the key; without a key the requests carry the page's own session. */
export interface EnhancedOptions extends Omit<HistoryOptions, "apiKey"> {
  readonly apiKey?: string;
  /** `/api/v1/v0` when absent. */
  readonly path?: string;
}

const timeoutMsDefault = 30_000;

interface Failure {
  readonly message?: string;
  readonly error_code?: string;
}

/**
 * Creates a client of the enhanced API. It opens no connection before the first call. Numbers beyond 2^53 are rounded,
 * as JSON.parse rounds them; amounts in smallest units are texts.
 *
 * @returns a client whose calls reject with `ProblemError` for a refusal, with a DOMException of the name
 * `TimeoutError` after `timeoutMs`, and with `TypeError` when the gateway cannot be reached
 */
export function createEnhanced(options: EnhancedOptions): Enhanced {
  const base = `${options.url.replace(/\/+$/, "")}${options.path ?? "/api/v1/v0"}`;
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  const ask = async <T>(path: string, query: object = {}, body?: object): Promise<T> => {
    const said = Object.entries(query).filter(([, value]) => value !== undefined);
    const search =
      said.length === 0 ? "" : `?${new URLSearchParams(said.map(([name, value]) => [name, String(value)]))}`;
    const headers = {
      ...(options.apiKey === undefined ? {} : { "x-api-key": options.apiKey }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(options.network === undefined ? {} : { "x-network": options.network }),
    };
    const signal = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await call(`${base}${path}${search}`, { ...sent, redirect: "error", headers, signal });
    return await dataOf<T>(response);
  };
  const ofWallet = (address: string, list = ""): string => `/wallet/${encodeURIComponent(address)}${list}`;
  return {
    transactions: (signatures, commitment) => ask("/transactions", { commitment }, { transactions: signatures }),
    token: (mint) => ask(`/token/${encodeURIComponent(mint)}`),
    nft: (mint) => ask(`/nft/${encodeURIComponent(mint)}`),
    wallet: (address) => ask(ofWallet(address)),
    walletBalances: (address, query) => ask(ofWallet(address, "/balances"), query),
    walletTransfers: (address, query) => ask(ofWallet(address, "/transfers"), query),
    walletHistory: (address, query) => ask(ofWallet(address, "/history"), query),
  };
}

/** @throws {ProblemError} for a refusal in the envelope, or of what stands in front of the server */
async function dataOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (response.ok && isJson) return (JSON.parse(text) as { readonly data: T }).data;
  const requestId = response.headers.get("x-request-id");
  const failure: Failure = isJson ? JSON.parse(text) : {};
  throw new ProblemError(response.status, {
    ...(failure.error_code === undefined ? {} : { code: failure.error_code }),
    ...(failure.message === undefined ? {} : { detail: failure.message }),
    ...(requestId === null ? {} : { instance: requestId }),
  });
}
