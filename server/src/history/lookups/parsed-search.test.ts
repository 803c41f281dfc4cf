/** Searches by type on the ledger's engine, while rows of the parsers are of an older version or are not there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConfirmedBlock, packBlock } from "@sluice/encode";
import { ManualClock, systemClock } from "@sluice/lib";
import { parserVersion } from "@sluice/parser";
import { programs } from "@sluice/wire/programs";
import {
  anyTransaction,
  type ChainReads,
  type Ledger,
  type PlaceRange,
  type TransactionConditions,
  type TransactionPlace,
  versionOrder,
} from "../../ledger/index.ts";
import { type DevnetRun, runDevnet } from "../testing/devnet-blocks.ts";
import { parserRow } from "../testing/held-activity.ts";
import { HeldChainModel } from "../testing/held-chain.ts";
import { openTestLedger, unreadable } from "../testing/stand.ts";
import { BlockRows } from "../writer/block-rows.ts";
import { findParsed } from "./parsed-search.ts";

const network = "devnet";
let run: DevnetRun;
let ledger: Ledger & AsyncDisposable;
/** What is found where every row is of this parser. */
let model: HeldChainModel;

/** Slots in turn have rows of this version, rows of an older version with wrong types, and no rows. */
const states = ["current", "older", "missing"] as const;
const stateOf = ({ slot }: ConfirmedBlock) => states[Number(slot % 3n)];

async function write(blocks: readonly ConfirmedBlock[], isParsed: boolean): Promise<void> {
  const rows = new BlockRows({ network, votes: false, unreadable });
  for (const block of blocks) rows.add(packBlock(block), 0);
  const span = { first: blocks[0]?.slot ?? 0n, until: (blocks.at(-1)?.slot ?? 0n) + 1n };
  const tables = rows.rows.encode().filter(({ table }) => isParsed || table.name !== "parsed");
  await ledger.chain.writeBlocks(network, span, tables);
}

const writeOlder = (slots: readonly bigint[]) =>
  ledger.command(
    "INSERT INTO parsed (network, slot, transaction_index, blockhash, block_time, at, signature, version, type, source) " +
      `SELECT network, slot, transaction_index, blockhash, block_time, at, signature, ${parserVersion - 1}, ` +
      "if(slot % 2 = 0, 'TRANSFER', 'UNKNOWN'), 'system' FROM transactions FINAL " +
      `WHERE network = '${network}' AND NOT is_vote AND slot IN (${slots.join(",")})`,
  );

beforeAll(async () => {
  run = await runDevnet(48);
  ledger = await openTestLedger();
  model = new HeldChainModel(run.blocks, run.finalized + 1n);
  model.rowOf = parserRow;
  const of = (state: (typeof states)[number]) => run.blocks.filter((block) => stateOf(block) === state);
  await write(of("current"), true);
  await write([...of("older"), ...of("missing")], false);
  await writeOlder(of("older").map(({ slot }) => slot));
}, 120_000);

afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await run[Symbol.asyncDispose]();
});

const range = (changes: Partial<PlaceRange> = {}): PlaceRange => ({
  ...{ network, from: 0n, to: 2n ** 64n - 1n, order: "desc", after: null, limit: 50, ...changes },
});

type Find = (range: PlaceRange) => ReturnType<ChainReads["find"]>;

/** Follows a list to its end, as a client does. */
async function pages(changes: Partial<PlaceRange>, find: Find): Promise<TransactionPlace[]> {
  const places: TransactionPlace[] = [];
  let after: TransactionPlace | null = null;
  for (let page = 0; page < 2_000; page += 1) {
    const found: Awaited<ReturnType<Find>> = await find(range({ ...changes, after }));
    places.push(...found.places.map(({ slot, index }) => ({ slot, index })));
    if (found.next === null) return places;
    after = found.next;
  }
  throw new Error("the list does not end");
}

