import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { webhookFilters } from "@sluice/contract/schemas";
import { metaplexMetadataAddress, tokenMetadataProgram } from "@sluice/wire/accounts/metaplex";
import { mplCoreProgram } from "@sluice/wire/accounts/mpl-core";
import { addressBytes } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { key } from "../../../../parser/testing/built.ts";
import { addressOf, scenario } from "../../../../parser/testing/scenario.ts";
import { BlockReader } from "../../events/index.ts";
import { decimal } from "../../oracle/index.ts";
import { switchesOf } from "../model/compiled-webhook.ts";
import { type TradeConditions, tradeConditionsOf } from "../model/trade-conditions.ts";
import type { AccountAnswer, AccountQuestion } from "./account-reads.ts";
import { EventBodies } from "./event-bodies.ts";
import { EventPrices } from "./event-prices.ts";
import { EventTrades } from "./event-trades.ts";
import { NftCollections } from "./nft-collections.ts";

const network = "devnet";
const mint = addressOf("mint");
const [collection, dollar] = [key(90), key(91)];
const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const metadata = metaplexMetadataAddress(mint, sha256) ?? "";

/** A sale by Magic Eden's program, for which the call states buyer, seller, mint and price. */
const sale = scenario({
  calls: [
    {
      program: "M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K",
      accounts: ["payer", "seller", "one", "two", "mint"],
      data: `5bdc31dfcc8135c10000${"00ca9a3b00000000"}`,
    },
  ],
});
/** A swap of 3 whole tokens of 6 decimals, by a program that nothing knows. */
const swap = scenario({
  calls: [
    {
      program: addressOf("router"),
      accounts: ["payer"],
      data: "01",
      inner: [
        {
          program: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
          accounts: ["mine", "pool", "payer"],
          data: "03c0c62d0000000000",
        },
        {
          program: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
          accounts: ["vault", "other", "owner"],
          data: "030700000000000000",
        },
      ],
    },
  ],
  tokens: {
    mine: { mint: dollar, owner: "payer", before: 3_000_000n, after: 0n },
    pool: { mint: dollar, owner: "owner", before: 0n, after: 3_000_000n },
    vault: { mint: key(92), owner: "owner", before: 7n, after: 0n },
    other: { mint: key(92), owner: "payer", before: 0n, after: 7n },
  },
});

const block = {
  slot: 9n,
  parentSlot: 8n,
  blockhash: key(200),
  previousBlockhash: key(199),
  blockTime: 1_790_000_000n,
  blockHeight: 9n,
  transactions: [sale.transaction, swap.transaction],
  rewards: [],
};

function metadataOf(named: string, isVerified: boolean): string {
  const writer = new ByteWriter().u8(4).bytes(new Uint8Array(64)).u32(0).u32(0).u32(0).u16(0).u8(0);
  const flags = writer.u8(1).u8(1).u8(0).u8(0);
  const bytes = flags
    .u8(1)
    .u8(isVerified ? 1 : 0)
    .bytes(addressBytes(named))
    .finish();
  return Buffer.from(bytes).toString("base64");
}

function stand() {
  const accounts = new Map<string, { readonly owner: string; readonly data: string }>();
  const world = {
    isAway: false,
    asked: [] as string[],
    prices: new Map([["USDC", decimal("0.99")]]),
    pricesAway: false,
  };
  const read = async ({ account }: AccountQuestion): Promise<AccountAnswer | null> => {
    world.asked.push(account);
    if (world.isAway) return null;
    const held = accounts.get(account);
    return { slot: 9n, account: held === undefined ? null : { owner: held.owner, data: [held.data, "base64"] } };
  };
  const prices = new EventPrices({
    prices: {
      at: async (atMs) => {
        if (world.pricesAway) throw new Error("the ledger is away");
        return atMs === 1_790_000_000_000 ? world.prices : new Map();
      },
    },
    symbolsOf: () => new Map([[dollar, "USDC"]]),
  });
  const trades = new EventTrades({ collections: new NftCollections({ read }), prices });
  const events = new BlockReader().events(block);
  const decide = (index: number, filters: object) => {
    const conditions = tradeConditionsOf(webhookFilters.parse(filters)) as TradeConditions;
    const transaction = events.transactions[index];
    if (transaction === undefined) throw new Error("no such transaction");
    return trades.decide(transaction, { network, block, conditions });
  };
  return { accounts, world, trades, events, decide };
}

