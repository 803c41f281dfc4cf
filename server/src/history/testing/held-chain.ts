import { type ConfirmedBlock, isVote, packBlock, packTransaction, transactionMemo } from "@sluice/encode";
import { movementsOf, TransactionView } from "@sluice/parser";
import { parseTransaction } from "@sluice/wire/transaction";
import type {
  BlockRow,
  ChainReads,
  PlaceRange,
  TransactionBodyRow,
  TransactionConditions,
  TransactionPlace,
} from "../../ledger/index.ts";
import { heldActivity, type ParsedRow } from "./held-activity.ts";

/** A transaction of a held chain, with what look-ups ask of it. */
interface HeldTransaction extends TransactionBodyRow {
  readonly view: TransactionView;
  readonly isVote: boolean;
}

const isBefore = (one: TransactionPlace, other: TransactionPlace): boolean =>
  one.slot < other.slot || (one.slot === other.slot && one.index < other.index);

/**
 * The look-ups of the ledger over blocks in memory: what the tests of this room read, and what the ledger's own reads
 * are compared with.
 */
export class HeldChainModel implements ChainReads {
  readonly #blocks: readonly ConfirmedBlock[];
  readonly #rows: readonly HeldTransaction[];
  /** Slots below it are final. */
  finalBefore: bigint;
  /** Where the range begins that is said to be held whole; null for the first block. */
  heldFrom: bigint | null = null;
  readonly blocks: ChainReads["blocks"];
  readonly transactions: ChainReads["transactions"];
  readonly activity: ChainReads["activity"];
  /** The parsers' rows. */
  rowOf: (view: TransactionView) => ParsedRow | null = () => null;
  /** What every read throws, where something is away. */
  fault: Error | null = null;

  constructor(blocks: readonly ConfirmedBlock[], finalBefore: bigint) {
    this.#blocks = [...blocks].sort((one, other) => (one.slot < other.slot ? -1 : 1));
    this.#rows = this.#blocks.flatMap((block) =>
      block.transactions.map((transaction, index) => heldTransaction(block, transaction, index)),
    );
    this.finalBefore = finalBefore;
    this.blocks = {
      block: async (_network, slot) => this.#blockRows([slot])[0] ?? null,
      blocksOf: async (_network, slots, order) => ordered(this.#blockRows(slots), order),
      blocks: async ({ from, to, order, limit }) =>
        ordered(this.#blockRows(this.#slots(from, to)), order).slice(0, limit),
      slots: async ({ from, to, limit }) => this.#slots(from, to).slice(0, limit),
      slotsOfAddress: async ({ from, to, order, limit }, address) => {
        const rows = this.#rows.filter(({ slot, view }) => slot >= from && slot <= to && view.keys.includes(address));
        const slots = [...new Set(rows.map(({ slot }) => slot))];
        return (order === "asc" ? slots : slots.reverse()).slice(0, limit);
      },
      signatures: async (_network, { slot }) => this.#of(slot).map(({ signature }) => signature),
    };
    this.activity = heldActivity(
      (range, matching) => {
        this.#fail();
        return this.#page(range, matching);
      },
      (view) => this.rowOf(view),
    );
    this.transactions = {
      bySignature: async (_network, signature) => {
        this.#fail();
        return this.#rows.findLast((row) => row.signature === signature) ?? null;
      },
      placeOf: async (_network, signature) => this.#rows.findLast((row) => row.signature === signature) ?? null,
      rows: async (_network, places, order) => this.#at(places, order),
      bodies: async (_network, places, order) => this.#at(places, order),
      ofBlock: async (_network, { slot }) => this.#of(slot),
      ofAddress: async (range, address, success = null) =>
        this.#page(range, ({ view, success: isOk }) => view.keys.includes(address) && (success ?? isOk) === isOk),
    };
  }

  async held() {
    this.#fail();
    const [first, last] = [this.#blocks[0], this.#blocks.at(-1)];
    const window = first === undefined || last === undefined ? null : { from: first.slot, to: last.slot };
    const ranges =
      window === null || this.finalBefore === 0n
        ? []
        : [{ from: this.heldFrom ?? window.from, to: this.finalBefore - 1n }];
    return { ranges, finalBefore: this.finalBefore, blocks: window };
  }

  async firstSlotSince(_network: string, seconds: bigint): Promise<bigint | null> {
    return this.#blocks.find(({ blockTime }) => blockTime !== null && blockTime >= seconds)?.slot ?? null;
  }

  async heldSinceMs(): Promise<number | null> {
    const first = this.#blocks.find(({ blockTime }) => blockTime !== null);
    return first === undefined ? null : Number(first.blockTime) * 1_000;
  }

  async find(range: PlaceRange, conditions: TransactionConditions) {
    this.#fail();
    const places = this.#page(range, (row) => matches(row, conditions, this.rowOf(row.view)));
    return { places, next: places.length < range.limit ? null : (places.at(-1) ?? null) };
  }

  async ofOwner(range: PlaceRange, owner: string, success: boolean | null) {
    const places = this.#page(range, (row) => {
      const moved = movementsOf(row.view).tokens.some(
        ({ fromOwner, toOwner }) => fromOwner === owner || toOwner === owner,
      );
      return (moved || row.view.keys.includes(owner)) && (success ?? row.success) === row.success;
    });
    return { places, next: places.length < range.limit ? null : (places.at(-1) ?? null) };
  }

