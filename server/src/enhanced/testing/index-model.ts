import type {
  AssetRow,
  BlockCall,
  ChainHeld,
  IndexedAsset,
  LedgerAssetBlocks,
  LedgerAssetReads,
  LedgerAssetStore,
  TreeNodeRow,
} from "../../ledger/index.ts";

/** A block of a model ledger: what it tells the index. */
export interface ModelBlock {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly calls: readonly BlockCall[];
  readonly touched: readonly string[];
}

const isLater = (one: AssetRow, other: AssetRow): boolean => {
  const [a, b] = [one.place, other.place];
  if (a.slot !== b.slot) return a.slot > b.slot;
  if (a.transactionIndex !== b.transactionIndex) return a.transactionIndex > b.transactionIndex;
  return a.position >= b.position;
};

/** The tables of the index in memory, with the blocks that they are made from. */
export class IndexModel {
  readonly blocks: ModelBlock[] = [];
  readonly dropped = new Set<string>();
  readonly rows: AssetRow[] = [];
  readonly nodes: TreeNodeRow[] = [];
  /** Slots below it are final. */
  finalBefore = 0n;
  /** Thrown by every call while it is not null, as a process is that was killed. */
  fault: Error | null = null;
  readonly #progress = new Map<string, { state: string; version: bigint }>();

  readonly chain = {
    held: async (): Promise<ChainHeld> => {
      this.#alive();
      const slots = this.blocks.map(({ slot }) => slot);
      const [from, to] = [slots.reduce(least, slots[0] ?? 0n), slots.reduce(greatest, 0n)];
      const ranges = this.finalBefore > from ? [{ from, to: this.finalBefore - 1n }] : [];
      return { ranges, finalBefore: this.finalBefore, blocks: slots.length === 0 ? null : { from, to } };
    },
  };

  readonly blockReads: LedgerAssetBlocks = {
    blocks: async (_network, { from, to }) => {
      this.#alive();
      return this.blocks.filter(({ slot }) => slot >= from && slot <= to).sort((a, b) => Number(a.slot - b.slot));
    },
    calls: async (_network, { from, to }) => {
      this.#alive();
      return this.blocks.filter(({ slot }) => slot >= from && slot <= to).flatMap(({ calls }) => calls);
    },
    touched: async (_network, { from, to }) => {
      this.#alive();
      const slots = new Map<string, bigint>();
      for (const { slot, touched } of this.blocks) {
        if (slot < from || slot > to) continue;
        for (const address of touched) slots.set(address, greatest(slots.get(address) ?? 0n, slot));
      }
      return [...slots].map(([address, slot]) => ({ address, slot }));
    },
  };

  readonly store: LedgerAssetStore = {
    write: async (_network, rows, nodes = []) => {
      this.#alive();
      this.rows.push(...rows);
      this.nodes.push(...nodes);
    },
    progress: async (_network, name) => {
      this.#alive();
      return this.#progress.get(name) ?? null;
    },
    saveProgress: async (_network, _chain, { name, state, version }) => {
      this.#alive();
      const before = this.#progress.get(name);
      if (before === undefined || version > before.version) this.#progress.set(name, { state, version });
    },
  };

  readonly reads: LedgerAssetReads = {
    byIds: async (_network, ids) => {
      this.#alive();
      return new Map([...this.newest()].filter(([id]) => ids.includes(id)));
    },
    known: async (_network, addresses) => {
      this.#alive();
      return new Set(this.rows.map(({ asset }) => asset).filter((asset) => addresses.includes(asset)));
    },
    unsettled: async (_network, limit) => {
      this.#alive();
      const newest = new Map<string, AssetRow>();
      for (const row of this.rows) {
        const before = newest.get(row.asset);
        if (row.signature === "" && (before === undefined || isLater(row, before))) newest.set(row.asset, row);
      }
      const open = [...newest.values()].filter(({ place }) => place.position === 0).slice(0, limit);
      return open.map(({ asset, place, changedSlot }) => ({ asset, slot: place.slot, changedSlot }));
    },
    list: async (_network, { collection, printOf }) => {
      this.#alive();
      if (printOf !== null) {
        const prints = this.rows.filter(({ edition }) => edition?.kind === "print" && edition.account === printOf);
        const named = new Set(prints.map(({ asset }) => asset));
        return [...this.newest().values()].filter(({ asset }) => named.has(asset));
      }
      return [...this.newest().values()].filter((each) => each.description?.collection === collection);
    },
    count: async () => this.newest().size,
    signatures: async () => [],
    signaturePlaces: async () => new Map(),
    masters: async (_network, accounts) => {
      const masters = this.rows.filter(({ edition }) => edition?.kind === "master");
      return new Map(
        masters.flatMap(({ asset, edition }) =>
          accounts.includes(edition?.account ?? "") ? [[edition?.account ?? "", asset]] : [],
        ),
      );
    },
    treeNodes: async (_network, tree, wanted) => {
      const newest = new Map<number, TreeNodeRow>();
      for (const row of this.nodes) {
        if (row.tree !== tree || !wanted.includes(row.node) || this.dropped.has(row.place.blockhash)) continue;
        const before = newest.get(row.node);
        if (before === undefined || row.sequence >= before.sequence) newest.set(row.node, row);
      }
      return new Map([...newest].map(([node, { hash }]) => [node, hash]));
    },
    treeDepth: async (_network, tree) => {
      const highest = Math.max(0, ...this.nodes.filter((row) => row.tree === tree).map(({ node }) => node));
      return highest === 0 ? null : Math.floor(Math.log2(highest));
    },
  };

  /** Every asset as its newest rows say, those of blocks that left the chain apart. */
  newest(): ReadonlyMap<string, IndexedAsset> {
    const ofAsset = Map.groupBy(
      this.rows.filter(({ place }) => !this.dropped.has(place.blockhash)),
      ({ asset }) => asset,
    );
    const found = new Map<string, IndexedAsset>();
    for (const [asset, rows] of ofAsset) {
      const [first] = rows;
      if (first === undefined) continue;
      const newest = rows.reduce((last, row) => (isLater(row, last) ? row : last), first);
      if (newest.operation === "absent") continue;
      const described = rows.filter(({ description }) => description !== null);
      const told = described.reduce<AssetRow | null>(
        (last, row) => (last === null || isLater(row, last) ? row : last),
        null,
      );
      const isSettled = described.some(({ place, signature }) => place.position === 1 || signature !== "");
      const slots = rows.map(({ changedSlot, place }) => (changedSlot === 0n ? place.slot : changedSlot));
      const [created, updated] = [slots.reduce(least), slots.reduce(greatest)];
      const { holding, leaf } = newest;
      found.set(asset, { asset, created, updated, isSettled, holding, leaf, description: told?.description ?? null });
    }
    return found;
  }

  #alive(): void {
    if (this.fault !== null) throw this.fault;
  }
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const greatest = (one: bigint, other: bigint): bigint => (one > other ? one : other);
