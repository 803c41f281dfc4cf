import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { ChainLogOptions } from "../open.ts";
import type { ChainLog, FollowFrom } from "../records.ts";
import {
  blockOf,
  bodyOf,
  chain,
  hashOf,
  headerOf,
  modelChain,
  nextOf,
  otherChain,
  shuffled,
  slotOf,
  stageOf,
  ToldChain,
  takeUntil,
} from "./chain-model.ts";
import { cursorConformance } from "./cursor-conformance.ts";
import { appendBlocks, follow, type LogHarness, type LogSubject } from "./log-subject.ts";

/** Opens an empty log, with some options of its own. */
type OpenHarness = (changes?: Partial<ChainLogOptions>) => Promise<LogHarness>;

/** Every promise that `ChainLog` makes, as tests. Each driver passes the same ones; nothing here knows which runs. */
export function describeLogConformance(driver: string, open: OpenHarness): void {
  describe(`log conformance on ${driver}`, () => {
    let opened: LogHarness | null = null;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened?.[Symbol.asyncDispose]();
    });
    const harness = (): LogHarness => {
      if (opened === null) throw new Error("The log is not open.");
      return opened;
    };
    const subject: LogSubject = { harness, log: () => harness().log };
    appendConformance(subject);
    orderConformance(subject);
    gapConformance(subject);
    keepingConformance(subject);
    modelConformance(subject);
    cursorConformance(subject);
    namingConformance(open);
  });
}

/** Before the chain's first block is known. */
const unnamed = { genesisHash: chain.genesisHash, firstBlockhash: null } as const;

function namingConformance(open: OpenHarness): void {
  describe("the chain's name", () => {
    test("a log that was opened before its chain's first block was known is the same one when it is", async () => {
      await using harness = await open({ chain: unnamed });
      await appendBlocks(harness.log, 100, 101);
      const follower = follow(harness.log, "confirmed", "earliest");
      await takeUntil(follower, headerOf(101));
      const named = await harness.reopen(chain);
      expect([named.chain, Number(named.latest("confirmed")?.slot)]).toEqual([chain, 101]);
      await appendBlocks(named, 102, 102);
      // Cursors from before are those of this chain.
      const resumed = follow(named, "confirmed", { cursor: follower.cursor() });
      const told = await takeUntil(resumed, headerOf(102));
      expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([102]);
      await resumed.return();
    });

    test("a name that a log has had stays, also where nodes do not tell it later, and keeps other chains out", async () => {
      await using harness = await open({ chain: unnamed });
      await appendBlocks(harness.log, 100, 101);
      await appendBlocks(await harness.reopen(chain), 102, 102);
      const again = await harness.reopen(unnamed);
      expect(again.chain).toEqual(chain);
      await appendBlocks(again, 103, 103);
      await expect(again.append(blockOf({ ...headerOf(104), chain: otherChain }))).rejects.toMatchObject({
        code: "CHAIN_DIFFERS",
      });
      await expect(harness.reopen(otherChain)).rejects.toMatchObject({ code: "CHAIN_DIFFERS" });
      expect(Number((await harness.reopen(chain)).latest("confirmed")?.slot)).toBe(103);
    });
  });
}

