import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Judge, type SlotCase } from "./judge.ts";
import type { BlockSource } from "./source.ts";
import { type ChainBlock, sourceBlockOf } from "./testing/simulated-chain.ts";
import type { Lie } from "./testing/simulated-node.ts";

const block: ChainBlock = {
  slot: 101,
  blockhash: "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
  parent: { slot: 100, blockhash: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" },
};
const slot = sourceBlockOf(block).header.slot;

/** A judge of so many nodes, and how they speak. */
function judgeOf(...nodes: string[]) {
  const witnesses = new Set(nodes);
  const judge = new Judge({ clock: new ManualClock(), witnesses: () => witnesses });
  const of: SlotCase = judge.open(slot);
  const gives = (node: string, lie: Lie | null = null) =>
    judge.gave(of, { node } as BlockSource, { block: sourceBlockOf(block, lie), stage: "confirmed", arrivedMs: 0 });
  return { judge, of, witnesses, gives };
}

test("one word is enough where one node can be heard, and two are needed where there are two", () => {
  const alone = judgeOf("a");
  expect(alone.judge.judge(alone.of, alone.gives("a")).kind).toBe("accepted");
  const two = judgeOf("a", "b");
  expect(two.judge.judge(two.of, two.gives("a")).kind).toBe("open");
  expect(two.judge.judge(two.of, two.gives("a")).kind).toBe("open");
  expect(two.judge.judge(two.of, two.gives("b")).kind).toBe("accepted");
});

test("the age of a block begins when its last byte arrived, not when it had been read", () => {
  const { judge, of } = judgeOf("a");
  const source = { node: "a" } as BlockSource;
  const candidate = judge.gave(of, source, { block: sourceBlockOf(block), stage: "confirmed", arrivedMs: -70 });
  expect(candidate.sinceMs).toBe(-70);
});

test("of two contents under one blockhash a third node decides, and who told the other one is named", () => {
  const { judge, of, gives } = judgeOf("liar", "b", "c");
  const lied = gives("liar", "signatures");
  const told = gives("b");
  expect([judge.judge(of, lied), judge.judge(of, told)]).toMatchObject([{ isDisputed: true }, { isDisputed: true }]);
  const accepted = gives("c");
  expect(accepted).toBe(told);
  expect(judge.judge(of, accepted)).toMatchObject({ kind: "accepted", liars: ["liar"] });
  accepted.isAccepted = true;
  expect([judge.liarsOf(of), judge.isConfirmedByTwo(block as never)]).toEqual([["liar"], false]);
  expect(judge.isConfirmedByTwo({ slot, blockhash: block.blockhash })).toBe(true);
});

test("another blockhash is a fork and no lie, and a node that is no witness has no word", () => {
  const { judge, of, witnesses, gives } = judgeOf("a", "b", "c");
  gives("a", "hash");
  gives("b");
  const told = gives("c");
  told.isAccepted = true;
  expect([judge.judge(of, told).kind, judge.liarsOf(of)]).toEqual(["accepted", []]);
  witnesses.delete("c");
  expect(judge.judge(of, told).kind).toBe("open");
});

test("where those that are left contradict each other, a node that could not answer before is asked again", () => {
  const { judge, of, gives } = judgeOf("liar", "b", "c");
  for (let time = 0; time < 8; time += 1) judge.silent(of, "c", { kind: "unavailable", reason: "failed" });
  gives("b");
  expect([...judge.able(of)]).toEqual(["liar", "b"]);
  gives("liar", "hash");
  expect([...judge.able(of)]).toEqual(["liar", "b"]);
  gives("liar", "signatures");
  expect([...judge.able(of)]).toEqual(["liar", "b", "c"]);
  expect(judge.judge(of, gives("c"))).toMatchObject({ kind: "accepted", liars: ["liar"] });
});

test("a node that has pruned the slot is not waited for, and one that is behind is", () => {
  const { judge, of, gives } = judgeOf("a", "b");
  const told = gives("a");
  for (let time = 0; time < 3; time += 1) judge.silent(of, "b", { kind: "unavailable", reason: "refused" });
  expect(judge.judge(of, told).kind).toBe("open");
  judge.silent(of, "b", { kind: "unavailable", reason: "pruned" });
  expect(judge.judge(of, told).kind).toBe("accepted");
});

test("who says that a slot has no block of which a kept one names it is asked again, and waited for", () => {
  const { judge, of, gives } = judgeOf("liar", "b");
  const told = gives("liar", "order");
  judge.silent(of, "b", { kind: "absent", code: -32_007 });
  judge.named(of, block.blockhash);
  judge.silent(of, "b", { kind: "absent", code: -32_007 });
  expect([judge.judge(of, told).kind, [...judge.able(of)], of.absent.size]).toEqual(["open", ["liar", "b"], 0]);
  // One that has lost the block says so for as long as one that is behind would need.
  for (let time = 1; time < 8; time += 1) judge.silent(of, "b", { kind: "absent", code: -32_007 });
  expect(judge.judge(of, told).kind).toBe("accepted");
});

test("who gave a block of another fork and has pruned it has no part in a block that a kept one names", () => {
  const { judge, of, witnesses, gives } = judgeOf("a", "b");
  gives("b", "hash");
  judge.silent(of, "b", { kind: "unavailable", reason: "pruned" });
  const told = gives("a");
  expect(judge.judge(of, told).kind).toBe("open");
  judge.named(of, told.digest.blockhash);
  expect(judge.judge(of, told).kind).toBe("accepted");
  // Who can still answer is asked.
  witnesses.add("c");
  expect(judge.judge(of, told).kind).toBe("open");
});
