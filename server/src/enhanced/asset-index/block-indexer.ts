import type { Network } from "@sluice/contract/tiers";
import { bubblegumProgram, type LeafChange, leafChangesOf } from "@sluice/parser";
import {
  type AssetRow,
  anyAsset,
  type BlockCall,
  type IndexedAsset,
  type LedgerAssetBlocks,
  type LedgerAssetReads,
  type LedgerAssetStore,
  type TreeNodeRow,
} from "../../ledger/index.ts";
import type { AssetIndexEvents } from "./events.ts";
import { type AssetNodes, NodeReads } from "./node-reads.ts";
import { changedCollections } from "./passed-on.ts";
import { type AssetReadings, readAssets } from "./readings.ts";
import { leafRow, nodeRows, readingRow } from "./rows.ts";
import { assetPrograms, assetsOfAccounts, mayBeAsset, tokenPrograms } from "./touched.ts";
import type { Unsettled } from "./unsettled.ts";

export interface BlockIndexerDependencies {
  readonly store: Pick<LedgerAssetStore, "write">;
  readonly reads: Pick<LedgerAssetReads, "known" | "list" | "byIds">;
  readonly blocks: Pick<LedgerAssetBlocks, "calls" | "touched">;
  readonly nodes: AssetNodes;
  readonly unsettled: Unsettled;
  readonly events: Pick<AssetIndexEvents, "changesIndexed" | "readingsIndexed" | "holdersRefused">;
}

/** Assets that are read and written together. */
const assetsAtOnce = 200;
/** Assets of one page of a collection that has changed. */
const pageSize = 1_000;

interface Slots {
  readonly from: bigint;
  readonly to: bigint;
}

/** Puts into the index what blocks of the ledger changed. All of it may be repeated. */
export class BlockIndexer {
  readonly #network: Network;
  readonly #dependencies: BlockIndexerDependencies;

  constructor(network: Network, dependencies: BlockIndexerDependencies) {
    this.#network = network;
    this.#dependencies = dependencies;
  }

  /** @throws {Error} when the ledger or the nodes do not answer; the same may be asked again */
  async index(slots: Slots): Promise<void> {
    await this.#indexLeaves(slots);
    await this.#indexAccounts(slots);
  }