function appendConformance({ log, harness }: LogSubject): void {
  describe("appending", () => {
    test("a record that is held is a repeat, in whichever order stages and bodies come", async () => {
      const header = headerOf(100);
      expect(await log().append(stageOf(header, "finalized"))).toBe("stored");
      expect(log().latest("confirmed")).toBeNull();
      expect(await log().append(blockOf(header, "processed"))).toBe("stored");
      expect(await log().append(blockOf(header, "processed"))).toBe("repeat");
      expect(await log().append(stageOf(header, "finalized"))).toBe("repeat");
      expect(await log().append(blockOf(header, "confirmed"))).toBe("stored");
      expect(await log().append(blockOf(header, "confirmed"))).toBe("repeat");
      expect(log().latest("finalized")).toMatchObject({ slot: header.slot, blockhash: header.blockhash });
    });

    test("appends of one block at the same time store it once", async () => {
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => log().append(blockOf(headerOf(100)))));
      expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(1);
    });

    test("what cannot be a block of this chain is refused", async () => {
      const header = headerOf(100);
      await log().append(blockOf(header));
      const refused = async (record: Parameters<ChainLog["append"]>[0], code: string): Promise<void> => {
        await expect(log().append(record)).rejects.toMatchObject({ name: "LogError", code });
      };
      await refused(blockOf({ ...headerOf(101), chain: otherChain }), "CHAIN_DIFFERS");
      await refused(blockOf({ ...header, parentSlot: slotOf(98) }), "RECORD_DIFFERS");
      await refused(blockOf({ ...headerOf(101), parentSlot: slotOf(101) }), "RECORD_INVALID");
      await refused(blockOf({ ...headerOf(101), blockhash: "not a hash" }), "RECORD_INVALID");
      await refused({ kind: "gap", from: slotOf(9), to: slotOf(8), reason: "unavailable" }, "RECORD_INVALID");
      await refused({ kind: "gap", from: slotOf(8), to: slotOf(9), reason: "" }, "RECORD_INVALID");
    });

    test("bodies come back as they were, also empty ones and ones of megabytes, and after a reopen", async () => {
      const headers = [100, 101, 102].map((slot) => headerOf(slot));
      const bodies = [new Uint8Array(0), seededRandom(4).bytes(3_000_000), bodyOf(headerOf(102), 5_000_000)];
      for (const [index, header] of headers.entries()) {
        await log().append({ kind: "block", header, stage: "confirmed", body: bodies[index] ?? new Uint8Array(0) });
      }
      for (const open of [log, () => harness().other ?? log(), () => harness().reopen()]) {
        const follower = follow(await open(), "confirmed", "earliest");
        for (const [index, header] of headers.entries()) {
          const event = await nextOf(follower);
          if (event.type !== "block") throw new Error(event.type);
          expect(event.header).toEqual(header);
          expect(Buffer.compare(event.body, bodies[index] ?? new Uint8Array(0))).toBe(0);
        }
        await follower.return();
      }
    });
  });
}

