import { SluiceError } from "@sluice/contract/errors";
import type { HistoryBlockQuery, HistoryBlocksQuery } from "@sluice/contract/schemas";
import type { Network, PlatformTier } from "@sluice/contract/tiers";
import { type JsonObject, type JsonValue, unpackTransaction } from "@sluice/encode";
import type { Clock } from "@sluice/lib";
import { type IdlPrograms, noPrograms } from "@sluice/parser";
import type {
  BlockRow,
  ChainHeld,
  ChainOrder,
  ChainReads,
  TransactionBodyRow,
  TransactionConditions,
  TransactionPlace,
  TransactionRow,
} from "../../ledger/index.ts";
import { blockOf, blockRecord } from "./block-record.ts";
import { findParsed } from "./parsed-search.ts";
import { type Reach, type ReachDependencies, reachOf, refuseTier, type StatedRange, seenSinceMs } from "./reach.ts";
import { isSkipped } from "./skipped-slots.ts";
import { nodeRecord, placeRecord, type TransactionEncoding, transactionRecord } from "./transaction-record.ts";

/** Who asks, and of which chain. */
export interface Asker {
  readonly network: Network;
  readonly tier: PlatformTier;
}

/** How transactions are shown. */
export interface Shown {
  readonly details: "full" | "signatures";
  /** The node's own form; null for the records of this API. */
  readonly encoding: TransactionEncoding | null;
}

/** One page of transactions that are asked for by conditions. */
export interface TransactionQuestion extends Asker, Shown {
  readonly range: StatedRange;
  readonly order: ChainOrder;
  readonly after: TransactionPlace | null;
  readonly limit: number;
  readonly conditions: TransactionConditions;
}

/** One page of blocks. */
export interface BlocksQuestion extends Asker, Pick<HistoryBlocksQuery, "order" | "limit"> {
  /** Blocks with a transaction that names it; null for all. */
  readonly address: string | null;
  readonly range: StatedRange;
  readonly after: TransactionPlace | null;
}

/** One item of a page, and its place in the order of the list. */
export interface PlacedItem {
  readonly place: TransactionPlace;
  readonly value: JsonValue;
}

export interface FoundPage {
  readonly items: readonly PlacedItem[];
  /** Where the next page begins; null on the last. */
  readonly next: TransactionPlace | null;
  readonly dataSinceMs: number | null;
}

export interface LookupDependencies extends Omit<ReachDependencies, "chain" | "clock"> {
  readonly chain: ChainReads;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Of the operator's files, which name instructions that no code here knows. */
  readonly programs?: IdlPrograms;
}

const nothing = { items: [], next: null } as const;

/** Reads the indexed history for its REST API. Throws SluiceError for what is not there and what a tier may not see. */
export class Lookups {
  readonly #dependencies: LookupDependencies;

