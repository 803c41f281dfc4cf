import { beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { programs } from "@sluice/wire/programs";
import type { ChainValue } from "../../chain/index.ts";
import { EngineChainError } from "../../engine/index.ts";
import { Coverage } from "../asset-lists/coverage.ts";
import { type Accounts, addCoreAsset, addNft, addressOf } from "../testing/asset-accounts.ts";
import { IndexModel } from "../testing/index-model.ts";
import type { AssetIndexEvents } from "./events.ts";
import { type FillState, saveFill } from "./fill-state.ts";
import { AssetIndex } from "./indexer.ts";
import type { AssetNodes } from "./node-reads.ts";
import { saveSpans } from "./progress.ts";

const network = "devnet";
const chain = { genesisHash: "genesis", firstBlockhash: "first" };
const [collection, owner, buyer] = [addressOf(1), addressOf(2), addressOf(3)];
const members = Array.from({ length: 300 }, (_, at) => addressOf(1_000 + at));

let model: IndexModel;
let clock: ManualClock;
let accounts: Accounts;
let slot: bigint;
/** Addresses that nodes were asked for. */
let asked: string[];
let refusedMints: Set<string>;
let refusals: number;
let postponed: number;
beforeEach(() => {
  [model, clock, accounts, slot, asked] = [new IndexModel(), new ManualClock(), new Map(), 0n, []];
  [refusedMints, refusals, postponed] = [new Set(), 0, 0];
});

const nodes: AssetNodes = {
  newestSlot: () => slot as never,
  read: async (_method, [of = null]) => {
    const value = Array.isArray(of) ? of.map((address) => shown(String(address))) : largest(String(of));
    return { context: { slot }, value } as ChainValue;
  },
};

function shown(address: string): unknown {
  asked.push(address);
  const account = accounts.get(address);
  return account === undefined ? null : { owner: account.program, data: [account.data.toBase64(), "base64"] };
}

function largest(mint: string): unknown {
  if (refusedMints.has(mint)) throw new EngineChainError("Too many accounts provided", -32602);
  return [{ address: holders.get(mint), amount: "1" }];
}

const holders = new Map<string, string>();
const nft = (mint: string, of: string): void => void holders.set(mint, addNft(accounts, { mint, owner: of }));

function opened(): AssetIndex {
  const events: AssetIndexEvents = {
    ...{ changesIndexed: () => undefined, readingsIndexed: () => undefined, indexFailed: () => undefined },
    fillEnded: () => undefined,
    holdersRefused: (_network, count) => {
      refusals += count;
    },
    indexStands: (_network, figures) => {
      ({ postponed } = figures);
    },
  };
  return new AssetIndex({ network, chain }, { ...model, blocks: model.blockReads, nodes, clock, events });
}

/** A block that touched some addresses, final at once. */
function block(...touched: string[]): void {
  slot += 1n;
  model.blocks.push({ slot, blockhash: `b${slot}`, calls: [], touched });
  model.finalBefore = slot + 1n;
}

async function rounds(index: AssetIndex, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await index.round();
    clock.advance(500);
  }
}

const royaltyOf = (id: string): number | undefined => model.newest().get(id)?.description?.royalty;
const ownerOf = (id: string): string | undefined => model.newest().get(id)?.holding.owner;

/** A collection whose assets are all in the index, settled. */
async function indexedCollection(): Promise<AssetIndex> {
  for (const id of members) addCoreAsset(accounts, id, owner, collection);
  const index = opened();
  block(collection, ...members);
  await rounds(index, 8);
  expect(royaltyOf(members[299] ?? "")).toBe(250);
  asked = [];
  return index;
}

test("a transfer within a collection of MPL Core reads the asset and the collection, and no other asset", async () => {
  const index = await indexedCollection();
  const [sent = ""] = members;
  addCoreAsset(accounts, sent, buyer, collection);
  block(sent, collection, buyer, programs.system);
  await rounds(index, 3);
  expect(ownerOf(sent)).toBe(buyer);
  expect(members.slice(1).filter((id) => asked.includes(id))).toEqual([]);
  // Each at confirmed, by its accounts, and finalized.
  expect(asked.length).toBeLessThan(25);
});

