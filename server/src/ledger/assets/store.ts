import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import { assetProgressTable, assetsTable, assetValuesTable, treeNodesTable } from "../asset-tables.ts";
import { type HeldIdentity, isSameHeldChain } from "../chain/store.ts";
import type { LedgerConnection } from "../connection.ts";
import { type AssetPlace, type AssetRow, type TreeNodeRow, valuesOf } from "./asset-rows.ts";

export interface AssetStoreDependencies {
  readonly connection: Pick<LedgerConnection, "query" | "insertRows">;
  readonly clock: Clock;
  readonly random: Random;
}

/** How far something that feeds the index has come. */
export interface AssetProgress {
  readonly state: string;
  readonly version: bigint;
}

const placed = (network: Network, { slot, transactionIndex, position, blockhash }: AssetPlace, at: number) => ({
  ...{ network, slot, transaction_index: transactionIndex, position, blockhash, at },
});

/** What a row without a description has in its columns. */
const undescribed = {
  ...{ described: false, interface: "", name: "", json_uri: "", authority: "", collection: "", body: "", royalty: 0 },
  ...{ collection_verified: false, creators: [], creators_verified: [] },
};

function described({ description }: AssetRow): object {
  if (description === null) return undescribed;
  const { name, jsonUri, authority, collection, royalty, body, creators } = description;
  return {
    ...{ described: true, interface: description.interface, name, json_uri: jsonUri, authority, collection, royalty },
    ...{ collection_verified: description.collectionVerified, creators, body },
    creators_verified: description.creatorsVerified,
  };
}

/** The index of assets, as it is written. All writing may be repeated: a row that is there twice counts once. */
export class AssetStore {
  readonly #dependencies: AssetStoreDependencies;

  constructor(dependencies: AssetStoreDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Writes rows: what lists find candidates by first, so that no row of an asset is missed by a list.
   * @throws {LedgerUnavailableError | LedgerQueryError} some may be there then; write the same again
   */
  async write(network: Network, rows: readonly AssetRow[], nodes: readonly TreeNodeRow[] = []): Promise<void> {
    const at = this.#dependencies.clock.now();
    const values = new Map<string, object>();
    for (const row of rows) {
      for (const [kind, value] of valuesOf(row)) {
        values.set(`${kind} ${value} ${row.asset}`, { network, kind, value, asset: row.asset, at });
      }
    }
    await this.#insert(assetValuesTable.name, [...values.values()]);
    await this.#insert(
      treeNodesTable.name,
      nodes.map(({ tree, node, sequence, place, hash }) => ({
        ...placed(network, place, at),
        tree,
        node,
        sequence,
        hash,
      })),
    );
    await this.#insert(
      assetsTable.name,
      rows.map((row) => rowOf(network, row, at)),
    );
  }

  /** Null before there is any, or when what there is was of another chain. */
  async progress(network: Network, name: string, chain: HeldIdentity): Promise<AssetProgress | null> {
    const [row] = await this.#dependencies.connection.query<
      Record<"state" | "version" | "genesis_hash" | "first_blockhash", string>
    >(
      `SELECT state, version, genesis_hash, first_blockhash FROM ${assetProgressTable.name} FINAL ` +
        "WHERE network = {network:String} AND name = {name:String}",
      { network, name },
    );
    if (row === undefined) return null;
    const of = { genesisHash: row.genesis_hash, firstBlockhash: row.first_blockhash };
    if (!isSameHeldChain(of, chain)) return null;
    return { state: row.state, version: BigInt(row.version) };
  }

  /** @throws {LedgerUnavailableError | LedgerQueryError} */
  async saveProgress(
    network: Network,
    chain: HeldIdentity,
    { name, state, version }: AssetProgress & { readonly name: string },
  ): Promise<void> {
    const at = this.#dependencies.clock.now();
    const row = { network, name, at, version, state, genesis_hash: chain.genesisHash };
    await this.#insert(assetProgressTable.name, [{ ...row, first_blockhash: chain.firstBlockhash }]);
  }

  async #insert(table: string, rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    const { connection, random } = this.#dependencies;
    // A token of its own: rows that are there twice count once, and a token may outlive a kill without its rows.
    const token = `${table}-${Buffer.from(random.bytes(16)).toString("hex")}`;
    await connection.insertRows(table, { kind: "rows", rows }, token);
  }
}

function rowOf(network: Network, row: AssetRow, at: number): object {
  const { asset, place, changedSlot, signature, operation, holding, leaf } = row;
  const { owner, delegate, frozen, burnt, tokenAccount, supply } = holding;
  return {
    ...placed(network, place, at),
    ...{
      asset,
      signature,
      operation,
      changed_slot: changedSlot,
      owner,
      delegate,
      frozen,
      burnt,
      supply,
      token_account: tokenAccount,
    },
    ...{ tree: leaf?.tree ?? "", leaf_index: leaf?.leafIndex ?? 0n, sequence: leaf?.sequence ?? 0n },
    ...{ data_hash: leaf?.dataHash ?? "", creator_hash: leaf?.creatorHash ?? "", leaf_hash: leaf?.leafHash ?? "" },
    ...described(row),
  };
}

/** What feeds the index uses. */
export type LedgerAssetStore = Pick<AssetStore, keyof AssetStore>;