  constructor(dependencies: LookupDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {SluiceError} TRANSACTION_NOT_FOUND, TIER_REQUIRED */
  async transaction(asker: Asker, signature: string, encoding: TransactionEncoding | null): Promise<JsonObject> {
    const { chain } = this.#dependencies;
    const [held, row] = await Promise.all([
      chain.held(asker.network),
      chain.transactions.bySignature(asker.network, signature),
    ]);
    if (row === null) throw new SluiceError("TRANSACTION_NOT_FOUND");
    const [timed = row] = await this.#withTimes(asker.network, [row]);
    await this.#requireSeen(asker, timed);
    return this.#recordOf(timed, encoding, held);
  }

  /** @throws {SluiceError} BLOCK_NOT_FOUND, TIER_REQUIRED */
  async block(asker: Asker, slot: bigint, shown: Omit<HistoryBlockQuery, "network">): Promise<JsonObject> {
    const { network } = asker;
    const { chain } = this.#dependencies;
    const [held, row] = await Promise.all([chain.held(network), chain.blocks.block(network, slot)]);
    if (row === null) throw await this.#absentBlock({ network, held, slot });
    const block = blockOf(row);
    await this.#requireSeen(asker, { slot, blockTime: block.blockTime });
    const record = blockRecord(row, block, slot < held.finalBefore);
    if (shown.transactions === "none") return record;
    if (shown.transactions === "signatures") {
      return { ...record, signatures: await chain.blocks.signatures(network, row) };
    }
    const transactions = await this.#transactionsOf(network, row, {
      held,
      blockTime: block.blockTime,
      encoding: shown.encoding ?? null,
    });
    return { ...record, transactions };
  }

  /** @throws {SluiceError} TIER_REQUIRED */
  async transactions(question: TransactionQuestion): Promise<FoundPage> {
    const { network, order, after, limit, conditions } = question;
    const { chain } = this.#dependencies;
    const { window, dataSinceMs } = await this.#reach(question);
    if (window === null) return { ...nothing, dataSinceMs };
    const held = await chain.held(network);
    const range = { network, ...window, order, after, limit };
    const isParsed = conditions.types !== null || conditions.sources !== null;
    const { places, next } = isParsed
      ? await findParsed(range, conditions, this.#dependencies)
      : await chain.find(range, conditions);
    return { items: await this.#show(question, places, held), next, dataSinceMs };
  }

  /** @throws {SluiceError} TIER_REQUIRED */
  async blocks(question: BlocksQuestion): Promise<FoundPage> {
    const { network, order, after, limit, address } = question;
    const { chain } = this.#dependencies;
    const { window, dataSinceMs } = await this.#reach(question);
    if (window === null) return { ...nothing, dataSinceMs };
    const { from, to } = window;
    const held = await chain.held(network);
    // A block's own row is written last: beyond the last one an address may have slots without one.
    const newest = held.blocks?.to ?? -1n;
    const upTo = after !== null && order === "desc" && after.slot <= to ? after.slot - 1n : to;
    const range = {
      network,
      order,
      limit,
      from: after !== null && order === "asc" && after.slot >= from ? after.slot + 1n : from,
      to: upTo < newest ? upTo : newest,
    };
    if (range.from > range.to) return { ...nothing, dataSinceMs };
    const slots = address === null ? null : await chain.blocks.slotsOfAddress(range, address);
    const rows = slots === null ? await chain.blocks.blocks(range) : await chain.blocks.blocksOf(network, slots, order);
    const items = rows.map((row) => ({
      place: { slot: row.slot, index: 0 },
      value: blockRecord(row, blockOf(row), row.slot < held.finalBefore),
    }));
    const found = slots ?? rows.map(({ slot }) => slot);
    const last = found.at(-1);
    const next = found.length < limit || last === undefined ? null : { slot: last, index: 0 };
    return { items, next, dataSinceMs };
  }

  #reach({ network, tier, range }: Asker & { readonly range: StatedRange }): Promise<Reach> {
    return reachOf({ network, tier, range }, this.#dependencies);
  }

  async #show(
    { network, order, details, encoding }: TransactionQuestion,
    places: readonly TransactionPlace[],
    held: ChainHeld,
  ): Promise<PlacedItem[]> {
    const { transactions } = this.#dependencies.chain;
    if (details === "signatures") {
      const rows = await this.#withTimes(network, await transactions.rows(network, places, order));
      return rows.map((row) => ({ place: row, value: placeRecord(row, row.slot < held.finalBefore) }));
    }
    const rows = await this.#withTimes(network, await transactions.bodies(network, places, order));
    return rows.map((row) => ({ place: row, value: this.#recordOf(row, encoding, held) }));
  }

  /** All transactions of a block. @throws {SluiceError} BLOCK_NOT_FOUND where the ledger does not hold them all */
  async #transactionsOf(
    network: Network,
    row: BlockRow,
    {
      held,
      blockTime,
      encoding,
    }: {
      readonly held: ChainHeld;
      readonly blockTime: bigint | null;
      readonly encoding: TransactionEncoding | null;
    },
  ): Promise<JsonObject[]> {
    const bodies = await this.#dependencies.chain.transactions.ofBlock(network, row);
    if (bodies.length !== row.transactions) {
      throw new SluiceError("BLOCK_NOT_FOUND", {
        message: `The ledger holds ${bodies.length} of the ${row.transactions} transactions of slot ${row.slot}`,
      });
    }
    return bodies.map((each) => this.#recordOf({ ...each, blockTime }, encoding, held));
  }

  #recordOf(row: TransactionBodyRow, encoding: TransactionEncoding | null, held: ChainHeld): JsonObject {
    const { programs = noPrograms } = this.#dependencies;
    const transaction = unpackTransaction(row.body);
    return encoding === null
      ? transactionRecord(row, transaction, { isFinal: row.slot < held.finalBefore, programs })
      : nodeRecord(row, transaction, encoding);
  }

  /** A row has no time where the chain has none, or one that its column cannot hold: then the block tells it. */
  async #withTimes<Row extends TransactionRow>(network: Network, rows: readonly Row[]): Promise<readonly Row[]> {
    const slots = [...new Set(rows.flatMap(({ slot, blockTime }) => (blockTime === null ? [slot] : [])))];
    if (slots.length === 0) return rows;
    const blocks = await this.#dependencies.chain.blocks.blocksOf(network, slots, "asc");
    const times = new Map(blocks.map((row) => [row.slot, blockOf(row).blockTime]));
    return rows.map((row) => ({ ...row, blockTime: row.blockTime ?? times.get(row.slot) ?? null }));
  }

  async #absentBlock(of: {
    readonly network: Network;
    readonly held: ChainHeld;
    readonly slot: bigint;
  }): Promise<SluiceError> {
    const { slot } = of;
    const { blocks } = of.held;
    if (await isSkipped(this.#dependencies.chain, of)) {
      return new SluiceError("BLOCK_NOT_FOUND", { message: `The chain skipped slot ${slot}` });
    }
    if (blocks !== null && slot > blocks.to) {
      return new SluiceError("BLOCK_NOT_FOUND", { message: `The ledger holds no block beyond slot ${blocks.to} yet` });
    }
    return new SluiceError("BLOCK_NOT_FOUND", { message: `The ledger does not hold slot ${slot}` });
  }

  async #requireSeen(
    { network, tier }: Asker,
    { slot, blockTime }: { readonly slot: bigint; readonly blockTime: bigint | null },
  ): Promise<void> {
    const { chain, clock } = this.#dependencies;
    const seenMs = seenSinceMs(tier, clock.now());
    if (seenMs === null) return;
    const seconds = BigInt(Math.floor(seenMs / 1_000));
    if (blockTime !== null) {
      if (blockTime < seconds) refuseTier(tier);
      return;
    }
    const first = await chain.firstSlotSince(network, seconds);
    if (first === null || slot < first) refuseTier(tier);
  }
}
