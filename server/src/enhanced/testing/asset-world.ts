import type { Random } from "@sluice/lib";
import type { LeafMetadata } from "@sluice/parser";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { addressAt } from "@sluice/wire/bytes";
import type { ChainValue } from "../../chain/index.ts";
import type { BlockCall } from "../../ledger/index.ts";
import type { AssetNodes } from "../asset-index/node-reads.ts";
import { type Accounts, addCoreAsset, addNft, addressOf, mintBytes } from "./asset-accounts.ts";
import type { IndexModel, ModelBlock } from "./index-model.ts";
import { depth, leafCalls, ModelTree } from "./leaf-calls.ts";

/** A block of the model chain, with the state after it. */
interface WorldBlock extends ModelBlock {
  readonly parent: WorldBlock | null;
  readonly accounts: Accounts;
  readonly tree: ModelTree;
}

const owners = Array.from({ length: 4 }, (_, at) => addressOf(700 + at));
const collection = addressOf(799);

const metadataOf = (name: string): LeafMetadata => ({
  ...{ form: "V1", name, symbol: "", uri: `https://meta.example/${name}`, sellerFeeBasisPoints: 300 },
  ...{ primarySaleHappened: false, isMutable: true, editionNonce: null, tokenStandard: "NonFungible" },
  ...{ collection: null, uses: null, tokenProgramVersion: 0, creators: [] },
});

/** A node that is behind what was asked for. */
class BehindError extends Error {}

/**
 * A chain of blocks with NFTs, assets of MPL Core and a tree of compressed ones, that forks: its nodes show the state
 * after some confirmed block, which may leave the chain, and after the final one, which does not.
 */
export class AssetWorld {
  readonly #random: Random;
  readonly #model: IndexModel;
  #tip: WorldBlock;
  #final: WorldBlock;
  #names = 0;

  constructor(random: Random, model: IndexModel) {
    this.#random = random;
    this.#model = model;
    const tree = new ModelTree(addressOf(600));
    const [accounts, calls, touched] = [new Map() as Accounts, [], []];
    this.#tip = { slot: 1n, blockhash: "b1", parent: null, accounts, tree, calls, touched };
    this.#final = this.#tip;
    model.blocks.push(this.#tip);
  }

  /** The assets that there are after the final block, with who has each. */
  expected(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const [address, { program, data }] of this.#final.accounts) {
      const holder = holderOf(this.#final.accounts, address);
      if (holder !== null) found.set(address, holder);
      if (program === mplCoreProgram && data[0] === 1) found.set(address, addressAt(data, 1));
    }
    this.#final.tree.leaves.forEach((leaf, index) => {
      if (leaf !== null) found.set(this.#final.tree.assetOf(index), leaf.owner);
    });
    return found;
  }

  get tree(): ModelTree {
    return this.#final.tree;
  }

