import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { PastBlocks } from "../../history/index.ts";
import { blockOfHeader, blockRecord } from "../../history/testing/blocks.ts";
import { type ChainLog, cursorWithin, type LogRecord } from "../../log/index.ts";
import { chain, headerOf, modelChain, slotOf, stageOf } from "../../log/testing/chain-model.ts";
import { type MemoryLog, openMemoryLog } from "../../log/testing/memory-log.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import { createStreamsEvents } from "../events.ts";
import { ToldFlow, type ToldOptions } from "../testing/told-flow.ts";
import type { FlowBlock } from "./flow-block.ts";
import { NetworkFlow } from "./flows.ts";

let memory: MemoryLog;
let flow: NetworkFlow;
const log = (): ChainLog => memory.log;
const events = createStreamsEvents({ log: createLog({ level: "silent" }), metrics: createMetrics() });

beforeEach(async () => {
  memory = await openMemoryLog(chain);
  flow = new NetworkFlow({ network: "devnet", log: memory.log, chain, past: null }, events);
});
afterEach(async () => {
  flow.end("closed");
  await memory.log[Symbol.asyncDispose]();
});

const told = (options: Partial<ToldOptions> = {}): ToldFlow => new ToldFlow({ cursorWithin, ...options });

/** The log with blocks in the form of real ones. */
async function append(records: readonly LogRecord[]): Promise<void> {
  for (const record of records)
    await log().append(record.kind === "block" ? blockRecord(record.header, record.stage) : record);
}

const appendSlots = (from: number, to: number): Promise<void> =>
  append(Array.from({ length: to - from + 1 }, (_, index) => blockRecord(headerOf(from + index))));

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function join(
  receiver: ToldFlow,
  from: Parameters<NetworkFlow["join"]>[0]["from"],
  stage: "confirmed" | "finalized" | "processed" = "confirmed",
) {
  const outcome = flow.join({ stage, from }, receiver);
  if (!outcome.ok) throw new Error(outcome.code);
  if (from === "live") receiver.isLive = true;
  receiver.cursors.push(outcome.cursor);
  return outcome;
}

/** What there is of the chain after a place that a receiver began at. */
const itemsOf = (receiver: ToldFlow): string[] => receiver.items.map(({ slot, index }) => `${slot}/${index}`);

describe("the live flow", () => {
  test("tells every receiver the same block, decoded once, and makes each form of it once", async () => {
    await appendSlots(100, 101);
    let made = 0;
    const form = (block: FlowBlock): string => {
      made += 1;
      return `${block.header.slot}`;
    };
    const forms: string[] = [];
    const blocks: FlowBlock[] = [];
    class Forming extends ToldFlow {
      override block(...[block, at]: Parameters<ToldFlow["block"]>): number | null {
        forms.push(block.form(form));
        blocks.push(block);
        return super.block(block, at);
      }
    }
    const receivers = [new Forming({ cursorWithin }), new Forming({ cursorWithin })];
    for (const receiver of receivers) join(receiver, "live");
    await appendSlots(102, 102);
    await eventually("the block", () => forms.length === 2);
    expect([forms, made, blocks[0] === blocks[1]]).toEqual([["102", "102"], 1, true]);
    expect(itemsOf(receivers[0] ?? told())).toEqual(itemsOf(receivers[1] ?? told()));
  });

  test("a receiver that fails is ended alone, and one that has left is told nothing", async () => {
    await appendSlots(100, 101);
    const [good, failing, left] = [told(), told(), told()];
    failing.block = () => {
      throw new Error("a receiver failed");
    };
    for (const receiver of [failing, good]) join(receiver, "live");
    join(left, "live").membership[Symbol.dispose]();
    await appendSlots(102, 103);
    await eventually("the blocks", () => good.blocks.length === 2);
    expect([failing.end, good.end, left.blocks, left.end]).toEqual(["failed", null, [], null]);
  });

  test("without receivers the log is followed no longer, and again once there is one", async () => {
    await appendSlots(100, 101);
    const first = told();
    join(first, "live").membership[Symbol.dispose]();
    await appendSlots(102, 102);
    const second = told();
    join(second, "live");
    await appendSlots(103, 103);
    await eventually("the block", () => second.blocks.length > 0);
    expect([first.blocks, second.blocks.map(({ slot }) => slot)]).toEqual([[], [slotOf(103)]]);
  });

  test("all receivers are ended when the flow is, also those that catch up", async () => {
    await appendSlots(100, 104);
    const [live, behind] = [told(), told({ ready: () => new Promise(() => undefined) })];
    join(live, "live");
    join(behind, { slot: slotOf(100) });
    await turns(3);
    flow.end("closed");
    expect([live.end, behind.end]).toEqual(["closed", "closed"]);
  });

  test("a block whose body cannot be read is told as a gap, and the chain goes on", async () => {
    await appendSlots(100, 101);
    const receiver = told();
    join(receiver, "live");
    const broken = blockRecord(headerOf(102));
    await log().append(broken.kind === "block" ? { ...broken, body: new Uint8Array([255, 255, 255]) } : broken);
    await appendSlots(103, 103);
    await eventually("the block after", () => receiver.blocks.length > 0);
    expect(receiver.gaps).toEqual([{ from: slotOf(102), to: slotOf(102), reason: "unreadable" }]);
    expect(receiver.blocks.map(({ slot }) => slot)).toEqual([slotOf(103)]);
  });
});

