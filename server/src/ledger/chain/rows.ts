import type { Network } from "@sluice/contract/tiers";
import { invariant } from "@sluice/lib";
import {
  accountChangesTable,
  blocksTable,
  instructionsTable,
  nativeMovementsTable,
  rewardsTable,
  tokenMovementsTable,
  transactionsByAddressTable,
  transactionsBySignatureTable,
  transactionsTable,
} from "../chain-tables.ts";
import { type NativeColumn, nativeBlock } from "../native-columns.ts";
import { parsedTable } from "../parsed-tables.ts";
import type { TableDefinition } from "../table-definition.ts";
import {
  BigColumn,
  type Column,
  NullableColumn,
  NumberColumn,
  type Run,
  runs,
  TextColumn,
  TextsColumn,
  WordColumn,
} from "./columns.ts";

/** What all rows of a block have in common. */
export interface BlockOfRows {
  readonly slot: bigint;
  readonly blockhash: string;
  /** Seconds from 1970 on that 32 bits hold; null where the chain has none. */
  readonly blockTime: number | null;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** The rows of one table, as one INSERT takes them. */
export interface EncodedRows {
  readonly table: TableDefinition;
  readonly columns: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rows: number;
}

/** The rows of one table, column by column. Columns of the block are made when all rows are there. */
export class TableRows<Columns extends Readonly<Record<string, Column>>> {
  /** To be added to: each of them once for a row. */
  readonly columns: Columns;
  readonly #table: TableDefinition;
  readonly #all: readonly Column[];
  #blocks: Run<BlockOfRows>[] = [];
  #ended = 0;

  constructor(table: TableDefinition, columns: Columns) {
    this.#table = table;
    this.columns = columns;
    this.#all = Object.values(columns);
  }

  get rows(): number {
    return this.#all[0]?.rows ?? 0;
  }

  get bytes(): number {
    return this.#all.reduce((bytes, column) => bytes + column.bytes, 0);
  }

  /** The rows since the last call are of this block. */
  endBlock(value: BlockOfRows): void {
    this.#blocks.push({ rows: this.rows - this.#ended, value });
    this.#ended = this.rows;
  }

  clear(): void {
    for (const column of this.#all) column.clear();
    this.#blocks = [];
    this.#ended = 0;
  }

  /** Null without rows. */
  encode(network: Network): EncodedRows | null {
    const { rows } = this;
    if (rows === 0) return null;
    invariant(
      rows === this.#ended && this.#all.every((column) => column.rows === rows),
      "every column has a value for every row, and every row has a block",
    );
    const columns = this.#table.columns.map(({ name, type }) => this.#column(network, { name, type }));
    return {
      table: this.#table,
      columns: columns.map(({ name }) => name),
      bytes: nativeBlock(columns, rows),
      rows,
    };
  }

  #column(network: Network, { name, type }: { name: string; type: string }): NativeColumn {
    const own = this.columns[name];
    if (own !== undefined) return own.native(name);
    const ofBlocks = <Value>(value: (block: BlockOfRows) => Value): Run<Value>[] =>
      this.#blocks.map((run) => ({ rows: run.rows, value: value(run.value) }));
    switch (name) {
      case "network":
        return runs.word(network, { name, rows: this.rows });
      case "slot":
        return runs.bigs(
          ofBlocks(({ slot }) => slot),
          { name, type },
        );
      case "at":
        return runs.bigs(
          ofBlocks(({ atMs }) => BigInt(atMs)),
          { name, type },
        );
      case "blockhash":
        return runs.texts(
          ofBlocks(({ blockhash }) => blockhash),
          name,
        );
      case "block_time":
        return runs.times(
          ofBlocks(({ blockTime }) => blockTime),
          name,
        );
      default:
        throw new TypeError(`no rows fill the column ${name} of ${this.#table.name}`);
    }
  }
}

const u8 = () => new NumberColumn("UInt8");
const u16 = () => new NumberColumn("UInt16");
const u32 = () => new NumberColumn("UInt32");
const u64 = () => new BigColumn("UInt64");
const flag = () => new NumberColumn("Bool");
const text = () => new TextColumn();
const word = () => new WordColumn();

/** Rows of `parsed`; an instance of its own writes what was parsed again. */
export const parsedRows = () =>
  new TableRows(parsedTable, {
    transaction_index: u32(),
    signature: text(),
    version: u32(),
    fee_payer: text(),
    type: word(),
    source: word(),
    description: text(),
    events: text(),
    success: flag(),
    program_id: word(),
    trader: text(),
    input_mint: text(),
    input_amount: NullableColumn.ofBigs(),
    input_decimals: NullableColumn.ofNumbers("UInt8"),
    output_mint: text(),
    output_amount: NullableColumn.ofBigs(),
    output_decimals: NullableColumn.ofNumbers("UInt8"),
    nft_mint: text(),
    nfts: u16(),
    nft_seller: text(),
    nft_buyer: text(),
    nft_price: NullableColumn.ofBigs(),
  });

export type ParsedRows = ReturnType<typeof parsedRows>;

/**
 * Rows of blocks on their way into the ledger, native columns of every table. One instance is filled, encoded and
 * cleared again and again.
 */
export class ChainRows {
  readonly network: Network;