test("a sale is of a collection where the chain says so of its NFT, which is read once", async () => {
  const { accounts, world, decide } = stand();
  accounts.set(mint, { owner: key(1), data: "" });
  accounts.set(metadata, { owner: tokenMetadataProgram, data: metadataOf(collection, true) });
  expect(await decide(0, { nft: { collection } })).toBe(true);
  expect(await decide(0, { nft: { collection: key(93) } })).toBe(false);
  expect(await decide(0, { nft: { collection, event_types: ["bid"] } })).toBe(false);
  expect(await decide(0, { nft: { collection, marketplaces: ["tensor_swap"] } })).toBe(false);
  expect(world.asked).toEqual([mint, metadata]);
});

test("an asset of MPL Core is of the collection that may change it", async () => {
  const { accounts, decide } = stand();
  const head = new ByteWriter()
    .u8(1)
    .bytes(addressBytes(key(8)))
    .u8(2)
    .bytes(addressBytes(collection));
  const data = Buffer.from(head.u32(0).u32(0).u8(0).finish()).toString("base64");
  accounts.set(mint, { owner: mplCoreProgram, data });
  expect(await decide(0, { nft: { collection } })).toBe(true);
  expect(await decide(0, { nft: { collection: key(8) } })).toBe(false);
});

test("a collection that has not verified the NFT, or that another program claims, is none", async () => {
  for (const account of [
    { owner: tokenMetadataProgram, data: metadataOf(collection, false) },
    { owner: key(5), data: metadataOf(collection, true) },
    { owner: tokenMetadataProgram, data: "AAAA" },
  ]) {
    const { accounts, decide } = stand();
    accounts.set(mint, { owner: key(1), data: "" });
    accounts.set(metadata, account);
    expect(await decide(0, { nft: { collection } })).toBe(false);
  }
});

test("a sale is not decided while no node tells of its NFT", async () => {
  const { accounts, world, decide } = stand();
  world.isAway = true;
  expect(await decide(0, { nft: { collection } })).toBeNull();
  world.isAway = false;
  accounts.set(metadata, { owner: tokenMetadataProgram, data: metadataOf(collection, true) });
  expect(await decide(0, { nft: { collection } })).toBe(true);
});

test("a swap is worth what was given at the time of its block, and is not decided while prices cannot be read", async () => {
  const { world, decide } = stand();
  expect(await decide(1, { defi: { min_usd_value: 2.97 } })).toBe(true);
  expect(await decide(1, { defi: { min_usd_value: 2.98 } })).toBe(false);
  world.pricesAway = true;
  expect(await decide(1, { defi: { min_usd_value: 2.97 } })).toBeNull();
  world.pricesAway = false;
  world.prices = new Map();
  expect(await decide(1, { defi: { min_usd_value: 0 } })).toBe(false);
});

test("what is not decided waits, what is not asked for is no event, and a later attempt asks nothing again", async () => {
  const { world, trades, events } = stand();
  const bodies = new EventBodies({
    blocks: { find: async () => events },
    states: { read: async () => null, changed: async () => true },
    trades,
  });
  const place = {
    network,
    event: "transaction.confirmed",
    slot: 9n,
    blockhash: block.blockhash,
    account: null,
  } as const;
  // The filters as they are by now ask for nothing that could be met.
  const present = switchesOf(JSON.stringify({ defi: { min_usd_value: 1_000 } }));
  const read = (least: number | null, attempts = 0) => {
    const undecided = least === null ? null : JSON.stringify({ defi: { min_usd_value: least } });
    return bodies.data({ ...place, txIndex: 1, detail: null, attempts, undecided }, present);
  };
  expect(await read(1)).toMatchObject({ ok: true });
  expect(await read(null)).toMatchObject({ ok: true });
  expect(await read(5)).toEqual({ ok: false, code: "NO_EVENT" });
  expect(await read(5, 1)).toMatchObject({ ok: true });
  world.pricesAway = true;
  expect(await read(1)).toEqual({ ok: false, code: "AWAY" });
});
