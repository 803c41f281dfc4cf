import { expect, test } from "bun:test";
import type { Block, ExecutedTransaction } from "../model.ts";
import { History, type RecordedTransaction } from "./history.ts";

function recorded(signature: string, slot: bigint, keys: readonly string[]): RecordedTransaction {
  const executed: ExecutedTransaction = {
    signature,
    slot,
    index: 0,
    bytes: new Uint8Array(),
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
  };
  return { executed, keys, writable: keys.map(() => true), unitPrice: 0n, priorityFee: 0n };
}

function append(history: History, slot: bigint, transactions: readonly RecordedTransaction[]): void {
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

function addressed(history: History, address: string): string[] {
  return [...history.ofAddress(address)].map(({ executed }) => executed.signature);
}

test("blocks beyond the bound go oldest first, with their transactions and address entries", () => {
  const history = new History({ slotsMax: 3, transactionsMax: 100 });
  for (let slot = 1n; slot <= 10n; slot += 1n)
    append(history, slot, [recorded(`t${slot}`, slot, ["all", `only${slot}`])]);
  expect(history.firstSlot).toBe(8n);
  expect(history.slots(0n, 100n, 10)).toEqual([8n, 9n, 10n]);
  expect(history.transaction("t7")).toBeNull();
  expect(history.block(7n)).toBeNull();
  expect(addressed(history, "all")).toEqual(["t10", "t9", "t8"]);
  expect(addressed(history, "only7")).toEqual([]);
});

test("transactions beyond the bound take whole blocks with them, and the newest block always stays", () => {
  const history = new History({ slotsMax: 100, transactionsMax: 3 });
  append(history, 1n, [recorded("a", 1n, ["x"]), recorded("b", 1n, ["x"])]);
  append(history, 2n, [recorded("c", 2n, ["x"]), recorded("d", 2n, ["x"])]);
  expect(history.firstSlot).toBe(2n);
  expect(addressed(history, "x")).toEqual(["d", "c"]);
  append(
    history,
    3n,
    ["e", "f", "g", "h"].map((name) => recorded(name, 3n, ["x"])),
  );
  expect(history.firstSlot).toBe(3n);
  expect(addressed(history, "x")).toEqual(["h", "g", "f", "e"]);
});

test("an address used all the time does not grow beyond what is kept", () => {
  const history = new History({ slotsMax: 10, transactionsMax: 1_000 });
  for (let slot = 1n; slot <= 500n; slot += 1n) append(history, slot, [recorded(`t${slot}`, slot, ["all"])]);
  expect(addressed(history, "all")).toHaveLength(10);
  expect(history.addressEntries("all")).toBeLessThan(20);
});