  #fail(): void {
    if (this.fault !== null) throw this.fault;
  }

  #of(slot: bigint): HeldTransaction[] {
    return this.#rows.filter((row) => row.slot === slot);
  }

  #slots(from: bigint, to: bigint): bigint[] {
    return this.#blocks.map(({ slot }) => slot).filter((slot) => slot >= from && slot <= to);
  }

  #blockRows(slots: readonly bigint[]): BlockRow[] {
    this.#fail();
    return this.#blocks
      .filter(({ slot }) => slots.includes(slot))
      .map((block) => {
        const rows = this.#of(block.slot);
        return {
          slot: block.slot,
          blockhash: block.blockhash,
          transactions: rows.length,
          votes: rows.filter(({ isVote: vote }) => vote).length,
          failed: rows.filter(({ success }) => !success).length,
          body: packBlock({ ...block, transactions: [] }),
        };
      });
  }

  #at(places: readonly TransactionPlace[], order: "asc" | "desc"): HeldTransaction[] {
    const rows = this.#rows.filter((row) => places.some(({ slot, index }) => row.slot === slot && row.index === index));
    return ordered(rows, order);
  }

  #page({ from, to, order, after, limit }: PlaceRange, matching: (row: HeldTransaction) => boolean): HeldTransaction[] {
    const rows = this.#rows.filter((row) => row.slot >= from && row.slot <= to && matching(row));
    const beyond = ordered(rows, order).filter(
      (row) => after === null || (order === "asc" ? isBefore(after, row) : isBefore(row, after)),
    );
    return beyond.slice(0, limit);
  }
}

const ordered = <Row>(ascending: readonly Row[], order: "asc" | "desc"): Row[] =>
  order === "asc" ? [...ascending] : [...ascending].reverse();

function heldTransaction(
  block: ConfirmedBlock,
  transaction: ConfirmedBlock["transactions"][number],
  index: number,
): HeldTransaction {
  const view = new TransactionView(transaction);
  const parsed = parseTransaction(transaction.bytes);
  if (!parsed.ok) throw new Error(parsed.fault);
  const error = transaction.meta?.error ?? null;
  return {
    slot: block.slot,
    index,
    signature: transaction.signature,
    blockhash: block.blockhash,
    blockTime: block.blockTime,
    success: error === null,
    error: error === null ? "" : JSON.stringify(error),
    memo: transactionMemo(parsed.transaction.message),
    body: packTransaction(transaction, index),
    view,
    isVote: isVote(parsed.transaction),
  };
}

/** Whether all conditions hold, or all but those that no row of the parsers decides. */
function matches(row: HeldTransaction, conditions: TransactionConditions, parsed: ParsedRow | null): boolean {
  const { accounts, program, feePayer, success, error, votes, feeMin, feeMax, movement, types, sources } = conditions;
  const { view } = row;
  const fee = view.meta?.fee ?? 0n;
  const isOpen = parsed === null || parsed.version < conditions.parserVersion;
  return (
    accounts.every((account) => view.keys.includes(account)) &&
    (program === null || view.calls.some(({ programId }) => programId === program)) &&
    (feePayer === null || view.keys[0] === feePayer) &&
    (success === null || row.success === success) &&
    (error === null || row.error === `"${error}"` || row.error.startsWith(`{"${error}":`)) &&
    (votes === null || row.isVote === votes) &&
    (feeMin === null || fee >= feeMin) &&
    (feeMax === null || fee <= feeMax) &&
    (isOpen || types === null || types.includes(parsed.type)) &&
    (isOpen || sources === null || sources.includes(parsed.source)) &&
    (movement === null || moves(row, movement))
  );
}

function moves({ view }: HeldTransaction, movement: NonNullable<TransactionConditions["movement"]>): boolean {
  const { mint, amountMin, amountMax, between } = movement;
  const { native, tokens } = movementsOf(view);
  const moved =
    mint === null
      ? native.map(({ from, to, lamports }) => ({ from, to, amount: lamports, mint: null }))
      : tokens.map((each) => ({ from: each.fromOwner, to: each.toOwner, amount: each.amount, mint: each.mint }));
  return moved.some(
    (each) =>
      each.mint === mint &&
      (amountMin === null || each.amount >= amountMin) &&
      (amountMax === null || each.amount <= amountMax) &&
      (between === null ||
        (between.includes(each.from ?? "") && between.includes(each.to ?? "") && each.from !== each.to)),
  );
}
