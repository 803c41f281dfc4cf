import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { Slot } from "@sluice/wire/identifiers";
import { areLevel, encodeCursor, type LogPosition } from "../cursor.ts";
import type { Follower } from "../records.ts";
import { blockOf, chain, hashOf, headerOf, nextOf, otherChain, slotOf, stageOf } from "./chain-model.ts";
import { appendBlocks, follow, type LogSubject } from "./log-subject.ts";

const place = (slot: number, text: string): LogPosition => ({
  stage: "confirmed",
  slot: slotOf(slot),
  blockhash: hashOf(text),
  index: null,
  finalizedSlot: slotOf(slot - 1),
  gapTold: null,
  told: [],
  from: null,
});

const slotsOf = async (follower: Follower, count: number): Promise<string[]> => {
  const told: string[] = [];
  while (told.length < count) {
    const event = await nextOf(follower);
    if (event.type === "block") told.push(String(event.header.slot));
    else if (event.type === "undo") told.push(`undo ${event.undo.slot}`);
    else if (event.type === "gap") told.push(`gap ${event.from}-${event.to}`);
  }
  return told;
};

/** What a log makes of cursors, its own and others'. */
export function cursorConformance({ log, harness }: LogSubject): void {
  describe("cursors", () => {
    test("a cursor of another chain, of another network and of another stage is invalid", async () => {
      await appendBlocks(log(), 100, 102);
      const position = { ...place(101, "main 101") };
      const { network } = log();
      const own = encodeCursor(position, { network, chain });
      expect(log().follow({ stage: "confirmed", from: { cursor: own } }).ok).toBe(true);
      for (const cursor of [
        encodeCursor(position, { network, chain: otherChain }),
        encodeCursor(position, { network: "testnet", chain }),
        encodeCursor({ ...position, stage: "finalized" }, { network, chain }),
        encodeCursor({ ...position, slot: slotOf(100) }, { network, chain }),
      ]) {
        expect(log().follow({ stage: "confirmed", from: { cursor } })).toEqual({ ok: false, code: "CURSOR_INVALID" });
      }
    });

    test("hostile text as a cursor is invalid, and never an error", async () => {
      await appendBlocks(log(), 100, 102);
      const random = seededRandom(11);
      const good = follow(log(), "confirmed", "latest").cursor();
      const characters = "ABCxyz019-_=+/ .\u0000é🦀";
      for (let round = 0; round < 3_000; round += 1) {
        const at = Math.floor(random.next() * good.length);
        const drawn = characters[Math.floor(random.next() * characters.length)] ?? "A";
        const changed = [
          good.slice(0, at),
          good.slice(0, at) + drawn + good.slice(at + 1),
          good.slice(0, at) + drawn + good.slice(at),
          Buffer.from(random.bytes(at)).toString("base64url"),
          drawn.repeat(at),
        ][round % 5];
        if (changed === undefined || changed === good) continue;
        const outcome = log().follow({ stage: "confirmed", from: { cursor: changed } });
        expect(outcome).toEqual({ ok: false, code: "CURSOR_INVALID" });
      }
      const long = { stage: "confirmed", from: { cursor: "A".repeat(1_000_000) } } as const;
      expect(log().follow(long)).toEqual({ ok: false, code: "CURSOR_INVALID" });
    });

    test("a block that was told and never stored is undone once the chain is known to have passed it", async () => {
      await appendBlocks(log(), 100, 101);
      await log().append(stageOf(headerOf(100), "finalized"));
      const { network } = log();
      const cursor = encodeCursor({ ...place(102, "lost"), finalizedSlot: slotOf(100) }, { network, chain });
      const follower = follow(log(), "confirmed", { cursor });
      await appendBlocks(log(), 102, 103);
      await log().append(stageOf(headerOf(102), "finalized"));
      expect(await nextOf(follower)).toMatchObject({
        type: "undo",
        undo: { slot: 102n, blockhash: hashOf("lost") },
        back: { slot: 100n, blockhash: headerOf(100).blockhash },
      });
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: headerOf(101) });
    });

    test("a block that was told before anything was final and never stored is undone to before the first one", async () => {
      await appendBlocks(log(), 100, 103);
      const { network } = log();
      const cursor = encodeCursor({ ...place(102, "lost"), finalizedSlot: null }, { network, chain });
      const follower = follow(log(), "confirmed", { cursor });
      await log().append(stageOf(headerOf(102), "finalized"));
      expect(await nextOf(follower)).toMatchObject({
        type: "undo",
        undo: { slot: 102n, blockhash: hashOf("lost") },
        back: { slot: 99n, blockhash: headerOf(100).parentBlockhash },
      });
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: headerOf(100) });
    });

    test("at finalized whoever began at a slot of a branch that died goes on with what is final after it", async () => {
      await appendBlocks(log(), 100, 101);
      const branch = headerOf(102, headerOf(101), "fork");
      await log().append(blockOf(branch));
      await log().append(blockOf(headerOf(103, branch, "fork")));
      const cursor = follow(log(), "finalized", { slot: slotOf(103) }).cursor();
      for (const slot of [102, 103, 104]) await log().append(blockOf(headerOf(slot)));
      const follower = follow(log(), "finalized", { cursor });
      const never = encodeCursor({ ...place(102, "lost"), stage: "finalized" }, { network: log().network, chain });
      const stranger = follow(log(), "finalized", { cursor: never });
      await log().append(stageOf(headerOf(104), "finalized"));
      for (const each of [follower, stranger]) {
        expect(await nextOf(each)).toMatchObject({ type: "block", header: headerOf(103) });
      }
    });

    test("who is bound to a slot above the head is told nothing below it, also by the cursor and in another process", async () => {
      await appendBlocks(log(), 100, 102);
      const follower = follow(log(), "confirmed", { slot: slotOf(105), isBound: true });
      const cursor = follower.cursor();
      const free = follow(log(), "confirmed", { slot: slotOf(105) });
      await appendBlocks(log(), 103, 104);
      const other = follow(harness().other ?? log(), "confirmed", { cursor });
      const final = follow(log(), "finalized", { slot: slotOf(105), isBound: true });
      await appendBlocks(log(), 105, 107);
      await log().append(stageOf(headerOf(106), "finalized"));
      for (const each of [follower, other]) expect(await slotsOf(each, 3)).toEqual(["105", "106", "107"]);
      expect(await slotsOf(final, 2)).toEqual(["105", "106"]);
      expect(await slotsOf(free, 2)).toEqual(["103", "104"]);
      expect(log().placeOf(cursor, "confirmed")).toMatchObject({ slot: 102n, from: 105n });
    });

    test("a bound holds over forks, until a block from the slot on is final", async () => {
      await appendBlocks(log(), 100, 106);
      const follower = follow(log(), "confirmed", { slot: slotOf(105), isBound: true });
      expect(await slotsOf(follower, 2)).toEqual(["105", "106"]);
      const other = harness().other ?? log();
      const resumed = follow(other, "confirmed", { cursor: follower.cursor(1) });
      const low = headerOf(104, headerOf(103), "fork");
      const high = headerOf(107, low, "fork");
      await log().append(blockOf(low));
      await log().append(blockOf(high));
      await eventually("the other process has the fork", () => other.find(high) !== null);
      expect(await slotsOf(follower, 3)).toEqual(["undo 106", "undo 105", "107"]);
      expect(log().placeOf(follower.cursor(), "confirmed")).toMatchObject({ slot: 107n, from: 105n });
      expect(await slotsOf(resumed, 3)).toEqual(["undo 106", "undo 105", "107"]);
      for (const slot of [107, 108]) await log().append(blockOf(headerOf(slot)));
      await log().append(stageOf(headerOf(105), "finalized"));
      expect(await slotsOf(follower, 5)).toEqual(["undo 107", "105", "106", "107", "108"]);
      const live = follow(log(), "confirmed", "latest");
      expect(areLevel(follower.cursor(), live.cursor())).toBe(true);
      expect(areLevel(resumed.cursor(), live.cursor())).toBe(false);
    });

    test("a bound within a gap is told the part of the gap from there on", async () => {
      await appendBlocks(log(), 100, 101);
      await log().append(blockOf(headerOf(106)));
      await log().append({ kind: "gap", from: slotOf(102), to: slotOf(105), reason: "test" });
      expect(await slotsOf(follow(log(), "confirmed", { slot: slotOf(104), isBound: true }), 2)).toEqual([
        "gap 104-105",
        "106",
      ]);
      expect(await slotsOf(follow(log(), "confirmed", { slot: slotOf(106), isBound: true }), 1)).toEqual(["106"]);
    });

    test("a bound cursor that says more than one can is invalid", async () => {
      await appendBlocks(log(), 100, 102);
      const { network } = log();
      const bound = { ...place(101, "main 101"), from: slotOf(105) };
      expect(log().follow({ stage: "confirmed", from: { cursor: encodeCursor(bound, { network, chain }) } }).ok).toBe(
        true,
      );
      for (const [stage, position] of [
        ["confirmed", { ...bound, index: 1 }],
        ["processed", { ...bound, stage: "processed" }],
        ["confirmed", { ...bound, from: (2n ** 63n) as Slot }],
      ] as const) {
        const cursor = encodeCursor(position, { network, chain });
        expect(log().follow({ stage, from: { cursor } })).toEqual({ ok: false, code: "CURSOR_INVALID" });
      }
    });

    test("a part of a block that was handled is skipped, and a block that died meanwhile is undone", async () => {
      await appendBlocks(log(), 100, 102);
      const follower = follow(log(), "confirmed", "earliest");
      await nextOf(follower);
      await nextOf(follower);
      const cursor = follower.cursor(4);
      const resumed = follow(harness().other ?? log(), "confirmed", { cursor });
      expect(await nextOf(resumed)).toMatchObject({ type: "block", header: headerOf(101), skip: 5 });
      expect(await nextOf(resumed)).toMatchObject({ type: "block", header: headerOf(102), skip: 0 });
      await log().append(blockOf(headerOf(105, headerOf(100), "fork")));
      const late = follow(log(), "confirmed", { cursor });
      expect(await nextOf(late)).toMatchObject({ type: "undo", undo: { slot: 101n } });
    });

    test("a follower of an empty log is told its first block, also in another process", async () => {
      const cursor = follow(log(), "confirmed", "earliest").cursor();
      const follower = follow(harness().other ?? log(), "confirmed", { cursor });
      const next = nextOf(follower);
      await appendBlocks(log(), 100, 101);
      expect(await next).toMatchObject({ type: "block", header: headerOf(100) });
    });
  });
}
