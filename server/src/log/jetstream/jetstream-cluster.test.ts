import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Clock, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { type ChainLog, type ChainLogOptions, openChainLog } from "../index.ts";
import { blockOf, headerOf, nextOf, slotOf, stageOf, ToldChain, takeUntil } from "../testing/chain-model.ts";
import { follow } from "../testing/log-subject.ts";
import { areCurrent, leaderOf, type NatsServer, natsBinary, startNats } from "../testing/nats-servers.ts";
import { hurriedClock, observed, standardOptions, temporaryDirectory } from "../testing/segment-logs.ts";

if (natsBinary === null) console.warn("NOT RUN: the log on three servers of JetStream (there is no nats-server)");

/** What a cluster needs at most to go on without a server; a test that needs longer has found a fault. */
const waitMs = 60_000;

describe.skipIf(natsBinary === null)("three servers", () => {
  const directory = temporaryDirectory();
  let servers: NatsServer[] = [];
  beforeAll(async () => {
    servers = await startNats(directory.path, 3);
  });
  afterAll(async () => {
    for (const server of servers) await server.kill();
    directory[Symbol.dispose]();
  });

  const openOne = (prefix: string, changes: Partial<ChainLogOptions> = {}, clock?: Clock): Promise<ChainLog> => {
    const logUrl = `nats://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}?prefix=${prefix}`;
    const options = { ...standardOptions, dataDirectory: "", logUrl, tailBytesMax: 1, ...changes };
    return eventually("a log on the cluster", () => openChainLog(options, observed(clock).dependencies), waitMs);
  };

  /** Every slot in order by both writers, who ask again until it is stored; one body in fifty goes in parts. */
  async function appendAll(logs: readonly ChainLog[], from: number, to: number, stored: number[]): Promise<void> {
    const random = seededRandom(from);
    for (let slot = from; slot <= to; slot += 1) {
      const bytes = slot % 50 === 0 ? 3_000_000 : 1_000 + Math.floor(random.next() * 100_000);
      const record = blockOf(headerOf(slot), "confirmed", bytes);
      await Promise.all(logs.map((log) => eventually("an append", () => log.append(record), waitMs)));
      stored.push(slot);
    }
  }

  test("what is stored is refused from all and told once, and what was acknowledged outlives the leader", async () => {
    const one = await openOne("leader");
    const two = await openOne("leader");
    const first = blockOf(headerOf(100));
    // A cluster judges a repeat by what its leader has applied: of two at one moment it may take both.
    expect(await Promise.all([one.append(first), two.append(first)])).toContain("stored");
    expect(await Promise.all([one.append(first), two.append(first)])).toEqual(["repeat", "repeat"]);

    const acknowledged: number[] = [];
    const appending = appendAll([one, two], 101, 200, acknowledged);
    await eventually("the first blocks", () => acknowledged.length > 30, waitMs);
    const leader = await leaderOf(servers, "leader-chain-devnet");
    await leader.kill();
    await appending;
    await eventually("finality", () => one.append(stageOf(headerOf(200), "finalized")), waitMs);

    const third = await openOne("leader");
    const told = new ToldChain();
    await takeUntil(follow(third, "confirmed", "earliest"), headerOf(200), told);
    expect(told.blocks.map(({ slot }) => Number(slot))).toEqual([100, ...acknowledged]);
    const live = await takeUntil(follow(two, "finalized", "earliest"), headerOf(200));
    expect(live.blocks).toHaveLength(101);
    for (const log of [one, two, third]) await log[Symbol.asyncDispose]();
    await leader.startAgain();
  }, 180_000);

  // Random bytes are not packed, so that a body takes three parts and a head, and the bound falls between them.
  test("what is trimmed in the middle of a body is trimmed as a whole, for every process, and the rest is told", async () => {
    const bytesMax = 12_000_000;
    const { clock, pass } = hurriedClock();
    const open = () => openOne("trim", { bytesMax }, clock);
    const [one, two] = [await open(), await open()];
    const random = seededRandom(3);
    const bodies = new Map<number, Uint8Array>();
    const append = async (slot: number): Promise<void> => {
      const body = bodies.get(slot) ?? random.bytes(2_600_000 + Math.floor(random.next() * 200_000));
      bodies.set(slot, body);
      const record = { kind: "block", header: headerOf(slot), stage: "confirmed", body } as const;
      await eventually("an append", () => one.append(record), waitMs);
    };
    await append(100);
    const slow = follow(two, "confirmed", "earliest");
    await nextOf(slow);
    for (let slot = 101; slot <= 112; slot += 1) await append(slot);
    const third = await open();
    let same = 0;
    await eventually(
      "the trim",
      () => {
        pass();
        const [first, ...others] = [one, two, third].map((log) => log.earliest()?.slot ?? 0n);
        same = first !== undefined && first > 105n && others.every((each) => each === first) ? same + 1 : 0;
        return same > 20;
      },
      waitMs,
    );
    expect(third.follow({ stage: "confirmed", from: { slot: slotOf(101) } }).ok).toBe(false);
    // The one that was told a block that is gone learns it, though nobody asks.
    let event = await nextOf(slow);
    while (event.type !== "expired") event = await nextOf(slow);
    for (const log of [one, two, third]) {
      const first = Number(log.earliest()?.slot);
      const follower = follow(log, "confirmed", "earliest");
      for (let slot = first; slot <= 112; slot += 1) {
        const told = await nextOf(follower);
        if (told.type !== "block") throw new Error(told.type);
        expect([Number(told.header.slot), Buffer.compare(told.body, bodies.get(slot) ?? new Uint8Array(0))]).toEqual([
          slot,
          0,
        ]);
      }
      await follower.return();
    }
    for (const log of [one, two, third]) await log[Symbol.asyncDispose]();
  }, 180_000);

  // A consumer lives on one of the three, so one of the losses takes that of the follower.
  test("a follower is told on while each server in turn is lost", async () => {
    const [writer, reader] = [await openOne("turns"), await openOne("turns")];
    await eventually("the first block", () => writer.append(blockOf(headerOf(100))), waitMs);
    const told = new ToldChain();
    const follower = follow(reader, "confirmed", "earliest");
    let to = 100;
    await takeUntil(follower, headerOf(to), told);
    for (const server of servers) {
      await server.kill();
      await appendAll([writer], to + 1, to + 20, []);
      to += 20;
      await takeUntil(follower, headerOf(to), told);
      await server.startAgain();
      await eventually("three servers", () => areCurrent(servers, "turns-chain-devnet"), waitMs);
    }
    expect(told.blocks.map(({ slot }) => Number(slot))).toEqual(Array.from({ length: 61 }, (_, at) => 100 + at));
    for (const log of [writer, reader]) await log[Symbol.asyncDispose]();
  }, 180_000);
});