describe("who resumes", () => {
  test("begins at a slot, catches up and is live from then on, without a gap and without a duplicate", async () => {
    await appendSlots(100, 140);
    const receiver = told({ itemsAtOnce: 2 });
    expect(join(receiver, { slot: slotOf(110) }).membership.isLive).toBe(false);
    await eventually("the head", () => receiver.isLive);
    await appendSlots(141, 145);
    await eventually("live blocks", () => receiver.blocks.at(-1)?.slot === slotOf(145));
    expect(receiver.blocks.map(({ slot }) => Number(slot))).toEqual(
      Array.from({ length: 36 }, (_, index) => 110 + index),
    );
    expect(itemsOf(receiver)).toEqual([...new Set(itemsOf(receiver))]);
  });

  test("a receiver that is not ready is told nothing more, and holds nothing up", async () => {
    await appendSlots(100, 110);
    let open = Promise.withResolvers<void>();
    const slow = told({ ready: () => open.promise });
    const live = told();
    join(slow, { slot: slotOf(100) });
    join(live, "live");
    await appendSlots(111, 112);
    await eventually("live blocks", () => live.blocks.length === 2);
    expect(slow.blocks).toHaveLength(0);
    open.resolve();
    open = Promise.withResolvers();
    await eventually("the head", () => {
      open.resolve();
      open = Promise.withResolvers();
      return slow.isLive;
    });
    expect(slow.blocks).toHaveLength(13);
  });

  test("what is no longer held is refused with the first slot that is", async () => {
    await appendSlots(100, 110);
    const receiver = told();
    const { cursor } = join(receiver, { slot: slotOf(101) });
    await eventually("the head", () => receiver.isLive);
    memory.trimBelow(slotOf(105));
    const expired = { ok: false, code: "CURSOR_EXPIRED", firstSlot: slotOf(105) };
    for (const from of [{ slot: slotOf(103) }, { cursor }]) {
      expect(flow.join({ stage: "confirmed", from }, told())).toEqual(expired as never);
    }
    expect(flow.join({ stage: "finalized", from: { cursor } }, told())).toEqual({ ok: false, code: "CURSOR_INVALID" });
    expect(flow.join({ stage: "confirmed", from: { cursor: "nonsense" } }, told())).toEqual({
      ok: false,
      code: "CURSOR_INVALID",
    });
  });

  test("one whose next block is trimmed while it waits is told that it expired", async () => {
    await appendSlots(100, 110);
    const open = Promise.withResolvers<void>();
    let asked = 0;
    const receiver = told({ ready: () => (++asked > 2 ? open.promise : null), itemsAtOnce: 1 });
    join(receiver, { slot: slotOf(101) });
    await eventually("a wait", () => asked > 2);
    memory.trimBelow(slotOf(108));
    open.resolve();
    await eventually("the end", () => receiver.end !== null);
    expect(receiver.end).toBe("expired");
  });

  test("whatever the schedule of forks and of clients that leave and come back, each is told the chain", async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const random = seededRandom(seed);
      const { records, blocks } = modelChain(seed, 60);
      await using own = {
        ...(await openMemoryLog(chain)),
        [Symbol.asyncDispose]: () => own.log[Symbol.asyncDispose](),
      };
      const network = new NetworkFlow({ network: "devnet", log: own.log, chain, past: null }, events);
      const start = own.log.follow({ stage: "confirmed", from: "earliest" });
      if (!start.ok) throw new Error(start.code);
      const clients = Array.from({ length: 5 }, () => {
        const itemsAtOnce = 1 + Math.floor(random.next() * 3);
        const ready = () => (random.next() < 0.3 ? turns(1 + Math.floor(random.next() * 4)) : null);
        const receiver = told({ itemsAtOnce, ready });
        receiver.cursors.push(start.follower.cursor());
        return { receiver, membership: null as Disposable | null };
      });
      const comeBack = (client: (typeof clients)[number]): void => {
        const { receiver } = client;
        receiver.isLive = false;
        const cursor = receiver.cursors.at(-1) ?? "";
        const outcome = network.join({ stage: "confirmed", from: { cursor } }, receiver);
        if (!outcome.ok) throw new Error(`${outcome.code} after ${cursor}`);
        client.membership = outcome.membership;
      };
      for (const record of records) {
        await own.log.append(record.kind === "block" ? blockRecord(record.header, record.stage) : record);
        await turns(Math.floor(random.next() * 3));
        for (const client of clients) {
          if (random.next() > 0.25) continue;
          client.membership?.[Symbol.dispose]();
          client.membership = null;
          if (random.next() < 0.7) comeBack(client);
        }
      }
      for (const client of clients) if (client.membership === null) comeBack(client);
      const wanted = blocks.flatMap(({ slot, transactions }) =>
        Array.from({ length: transactions }, (_, index) => `${slot}/${index}`),
      );
      await eventually(`the end of chain ${seed}`, () =>
        clients.every(({ receiver }) => receiver.isLive && receiver.blocks.at(-1)?.slot === blocks.at(-1)?.slot),
      );
      for (const { receiver } of clients) expect(itemsOf(receiver)).toEqual(wanted);
      network.end("closed");
    }
  });
});

