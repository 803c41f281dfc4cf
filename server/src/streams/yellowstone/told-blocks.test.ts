import { expect, test } from "bun:test";
import type { Slot } from "@sluice/wire/identifiers";
import type { ChainLog } from "../../log/index.ts";
import { ToldBlocks } from "./told-blocks.ts";

/** A block of a slot, named by a letter, after another one. */
const block = (slot: number, blockhash: string, parentBlockhash: string) => ({
  slot: BigInt(slot) as Slot,
  blockhash,
  parentBlockhash,
});

test("at confirmed what a fork replaces may come again, and what stands may not", () => {
  const told = new ToldBlocks("confirmed");
  for (const each of [block(1, "a", "-"), block(2, "b", "a"), block(3, "c", "b")]) told.add(each);
  expect(["a", "b", "c"].map((hash) => told.has(hash))).toEqual([true, true, true]);
  told.add(block(4, "x", "a"));
  expect(["a", "b", "c", "x"].map((hash) => told.has(hash))).toEqual([true, false, false, true]);
  // The chain changes back, and the client is told so.
  told.add(block(2, "b", "a"));
  expect(["b", "x"].map((hash) => told.has(hash))).toEqual([true, false]);
  // After slots that nobody has what was told before them stands.
  told.add(block(9, "z", "unknown"));
  expect(["a", "b", "z"].map((hash) => told.has(hash))).toEqual([true, true, true]);
});

test("at processed a block is told once, whatever fork it is of", () => {
  const told = new ToldBlocks("processed");
  for (const each of [block(2, "b", "a"), block(1, "a", "-"), block(2, "x", "a")]) told.add(each);
  expect(["a", "b", "x"].map((hash) => told.has(hash))).toEqual([true, true, true]);
});

test("what is forgotten counts as told by its slot, and nothing does before something was", () => {
  const told = new ToldBlocks("finalized");
  for (let slot = 10; slot < 266; slot += 1) told.add(block(slot, `h${slot}`, `h${slot - 1}`));
  expect([told.has("h10"), told.isBefore(9n as Slot)]).toEqual([true, false]);
  told.add(block(266, "h266", "h265"));
  expect([told.has("h10"), told.isBefore(10n as Slot), told.isBefore(11n as Slot)]).toEqual([false, true, false]);
});

test("a stream that begins live has been told the chain before it, as far as that is held", () => {
  const chain = [block(5, "e", "d"), block(7, "g", "e"), block(8, "h", "g")];
  const log = {
    find: ({ blockhash }: { readonly blockhash: string }) => {
      const header = chain.find((each) => each.blockhash === blockhash);
      return header === undefined ? null : { header: { ...header, parentSlot: 0n }, stage: "confirmed" };
    },
  } as unknown as Pick<ChainLog, "find">;
  const told = new ToldBlocks("confirmed");
  told.addBefore(block(8, "h", "g"), log);
  expect(["e", "g", "h"].map((hash) => told.has(hash))).toEqual([true, true, true]);
  expect([told.isEmpty, told.isBefore(4n as Slot), told.isBefore(6n as Slot)]).toEqual([false, true, false]);
});
