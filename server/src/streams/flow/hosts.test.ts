/** Clients that move between two processes, over one log that both have. */
import { afterAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { type Random, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { blockRecord } from "../../history/testing/blocks.ts";
import { type ChainLog, cursorWithin, openChainLog } from "../../log/index.ts";
import { chain, modelChain } from "../../log/testing/chain-model.ts";
import { natsBinary, removeStream, startNats } from "../../log/testing/nats-servers.ts";
import { observed, standardOptions, temporaryDirectory } from "../../log/testing/segment-logs.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import { createStreamsEvents } from "../events.ts";
import { ToldFlow } from "../testing/told-flow.ts";
import { NetworkFlow } from "./flows.ts";

const given = Bun.env["NATS_URL"] ?? "";
const own = natsBinary === null || given !== "" ? null : temporaryDirectory();
const servers = own === null ? [] : await startNats(own.path, 1);
const url = own === null ? given : `nats://127.0.0.1:${servers[0]?.port}`;
if (url === "") console.warn("NOT RUN: clients that move between hosts on JetStream (NATS_URL is not set)");
afterAll(async () => {
  for (const server of servers) await server.process[Symbol.asyncDispose]();
  own?.[Symbol.dispose]();
});

const events = createStreamsEvents({ log: createLog({ level: "silent" }), metrics: createMetrics() });
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A process with streams, which ends and begins anew while its log lives on in NATS. */
class Host {
  readonly #log: ChainLog;
  #flow: NetworkFlow;

  constructor(log: ChainLog) {
    this.#log = log;
    this.#flow = this.#open();
  }

  get flow(): NetworkFlow {
    return this.#flow;
  }

  restart(): void {
    this.#flow.end("closed");
    this.#flow = this.#open();
  }

  #open(): NetworkFlow {
    return new NetworkFlow({ network: "devnet", log: this.#log, chain, past: null }, events);
  }
}

/** A client that comes back wherever it likes from the last cursor that it has. */
class Mover {
  receiver: ToldFlow;
  #membership: Disposable | null = null;
  readonly #random: Random;

  constructor(cursor: string, random: Random) {
    this.#random = random;
    const ready = () => (random.next() < 0.2 ? turns(1 + Math.floor(random.next() * 4)) : null);
    this.receiver = new ToldFlow({ cursorWithin, ready, itemsAtOnce: 1 + Math.floor(random.next() * 3) });
    this.receiver.cursors.push(cursor);
  }

  get isAway(): boolean {
    return this.#membership === null || this.receiver.end !== null;
  }

  leave(): void {
    this.#membership?.[Symbol.dispose]();
    this.#membership = null;
  }

  comeTo(hosts: readonly Host[]): void {
    const host = hosts[Math.floor(this.#random.next() * hosts.length)];
    this.receiver.isLive = false;
    this.receiver.end = null;
    const cursor = this.receiver.cursors.at(-1) ?? "";
    const outcome = host?.flow.join({ stage: "confirmed", from: { cursor } }, this.receiver);
    if (outcome?.ok !== true) throw new Error(`${outcome?.code}`);
    this.#membership = outcome.membership;
  }
}

test.skipIf(url === "")(
  "whatever moves, dies and forks, what each client was told is the chain",
  async () => {
    for (const seed of [11, 12, 13]) {
      const random = seededRandom(seed);
      const prefix = `test-${randomUUID()}`;
      const options = { ...standardOptions, dataDirectory: "", logUrl: `${url}?prefix=${prefix}` };
      const logs = await Promise.all([0, 1].map(() => openChainLog(options, observed().dependencies)));
      const hosts = logs.map((log) => new Host(log));
      const { records, blocks } = modelChain(seed, 40);
      const [first, ...rest] = records;
      if (first?.kind !== "block") throw new Error("a chain begins with a block");
      await logs[0]?.append(blockRecord(first.header));
      await eventually("the first block", () => logs.every((log) => log.earliest() !== null));
      const start = logs[0]?.follow({ stage: "confirmed", from: "earliest" });
      if (start?.ok !== true) throw new Error("the log cannot be followed");
      const clients = Array.from({ length: 4 }, () => new Mover(start.follower.cursor(), random));
      await start.follower.return();
      for (const record of rest) {
        const log = logs[Math.floor(random.next() * 2)];
        await log?.append(record.kind === "block" ? blockRecord(record.header, record.stage) : record);
        await turns(Math.floor(random.next() * 3));
        if (random.next() < 0.1) hosts[Math.floor(random.next() * 2)]?.restart();
        for (const client of clients) {
          if (random.next() < 0.3) client.leave();
          if (client.isAway && random.next() < 0.6) client.comeTo(hosts);
        }
      }
      for (const client of clients) if (client.isAway) client.comeTo(hosts);
      const wanted = blocks.flatMap(({ slot, transactions }) =>
        Array.from({ length: transactions }, (_, index) => `${slot}/${index}`),
      );
      await eventually(`the end of chain ${seed}`, () =>
        clients.every(({ receiver }) => receiver.isLive && receiver.blocks.at(-1)?.slot === blocks.at(-1)?.slot),
      );
      const told = clients.map(({ receiver }) => receiver.items.map(({ slot, index }) => `${slot}/${index}`));
      for (const each of told) expect(each).toEqual(wanted);
      for (const host of hosts) host.flow.end("closed");
      for (const log of logs) await log[Symbol.asyncDispose]();
      await removeStream(url, `${prefix}-chain-devnet`);
    }
  },
  60_000,
);
