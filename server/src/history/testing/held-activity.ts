import { parserVersion, parseTransaction, type TransactionView } from "@sluice/parser";
import type { ChainReads, ParsedType, PlaceRange, TransactionPlace } from "../../ledger/index.ts";

/** What the counts look at of a transaction that is held. */
interface CountedTransaction extends TransactionPlace {
  readonly view: TransactionView;
  readonly blockTime: bigint | null;
  readonly success: boolean;
}

/** What the parsers' row of a transaction says. */
export type ParsedRow = Pick<ParsedType, "type" | "source" | "version">;

/** The row that the parser writes. */
export function parserRow(view: TransactionView): ParsedRow {
  const { type, source } = parseTransaction(view);
  return { type, source, version: parserVersion };
}

type Page = (range: PlaceRange, matching: (row: CountedTransaction) => boolean) => readonly CountedTransaction[];

/**
 * Counts about addresses over blocks in memory; `page` gives the transactions of a range. `rowOf` says what the
 * parsers' row of a transaction has; null where there is none.
 */
export function heldActivity(page: Page, rowOf: (view: TransactionView) => ParsedRow | null): ChainReads["activity"] {
  const named = (addresses: readonly string[], { view }: CountedTransaction): boolean =>
    addresses.some((address) => view.keys.includes(address));
  const ofWindow = ({ network, from, to, addresses }: Parameters<ChainReads["activity"]["days"]>[0]) =>
    page({ network, from, to, order: "desc", after: null, limit: Number.MAX_SAFE_INTEGER }, (row) =>
      named(addresses, row),
    );
  return {
    places: async (range, addresses, success = null) =>
      page(range, (row) => named(addresses, row) && (success ?? row.success) === row.success).map(placeOf),
    days: async (window) => {
      const days = new Map<string, { date: string; transactions: number; failed: number }>();
      for (const { blockTime, success } of ofWindow(window)) {
        const date = new Date(Number(blockTime) * 1_000).toISOString().slice(0, 10);
        const day = days.get(date) ?? { date, transactions: 0, failed: 0 };
        days.set(date, day);
        day.transactions += 1;
        day.failed += success ? 0 : 1;
      }
      return { rows: [...days.values()].sort((one, other) => (one.date < other.date ? 1 : -1)), isWhole: true };
    },
    types: async (window, version) => {
      const types = new Map<string, number>();
      for (const { view } of ofWindow(window)) {
        const row = rowOf(view);
        if (row !== null && row.version >= version) types.set(row.type, (types.get(row.type) ?? 0) + 1);
      }
      const rows = [...types].map(([type, transactions]) => ({ type, transactions }));
      rows.sort((one, other) => other.transactions - one.transactions || (one.type < other.type ? -1 : 1));
      return { rows, isWhole: true };
    },
    typesOf: async (network, places) => {
      const whole = { network, from: 0n, to: 2n ** 64n - 1n, order: "asc", after: null } as const;
      const rows = page({ ...whole, limit: Number.MAX_SAFE_INTEGER }, (row) =>
        places.some(({ slot, index }) => slot === row.slot && index === row.index),
      );
      return rows.flatMap((each) => {
        const row = rowOf(each.view);
        return row === null ? [] : [{ ...placeOf(each), ...row }];
      });
    },
  };
}

const placeOf = ({ slot, index }: TransactionPlace): TransactionPlace => ({ slot, index });