function orderConformance({ log, harness }: LogSubject): void {
  describe("order", () => {
    test("confirmed blocks are told parent first, whatever order they came in", async () => {
      const follower = follow(log(), "confirmed", "earliest");
      for (const slot of [100, 103, 102, 105, 104, 101]) await log().append(blockOf(headerOf(slot)));
      const told = await takeUntil(follower, headerOf(105));
      expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([100, 101, 102, 103, 104, 105]);
    });

    test("a block whose parent is missing waits", async () => {
      await appendBlocks(log(), 100, 101);
      const follower = follow(log(), "confirmed", "earliest");
      await takeUntil(follower, headerOf(101));
      await log().append(blockOf(headerOf(103)));
      const next = nextOf(follower);
      const early = await Promise.race([next.then(() => "told"), Bun.sleep(20).then(() => "waits")]);
      expect(early).toBe("waits");
      await log().append(blockOf(headerOf(102)));
      expect(await next).toMatchObject({ type: "block", header: headerOf(102) });
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: headerOf(103) });
    });

    test("a fork that is overtaken is undone from its tip, and what was not told is not undone", async () => {
      await appendBlocks(log(), 100, 102);
      const follower = follow(log(), "confirmed", "earliest");
      await takeUntil(follower, headerOf(102));
      const fork = headerOf(103, headerOf(100), "fork");
      await log().append(blockOf(fork));
      const undone = [await nextOf(follower), await nextOf(follower)];
      expect(undone).toMatchObject([
        { type: "undo", undo: { slot: 102n, blockhash: headerOf(102).blockhash }, back: { slot: 101n } },
        { type: "undo", undo: { slot: 101n }, back: { slot: 100n, blockhash: headerOf(100).blockhash } },
      ]);
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: fork });
      const late = await takeUntil(follow(log(), "confirmed", "earliest"), fork);
      expect(late.undone).toBe(0);
      expect(late.blocks.map(({ slot }) => Number(slot))).toEqual([100, 103]);
    });

    test("a finalized block decides between forks, also against a higher tip", async () => {
      await appendBlocks(log(), 100, 101);
      const fork = headerOf(105, headerOf(100), "fork");
      await log().append(blockOf(fork));
      const follower = follow(log(), "confirmed", "earliest");
      await takeUntil(follower, fork);
      await log().append(stageOf(headerOf(101), "finalized"));
      expect(await nextOf(follower)).toMatchObject({ type: "undo", undo: { slot: 105n } });
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: headerOf(101) });
    });

    test("finalized followers get each slot once, in order, also over a finality that nobody wrote", async () => {
      await appendBlocks(log(), 100, 110);
      const follower = follow(log(), "finalized", "earliest");
      for (const slot of [103, 101, 108]) await log().append(stageOf(headerOf(slot), "finalized"));
      const told = await takeUntil(follower, headerOf(108));
      expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108]);
      expect(told.undone).toBe(0);
    });

    test("processed followers get blocks as they come, and learn which of them died", async () => {
      await appendBlocks(log(), 100, 100);
      const follower = follow(log(), "processed", "latest");
      const dead = headerOf(101, headerOf(100), "dead");
      await log().append(blockOf(dead, "processed"));
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: dead });
      await log().append(blockOf(headerOf(102), "processed"));
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: headerOf(102) });
      const resumed = follow(harness().other ?? log(), "processed", { cursor: follower.cursor() });
      await appendBlocks(log(), 101, 102);
      await log().append(blockOf(headerOf(103)));
      for (const each of [follower, resumed]) {
        const events: string[] = [];
        while (!events.includes("block 103")) {
          const event = await nextOf(each);
          if (event.type === "block") events.push(`block ${event.header.slot}`);
          if (event.type === "undo") events.push(`undo ${event.undo.blockhash}`);
        }
        // The block at 102 was told before it was confirmed.
        expect(events.toSorted()).toEqual(["block 101", "block 103", `undo ${dead.blockhash}`]);
      }
    });
  });
}

