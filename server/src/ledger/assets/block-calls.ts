import type { Network } from "@sluice/contract/tiers";
import type { LedgerConnection } from "../connection.ts";

/** Slots, both included. */
interface Slots {
  readonly from: bigint;
  readonly to: bigint;
}

/** An executed instruction of a block that the ledger has. */
export interface BlockCall {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly transactionIndex: number;
  readonly signature: string;
  readonly position: number;
  readonly outer: number;
  readonly stackHeight: number | null;
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** An address that a transaction may have changed the asset of. */
export interface TouchedAddress {
  readonly slot: bigint;
  readonly address: string;
}

/** A block that the ledger has written. */
export interface WrittenBlockName {
  readonly slot: bigint;
  readonly blockhash: string;
}

/**
 * Instructions of the token programs by which the holder of an NFT changes without a movement: Approve, Revoke,
 * SetAuthority, CloseAccount, FreezeAccount, ThawAccount, ApproveChecked. Source: spl-token, instruction.rs.
 */
const tokenTags = [4, 5, 6, 9, 10, 11, 13];
/**
 * Instructions of the token metadata and token group interfaces, by the first eight bytes: Initialize, UpdateField,
 * RemoveKey, UpdateAuthority; InitializeGroup, UpdateGroupMaxSize, UpdateGroupAuthority, InitializeMember. Source:
 * spl-token-metadata-interface and spl-token-group-interface: SHA-256 of their names.
 */
const interfaceNames = [
  "spl_token_metadata_interface:initialize_account",
  "spl_token_metadata_interface:updating_field",
  "spl_token_metadata_interface:remove_key_ix",
  "spl_token_metadata_interface:update_the_authority",
  "spl_token_group_interface:initialize_token_group",
  "spl_token_group_interface:update_group_max_size",
  "spl_token_group_interface:update_authority",
  "spl_token_group_interface:initialize_member",
];

const interfaceTags = interfaceNames.map((name) =>
  new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, 16),
);

interface RawCall {
  readonly slot: string;
  readonly blockhash: string;
  readonly transaction_index: number;
  readonly signature: string;
  readonly position: number;
  readonly outer_index: number;
  readonly stack_height: number | null;
  readonly program_id: string;
  readonly accounts: readonly string[];
  readonly hex: string;
}

const window = "network = {network:String} AND slot >= {from:UInt64} AND slot <= {to:UInt64}";
const settings = { max_threads: 1, max_execution_time: 60 } as const;

/** What the blocks of the ledger say of assets. Blocks that left the chain are among them, each row once. */
export class AssetBlocks {
  readonly #connection: Pick<LedgerConnection, "query">;

  constructor(connection: Pick<LedgerConnection, "query">) {
    this.#connection = connection;
  }

  /** Blocks of some slots, in order. @throws {LedgerUnavailableError | LedgerQueryError} */
  async blocks(network: Network, { from, to }: Slots): Promise<readonly WrittenBlockName[]> {
    const rows = await this.#connection.query<{ slot: string; blockhash: string }>(
      `SELECT DISTINCT slot, blockhash FROM blocks WHERE ${window} ORDER BY slot, blockhash`,
      { network, from, to },
      settings,
    );
    return rows.map(({ slot, blockhash }) => ({ slot: BigInt(slot), blockhash }));
  }

  /** All calls of the transactions that called a program and succeeded, in the order of execution. */
  async calls(network: Network, { from, to }: Slots, program: string): Promise<readonly BlockCall[]> {
    const transaction = "(slot, transaction_index, blockhash)";
    const rows = await this.#connection.query<RawCall>(
      "SELECT slot, blockhash, transaction_index, signature, position, outer_index, stack_height, program_id, " +
        `accounts, hex(data) AS hex FROM instructions FINAL WHERE ${window} AND success AND ${transaction} GLOBAL IN ` +
        `(SELECT slot, transaction_index, blockhash FROM instructions WHERE ${window} AND program_id = {program:String}) ` +
        "ORDER BY slot, blockhash, transaction_index, position",
      { network, from, to, program },
      settings,
    );
    return rows.map((row) => ({
      slot: BigInt(row.slot),
      blockhash: row.blockhash,
      transactionIndex: row.transaction_index,
      signature: row.signature,
      position: row.position,
      outer: row.outer_index,
      stackHeight: row.stack_height,
      programId: row.program_id,
      accounts: row.accounts,
      data: Buffer.from(row.hex, "hex"),
    }));
  }

  /**
   * Addresses that may be assets, or belong to ones, and that transactions may have changed: the accounts of calls of
   * `programs`, accounts and mints of certain calls of the token programs, and mints and accounts of tokens without
   * decimals that moved.
   */
  async touched(
    network: Network,
    { from, to }: Slots,
    { programs, tokenPrograms }: { readonly programs: readonly string[]; readonly tokenPrograms: readonly string[] },
  ): Promise<readonly TouchedAddress[]> {
    const ofTokens = "success AND has({tokenPrograms:Array(String)}, program_id)";
    const isTag = `reinterpretAsUInt8(substring(data, 1, 1)) IN (${tokenTags.join(",")}) AND length(data) < 64`;
    const isInterface = `lower(hex(substring(data, 1, 8))) IN (${interfaceTags.map((tag) => `'${tag}'`).join(",")})`;
    const sql =
      "SELECT max(slot) AS slot, address FROM (" +
      `SELECT slot, arrayJoin(accounts) AS address FROM instructions WHERE ${window} AND success ` +
      "AND has({programs:Array(String)}, program_id) UNION ALL " +
      `SELECT slot, arrayJoin(arraySlice(accounts, 1, 2)) AS address FROM instructions WHERE ${window} AND ${ofTokens} ` +
      `AND ((${isTag}) OR ${isInterface}) UNION ALL ` +
      `SELECT slot, arrayJoin([mint, to_account]) AS address FROM token_movements WHERE ${window} ` +
      "AND (decimals = 0 OR decimals IS NULL)" +
      ") WHERE address != '' GROUP BY address ORDER BY slot, address";
    const rows = await this.#connection.query<{ slot: string; address: string }>(
      sql,
      { network, from, to, programs, tokenPrograms },
      settings,
    );
    return rows.map(({ slot, address }) => ({ slot: BigInt(slot), address }));
  }
}

/** What the index of assets reads of blocks. */
export type LedgerAssetBlocks = Pick<AssetBlocks, keyof AssetBlocks>;
