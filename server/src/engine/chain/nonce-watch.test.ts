import { expect, test } from "bun:test";
import { addressBytes } from "@sluice/wire/base58";
import type { Address, Slot } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { ChainValue } from "../../chain/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { testSigner, transfer } from "../testing/transactions.ts";
import { NonceWatch } from "./nonce-watch.ts";
import { addressNamed } from "./testing/names.ts";
import { ScriptedChain } from "./testing/scripted-chain.ts";
import { SimulatedPool } from "./testing/simulated-pool.ts";

const from = testSigner();
const account = addressNamed("nonce account");
const [present, next] = [addressNamed("present nonce"), addressNamed("next nonce")];

/** A nonce account as getMultipleAccounts gives it. */
function holding(nonce: Address, owner: Address = programs.system): ChainValue {
  const data = Buffer.alloc(80);
  data.writeUInt32LE(1, 0);
  data.writeUInt32LE(1, 4);
  data.set(addressBytes(nonce), 40);
  return { owner, data: [data.toString("base64"), "base64"], lamports: 1n };
}

function durable(id: string, changes: Partial<BundleRecord> = {}): BundleRecord {
  const bytes = transfer({ from, to: addressNamed("to"), lamports: 1n, blockhash: present, nonce: account });
  return acceptedBundle({ id, transactions: [bytes], lastValidBlockHeight: null, ...changes });
}

function room(records: readonly BundleRecord[]) {
  const pool = new SimulatedPool();
  for (const record of records) pool.add(record);
  const chain = new ScriptedChain();
  const accounts = new Map<unknown, ChainValue>([[account, holding(present)]]);
  let slot = 100n;
  chain.on("getMultipleAccounts", ([addresses]) => {
    if (!Array.isArray(addresses)) throw new Error("no addresses");
    return { context: { slot }, value: addresses.map((each) => accounts.get(each) ?? null) };
  });
  const watch = new NonceWatch({ pool, chain });
  const look = async (tip: bigint) => {
    slot = tip + 1n;
    return Object.fromEntries(await watch.spent(tip as Slot));
  };
  return { pool, chain, accounts, look };
}

test("a bundle whose nonce was advanced by another transaction is found, by the slot of the look", async () => {
  const { accounts, look } = room([durable("one"), durable("two")]);
  expect(await look(100n)).toEqual({});
  accounts.set(account, holding(next));
  const spent = { slot: 109n as Slot, detail: `${account} holds another nonce by slot 109` };
  expect(await look(108n)).toEqual({ one: spent, two: spent });
});

test("an account that was closed, or is no nonce's any more, holds none", async () => {
  for (const gone of [
    null,
    holding(present, addressNamed("another program")),
    { ...Object(holding(next)), data: ["", "base64"] },
  ]) {
    const { accounts, look } = room([durable("one")]);
    accounts.set(account, gone);
    expect(Object.keys(await look(100n))).toEqual(["one"]);
  }
});

test("a transaction that advances a nonce and carries a blockhash is spoilt by no nonce", async () => {
  const { accounts, look } = room([durable("one", { lastValidBlockHeight: 500n })]);
  accounts.set(account, holding(next));
  expect(await look(100n)).toEqual({});
});

test("of a bundle with a blockhash in another transaction the nonce is known once it was seen", async () => {
  const { accounts, look } = room([durable("one", { lastValidBlockHeight: 500n })]);
  expect(await look(100n)).toEqual({});
  accounts.set(account, holding(next));
  expect(Object.keys(await look(108n))).toEqual(["one"]);
});

test("accounts are read once in eight slots, and not at all for bundles without a nonce", async () => {
  const { chain, look } = room([durable("one")]);
  for (let tip = 100n; tip < 116n; tip += 1n) await look(tip);
  expect(chain.countOf("getMultipleAccounts")).toBe(2);
  expect(chain.calls[0]?.params).toEqual([[account], { encoding: "base64", commitment: "confirmed" }]);
  const bytes = transfer({ from, to: addressNamed("to"), lamports: 1n, blockhash: present });
  const plain = room([acceptedBundle({ id: "plain", transactions: [bytes] })]);
  await plain.look(100n);
  expect(plain.chain.calls).toEqual([]);
});

test("more accounts than one call takes are asked for in several", async () => {
  const records = Array.from({ length: 150 }, (_, index) => {
    const nonce = addressNamed(`account ${index}`);
    const bytes = transfer({ from, to: addressNamed("to"), lamports: 1n, blockhash: present, nonce });
    return acceptedBundle({ id: `${index}`, transactions: [bytes] });
  });
  const { chain, accounts, look } = room(records);
  for (let index = 0; index < 150; index += 1) accounts.set(addressNamed(`account ${index}`), holding(present));
  accounts.set(addressNamed("account 149"), holding(next));
  expect(Object.keys(await look(100n))).toEqual(["149"]);
  expect(chain.countOf("getMultipleAccounts")).toBe(2);
});
