import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { decodeBase58 } from "@sluice/wire/base58";
import type { ChainValue } from "../../chain/index.ts";
import { Coverage } from "../asset-lists/coverage.ts";
import { type Accounts, addCoreAsset, addNft, addressOf } from "../testing/asset-accounts.ts";
import { IndexModel } from "../testing/index-model.ts";
import { AssetFills } from "./fills.ts";
import { AssetIndex } from "./indexer.ts";
import type { AssetNodes } from "./node-reads.ts";

const network = "devnet";
const chain = { genesisHash: "genesis", firstBlockhash: "first" };
const everything = { authority: null, creator: null, collection: null };
const noEvents = {
  ...{ changesIndexed: () => undefined, readingsIndexed: () => undefined, indexStands: () => undefined },
  ...{ indexFailed: () => undefined, fillEnded: () => undefined, holdersRefused: () => undefined },
};

interface Listing {
  readonly filters: readonly { readonly memcmp: { readonly offset: number; readonly bytes: string } }[];
  readonly dataSlice: { readonly offset: number; readonly length: number };
}

/** Nodes that list and show accounts. */
class FillStand {
  readonly accounts: Accounts = new Map();
  readonly model = new IndexModel();
  readonly clock = new ManualClock();
  /** Why nodes list nothing; null while they do. */
  refusal: string | null = null;
  listed = 0;
  slot = 5n;
  readonly fills = new AssetFills({
    ...{ store: this.model.store, networks: () => [network], chainOf: () => chain, clock: this.clock },
    random: seededRandom(1),
  });

  constructor() {
    this.model.blocks.push({ slot: 5n, blockhash: "b5", calls: [], touched: [] });
    this.model.finalBefore = 6n;
  }

  index(): AssetIndex {
    const nodes: AssetNodes = {
      newestSlot: () => 5n as never,
      read: async (method, [of = null, config = null]) => this.#answer(method, of, config) as ChainValue,
    };
    const { model, clock } = this;
    return new AssetIndex({ network, chain }, { ...model, blocks: model.blockReads, nodes, clock, events: noEvents });
  }

  async rounds(index: AssetIndex, count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      await index.round();
      this.clock.advance(1_100);
    }
  }

  #answer(method: string, of: unknown, config: unknown): unknown {
    if (method === "getProgramAccounts") {
      return { context: { slot: this.slot }, value: this.#list(String(of), config as Listing) };
    }
    const value = Array.isArray(of)
      ? of.map((address) => {
          const account = this.accounts.get(address);
          return account === undefined ? null : { owner: account.program, data: [account.data.toBase64(), "base64"] };
        })
      : [...this.accounts].flatMap(([address, { data }]) =>
          data.length === 165 && String(of) === this.#addressIn(data) ? [{ address, amount: "1" }] : [],
        );
    return { context: { slot: this.slot }, value };
  }

  #addressIn(data: Uint8Array): string {
    const held = [...this.accounts.keys()].find((address) => {
      const bytes = decodeBase58(address);
      return bytes !== null && Buffer.from(data.subarray(0, 32)).equals(Buffer.from(bytes));
    });
    return held ?? "";
  }

  #list(program: string, { filters, dataSlice }: Listing): unknown {
    if (this.refusal !== null) throw new Error(this.refusal);
    this.listed += 1;
    return [...this.accounts].flatMap(([pubkey, account]) => {
      const isMeant = filters.every(({ memcmp: { offset, bytes } }) => {
        const wanted = Buffer.from(decodeBase58(bytes) ?? []);
        return Buffer.from(account.data.subarray(offset, offset + wanted.length)).equals(wanted);
      });
      if (account.program !== program || !isMeant) return [];
      const { offset, length } = dataSlice;
      return [{ pubkey, account: { data: [account.data.subarray(offset, offset + length).toBase64(), "base64"] } }];
    });
  }
}

function withAssets(): FillStand {
  const stand = new FillStand();
  for (let at = 0; at < 3; at += 1) addNft(stand.accounts, { mint: addressOf(100 + at), owner: addressOf(200) });
  addCoreAsset(stand.accounts, addressOf(300), addressOf(201), addressOf(301));
  return stand;
}

const everyAsset = [addressOf(100), addressOf(101), addressOf(102), addressOf(300), addressOf(301)].toSorted();

