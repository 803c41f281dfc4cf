import type { HistoryBlockBody, HistoryPlaceBody, HistoryTransactionBody } from "@sluice/contract/schemas";
import { type Exact, readExact } from "./exact.ts";
import { readAnswer } from "./problem-error.ts";

/** A transaction of the indexed history. */
export type HistoryTransaction = Exact<HistoryTransactionBody>;
/** A transaction's place, outcome and signature. */
export type HistorySignature = Exact<HistoryPlaceBody>;
/** A block of the indexed history. */
export type HistoryBlock = Exact<Omit<HistoryBlockBody, "transactions">> & {
  readonly transactions?: readonly HistoryTransaction[];
};

/** One page of a list; `next_cursor` is null on the last. */
export interface HistoryPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** The range of a list: slots, moments (ISO 8601), or both. */
export interface HistoryRange {
  readonly from_slot?: bigint;
  readonly to_slot?: bigint;
  readonly since?: string;
  readonly until?: string;
  readonly order?: "asc" | "desc";
  /** 1 to 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Which transactions a list has. */
export interface TransactionsQuery extends HistoryRange {
  readonly address?: string;
  readonly program?: string;
  readonly success?: boolean;
  readonly votes?: boolean;
}

/** Which blocks a list has. */
export interface BlocksQuery extends HistoryRange {
  readonly address?: string;
  readonly program?: string;
}

/** What is searched for; members that are there must all hold. */
export interface SearchQuery extends HistoryRange {
  readonly accounts?: readonly string[];
  readonly program?: string;
  readonly counterparties?: readonly [string, string];
  readonly mint?: string;
  readonly min_amount?: bigint;
  readonly max_amount?: bigint;
  readonly success?: boolean;
  readonly error?: string;
  readonly min_fee?: bigint;
  readonly max_fee?: bigint;
  readonly fee_payer?: string;
  readonly types?: readonly string[];
  readonly votes?: boolean;
}

/** Indexed history over REST. A refusal rejects with `ProblemError`. */
export interface History {
  /** @throws {ProblemError} TRANSACTION_NOT_FOUND, TIER_REQUIRED */
  transaction(signature: string): Promise<HistoryTransaction>;
  /** @throws {ProblemError} BLOCK_NOT_FOUND, TIER_REQUIRED */
  block(slot: bigint, transactions?: "full" | "signatures" | "none"): Promise<HistoryBlock>;
  transactions(query?: TransactionsQuery): Promise<HistoryPage<HistoryTransaction>>;
  blocks(query?: BlocksQuery): Promise<HistoryPage<HistoryBlock>>;
  /** A page may hold fewer items than its limit while `next_cursor` is not null. */
  search(query: SearchQuery): Promise<HistoryPage<HistoryTransaction>>;
  /** All items of a list or search, page after page; stop by leaving the loop. */
  all<Query extends HistoryRange, Item>(
    list: (query: Query) => Promise<HistoryPage<Item>>,
    query: Query,
  ): AsyncGenerator<Item>;
}

/** Where the gateway is, and how it is called. */
export interface HistoryOptions {
  /** The gateway's address, such as `http://127.0.0.1:8899`. */
  readonly url: string;
  /** A key with `read`. */
  readonly apiKey: string;
  /** The chain; the server's default when absent. */
  readonly network?: "mainnet" | "devnet" | "testnet";
  /** Time for one answer in milliseconds; 30,000 when absent. */
  readonly timeoutMs?: number;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const timeoutMsDefault = 30_000;

/** The query of a list; a member that is undefined is left out. */
function queryText(query: object): string {
  const members = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(members.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/**
 * Creates a client of indexed history. It opens no connection before the first call.
 *
 * @returns a client whose calls reject with `ProblemError` for a refusal, with a DOMException of the name
 * `TimeoutError` after `timeoutMs`, and with `TypeError` when the gateway cannot be reached
 */
export function createHistory(options: HistoryOptions): History {
  const base = `${options.url.replace(/\/+$/, "")}/api/v1/history`;
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = {
      "x-api-key": options.apiKey,
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      ...(options.network === undefined ? {} : { "x-network": options.network }),
    };
    const signal = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
    const response = await call(`${base}${path}`, { ...init, redirect: "error", headers, signal });
    const answer = await readAnswer<T>(response, readExact);
    if (answer === null) throw new Error(`${path} was answered without a body`);
    return answer;
  };
  return {
    transaction: (signature) => ask(`/transactions/${encodeURIComponent(signature)}`),
    block: (slot, transactions = "signatures") => ask(`/blocks/${slot}?transactions=${transactions}`),
    transactions: (query = {}) => ask(`/transactions${queryText(query)}`),
    blocks: (query = {}) => ask(`/blocks${queryText(query)}`),
    search: (query) => {
      const body = JSON.stringify(query, (_name, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      );
      return ask("/search", { method: "POST", body });
    },
    async *all(list, query) {
      let cursor: string | undefined;
      do {
        const page = await list(cursor === undefined ? query : { ...query, cursor });
        yield* page.items;
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
    },
  };
}