  async #indexLeaves(slots: Slots): Promise<void> {
    const { blocks, store, events } = this.#dependencies;
    const rows: AssetRow[] = [];
    const nodes: TreeNodeRow[] = [];
    for (const [call, change] of changesOf(await blocks.calls(this.#network, slots, bubblegumProgram))) {
      rows.push(leafRow(call, change));
      nodes.push(...nodeRows(call, change));
    }
    if (rows.length === 0) return;
    await store.write(this.#network, rows, nodes);
    events.changesIndexed(this.#network, rows.length);
  }

  async #indexAccounts(slots: Slots): Promise<void> {
    const { blocks, nodes } = this.#dependencies;
    const touched = await blocks.touched(this.#network, slots, { programs: assetPrograms, tokenPrograms });
    const slotOf = new Map(touched.map(({ address, slot }) => [address, slot]));
    const addresses = [...slotOf.keys()].filter(mayBeAsset);
    if (addresses.length === 0) return;
    const reads = new NodeReads(nodes, { commitment: "confirmed", minimumSlot: slots.to });
    const { ids, holders, gone } = assetsOfAccounts(await reads.accounts(addresses));
    const changed = new Map<string, bigint>();
    for (const [id, address] of ids) changed.set(id, slotOf.get(address) ?? slots.to);
    for (const id of await this.#dependencies.reads.known(this.#network, gone)) {
      changed.set(id, slotOf.get(id) ?? slots.to);
    }
    await this.read(changed, { minimumSlot: slots.to, holders });
  }

  /**
   * Reads assets from nodes and writes what they are, confirmed; they are settled later.
   *
   * @param changed - the slot in which each was changed; 0 where nobody knows
   * @throws {Error} when the ledger or the nodes do not answer
   */
  async read(
    changed: ReadonlyMap<string, bigint>,
    of: { readonly minimumSlot: bigint; readonly holders: ReadonlyMap<string, readonly string[]> },
  ): Promise<void> {
    const ids = [...changed.keys()];
    for (let at = 0; at < ids.length; at += assetsAtOnce) {
      await this.#readGroup(ids.slice(at, at + assetsAtOnce), changed, of);
    }
  }

  async #readGroup(
    ids: readonly string[],
    changed: ReadonlyMap<string, bigint>,
    {
      minimumSlot,
      holders: touchedHolders,
    }: { readonly minimumSlot: bigint; readonly holders: ReadonlyMap<string, readonly string[]> },
  ): Promise<void> {
    const { store, reads, nodes, unsettled, events } = this.#dependencies;
    const known = await reads.byIds(this.#network, ids);
    const holders = new Map(
      ids.map((id) => {
        const before = known.get(id)?.holding.tokenAccount ?? "";
        return [id, [...(touchedHolders.get(id) ?? []), ...(before === "" ? [] : [before])]];
      }),
    );
    const terms = { commitment: "confirmed", minimumSlot, holders } as const;
    const { slot, assets, unheld } = await readAssets(nodes, ids, terms);
    await this.readMembers({ slot, assets }, known);
    const rows = ids.flatMap((id) => {
      const asset = assets.get(id) ?? null;
      const isNews =
        asset === null ? known.has(id) : known.has(id) || asset.source !== "none" || asset.token?.decimals === 0;
      if (!isNews) return [];
      const place = { slot, isFinal: false, changedSlot: changed.get(id) ?? 0n, known: known.get(id) };
      return [readingRow(id, asset, place)];
    });
    await store.write(this.#network, rows);
    for (const { asset, changedSlot } of rows) unsettled.add({ asset, slot, changedSlot });
    events.readingsIndexed(this.#network, "confirmed", rows.length);
    events.holdersRefused(this.#network, unheld.size);
  }

  /**
   * Reads the assets of collections again that pass on something else than the index knows. It comes before the
   * collections themselves are written: a process that is killed between finds them changed again.
   *
   * @throws {Error} when the ledger or the nodes do not answer
   */
  async readMembers(
    { slot, assets }: Pick<AssetReadings, "slot" | "assets">,
    known: ReadonlyMap<string, IndexedAsset>,
  ): Promise<void> {
    for (const collection of changedCollections(assets, known)) {
      const members = (await this.#assetsOf(collection)).filter((id) => !assets.has(id));
      // Their own slot of change stays.
      await this.read(new Map(members.map((id) => [id, 0n])), { minimumSlot: slot, holders: new Map() });
    }
  }

  async #assetsOf(collection: string): Promise<readonly string[]> {
    const { reads } = this.#dependencies;
    const ids: string[] = [];
    for (;;) {
      const last = ids.at(-1);
      const after = last === undefined ? null : { slot: 0n, asset: last };
      const filter = { ...anyAsset, collection, interfaces: ["MplCoreAsset"], unverifiedCollections: true };
      const page = { sort: "id", order: "asc", after, before: null, skip: 0, limit: pageSize } as const;
      const found = await reads.list(this.#network, filter, page);
      ids.push(...found.map(({ asset }) => asset));
      if (found.length < pageSize) return ids;
    }
  }
}

/** The changes of leaves with the call of each, transaction by transaction. */
function changesOf(calls: readonly BlockCall[]): readonly (readonly [BlockCall, LeafChange])[] {
  const transactions = Map.groupBy(calls, ({ blockhash, transactionIndex }) => `${blockhash} ${transactionIndex}`);
  return [...transactions.values()].flatMap((group) =>
    leafChangesOf(group).flatMap((change) => {
      const call = group[change.position];
      return call === undefined ? [] : [[call, change] as const];
    }),
  );
}
