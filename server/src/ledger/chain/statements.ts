import type { Network } from "@sluice/contract/tiers";

/** Where a transaction is in the chain of a network. */
export interface TransactionPlace {
  readonly slot: bigint;
  /** In its block, from 0. */
  readonly index: number;
}

/** Slots, both included. */
export interface SlotWindow {
  readonly from: bigint;
  readonly to: bigint;
}

/** `desc` is the newest first. */
export type ChainOrder = "asc" | "desc";

/** Which places are read: those in a window, in an order, beyond the place where the page before ended. */
export interface PlaceRange extends SlotWindow {
  readonly network: Network;
  readonly order: ChainOrder;
  readonly after: TransactionPlace | null;
  readonly limit: number;
}

/**
 * Look-ups are short and stand before statements of lower priority, which wait while one of them runs; one thread each,
 * since most read a few granules.
 */
export const lookupSettings = { priority: 1, max_threads: 1, max_execution_time: 10 } as const;

/** Rows of blocks that left the chain are no rows of it. */
export const ofChain =
  "(slot, blockhash) GLOBAL NOT IN " +
  "(SELECT slot, blockhash FROM dropped_blocks FINAL WHERE network = {network:String} AND dropped)";

/** The columns by which rows of transactions are sorted, in an order. */
export const sorted = (order: ChainOrder): string =>
  `ORDER BY slot ${order.toUpperCase()}, transaction_index ${order.toUpperCase()}`;

/** A row that was written twice, before the engine has merged it, counts once. */
export const onceEach = "LIMIT 1 BY slot, transaction_index";

/** The window of a range, narrowed by where its page begins; with the parameters that it names. */
export function rangeCondition({ network, from, to, order, after }: PlaceRange) {
  const isDown = order === "desc";
  const parameters = { network, from, to };
  const window = "slot >= {from:UInt64} AND slot <= {to:UInt64}";
  if (after === null) return { condition: window, parameters };
  const [first, last] = isDown ? [from, least(to, after.slot)] : [greatest(from, after.slot), to];
  const beyond = `(slot, transaction_index) ${isDown ? "<" : ">"} ({afterSlot:UInt64}, {afterIndex:UInt32})`;
  return {
    condition: `${window} AND ${beyond}`,
    parameters: { network, from: first, to: last, afterSlot: after.slot, afterIndex: after.index },
  };
}

/** The smaller of two. */
export const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
/** The larger of two. */
export const greatest = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/**
 * Rows of a page, each place once: a row may be there twice before the engine has merged it. LIMIT BY and DISTINCT
 * would read the whole range (33 MB in the place of 33 KB for a busy program of a million transactions, measured), so
 * that repeats are left out here, and what they took the place of is read after them.
 */
export async function eachOnce<Row extends TransactionPlace>(
  range: PlaceRange,
  read: (page: PlaceRange) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let { after } = range;
  for (;;) {
    const limit = range.limit - rows.length;
    const page = await read({ ...range, after, limit });
    for (const row of page) {
      if (after?.slot === row.slot && after.index === row.index) continue;
      rows.push(row);
      after = { slot: row.slot, index: row.index };
    }
    if (page.length < limit || rows.length >= range.limit) return rows;
  }
}

/** Places as a list of SQL; whole numbers alone stand in it. */
export const placeList = (places: readonly TransactionPlace[]): string =>
  places.map(({ slot, index }) => `(${BigInt(slot)},${Math.trunc(index)})`).join(",");

/** Slots as a list of SQL. */
export const slotList = (slots: readonly bigint[]): string => slots.map((slot) => BigInt(slot).toString()).join(",");