function gapConformance({ log, harness }: LogSubject): void {
  describe("gaps", () => {
    test("a gap is told once, between the blocks around it, and repeats are refused", async () => {
      await appendBlocks(log(), 100, 102);
      await log().append(blockOf(headerOf(110)));
      const follower = follow(log(), "confirmed", "earliest");
      await takeUntil(follower, headerOf(102));
      const gap = { kind: "gap", from: slotOf(103), to: slotOf(109), reason: "unavailable" } as const;
      expect(await log().append(gap)).toBe("stored");
      expect(await log().append(gap)).toBe("repeat");
      const event = await nextOf(follower);
      expect(event).toMatchObject({ type: "gap", from: 103n, to: 109n, reason: "unavailable" });
      if (event.type !== "gap") throw new Error(event.type);
      expect(await nextOf(follower)).toMatchObject({ type: "block", header: headerOf(110) });
      for (const open of [() => harness().other ?? log(), () => harness().reopen()]) {
        const view = await open();
        const resumed = follow(view, "confirmed", { cursor: event.cursor });
        expect(await nextOf(resumed)).toMatchObject({ type: "block", header: headerOf(110) });
        const told = await takeUntil(follow(view, "confirmed", "earliest"), headerOf(110));
        expect(told.gaps).toEqual([[103n, 109n]]);
        await resumed.return();
      }
    });

    test("two forks after one block that nobody has both follow the gap, and the one that died is undone", async () => {
      await appendBlocks(log(), 100, 102);
      await log().append(stageOf(headerOf(102), "finalized"));
      const dead = headerOf(111, headerOf(110), "fork");
      await log().append(blockOf(dead));
      await log().append(blockOf(headerOf(112, 110)));
      expect(log().holes()).toMatchObject([
        { below: { slot: 102n }, missing: { slot: 110n }, above: { slot: 111n } },
        { below: { slot: 102n }, missing: { slot: 110n }, above: { slot: 112n } },
      ]);
      await log().append({ kind: "gap", from: slotOf(103), to: slotOf(110), reason: "unavailable" });
      expect(log().holes()).toEqual([]);
      const told = await takeUntil(follow(log(), "confirmed", "earliest"), headerOf(112, 110));
      expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([100, 101, 102, 112]);
      await log().append(stageOf(headerOf(112, 110), "finalized"));
      expect(log().reached("finalized")).toMatchObject({ slot: 112n });
    });

    test("a fork that skipped slots of which nobody has the block is left for the chain that has them", async () => {
      await appendBlocks(log(), 100, 102);
      const follower = follow(log(), "confirmed", "earliest");
      const told = await takeUntil(follower, headerOf(102));
      const dead = headerOf(104, headerOf(102), "fork");
      await log().append(blockOf(dead));
      await takeUntil(follower, dead, told);
      await log().append(blockOf(headerOf(105, 103)));
      await log().append(stageOf(headerOf(102), "finalized"));
      expect(log().holes()).toMatchObject([{ below: { slot: 102n }, missing: { slot: 103n } }]);
      await log().append({ kind: "gap", from: slotOf(103), to: slotOf(103), reason: "unavailable" });
      await takeUntil(follower, headerOf(105, 103), told);
      expect(told).toMatchObject({ undone: 1, gaps: [[103n, 103n]] });
      expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([100, 101, 102, 105]);
    });

    test.each(["before", "after"])(
      "nothing follows a gap on a fork that is known %s it to have died",
      async (known) => {
        await appendBlocks(log(), 100, 102);
        // Of two blocks of one slot the lower hash would be followed, and its own parent nobody has.
        const names = Array.from({ length: 64 }, (_, index) => `fork ${index}`);
        const name = names.find((each) => hashOf(`${each} 102`) < hashOf("main 102")) ?? "";
        await log().append(blockOf(headerOf(102, 101, name)));
        await log().append(blockOf(headerOf(110)));
        const final = stageOf(headerOf(102), "finalized");
        if (known === "before") await log().append(final);
        await log().append({ kind: "gap", from: slotOf(103), to: slotOf(109), reason: "unavailable" });
        if (known === "after") await log().append(final);
        for (const open of [() => log(), () => harness().reopen()]) {
          const view = await open();
          const told = await takeUntil(follow(view, "confirmed", "earliest"), headerOf(110));
          expect(told).toMatchObject({ undone: 0, gaps: [[103n, 109n]] });
          expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([100, 101, 102, 110]);
          expect(view.reached("confirmed")).toMatchObject({ slot: 110n });
        }
      },
    );

    test("gaps of two ingesters count together, and a block that comes after all takes its place", async () => {
      await appendBlocks(log(), 100, 102);
      await log().append(blockOf(headerOf(110)));
      await log().append({ kind: "gap", from: slotOf(103), to: slotOf(105), reason: "unavailable" });
      await log().append({ kind: "gap", from: slotOf(105), to: slotOf(109), reason: "unavailable" });
      const told = await takeUntil(follow(log(), "confirmed", "earliest"), headerOf(110));
      expect(told.gaps).toEqual([[103n, 109n]]);
      await appendBlocks(log(), 103, 109);
      const whole = await takeUntil(follow(log(), "confirmed", "earliest"), headerOf(110));
      expect(whole.blocks).toHaveLength(11);
    });
  });
}