  readonly transactions = new TableRows(transactionsTable, {
    transaction_index: u32(),
    signature: text(),
    success: flag(),
    // The engine makes a dictionary of it: there may be more different errors than rows are worth one here.
    error: text(),
    fee: u64(),
    compute_units: NullableColumn.ofBigs(),
    is_vote: flag(),
    fee_payer: text(),
    signers: new TextsColumn(),
    version: word(),
    accounts: new TextsColumn(),
    static_accounts: u16(),
    loaded_writable: u16(),
    program_ids: new TextsColumn(),
    memo: text(),
    body: text(),
  });

  readonly instructions = new TableRows(instructionsTable, {
    transaction_index: u32(),
    position: u16(),
    outer_index: u16(),
    inner_index: NullableColumn.ofNumbers("UInt16"),
    stack_height: NullableColumn.ofNumbers("UInt8"),
    signature: text(),
    success: flag(),
    program_id: word(),
    accounts: new TextsColumn(),
    data: text(),
  });

  readonly tokenMovements = new TableRows(tokenMovementsTable, {
    transaction_index: u32(),
    position: u16(),
    signature: text(),
    kind: word(),
    instruction: NullableColumn.ofNumbers("UInt16"),
    mint: text(),
    decimals: NullableColumn.ofNumbers("UInt8"),
    amount: u64(),
    fee: u64(),
    from_account: text(),
    from_owner: text(),
    to_account: text(),
    to_owner: text(),
  });

  readonly nativeMovements = new TableRows(nativeMovementsTable, {
    transaction_index: u32(),
    position: u16(),
    signature: text(),
    kind: word(),
    instruction: NullableColumn.ofNumbers("UInt16"),
    amount: u64(),
    from_account: text(),
    to_account: text(),
  });

  readonly accountChanges = new TableRows(accountChangesTable, {
    transaction_index: u32(),
    account_index: u16(),
    account: text(),
    mint: text(),
    owner: text(),
    decimals: u8(),
    before: u64(),
    after: u64(),
  });

  readonly rewards = new TableRows(rewardsTable, {
    position: u32(),
    account: text(),
    reward_type: word(),
    lamports: new BigColumn("Int64"),
    balance: u64(),
    commission: NullableColumn.ofNumbers("UInt8"),
  });

  readonly parsed = parsedRows();

  readonly bySignature = new TableRows(transactionsBySignatureTable, {
    signature_key: u64(),
    transaction_index: u32(),
  });

  readonly byAddress = new TableRows(transactionsByAddressTable, {
    address: text(),
    transaction_index: u32(),
    success: flag(),
  });

  readonly blocks = new TableRows(blocksTable, {
    parent_slot: u64(),
    parent_blockhash: text(),
    block_height: NullableColumn.ofBigs(),
    transactions: u32(),
    votes: u32(),
    failed: u32(),
    fees: u64(),
    compute_units: u64(),
    leader: text(),
    body: text(),
  });

  /** In the order in which tables are written: `blocks` last. */
  readonly #tables = [
    this.transactions,
    this.instructions,
    this.tokenMovements,
    this.nativeMovements,
    this.accountChanges,
    this.rewards,
    this.parsed,
    this.bySignature,
    this.byAddress,
    this.blocks,
  ];

  constructor(network: Network) {
    this.network = network;
  }

  /** Blocks that are whole. */
  get count(): number {
    return this.blocks.rows;
  }

  /** Rows of all tables. */
  get rows(): number {
    return this.#tables.reduce((rows, table) => rows + table.rows, 0);
  }

  /** Bytes that the rows take, nearly. */
  get bytes(): number {
    return this.#tables.reduce((bytes, table) => bytes + table.bytes, 0);
  }

  /** What was added since the last call is the whole of this block. */
  endBlock(block: BlockOfRows): void {
    for (const table of this.#tables) table.endBlock(block);
  }

  /** Tables that have rows, `blocks` last; what is returned is not changed afterwards. */
  encode(): EncodedRows[] {
    return this.#tables.flatMap((table) => table.encode(this.network) ?? []);
  }

  clear(): void {
    for (const table of this.#tables) table.clear();
  }
}

/** The key of a signature in `transactions_by_signature`: its first eight bytes as a little-endian number. */
export function signatureKey(signature: Uint8Array): bigint {
  return new DataView(signature.buffer, signature.byteOffset, 8).getBigUint64(0, true);
}
