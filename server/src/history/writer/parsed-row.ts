import {
  movementsOf,
  type NftFacts,
  type ParsedTransaction,
  parserVersion,
  parseTransaction,
  type RecordPlace,
  type SwapFacts,
  type TransactionView,
  toldOf,
} from "@sluice/parser";
import { maxU64 } from "@sluice/wire/identifiers";
import type { ParsedRows } from "../../ledger/index.ts";

/** Receives each transaction on which the parser fails; must not throw. */
export type Unreadable = (of: { readonly signature: string; readonly error: unknown }) => void;

/** What a transaction was. The parser has no input to fail on; where it does, its block is written all the same. */
export function parsedOrUnknown(view: TransactionView, unreadable: Unreadable): ParsedTransaction {
  try {
    return parseTransaction(view);
  } catch (error) {
    unreadable({ signature: view.transaction.signature, error });
    return { ...nothingKnown, movements: movementsOf(view) };
  }
}

const nothingKnown: Omit<ParsedTransaction, "movements"> = {
  type: "UNKNOWN",
  source: "unknown",
  programId: null,
  swap: null,
  nfts: [],
  compressed: [],
  transfers: [],
  created: [],
  closed: [],
  stakes: [],
  liquidity: [],
};

/** Adds what a transaction was, as the parser of this version tells it. */
export function addParsed(
  rows: ParsedRows,
  {
    index,
    place,
    nativeSymbol,
  }: { readonly index: number; readonly place: RecordPlace; readonly nativeSymbol: string | undefined },
  { view, parsed }: { readonly view: TransactionView; readonly parsed: ParsedTransaction },
): void {
  const { columns } = rows;
  const { description, events } = toldOf(view, parsed, { ...place, nativeSymbol });
  columns.transaction_index.add(index);
  columns.signature.add(view.transaction.signature);
  columns.version.add(parserVersion);
  columns.fee_payer.add(view.keys[0] ?? "");
  columns.type.add(parsed.type);
  columns.source.add(parsed.source);
  columns.description.add(description);
  columns.events.add(events);
  columns.success.add(view.failed ? 0 : 1);
  columns.program_id.add(parsed.programId ?? "");
  addSwap(columns, parsed.swap);
  addNfts(columns, parsed.nfts);
}

function addSwap(columns: ParsedRows["columns"], swap: SwapFacts | null): void {
  const { input = null, output = null } = swap ?? {};
  columns.trader.add(swap?.user ?? "");
  columns.input_mint.add(input?.mint ?? "");
  columns.input_amount.add(u64OrNull(input?.amount));
  columns.input_decimals.add(input?.decimals ?? null);
  columns.output_mint.add(output?.mint ?? "");
  columns.output_amount.add(u64OrNull(output?.amount));
  columns.output_decimals.add(output?.decimals ?? null);
}

function addNfts(columns: ParsedRows["columns"], nfts: readonly NftFacts[]): void {
  const [first] = nfts;
  columns.nft_mint.add(first?.mint ?? first?.compressed?.assetId ?? "");
  columns.nfts.add(nfts.length);
  columns.nft_seller.add(first?.seller ?? "");
  columns.nft_buyer.add(first?.buyer ?? "");
  columns.nft_price.add(u64OrNull(first?.priceLamports));
}

/** Sums over accounts of one wallet may exceed what a mint can have only where a node's balances are wrong. */
function u64OrNull(amount: bigint | null | undefined): bigint | null {
  return amount === null || amount === undefined || amount < 0n || amount > maxU64 ? null : amount;
}