function keepingConformance({ log, harness }: LogSubject): void {
  describe("keeping", () => {
    test("a log that is opened again holds what was stored", async () => {
      await appendBlocks(log(), 100, 120);
      await log().append(stageOf(headerOf(110), "finalized"));
      await log().append(blockOf(headerOf(121), "processed"));
      const again = await harness().reopen();
      expect([again.earliest()?.slot, again.latest("confirmed")?.slot, again.latest("finalized")?.slot]).toEqual([
        slotOf(100),
        slotOf(120),
        slotOf(110),
      ]);
      expect(again.latest("processed")?.slot).toBe(slotOf(121));
      const told = await takeUntil(follow(again, "confirmed", "earliest"), headerOf(120));
      expect(told.blocks).toHaveLength(21);
      expect(await again.append(blockOf(headerOf(115)))).toBe("repeat");
      expect(await again.append(stageOf(headerOf(110), "finalized"))).toBe("repeat");
    });

    test("who asks for what was trimmed is told what can be had, and a slow follower learns it too", async () => {
      await appendBlocks(log(), 100, 101);
      const slow = follow(log(), "confirmed", "earliest");
      await nextOf(slow);
      const cursor = slow.cursor();
      const bytes = 300_000;
      for (let first = 102; first < 150; first += 6) {
        const slots = Array.from({ length: 6 }, (_, index) => first + index);
        await Promise.all(
          slots.map((slot) => {
            const body = seededRandom(slot).bytes(bytes);
            return log().append({ kind: "block", header: headerOf(slot), stage: "confirmed", body });
          }),
        );
      }
      await harness().trim();
      const first = log().earliest()?.slot ?? 0n;
      expect(first).toBeGreaterThan(110n);
      const outcome = log().follow({ stage: "confirmed", from: { cursor } });
      expect(outcome).toEqual({ ok: false, code: "CURSOR_EXPIRED", firstSlot: slotOf(Number(first)) });
      expect(log().follow({ stage: "confirmed", from: { slot: slotOf(101) } })).toMatchObject({
        code: "CURSOR_EXPIRED",
      });
      const told = new ToldChain();
      while (told.firstSlot === undefined) {
        const event = await nextOf(slow);
        if (event.type !== "block") told.take(event);
      }
      expect(told.firstSlot).toBe(first);
      expect((await slow.next()).done).toBe(true);
      expect(await log().append(blockOf(headerOf(101)))).toBe("repeat");
      const again = await harness().reopen();
      expect(again.earliest()?.slot).toBe(slotOf(Number(first)));
      const follower = follow(again, "confirmed", "earliest");
      const events = [await nextOf(follower), await nextOf(follower)];
      expect(events).toMatchObject([{ header: { slot: first } }, { header: { slot: first + 1n } }]);
    });

    test("a follower that falls behind is told so once, and many followers get the same", async () => {
      await appendBlocks(log(), 100, 100);
      const followers = Array.from({ length: 50 }, () => follow(log(), "confirmed", "earliest"));
      await appendBlocks(log(), 101, 300);
      const told = await Promise.all(followers.map((follower) => takeUntil(follower, headerOf(300))));
      for (const each of told) expect([each.blocks.length, each.lagging]).toEqual([201, 1]);
    });

    test("who takes over at every event gets on, however far behind", async () => {
      await appendBlocks(log(), 100, 300);
      const told = await handOver([log()], headerOf(300));
      expect(told.blocks).toHaveLength(201);
    });

    test("what is held is found and read, and holes name the parents that may still come", async () => {
      expect([log().reached("confirmed"), log().holes()]).toEqual([null, []]);
      await appendBlocks(log(), 100, 103);
      await appendBlocks(log(), 108, 110);
      await log().append(blockOf(headerOf(120), "processed"));
      const place = (slot: number) => ({ slot: slotOf(slot), blockhash: headerOf(slot).blockhash });
      expect(log().holes()).toEqual([{ below: place(103), missing: place(107), above: place(108) }]);
      await log().append(stageOf(headerOf(102), "finalized"));
      expect([log().reached("confirmed"), log().reached("finalized")]).toEqual([place(103), place(102)]);
      expect(log().find(place(109))).toEqual({ header: headerOf(109), stage: "confirmed" });
      expect(log().find(place(120))?.stage).toBe("processed");
      expect([log().find(place(105)), log().find({ ...place(109), slot: slotOf(5) })]).toEqual([null, null]);
      expect(await log().read(place(109))).toEqual(bodyOf(headerOf(109)));
      expect(await log().read(place(105))).toBeNull();
      const again = await harness().reopen();
      expect(await again.read(place(109))).toEqual(bodyOf(headerOf(109)));
      await again.append({ kind: "gap", from: slotOf(104), to: slotOf(107), reason: "test" });
      expect([again.holes(), again.reached("confirmed")]).toEqual([[], place(110)]);
      await again.append(blockOf(headerOf(102, headerOf(101, 100, "dead"), "dead")));
      expect(again.holes()).toEqual([]);
      await again.append(blockOf(headerOf(111, headerOf(110, 109, "fork"), "fork")));
      expect(again.holes()).toMatchObject([{ below: place(109), missing: { slot: 110n }, above: { slot: 111n } }]);
      expect(again.latest("finalized")).toEqual(place(102));
    });

    test("a fork after a block that died is dead, and no hole is left before it", async () => {
      await appendBlocks(log(), 100, 105);
      const lost = headerOf(103, headerOf(102), "fork");
      await log().append(blockOf(headerOf(104, lost, "fork")));
      expect(log().holes()).toMatchObject([{ missing: { slot: 103n, blockhash: lost.blockhash } }]);
      await log().append(stageOf(headerOf(103), "finalized"));
      expect(log().holes()).toEqual([]);
    });

    test("ending a follower ends its wait", async () => {
      const follower = follow(log(), "confirmed", "latest");
      const next = follower.next();
      await follower.return();
      expect((await next).done).toBe(true);
    });
  });
}

