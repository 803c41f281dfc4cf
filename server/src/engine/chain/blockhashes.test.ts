import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { testSigner, transfer } from "../testing/transactions.ts";
import { ValidBlockhashes } from "./blockhashes.ts";

const from = testSigner();
const to = testSigner().address;
const hash = (tag: number): Address => addressOfBytes(new Uint8Array(32).fill(tag));
const bundle = (...tags: number[]) => ({
  transactions: tags.map((tag) => transfer({ from, to, lamports: 1n, blockhash: hash(tag) })),
});

function room(options: { readonly fails?: boolean } = {}) {
  const clock = new ManualClock(0);
  const asked: Address[] = [];
  const state = { fails: options.fails ?? false };
  const hashes = new ValidBlockhashes({
    clock,
    lifetimeOf: async (blockhash) => {
      asked.push(blockhash);
      if (state.fails) throw new Error("no node");
      return blockhash === hash(9) ? { valid: false } : { valid: true, lastValidBlockHeight: 1n };
    },
  });
  return { hashes, clock, asked, state };
}

test("an unknown hash is requested before a bundle is evaluated by it", async () => {
  const { hashes, asked } = room();
  const known = bundle(1, 2);
  expect(hashes.has(hash(1))).toBe(false);
  expect(await hashes.simulatable([known, known])).toEqual([known, known]);
  expect([hashes.has(hash(1)), asked.length]).toEqual([true, 2]);
});

test("a bundle about which no node answers is not evaluated, and is asked for again", async () => {
  const { hashes, state } = room({ fails: true });
  expect(await hashes.simulatable([bundle(1)])).toEqual([]);
  state.fails = false;
  expect(await hashes.simulatable([bundle(1)])).toHaveLength(1);
});

test("a nonce is not asked for at each tick, and is asked for again when its answer is old", async () => {
  const { hashes, clock, asked } = room();
  expect(await hashes.simulatable([bundle(9)])).toHaveLength(1);
  expect(await hashes.simulatable([bundle(9)])).toHaveLength(1);
  expect(asked).toHaveLength(1);
  clock.advance(2_001);
  await hashes.simulatable([bundle(9)]);
  expect(asked).toHaveLength(2);
});

test("so many hashes are asked for at once, and bundles with others wait", async () => {
  const { hashes, asked } = room();
  const many = Array.from({ length: 80 }, (_, index) => bundle(index + 10));
  expect(await hashes.simulatable(many)).toHaveLength(64);
  expect(asked).toHaveLength(64);
  expect(await hashes.simulatable(many)).toHaveLength(80);
});