describe("what the log no longer holds", () => {
  /** Final blocks of slots below a bound, of a chain whose slots are all filled. */
  const pastOf = (from: number, until: number): PastBlocks => {
    const held = (slot: bigint): boolean => slot >= BigInt(from) && slot < BigInt(until);
    return {
      first: async (_network, slot) => {
        if (!held(slot)) return null;
        const header = headerOf(Number(slot));
        return { header, block: blockOfHeader(header) };
      },
      last: async (_network, slot) => (held(slot) ? headerOf(Number(slot)) : null),
      firstSlot: async () => slotOf(from),
    };
  };
  const behind = async (receiver: ToldFlow, from: Parameters<NetworkFlow["joinPast"]>[0]["from"], past: PastBlocks) => {
    flow = new NetworkFlow({ network: "devnet", log: memory.log, chain, past }, events);
    return await flow.joinPast({ stage: "confirmed", from }, receiver);
  };
  const slotsOf = (receiver: ToldFlow): number[] => receiver.blocks.map(({ slot }) => Number(slot));
  const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

  test("is refused where the log closes while the past is asked", async () => {
    const asked = behind(told(), { slot: slotOf(105) }, pastOf(103, 122));
    flow.end("closed");
    await expect(asked).rejects.toThrow("The chain's log is closed");
    expect(() => flow.join({ stage: "confirmed", from: "live" }, told())).toThrow("The chain's log is closed");
  });

  test("comes from the past and goes on in the log and live, also in parts of blocks", async () => {
    await appendSlots(100, 130);
    memory.trimBelow(slotOf(120));
    const receiver = told({ itemsAtOnce: 2 });
    expect(await behind(receiver, { slot: slotOf(105) }, pastOf(103, 122))).toMatchObject({ ok: true });
    await eventually("the head", () => receiver.isLive);
    await appendSlots(131, 132);
    await eventually("live blocks", () => receiver.blocks.length === 28);
    expect(slotsOf(receiver)).toEqual(range(105, 132));
    expect(itemsOf(receiver)).toEqual([...new Set(itemsOf(receiver))]);
    // Whoever was cut off there goes on in the middle of a block of the past.
    const at = receiver.items.findIndex(({ slot, index }) => slot === slotOf(109) && index === 1);
    const again = told();
    const cursor = receiver.items[at]?.cursor ?? "";
    expect(await flow.joinPast({ stage: "confirmed", from: { cursor } }, again)).toMatchObject({ ok: true });
    await eventually("the head", () => again.isLive);
    expect(itemsOf(again)).toEqual(itemsOf(receiver).slice(at + 1));
  });

  test("is refused with the first slot where nothing holds it, and ends where it is removed on the way", async () => {
    await appendSlots(100, 130);
    memory.trimBelow(slotOf(120));
    const refused = { ok: false, code: "CURSOR_EXPIRED", firstSlot: slotOf(103) } as const;
    expect(await behind(told(), { slot: slotOf(101) }, pastOf(103, 122))).toEqual(refused);
    const receiver = told();
    // Between what is held of the past and the log there is nothing.
    expect(await behind(receiver, { slot: slotOf(105) }, pastOf(103, 110))).toMatchObject({ ok: true });
    await eventually("the end", () => receiver.end !== null);
    expect([receiver.end, slotsOf(receiver)]).toEqual(["expired", range(105, 109)]);
  });

  test("is refused where a block died before anything was final, and nothing tells where to go back to", async () => {
    await appendSlots(100, 104);
    await append([blockRecord(headerOf(105, headerOf(104), "fork"))]);
    const first = told();
    join(first, { slot: slotOf(104) });
    await eventually("the head", () => first.isLive);
    const cursor = first.cursors.at(-1) ?? "";
    await append([blockRecord(headerOf(105)), ...range(106, 130).map((slot) => blockRecord(headerOf(slot)))]);
    await append([stageOf(headerOf(125), "finalized")]);
    memory.trimBelow(slotOf(120));
    const refused = { ok: false, code: "CURSOR_EXPIRED", firstSlot: slotOf(120) } as const;
    expect(flow.join({ stage: "confirmed", from: { cursor } }, told())).toEqual(refused);
  });

  test("at finalized goes on from a block that died with what is final after its slot", async () => {
    await appendSlots(100, 104);
    const cursor = log().cursorAfter("finalized", headerOf(104, headerOf(103), "fork"));
    await appendSlots(105, 130);
    await append([stageOf(headerOf(125), "finalized")]);
    memory.trimBelow(slotOf(120));
    flow = new NetworkFlow({ network: "devnet", log: memory.log, chain, past: pastOf(103, 122) }, events);
    const receiver = told();
    expect(await flow.joinPast({ stage: "finalized", from: { cursor } }, receiver)).toMatchObject({ ok: true });
    await eventually("the head", () => receiver.isLive);
    expect(slotsOf(receiver)).toEqual(range(105, 125));
  });

  test("is told to those who are live, where the log was trimmed beyond what they were told", async () => {
    await appendSlots(100, 130);
    await append([stageOf(headerOf(104), "finalized")]);
    flow = new NetworkFlow({ network: "devnet", log: memory.log, chain, past: pastOf(100, 122) }, events);
    const receiver = told();
    join(receiver, "live", "finalized");
    memory.trimBelow(slotOf(120));
    await eventually("the past", () => receiver.blocks.length === 15);
    await append([stageOf(headerOf(125), "finalized")]);
    await eventually("the log", () => receiver.blocks.length === 21);
    expect([receiver.end, slotsOf(receiver)]).toEqual([null, range(105, 125)]);
    // What neither holds ends them.
    flow = new NetworkFlow({ network: "devnet", log: memory.log, chain, past: pastOf(100, 122) }, events);
    const late = told();
    join(late, "live", "finalized");
    memory.trimBelow(slotOf(128));
    await eventually("the end", () => late.end !== null);
    expect([late.end, slotsOf(late)]).toEqual(["expired", []]);
  });

  test("bound to a slot tells nothing below it, also where what was told has died since", async () => {
    await appendSlots(100, 104);
    await append([stageOf(headerOf(102), "finalized")]);
    const bound = log().cursorAfter("confirmed", headerOf(101), slotOf(110));
    const died = log().cursorAfter("confirmed", headerOf(105, headerOf(104), "fork"), slotOf(104));
    await appendSlots(105, 130);
    await append([stageOf(headerOf(125), "finalized")]);
    memory.trimBelow(slotOf(120));
    const first = told();
    expect(await behind(first, { cursor: bound }, pastOf(103, 122))).toMatchObject({ ok: true, cursor: bound });
    await eventually("the head", () => first.isLive);
    expect(slotsOf(first)).toEqual(range(110, 130));
    const again = told();
    again.undo = () => undefined;
    expect(await behind(again, { cursor: died }, pastOf(100, 122))).toMatchObject({ ok: true });
    await eventually("the head", () => again.isLive);
    expect(slotsOf(again)).toEqual(range(104, 130));
  });

  test("takes back a block that died since, and goes on after what was final then", async () => {
    await appendSlots(100, 104);
    await append([stageOf(headerOf(102), "finalized")]);
    const fork = headerOf(105, headerOf(104), "fork");
    await append([blockRecord(fork)]);
    const first = told();
    join(first, { slot: slotOf(104) });
    await eventually("the head", () => first.isLive);
    const cursor = first.cursors.at(-1) ?? "";
    await append([blockRecord(headerOf(105)), ...range(106, 130).map((slot) => blockRecord(headerOf(slot)))]);
    await append([stageOf(headerOf(125), "finalized")]);
    memory.trimBelow(slotOf(120));
    const undone: bigint[] = [];
    const receiver = told();
    receiver.undo = (undo, back) => void undone.push(undo.slot, back.slot);
    expect(await behind(receiver, { cursor }, pastOf(100, 122))).toMatchObject({ ok: true });
    await eventually("the head", () => receiver.isLive);
    expect([undone, slotsOf(receiver)]).toEqual([[105n, 102n], range(103, 130)]);
  });
});

test("finalized blocks are told at their stage alone, each once and in order", async () => {
  await appendSlots(100, 110);
  const receiver = told();
  join(receiver, { slot: slotOf(100) }, "finalized");
  await append([stageOf(headerOf(104), "finalized"), stageOf(headerOf(106), "finalized")]);
  await eventually("the blocks", () => receiver.blocks.length === 7);
  expect(receiver.blocks.map(({ slot }) => Number(slot))).toEqual([100, 101, 102, 103, 104, 105, 106]);
});