function modelConformance({ harness }: LogSubject): void {
  test.each([1, 2, 3, 4, 5, 6])(
    "two writers with losses: every follower sees exactly the chain (seed %d)",
    async (seed) => {
      const random = seededRandom(seed * 7_919);
      const model = modelChain(seed, 120);
      const { log, other } = harness();
      const owner = model.records.map(() => Math.floor(random.next() * 3));
      const writes = [log, other ?? log].map((writer, index) => ({
        writer,
        records: shuffled(model.records, random, (at) => owner[at] === 2 || owner[at] === index),
      }));
      const last = model.blocks.at(-1) ?? headerOf(100, 99);
      const lastFinal = model.blocks[model.finalized - 1] ?? last;
      // Followers begin at the first block, whoever brings it.
      const [first] = model.records;
      if (first !== undefined) await log.append(first);
      if (other !== null) await eventually("the other view", () => other.earliest() !== null);
      const views = [log, other ?? log];
      const confirmed = views.map((view) => takeUntil(follow(view, "confirmed", "earliest"), last));
      const finalized = views.map((view) => takeUntil(follow(view, "finalized", "earliest"), lastFinal));
      const handed = handOver(views, last);
      await Promise.all(
        writes.map(async ({ writer, records }) => {
          for (const record of records) await writer.append(record);
        }),
      );
      const hashes = model.blocks.map(({ blockhash }) => blockhash);
      for (const told of [...(await Promise.all(confirmed)), await handed]) {
        expect(told.blocks.map(({ blockhash }) => blockhash)).toEqual(hashes);
      }
      for (const told of await Promise.all(finalized)) {
        expect(told.undone).toBe(0);
        expect(told.blocks.map(({ blockhash }) => blockhash)).toEqual(hashes.slice(0, model.finalized));
      }
    },
  );
}

/** Follows with a new follower for each event, on one view after the other. */
async function handOver(views: readonly ChainLog[], last: { readonly blockhash: string }): Promise<ToldChain> {
  const told = new ToldChain();
  let from: FollowFrom = "earliest";
  for (let turn = 0; ; turn += 1) {
    const view = views[turn % views.length];
    if (view === undefined) throw new Error("there is no view");
    const follower = follow(view, "confirmed", from);
    const event = await nextOf(follower);
    told.take(event);
    from = { cursor: follower.cursor() };
    await follower.return();
    // Two views may differ until both have received everything, for which the event loop has to run.
    await new Promise((resolve) => setImmediate(resolve));
    if (event.type === "block" && event.header.blockhash === last.blockhash) return told;
  }
}