test("a fill of everything reads what nodes list of both programs, with owners, and says when it is done", async () => {
  const stand = withAssets();
  const index = stand.index();
  await stand.rounds(index, 2);
  expect(stand.model.newest().size).toBe(0);
  expect(await stand.fills.order(network, { of: everything, per_second: 50 })).toMatchObject({
    ok: true,
    record: { state: "active", assets: null, read: 0 },
  });
  await stand.rounds(index, 4);
  expect([...stand.model.newest().keys()].toSorted()).toEqual(everyAsset);
  expect(stand.model.newest().get(addressOf(100))?.holding.owner).toBe(addressOf(200));
  expect(stand.model.newest().get(addressOf(300))?.holding.owner).toBe(addressOf(201));
  expect(await stand.fills.list()).toMatchObject([{ state: "done", assets: 5, read: 5, fault: null }]);
  // The list is from slot 5, from where on the blocks are indexed.
  const covered = await new Coverage({ store: stand.model.store, clock: stand.clock }).of(network, chain);
  expect(covered).toMatchObject({ since: 5n, accountsComplete: true, leavesComplete: false });
});

test("a fill goes on in another process where it ended, keeps to its rate, and ends when it is cancelled", async () => {
  const stand = new FillStand();
  for (let at = 0; at < 250; at += 1)
    addCoreAsset(stand.accounts, addressOf(1_000 + at), addressOf(201), addressOf(301));
  const ordered = await stand.fills.order(network, { of: everything, per_second: 100 });
  const first = stand.index();
  await first.round();
  await first.round();
  expect(stand.model.newest().size).toBe(100);
  stand.clock.advance(1_000);
  const second = stand.index();
  await second.round();
  expect(stand.model.newest().size).toBe(200);
  expect(await stand.fills.list()).toMatchObject([{ state: "active", assets: 251, read: 200 }]);
  const again = await stand.fills.order(network, { of: everything, per_second: 100 });
  expect(again).toEqual({ ok: false, reason: "busy" });
  expect(await stand.fills.cancel(ordered.ok ? ordered.record.id : "")).toBe(true);
  await stand.rounds(second, 3);
  expect(stand.model.newest().size).toBe(200);
  expect(await stand.fills.cancel("other")).toBe(false);
  expect(await stand.fills.list()).toMatchObject([{ state: "cancelled" }]);
});

test("a fill of a collection or an authority reads those alone", async () => {
  const stand = withAssets();
  addCoreAsset(stand.accounts, addressOf(310), addressOf(201), addressOf(311));
  const index = stand.index();
  await stand.fills.order(network, { of: { ...everything, collection: addressOf(311) }, per_second: 50 });
  await stand.rounds(index, 3);
  expect([...stand.model.newest().keys()]).toEqual([addressOf(310)]);
  // Metadata of the stand are of one authority.
  await stand.fills.order(network, { of: { ...everything, authority: addressOf(90) }, per_second: 50 });
  await stand.rounds(index, 3);
  expect([...stand.model.newest().keys()].toSorted()).toEqual(
    [addressOf(100), addressOf(101), addressOf(102), addressOf(310)].toSorted(),
  );
  expect(stand.accounts.get(addressOf(310))?.program).toBe(mplCoreProgram);
});

test("a fill that nodes do not list says why, and the next one may be ordered", async () => {
  const stand = withAssets();
  stand.refusal = "excluded from account secondary indexes";
  await stand.fills.order(network, { of: everything, per_second: 50 });
  await stand.rounds(stand.index(), 2);
  expect(await stand.fills.list()).toMatchObject([{ state: "failed", fault: stand.refusal }]);
  stand.refusal = null;
  expect(await stand.fills.order(network, { of: everything, per_second: 50 })).toMatchObject({ ok: true });
  await stand.rounds(stand.index(), 3);
  expect(await stand.fills.list()).toMatchObject([{ state: "done", read: 5 }]);
});

test("a network without nodes here is refused", async () => {
  const { model, clock } = new FillStand();
  const parts = { store: model.store, networks: () => [network] as const, clock, random: seededRandom(1) } as const;
  const fills = new AssetFills({ ...parts, chainOf: () => null });
  for (const each of ["testnet", network] as const) {
    expect(await fills.order(each, { of: everything, per_second: 1 })).toEqual({ ok: false, reason: "network" });
  }
  expect(await fills.list()).toEqual([]);
});