describe("a search by type finds what this parser says, whatever rows are there", () => {
  const questions: readonly (readonly [string, Partial<TransactionConditions>, number])[] = [
    ["over all transactions", { types: ["TRANSFER"], votes: false }, 60],
    ["one that older rows have too often", { types: ["UNKNOWN"], votes: false }, 40],
    ["with a source", { types: ["CREATE_ACCOUNT", "TRANSFER"], sources: ["spl_token", "system"], votes: false }, 60],
    ["by its source alone", { sources: ["memo", "stake"], votes: false }, 20],
    ["of an address", { types: ["TRANSFER"], accounts: [programs.token], votes: false }, 30],
    ["that failed", { types: ["TRANSFER"], success: false, votes: false }, 10],
    ["that nothing has", { types: ["NFT_BID"], votes: false }, 10],
  ];
  for (const [name, conditions, limit] of questions) {
    test(name, async () => {
      const asked = { ...anyTransaction, ...conditions };
      for (const order of ["asc", "desc"] as const) {
        const changes = { order, limit, from: 5n, to: 22n };
        const found = await pages(changes, (part) =>
          findParsed(part, asked, { chain: ledger.chainReads, clock: systemClock }),
        );
        const expected = await pages(changes, (part) => model.find(part, asked));
        expect(found).toEqual(expected);
      }
    }, 60_000);
  }

  test("votes without rows have no type", async () => {
    const asked = { ...anyTransaction, types: ["UNKNOWN"], votes: true };
    const found = await pages({}, (part) => findParsed(part, asked, { chain: ledger.chainReads, clock: systemClock }));
    expect(found).toEqual([]);
  }, 30_000);
});

test("below the slot to which all is parsed, no block is counted", async () => {
  const order = { first: 0n, until: 30n, next: 30n, state: "done", transactions: 0n } as const;
  await ledger.parsed.putOrder(network, { ...order, id: versionOrder, parserVersion });
  const asked = { ...anyTransaction, types: ["TRANSFER"], votes: false };
  const found = await pages({ limit: 500 }, (part) =>
    findParsed(part, asked, { chain: ledger.chainReads, clock: systemClock }),
  );
  const isLooked = ({ slot }: TransactionPlace): boolean => slot >= 30n || slot % 3n !== 2n;
  expect(found).toEqual((await pages({ limit: 500 }, (part) => model.find(part, asked))).filter(isLooked));
}, 30_000);

describe("a page ends", () => {
  const asked = { ...anyTransaction, types: ["NFT_BID"], votes: false };

  test("where it has parsed so many, and goes on there", async () => {
    const held = new HeldChainModel(run.blocks, run.finalized + 1n);
    const read: number[] = [];
    const { bodies } = held.transactions;
    const chain = {
      find: held.find.bind(held),
      activity: held.activity,
      transactions: {
        ...held.transactions,
        bodies: (...of: Parameters<typeof bodies>) => {
          read.push(of[1].length);
          return bodies(...of);
        },
      },
    };
    const all = held.find(range({ limit: 100_000 }), asked);
    const page = await findParsed(range({ limit: 1_000 }), asked, { chain, clock: systemClock });
    expect(page).toEqual({ places: [], next: (await all).places[999] ?? null });
    expect(read.every((each) => each <= 100)).toBe(true);
  }, 30_000);

  test("when its time is over, after what it has read", async () => {
    const clock = new ManualClock(0);
    const held = new HeldChainModel(run.blocks, run.finalized + 1n);
    const left: (number | undefined)[] = [];
    const chain = {
      activity: held.activity,
      transactions: held.transactions,
      find: async (part: PlaceRange, conditions: TransactionConditions, answerMs?: number) => {
        left.push(answerMs);
        clock.advance(2_500);
        return await held.find(part, conditions);
      },
    };
    const page = await findParsed(range({ limit: 10 }), asked, { chain, clock });
    const first = await held.find(range({ limit: 110 }), asked);
    expect({ page, left }).toEqual({ page: { places: [], next: first.places[109] ?? null }, left: [4_000, 1_500] });
  });
});