  /** A block on the tip, or on one before it that is not final: then those after that one leave the chain. */
  step(): void {
    if (this.#random.next() < 0.12) this.#fork();
    this.#append();
    if (this.#random.next() < 0.5) this.#finalize(4);
  }

  /** The chain goes beyond every fork, as chains do, and all of it becomes final. */
  settle(): void {
    const last = this.#model.blocks.reduce((highest, { slot }) => greatest(highest, slot), 0n);
    while (this.#tip.slot <= last) this.#append();
    this.#finalize(0);
  }

  readonly nodes: AssetNodes = {
    newestSlot: (commitment) => (commitment === "finalized" ? this.#final : this.#tip).slot as never,
    read: async (method, [of = null], options = {}) => {
      const view = options.commitment === "finalized" ? this.#final : this.#tip;
      if (options.minimumSlot !== undefined && view.slot < options.minimumSlot)
        throw new BehindError("the node is behind");
      if (this.#random.next() < 0.03) throw new Error("the node is away");
      const value = method === "getMultipleAccounts" ? shown(view.accounts, of) : largest(view.accounts, String(of));
      return { context: { slot: view.slot }, value } as ChainValue;
    },
  };

  #fork(): void {
    const dropped: WorldBlock[] = [];
    const length = 1 + Math.floor(this.#random.next() * 3);
    while (dropped.length < length && this.#tip.slot > this.#final.slot && this.#tip.parent !== null) {
      dropped.push(this.#tip);
      this.#tip = this.#tip.parent;
    }
    for (const { blockhash } of dropped) this.#model.dropped.add(blockhash);
  }

  #append(): void {
    this.#names += 1;
    const slot = this.#slotAfterAll();
    const place = { slot, blockhash: `b${this.#names}-${slot}`, transactionIndex: 0, signature: `s${this.#names}` };
    const accounts: Accounts = new Map(this.#tip.accounts);
    const touched: string[] = [];
    const calls: BlockCall[] = [];
    let { tree } = this.#tip;
    for (let at = 0; at < 3; at += 1) {
      const of = { accounts, touched };
      const drawn = this.#random.next();
      if (drawn < 0.3) this.#changeNft(of);
      else if (drawn < 0.6) this.#changeCore(of);
      else tree = this.#changeLeaf(tree, { ...place, transactionIndex: at }, calls);
    }
    const { blockhash } = place;
    this.#tip = { slot, blockhash, parent: this.#tip, accounts, tree, calls, touched };
    this.#model.blocks.push(this.#tip);
  }

  /** Slots of a fork come after those of what it replaces, or between them. */
  #slotAfterAll(): bigint {
    return this.#tip.slot + 1n + BigInt(Math.floor(this.#random.next() * 2));
  }

  #finalize(distance: number): void {
    let block: WorldBlock | null = this.#tip;
    for (let at = 0; at < distance && block !== null; at += 1) block = block.parent;
    if (block === null || block.slot <= this.#final.slot) return;
    this.#final = block;
    this.#model.finalBefore = block.slot + 1n;
  }

  #owner(): string {
    return owners[Math.floor(this.#random.next() * owners.length)] ?? collection;
  }

  #oneOf<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random.next() * list.length)];
  }

  #changeNft({ accounts, touched }: { readonly accounts: Accounts; readonly touched: string[] }): void {
    const mints = [...accounts.keys()].filter((address) => holderOf(accounts, address) !== null);
    const mint = this.#random.next() < 0.5 ? undefined : this.#oneOf(mints);
    if (mint !== undefined && this.#random.next() < 0.3) {
      accounts.set(mint, { program: accounts.get(mint)?.program ?? "", data: mintBytes(0n, 0) });
      touched.push(mint);
      return;
    }
    this.#names += 1;
    const of = mint ?? addressOf(10_000 + this.#names);
    touched.push(of, addNft(accounts, { mint: of, owner: this.#owner() }));
  }

  #changeCore({ accounts, touched }: { readonly accounts: Accounts; readonly touched: string[] }): void {
    const cores = [...accounts].filter(([, { program, data }]) => program === mplCoreProgram && data[0] === 1);
    const id = this.#random.next() < 0.5 ? undefined : this.#oneOf(cores)?.[0];
    if (id !== undefined && this.#random.next() < 0.3) {
      accounts.set(id, { program: accounts.get(id)?.program ?? "", data: Uint8Array.of(0) });
      touched.push(id);
      return;
    }
    this.#names += 1;
    const of = id ?? addressOf(20_000 + this.#names);
    addCoreAsset(accounts, of, this.#owner(), collection);
    touched.push(of);
  }

  #changeLeaf(tree: ModelTree, place: Parameters<typeof leafCalls>[0], calls: BlockCall[]): ModelTree {
    const present = tree.leaves.flatMap((leaf, index) => (leaf === null ? [] : [index]));
    const index = this.#random.next() < 0.5 ? tree.leaves.length : this.#oneOf(present);
    if (index === undefined || index >= 2 ** depth) return tree;
    const owner = this.#owner();
    const leaf = tree.leaves[index] ?? null;
    const isBurn = leaf !== null && this.#random.next() < 0.3;
    const next = isBurn ? null : { owner, delegate: owner, metadata: leaf?.metadata ?? metadataOf(`leaf ${index}`) };
    const after = tree.with(index, next);
    calls.push(...leafCalls(place, leaf === null ? "mint" : isBurn ? "burn" : "transfer", { after, index }));
    return after;
  }
}

const greatest = (one: bigint, other: bigint): bigint => (one < other ? other : one);

/** Who has the only unit of a mint; null for what is no mint with one. */
function holderOf(accounts: Accounts, mint: string): string | null {
  const account = accounts.get(mint);
  if (account?.data.length !== 82 || account.data[36] !== 1) return null;
  const holder = [...accounts.values()].find(({ data }) => data.length === 165 && addressAt(data, 0) === mint);
  return holder === undefined ? null : addressAt(holder.data, 32);
}

function shown(accounts: Accounts, addresses: unknown): unknown[] {
  if (!Array.isArray(addresses)) throw new TypeError("accounts are asked for by their addresses");
  return addresses.map((address) => {
    const account = accounts.get(String(address));
    return account === undefined ? null : { owner: account.program, data: [account.data.toBase64(), "base64"] };
  });
}

function largest(accounts: Accounts, mint: string): unknown[] {
  const held = [...accounts].filter(([, { data }]) => data.length === 165 && addressAt(data, 0) === mint);
  return held.map(([address]) => ({ address, amount: "1", decimals: 0 }));
}
