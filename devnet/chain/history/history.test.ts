import { expect, test } from "bun:test";
import { encodeBase58 } from "@sluice/wire/base58";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { Block, ExecutedTransaction } from "../model/records.ts";
import { History, type RecordedTransaction } from "./history.ts";
import { HistoryModel } from "./testing/history-model.ts";

const bytesOf = (text: string, length: number): Uint8Array => {
  const bytes = new Uint8Array(length).fill(9);
  new TextEncoder().encodeInto(text.padEnd(8), bytes);
  return bytes;
};
const address = (name: string): string => encodeBase58(bytesOf(name, 32));
const signature = (name: string): string => encodeBase58(bytesOf(name, 64));

function recorded(name: string, slot: bigint, index: number, names: readonly string[]): RecordedTransaction {
  const bytes = encodeTransaction({
    signatures: [bytesOf(name, 64)],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys: ["payer", ...names].map((each) => bytesOf(each, 32)),
      blockhash: new Uint8Array(32),
      instructions: [],
    },
  });
  const executed: ExecutedTransaction = {
    signature: signature(name),
    slot,
    index,
    bytes,
    error: null,
    fee: 0n,
    preBalances: [],
    postBalances: [],
    preTokenBalances: [],
    postTokenBalances: [],
    innerInstructions: [],
    logs: [],
    loadedAddresses: { writable: [], readonly: [] },
    returnData: null,
    computeUnitsConsumed: 0n,
    costUnits: 0n,
    isVote: false,
  };
  const keys = ["payer", ...names].map(address);
  return { executed, keys, writable: keys.map(() => true), unitPrice: 0n, priorityFee: 0n };
}

/** Appends a block of transactions, each with the addresses that it names beside its payer. */
function append(history: History, slot: bigint, named: { readonly [name: string]: readonly string[] }): void {
  const transactions = Object.entries(named).map(([name, names], index) => recorded(name, slot, index, names));
  const block: Block = {
    slot,
    parentSlot: slot - 1n,
    blockhash: "",
    previousBlockhash: "",
    blockTime: 0n,
    blockHeight: slot,
    transactions: transactions.map(({ executed }) => executed),
    rewards: [],
  };
  history.append(block, transactions);
}

function addressed(history: History, name: string, newest = 1_000_000n): string[] {
  return [...history.ofAddress(address(name), { newest, before: null, until: null })].map((entry) => entry.signature);
}

test("blocks beyond the bound go oldest first, with their transactions and address entries", () => {
  const history = new History({ slotsMax: 3, transactionsMax: 100 });
  for (let slot = 1n; slot <= 10n; slot += 1n) append(history, slot, { [`t${slot}`]: ["all", `only${slot}`] });
  expect(history.firstSlot).toBe(8n);
  expect(history.slots(0n, 100n, 10)).toEqual([8n, 9n, 10n]);
  expect(history.transaction(signature("t7"))).toBeNull();
  expect(history.block(7n)).toBeNull();
  expect(addressed(history, "all")).toEqual([signature("t10"), signature("t9"), signature("t8")]);
  expect(addressed(history, "all", 8n)).toEqual([signature("t8")]);
  expect(addressed(history, "only7")).toEqual([]);
  expect(history.addressCount).toBe(5);
});

test("transactions beyond the bound take whole blocks with them, and the newest block always stays", () => {
  const history = new History({ slotsMax: 100, transactionsMax: 3 });
  append(history, 1n, { a: ["x"], b: ["x"] });
  append(history, 2n, { c: ["x"], d: ["x"] });
  expect(history.firstSlot).toBe(2n);
  expect(addressed(history, "x")).toEqual([signature("d"), signature("c")]);
  append(history, 3n, { e: ["x"], f: ["x"], g: ["x"], h: ["x"] });
  expect(history.firstSlot).toBe(3n);
  expect(addressed(history, "x")).toEqual(["h", "g", "f", "e"].map(signature));
});

test("bytes that are not a canonical transaction are refused and leave nothing behind", () => {
  const history = new History({ slotsMax: 10, transactionsMax: 10 });
  const good = recorded("a", 1n, 0, ["x"]);
  const bad = { ...good, executed: { ...good.executed, bytes: good.executed.bytes.subarray(1) } };
  const block = { ...good.executed, parentSlot: 0n, blockhash: "", previousBlockhash: "", blockTime: 0n };
  const around = { ...block, blockHeight: 1n, transactions: [bad.executed], rewards: [] };
  expect(() => history.append(around, [bad])).toThrow(TypeError);
  expect([history.size, history.addressCount]).toEqual([0, 0]);
});

test("a long list of an address is halved and not walked: thousands of records, each bound found exactly", () => {
  const history = new History({ slotsMax: 10_000, transactionsMax: 100_000 });
  for (let slot = 1n; slot <= 3_000n; slot += 1n)
    append(history, slot, { [`t${slot}`]: slot % 7n === 0n ? ["seventh"] : ["other"] });
  const range = { newest: 2_500n, before: signature("t2000"), until: signature("t1985") };
  const found = [...history.ofAddress(address("payer"), range)].map(({ slot }) => slot);
  expect(found).toEqual(Array.from({ length: 14 }, (_, at) => 1_999n - BigInt(at)));
  expect(addressed(history, "seventh", 100n)).toHaveLength(14);
  history.rollback(1_500n);
  history.dropBefore(1_400n);
  expect(addressed(history, "payer")).toHaveLength(101);
  expect(addressed(history, "seventh")).toEqual(
    [1_498, 1_491, 1_484, 1_477, 1_470, 1_463, 1_456, 1_449, 1_442, 1_435, 1_428, 1_421, 1_414, 1_407, 1_400].map(
      (at) => signature(`t${at}`),
    ),
  );
});

test("against a plain list of blocks: all that can be asked agrees, whatever was appended, dropped and rolled back", () => {
  for (let seed = 0; seed < 4; seed += 1) {
    const model = new HistoryModel(`history ${seed}`);
    for (let step = 0; step < 100; step += 1) model.step();
  }
}, 60_000);
