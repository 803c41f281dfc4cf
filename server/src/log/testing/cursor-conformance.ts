import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { encodeCursor, type LogPosition } from "../cursor.ts";
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
});

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
