/** The ledger's look-ups on its engine, beside the same look-ups over blocks in memory, for a chain that has run. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConfirmedBlock, packBlock } from "@sluice/encode";
import { systemClock } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { programs } from "@sluice/wire/programs";
import {
  anyTransaction,
  type ChainReads,
  type Ledger,
  openLedger,
  type PlaceRange,
  type TransactionConditions,
  type TransactionPlace,
  type TransactionRow,
} from "../ledger/index.ts";
import { ledgerDirectory, recordingLog } from "../ledger/testing/ledger-directory.ts";
import { LedgerArchive } from "./archive/archive.ts";
import { errorAnswer } from "./archive/node-answers.ts";
import { type DevnetRun, runDevnet } from "./testing/devnet-blocks.ts";
import { parserRow } from "./testing/held-activity.ts";
import { HeldChainModel } from "./testing/held-chain.ts";
import { unreadable } from "./testing/stand.ts";
import { BlockRows } from "./writer/block-rows.ts";

const network = "devnet";
const directory = ledgerDirectory();
let run: DevnetRun;
let ledger: Ledger;
let reads: ChainReads;
let model: HeldChainModel;

/** A block of another fork, which left the chain: the same transactions at other places, under another hash. */
const fork = (block: ConfirmedBlock): ConfirmedBlock => ({
  ...block,
  blockhash: block.previousBlockhash,
  transactions: block.transactions.toReversed(),
});

async function write(blocks: readonly ConfirmedBlock[]): Promise<void> {
  const rows = new BlockRows({ network, votes: true, unreadable });
  for (const block of blocks) rows.add(packBlock(block), 0);
  const [first = 0n, last = 0n] = [blocks[0]?.slot, blocks.at(-1)?.slot];
  await ledger.chain.writeBlocks(network, { first, until: last + 1n }, rows.rows.encode());
}

beforeAll(async () => {
  run = await runDevnet(48);
  model = new HeldChainModel(run.blocks, run.finalized + 1n);
  model.rowOf = parserRow;
  ledger = await openLedger(
    { directory: directory.path, clickhouseUrl: null, cluster: null },
    { clock: systemClock, log: recordingLog() },
  );
  reads = ledger.chainReads;
  await write(run.blocks);
  // Some of them twice, as a writer that was killed leaves them, and one of a branch that lost.
  await write(run.blocks.slice(10, 20));
  const abandoned = run.blocks[12];
  if (abandoned === undefined) throw new Error("the chain has run too short");
  await write([fork(abandoned)]);
  const dropped = { slot: abandoned.slot, blockhash: fork(abandoned).blockhash, dropped: true, version: 1n };
  await ledger.chain.markDropped(network, [dropped]);
  const identity = { genesisHash: "genesis", firstBlockhash: "first" };
  const range = { first: 0n, until: run.finalized + 1n };
  await ledger.chain.hold(network, identity, { ...range, source: "writer", version: 2n, cursor: "c" });
}, 120_000);

afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await run[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const slotMax = 2n ** 64n - 1n;
const range = (changes: Partial<PlaceRange> = {}): PlaceRange => ({
  ...{ network, from: 0n, to: slotMax, order: "desc", after: null, limit: 50, ...changes },
});
const placesOf = (found: readonly TransactionPlace[]): TransactionPlace[] =>
  found.map(({ slot, index }) => ({ slot, index }));
const all = () => run.blocks.flatMap(({ transactions }) => transactions);

test("what is held says the ranges, what is final and the blocks", async () => {
  expect(await reads.held(network)).toEqual(await model.held());
  expect((await reads.held("mainnet")).blocks).toBeNull();
  for (const { blockTime } of run.blocks) {
    const seconds = blockTime ?? 0n;
    expect(await reads.firstSlotSince(network, seconds)).toBe(await model.firstSlotSince(network, seconds));
  }
  expect(await reads.firstSlotSince(network, 2n ** 31n)).toBeNull();
}, 30_000);

test("blocks and their transactions are there once, without those of a branch that lost", async () => {
  for (const { slot, transactions } of run.blocks) {
    const [found, expected] = [await reads.blocks.block(network, slot), await model.blocks.block(network, slot)];
    expect(found).toEqual(expected);
    if (found === null || slot % 4n !== 0n) continue;
    const bodies = await reads.transactions.ofBlock(network, found);
    expect(bodies.length).toBe(transactions.length);
    const known = await model.transactions.ofBlock(network, found);
    expect(bodies.map(({ body }) => Buffer.from(body).toString("hex"))).toEqual(
      known.map(({ body }) => Buffer.from(body).toString("hex")),
    );
  }
  const slots = { network, from: 3n, to: 30n, limit: 20 } as const;
  expect(await reads.blocks.slots(slots)).toEqual(await model.blocks.slots(slots));
  for (const order of ["asc", "desc"] as const) {
    const page = { ...slots, order, limit: 7 };
    expect(await reads.blocks.blocks(page)).toEqual(await model.blocks.blocks(page));
    const named = await reads.blocks.slotsOfAddress(page, programs.token);
    expect(named).toEqual(await model.blocks.slotsOfAddress(page, programs.token));
  }
}, 60_000);

test("transactions are found by signature, with their memo and their error", async () => {
  for (const { signature } of all().filter((_each, index) => index % 23 === 0)) {
    const [found, expected] = await Promise.all([
      reads.transactions.bySignature(network, signature),
      model.transactions.bySignature(network, signature),
    ]);
    if (expected === null) throw new Error("the model lacks a transaction");
    const { body, ...row } = found ?? missing();
    expect(row).toEqual({ ...pick(expected), blockhash: expected.blockhash });
    expect(Buffer.from(body).equals(expected.body)).toBe(true);
  }
  expect(await reads.transactions.bySignature(network, "5".repeat(87))).toBeNull();
  expect(await reads.transactions.bySignature("mainnet", all()[0]?.signature ?? "")).toBeNull();
}, 60_000);

/** Follows a list to its end, as a client does. */
async function pages(of: ChainReads, conditions: TransactionConditions, changes: Partial<PlaceRange>) {
  const places: TransactionPlace[] = [];
  let after: TransactionPlace | null = null;
  for (let page = 0; page < 500; page += 1) {
    const found = await of.find(range({ ...changes, after }), conditions);
    places.push(...placesOf(found.places));
    if (found.next === null) return places;
    after = found.next;
  }
  throw new Error("the list does not end");
}

describe("every question is answered as over blocks in memory, page by page", () => {
  const payer = () => new TransactionView(all().at(-1) ?? missing()).keys[0] ?? "";
  const mintOf = () => all().flatMap(({ meta }) => meta?.postTokenBalances ?? [])[0]?.mint ?? "";
  const typesOfToken = () => ({
    ...{ accounts: [programs.token], types: ["TRANSFER", "CREATE_ACCOUNT"], sources: ["spl_token"] },
  });
  const questions: readonly (readonly [string, () => Partial<TransactionConditions>, number])[] = [
    ["an address", () => ({ accounts: [programs.token] }), 40],
    ["an address that failed", () => ({ accounts: [programs.token], success: false }), 10],
    ["two addresses", () => ({ accounts: [programs.token, programs.system] }), 10],
    ["a program", () => ({ program: programs.memo }), 3],
    ["a payer and a fee", () => ({ feePayer: payer(), feeMin: 1n, feeMax: 1_000_000n }), 5],
    ["all but votes", () => ({ votes: false }), 300],
    ["votes alone", () => ({ votes: true }), 300],
    ["an error", () => ({ error: "InstructionError" }), 5],
    ["an error that nothing has", () => ({ error: "Instruction" }), 5],
    ["a mint", () => ({ movement: { mint: mintOf(), amountMin: 1n, amountMax: null, between: null } }), 10],
    ["lamports", () => ({ movement: { mint: null, amountMin: 1_000_000n, amountMax: null, between: null } }), 10],
    ["a type", () => ({ types: ["TRANSFER"] }), 20],
    ["one of two types, with a source and an address", () => typesOfToken(), 5],
    ["what is no vote, by its type", () => ({ types: ["UNKNOWN"], votes: false }), 20],
    ["a source", () => ({ sources: ["spl_token", "memo"] }), 10],
    ["a type that no transaction has", () => ({ types: ["NFT_BID"] }), 10],
  ];
  for (const [name, conditions, limit] of questions) {
    test(name, async () => {
      const asked = { ...anyTransaction, ...conditions() };
      for (const order of ["asc", "desc"] as const) {
        const changes = { order, limit, from: 5n, to: 40n };
        const [found, expected] = [await pages(reads, asked, changes), await pages(model, asked, changes)];
        expect(found).toEqual(expected);
      }
    }, 60_000);
  }

  test("tokens of an owner, beside what names it", async () => {
    const owner =
      all()
        .flatMap(({ meta }) => meta?.postTokenBalances ?? [])
        .at(-1)?.owner ?? "";
    const asked = range({ limit: 1_000 });
    const [found, expected] = [await reads.ofOwner(asked, owner, true), await model.ofOwner(asked, owner, true)];
    expect(placesOf(found.places)).toEqual(placesOf(expected.places));
    expect(found.places.length).toBeGreaterThan(0);
  }, 30_000);
});

test("transactions are held since the first block of the newest range without a gap", async () => {
  expect(await reads.heldSinceMs(network)).toBe(await model.heldSinceMs());
  expect(await reads.heldSinceMs("mainnet")).toBeNull();
});

describe("what happened to addresses", () => {
  const wallets = () => {
    const { keys } = new TransactionView(
      all().findLast(({ meta }) => (meta?.postTokenBalances ?? []).length > 0) ?? missing(),
    );
    return keys.slice(0, 4);
  };

  test("their transactions are there once, in either order, page by page", async () => {
    for (const order of ["asc", "desc"] as const) {
      let after: TransactionPlace | null = null;
      const found: TransactionPlace[] = [];
      for (let page = 0; page < 100; page += 1) {
        const places: TransactionPlace[] = await reads.activity.places(range({ order, after, limit: 60 }), wallets());
        found.push(...places);
        after = places.at(-1) ?? null;
        if (after === null) break;
      }
      const whole = range({ order, limit: 10_000 });
      expect(found).toEqual(await model.activity.places(whole, wallets()));
      expect(found.length).toBeGreaterThan(60);
      for (const success of [true, false]) {
        const outcome = await reads.activity.places(whole, wallets(), success);
        expect(outcome).toEqual(await model.activity.places(whole, wallets(), success));
        expect(outcome.length).toBeGreaterThan(0);
        expect(outcome.length).toBeLessThan(found.length);
      }
    }
    expect(await reads.activity.places(range(), [])).toEqual([]);
    expect(await reads.activity.places(range({ from: 5n, to: 4n }), wallets())).toEqual([]);
    expect(await reads.activity.places(range({ network: "mainnet" }), wallets())).toEqual([]);
  }, 60_000);

  test("days count each transaction once, and hostile addresses find nothing", async () => {
    const window = { network, from: 0n, to: slotMax } as const;
    const found = await reads.activity.days({ ...window, addresses: wallets() });
    expect(found).toEqual(await model.activity.days({ ...window, addresses: wallets() }));
    expect(found.rows[0]?.transactions).toBeGreaterThan(0);
    for (const hostile of ["' OR 1=1 --", "{from:UInt64}", ""]) {
      expect(await reads.activity.days({ ...window, addresses: [hostile] })).toEqual({ rows: [], isWhole: true });
    }
  }, 60_000);

  test("types are those of the newest rows of the parsers", async () => {
    const window = { network, from: 0n, to: slotMax, addresses: wallets() } as const;
    const places = await reads.activity.places(range({ limit: 3 }), wallets());
    const [first = missing(), second = missing()] = places;
    const rows = await reads.transactions.rows(network, [first, second], "desc");
    const parsed = ({ slot, index, blockhash }: TransactionRow, version: number, type: string) => ({
      ...{ network, slot, transaction_index: index, blockhash, block_time: null, at: 0, signature: "", version, type },
      ...{ fee_payer: "", source: `source ${version}`, description: "", events: "" },
    });
    const known = rows.flatMap((row) => [parsed(row, 1_000_001, "OLDER"), parsed(row, 1_000_002, "TESTED")]);
    await ledger.insert("parsed", known);
    const types = await reads.activity.typesOf(network, places);
    const stakes = types.filter(({ type }) => type === "TESTED");
    expect(new Set(stakes)).toEqual(
      new Set(
        [first, second].map((place) => ({ ...place, type: "TESTED", source: "source 1000002", version: 1_000_002 })),
      ),
    );
    const counted = await reads.activity.types(window, 1_000_002);
    expect(await reads.activity.types(window, 1_000_003)).toEqual({ rows: [], isWhole: true });
    expect(counted.rows.find(({ type }) => type === "TESTED")?.transactions).toBe(2);
    expect(await reads.activity.typesOf(network, [])).toEqual([]);
  }, 60_000);
});

test("blocks and transactions come back from the ledger as the node answers them, byte for byte", async () => {
  const events = { archiveAsked: () => undefined, archiveFailed: (...of: unknown[]) => expect(of).toEqual([]) };
  const archive = new LedgerArchive({ chain: reads, clock: systemClock, events });
  const pruned = { ok: true, answer: errorAnswer(-32001, "cleaned up"), latencyMs: 1 } as const;
  const ask = async (method: string, params: readonly unknown[]): Promise<string> => {
    const call = { network, method, params: JSON.stringify(params), commitment: "confirmed" } as const;
    const { body } = (await archive.complete(call, pruned)) ?? missing();
    if (body.kind === "large") return missing();
    return Buffer.concat([Buffer.from(body.head), Buffer.from("7"), Buffer.from(body.tail)]).toString();
  };
  for (const { slot, transactions } of run.blocks) {
    const encoding = (["json", "jsonParsed", "base58", "base64"] as const)[Number(slot % 4n)];
    const config = { commitment: "confirmed", encoding, maxSupportedTransactionVersion: 1 };
    expect(await ask("getBlock", [Number(slot), config])).toBe(await run.ask("getBlock", [Number(slot), config]));
    const signature = transactions.at(-1)?.signature;
    if (signature === undefined) continue;
    expect(await ask("getTransaction", [signature, config])).toBe(await run.ask("getTransaction", [signature, config]));
  }
}, 60_000);

const pick = ({ slot, index, signature, blockTime, success, error, memo }: TransactionRow) => ({
  ...{ slot, index, signature, blockTime, success, error, memo },
});

function missing(): never {
  throw new Error("nothing is there");
}