test("a collection that passes on something else has its assets read again, also after a kill in the middle", async () => {
  await indexedCollection();
  const [first = ""] = members;
  addCoreAsset(accounts, first, owner, collection, 900);
  block(collection);
  let writes = 0;
  const { write } = model.store;
  const killed = {
    ...model.store,
    write: async (...of: Parameters<typeof write>) => {
      writes += 1;
      if (writes > 1) throw new Error("killed");
      await write(...of);
    },
  };
  Object.assign(model, { store: killed });
  const dying = opened();
  await expect(dying.round()).rejects.toThrow("killed");
  expect(members.filter((id) => royaltyOf(id) === 250).length).toBeGreaterThan(0);
  Object.assign(model, { store: { ...killed, write } });
  await rounds(opened(), 8);
  expect([collection, ...members].filter((id) => royaltyOf(id) !== 900)).toEqual([]);
});

test("a mint whose holder nodes refuse holds up no other asset, is told, and is read again a minute later", async () => {
  const [refused, other] = [addressOf(50), addressOf(51)];
  for (const mint of [refused, other]) nft(mint, owner);
  refusedMints.add(refused);
  const index = opened();
  block(refused, other);
  block();
  await rounds(index, 3);
  expect([ownerOf(other), ownerOf(refused), model.newest().get(refused)?.holding.burnt]).toEqual([owner, "", false]);
  expect(model.newest().get(refused)?.description?.name).toBe("Ape 1");
  expect(model.newest().get(other)?.isSettled).toBe(true);
  // Once confirmed and once finalized, and not in every round.
  expect([refusals, postponed]).toEqual([2, 1]);
  refusedMints.clear();
  clock.advance(60_000);
  await rounds(index, 2);
  expect([ownerOf(refused), model.newest().get(refused)?.isSettled, postponed]).toEqual([owner, true, 0]);
});

test("nodes that answer for no mint at all end the round, which is done again", async () => {
  const mints = Array.from({ length: 10 }, (_, at) => addressOf(60 + at));
  for (const mint of mints) nft(mint, owner);
  const { read } = nodes;
  let isAway = true;
  Object.assign(nodes, {
    read: async (...of: Parameters<typeof read>) => {
      if (isAway && of[0] === "getTokenLargestAccounts") throw new EngineChainError("no node answers", null);
      return await read(...of);
    },
  });
  const index = opened();
  block(...mints);
  await expect(index.round()).rejects.toThrow("no node answers");
  isAway = false;
  await rounds(index, 2);
  Object.assign(nodes, { read });
  expect(mints.map(ownerOf)).toEqual(mints.map(() => owner));
});

test("assets with accounts are complete after a fill for as long as no block since it is missing", async () => {
  const state: FillState = {
    cursor: "",
    version: 1n,
    listedSlot: 100n,
    record: {
      ...{ id: "f1", network, state: "done", per_second: 1, assets: 0, read: 0, fault: null },
      of: { authority: null, creator: null, collection: null },
    },
  };
  await saveFill(model.store, { network, chain }, state);
  let version = 0n;
  const complete = async (...spans: readonly (readonly [bigint, bigint])[]) => {
    version += 1n;
    const saved = spans.map(([first, until]) => ({ first, until }));
    await saveSpans(model.store, { network, chain }, { spans: saved, version });
    clock.advance(2_000);
    const { accountsComplete, leavesComplete } = await new Coverage({ ...model, clock }).of(network, chain);
    return [accountsComplete, leavesComplete];
  };
  expect(await complete([90n, 200n])).toEqual([true, false]);
  // Block 101 is the first after the lists.
  expect(await complete([101n, 200n])).toEqual([true, false]);
  expect(await complete([102n, 200n])).toEqual([false, false]);
  expect(await complete([90n, 200n], [210n, 300n])).toEqual([false, false]);
  expect(await complete([90n, 300n])).toEqual([true, false]);
  expect(await complete([1n, 300n])).toEqual([true, true]);
  await saveFill(model.store, { network, chain }, { ...state, version: 2n, listedSlot: null });
  expect(await complete([90n, 300n])).toEqual([false, false]);
});
