import type { Network } from "@sluice/contract/tiers";
import type { LedgerConnection } from "../connection.ts";
import { lookupSettings, ofChain, placeList, type TransactionPlace } from "./statements.ts";

/** What a transaction made of one token account. Smallest units. */
export interface TokenChange extends TransactionPlace {
  /** Of the block, in Unix milliseconds. */
  readonly atMs: number;
  readonly account: string;
  readonly before: bigint;
  readonly after: bigint;
}

/** What a transaction made of the lamports of an account. */
export interface LamportChange extends TransactionPlace {
  readonly account: string;
  readonly before: bigint;
  readonly after: bigint;
}

/** Tokens that a transaction minted for an owner. Smallest units. */
export interface MintedTokens extends TransactionPlace {
  readonly amount: bigint;
}

/** A call of a program, outer or inner. */
export interface ProgramCall extends TransactionPlace {
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** Whose tokens: of one mint in accounts of one owner. */
export interface OwnedTokens {
  readonly network: Network;
  readonly mint: string;
  readonly owner: string;
}

/**
 * What transactions of known places did with tokens, in the order of the chain, each once; those of blocks that left it
 * are left out. Throw LedgerUnavailableError and LedgerQueryError.
 */
export interface TokenReads {
  changes(of: OwnedTokens, places: readonly TransactionPlace[]): Promise<readonly TokenChange[]>;
  /** What was minted for the owner, summed for each transaction. */
  minted(of: OwnedTokens, places: readonly TransactionPlace[]): Promise<readonly MintedTokens[]>;
  /** Calls of a program in transactions that succeeded. */
  calls(network: Network, places: readonly TransactionPlace[], program: string): Promise<readonly ProgramCall[]>;
  /** Lamports of the accounts that are named. */
  lamports(
    network: Network,
    places: readonly TransactionPlace[],
    accounts: readonly string[],
  ): Promise<readonly LamportChange[]>;
}

type PlaceRow = { readonly slot: string; readonly transaction_index: number };
type ChangeRow = PlaceRow & Record<"ms" | "account" | "before" | "after", string>;

const placeOf = ({ slot, transaction_index: index }: PlaceRow): TransactionPlace => ({ slot: BigInt(slot), index });
const at = (places: readonly TransactionPlace[]): string =>
  `PREWHERE network = {network:String} AND (slot, transaction_index) IN (${placeList(places)})`;
const changeColumns =
  "slot, transaction_index, toUnixTimestamp64Milli(at) AS ms, account, before, after FROM account_changes FINAL";
const settings = { ...lookupSettings, do_not_merge_across_partitions_select_final: 1 } as const;

export function createTokenReads(connection: LedgerConnection): TokenReads {
  const read = async <Row extends PlaceRow>(
    places: readonly TransactionPlace[],
    sql: string,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<readonly Row[]> => (places.length === 0 ? [] : await connection.query<Row>(sql, parameters, settings));
  return {
    changes: async ({ network, mint, owner }, places) => {
      const rows = await read<ChangeRow>(
        places,
        `SELECT ${changeColumns} ${at(places)} WHERE mint = {mint:String} AND owner = {owner:String} AND ${ofChain} ` +
          "ORDER BY slot, transaction_index, account_index",
        { network, mint, owner },
      );
      return rows.map((row) => ({ atMs: Number(row.ms), ...changeOf(row) }));
    },
    minted: async ({ network, mint, owner }, places) => {
      const rows = await read<PlaceRow & { readonly amounts: string }>(
        places,
        `SELECT slot, transaction_index, toString(sum(toUInt128(amount))) AS amounts FROM token_movements FINAL ` +
          `${at(places)} WHERE kind = 'mint' AND mint = {mint:String} AND to_owner = {owner:String} AND ${ofChain} ` +
          "GROUP BY slot, transaction_index ORDER BY slot, transaction_index",
        { network, mint, owner },
      );
      return rows.map((row) => ({ ...placeOf(row), amount: BigInt(row.amounts) }));
    },
    calls: async (network, places, program) => {
      const rows = await read<PlaceRow & { readonly accounts: readonly string[]; readonly bytes: string }>(
        places,
        `SELECT slot, transaction_index, accounts, base64Encode(data) AS bytes FROM instructions FINAL ${at(places)} ` +
          `WHERE program_id = {program:String} AND success AND ${ofChain} ORDER BY slot, transaction_index, position`,
        { network, program },
      );
      return rows.map((row) => ({
        ...placeOf(row),
        accounts: row.accounts,
        data: Uint8Array.fromBase64(row.bytes),
      }));
    },
    lamports: async (network, places, accounts) => {
      const rows = await read<ChangeRow>(
        places,
        `SELECT ${changeColumns} ${at(places)} WHERE mint = '' AND account IN ({accounts:Array(String)}) ` +
          `AND ${ofChain} ORDER BY slot, transaction_index, account_index`,
        { network, accounts },
      );
      return rows.map(changeOf);
    },
  };
}

const changeOf = (row: ChangeRow): LamportChange => ({
  ...placeOf(row),
  account: row.account,
  before: BigInt(row.before),
  after: BigInt(row.after),
});
