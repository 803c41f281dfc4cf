import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { type ParsedTransaction, parseTransaction } from "@sluice/parser";
import { acceptedOffer, exchanged, given, got, strange } from "@sluice/parser/testing/cases";
import { addressOf, scenario } from "@sluice/parser/testing/scenario";
import { type IndexedAsset, LedgerUnavailableError } from "../../ledger/index.ts";
import { RpcStand } from "../../rpc/testing/rpc-stand.ts";
import type { OnChainToken } from "../tokens/tokens.ts";
import { SentenceNames, type SentenceNamesDependencies } from "./sentence-names.ts";

const asking = { network: "mainnet", keyId: "key", nowMs: 0 } as const;
const swap = parseTransaction(scenario({ calls: [strange(["walletA"], [given, got])], tokens: exchanged }));
const sale = parseTransaction(scenario(acceptedOffer));
const [mintA, mintB, nft] = ["mintA", "mintB", "mint"].map(addressOf) as [string, string, string];

type Tokens = SentenceNamesDependencies["tokens"];
const token = (symbol: string | null, name: string | null = null) => ({ symbol, name }) as OnChainToken;
const answering = (records: Readonly<Record<string, OnChainToken>>): Tokens => ({
  read: async (_asking, mints) => ({
    ok: true,
    records: new Map(mints.flatMap((mint) => (records[mint] === undefined ? [] : [[mint, records[mint]]]))),
  }),
});

type Leaves = NonNullable<SentenceNamesDependencies["leaves"]>;
const noLeaves: Leaves = { byIds: async () => new Map() };

async function namesOf(
  tokens: Tokens,
  parsed: readonly ParsedTransaction[],
  certain: Record<string, string> = {},
  leaves: Leaves | null = noLeaves,
) {
  const clock = new ManualClock();
  const { rpc } = new RpcStand();
  const prices = {
    symbolOf: (_network: string, mint: string) => certain[mint] ?? null,
    symbolsOf: () => new Set(["SOL", "USDC"]),
  };
  const reading = new SentenceNames({ rpc, tokens, leaves, prices, nativeSymbol: "XNT", clock }).of(asking, parsed);
  await Promise.resolve();
  clock.advance(999);
  return { reading, clock };
}

describe("symbols", () => {
  test("that are certain are not asked for, others are what the token says", async () => {
    const asked: string[][] = [];
    const tokens = answering({ [mintB]: token("BBB") });
    const counting: Tokens = {
      read: async (who, mints) => {
        asked.push([...mints]);
        return await tokens.read(who, mints);
      },
    };
    const { names, isComplete } = await (await namesOf(counting, [swap], { [mintA]: "USDC" })).reading;
    expect([names.symbolOf(mintA), names.symbolOf(mintB), names.nativeSymbol]).toEqual(["USDC", "BBB", "XNT"]);
    expect({ asked, isComplete }).toEqual({ asked: [[mintB]], isComplete: true });
  });

  test("of a token that calls itself by a certain symbol, or by no symbol, are not used", async () => {
    for (const symbol of ["USDC", "usdc", "$XNT", "WSOL", "a b", "", "x".repeat(13), "A\u202eB", null]) {
      const tokens = answering({ [mintA]: token(symbol), [mintB]: token("BBB") });
      const { names } = await (await namesOf(tokens, [swap])).reading;
      expect([symbol, names.symbolOf(mintA), names.symbolOf(mintB)]).toEqual([symbol, null, "BBB"]);
    }
  });
});

test("the name of an NFT is what its metadata say, without characters that do not show", async () => {
  const tokens = answering({ [nft]: token(null, " Cat\u202e\n #1 ") });
  const { names } = await (await namesOf(tokens, [sale])).reading;
  expect(names.nameOf(nft)).toBe("Cat #1");
});

describe("a compressed NFT", () => {
  const asset = addressOf("asset");
  const facts = {
    ...{ type: "COMPRESSED_NFT_MINT", treeId: addressOf("tree"), assetId: asset, leafIndex: 0n },
    ...{ newLeafOwner: null, oldLeafOwner: null, instructionIndex: 0, innerInstructionIndex: null },
  };
  const [nftOfSale] = sale.nfts;
  if (nftOfSale === undefined) throw new Error("the sale has no NFT");
  const minted: ParsedTransaction = {
    ...sale,
    type: "NFT_MINT",
    nfts: [{ ...nftOfSale, mint: null, compressed: facts }],
    compressed: [facts],
  };
  const asked: Tokens = { read: () => Promise.reject(new Error("nodes do not know it")) };
  const indexed = (name: string | null, isLeaf = true) =>
    ({ leaf: isLeaf ? {} : null, description: name === null ? null : { name } }) as IndexedAsset;
  const having = (entry: IndexedAsset): Leaves => ({
    byIds: async (network, ids) =>
      new Map(ids.flatMap((id) => (`${network} ${id}` === `mainnet ${asset}` ? [[id, entry]] : []))),
  });

  test("has the name that the index has, as other NFTs have theirs", async () => {
    const { names, isComplete } = await (await namesOf(asked, [minted], {}, having(indexed("Leaf\u202e #7 ")))).reading;
    expect([names.nameOf(asset), isComplete]).toEqual(["Leaf #7", true]);
  });

  test("keeps its id where the index has no name, or there is none", async () => {
    for (const leaves of [
      noLeaves,
      null,
      having(indexed(null)),
      having(indexed(" ")),
      having(indexed("Mint", false)),
    ]) {
      const { names, isComplete } = await (await namesOf(asked, [minted], {}, leaves)).reading;
      expect([names.nameOf(asset), isComplete]).toEqual([null, true]);
    }
  });

  test("keeps its id where the ledger is away, others have their names, and it is told", async () => {
    const away: Leaves = { byIds: () => Promise.reject(new LedgerUnavailableError("it is away")) };
    const answered = Promise.withResolvers<void>();
    const { read } = answering({ [nft]: token(null, "Cat #1") });
    const tokens: Tokens = { read: async (...of) => await answered.promise.then(() => read(...of)) };
    const { reading } = await namesOf(tokens, [minted, sale], {}, away);
    answered.resolve();
    const { names, isComplete } = await reading;
    expect([names.nameOf(asset), names.nameOf(nft), isComplete]).toEqual([null, "Cat #1", false]);
  });
});

describe("where nodes", () => {
  test("fail, there are no names, and it is told", async () => {
    const failing: Tokens[] = [
      { read: async () => ({ ok: false, code: "UPSTREAM_TIMEOUT" }) },
      { read: () => Promise.reject(new Error("broken")) },
    ];
    for (const tokens of failing) {
      const { names, isComplete } = await (await namesOf(tokens, [swap], { [mintA]: "USDC" })).reading;
      expect([names.symbolOf(mintA), names.symbolOf(mintB), isComplete]).toEqual(["USDC", null, false]);
    }
  });

  test("do not answer, the sentence waits for a second and no longer", async () => {
    const { reading, clock } = await namesOf({ read: () => new Promise(() => undefined) }, [swap]);
    let isDone = false;
    void reading.then(() => (isDone = true));
    await Promise.resolve();
    expect(isDone).toBe(false);
    clock.advance(1);
    expect((await reading).isComplete).toBe(false);
  });
});

test("what names nothing asks nobody", async () => {
  const tokens: Tokens = { read: () => Promise.reject(new Error("asked")) };
  const none = parseTransaction(scenario({ calls: [] }));
  expect((await (await namesOf(tokens, [none])).reading).isComplete).toBe(true);
});
