import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { LedgerConnection } from "../connection.ts";
import { AddressActivity } from "./address-activity.ts";
import { BlockReads } from "./block-reads.ts";
import { type ChainHeld, ChainHoldings } from "./held.ts";
import { type FoundTransactions, type TransactionConditions, TransactionSearch } from "./search.ts";
import { greatest, least, type PlaceRange } from "./statements.ts";
import { TransactionReads } from "./transaction-reads.ts";

/**
 * Reads of blocks and transactions: of the chain as it stands, each once however often it was written. Throw
 * LedgerUnavailableError and LedgerQueryError.
 */
export interface ChainReads {
  readonly transactions: Pick<
    TransactionReads,
    "bySignature" | "placeOf" | "rows" | "bodies" | "ofBlock" | "ofAddress"
  >;
  readonly blocks: Pick<BlockReads, "block" | "blocksOf" | "blocks" | "slots" | "slotsOfAddress" | "signatures">;
  readonly activity: Pick<AddressActivity, "places" | "days" | "types" | "typesOf">;
  held(network: Network): Promise<ChainHeld>;
  firstSlotSince(network: Network, seconds: bigint): Promise<bigint | null>;
  /** When the first block was since which none is missing, in Unix milliseconds; null without a block. */
  heldSinceMs(network: Network): Promise<number | null>;
  /**
   * Transactions that meet conditions; where types or sources are asked for, also those of which no row of the parsers
   * says them. It ends after `answerMs` with what it has found, where that is not the usual time.
   */
  find(range: PlaceRange, conditions: TransactionConditions, answerMs?: number): Promise<FoundTransactions>;
  /** Transactions that name a wallet or move tokens of an account that it owns. */
  ofOwner(range: PlaceRange, owner: string, success: boolean | null): Promise<FoundTransactions>;
}

export function createChainReads(connection: LedgerConnection, clock: Pick<Clock, "monotonic">): ChainReads {
  const transactions = new TransactionReads(connection);
  const holdings = new ChainHoldings(connection, clock);
  const search = new TransactionSearch(connection, transactions, clock);
  /** Looks at the slots alone that have blocks. */
  const held = async (
    range: PlaceRange,
    find: (range: PlaceRange) => Promise<FoundTransactions>,
  ): Promise<FoundTransactions> => {
    const { blocks } = await holdings.held(range.network);
    if (blocks === null) return { places: [], next: null };
    return await find({ ...range, from: greatest(range.from, blocks.from), to: least(range.to, blocks.to) });
  };
  return {
    transactions,
    blocks: new BlockReads(connection),
    activity: new AddressActivity(connection),
    held: (network) => holdings.held(network),
    firstSlotSince: (network, seconds) => holdings.firstSlotSince(network, seconds),
    heldSinceMs: (network) => holdings.heldSinceMs(network),
    find: (range, conditions, answerMs) => held(range, (part) => search.find(part, conditions, answerMs)),
    ofOwner: (range, owner, success) => held(range, (part) => search.ofOwner(part, owner, success)),
  };
}
