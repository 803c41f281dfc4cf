import { type StreamServerMessage, streamServerMessage } from "@sluice/contract/schemas";
import { ManualClock, seededRandom } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import { BlockReader } from "../../events/index.ts";
import { blockRecord } from "../../history/testing/blocks.ts";
import type { Grant, KeyRefusal } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { createLimits } from "../../limits/index.ts";
import type { LogRecord } from "../../log/index.ts";
import { chain } from "../../log/testing/chain-model.ts";
import { openMemoryLog } from "../../log/testing/memory-log.ts";
import type { SocketSession } from "../../net/index.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import { NetworkFlow } from "../flow/flows.ts";
import { ConnectionCounts, createStreamsEvents, MessagePacer, StreamEndpoint } from "../index.ts";
import type { SlotSource } from "../socket/processed-slots.ts";

type Message<Type extends StreamServerMessage["type"]> = Extract<StreamServerMessage, { type: Type }>;

/** A client whose reading is played: while `isFull` nothing leaves, as with a peer that does not read. */
export class PlayedClient {
  readonly texts: string[] = [];
  readonly got: StreamServerMessage[] = [];
  closed: number | null = null;
  isFull = false;
  readonly #session: SocketSession;

  constructor(session: SocketSession) {
    this.#session = session;
    session.opened(this);
  }

  /** Every message is one of the contract's. */
  send(data: string | Uint8Array): number {
    const text = String(data);
    this.texts.push(text);
    this.got.push(streamServerMessage.parse(JSON.parse(text)));
    return text.length;
  }
  close(code = 1000): void {
    if (this.closed !== null) return;
    this.closed = code;
    this.#session.closed(code);
  }
  terminate(): void {
    this.close(1006);
  }
  ping(): number {
    return 1;
  }
  getBufferedAmount(): number {
    return this.isFull ? 2 * 1024 * 1024 : 0;
  }

  say(message: unknown): void {
    this.#session.received(typeof message === "string" ? message : JSON.stringify(message));
  }
  drain(): void {
    this.#session.drain();
  }
  /** As each 30 seconds. */
  tick(): void {
    this.#session.ponged();
    this.#session.tick();
  }
  /** Reads again. */
  reads(): void {
    this.isFull = false;
    this.#session.writable?.();
  }

  of<Type extends StreamServerMessage["type"]>(type: Type): Message<Type>[] {
    return this.got.filter((message): message is Message<Type> => message.type === type);
  }

  /** Subscribes, and gives the answer. */
  subscribe(channel: string, of: object = {}): Message<"subscribed"> {
    this.say({ action: "subscribe", channel, ...of });
    const answer = this.got.findLast(({ type }) => type === "subscribed" || type === "error");
    if (answer?.type !== "subscribed") throw new Error(JSON.stringify(answer));
    return answer;
  }
}

/** Turns of the event loop, so that what the present one leads to has been done. */
export const settled = async (turns = 8): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** `/ws` over a log in memory, with keys, limits and credits that a test plays. */
export async function bootStreams(changes: Partial<Grant> = {}) {
  const clock = new ManualClock(1_790_000_000_000);
  const events = createStreamsEvents({ log: createLog({ level: "silent" }), metrics: createMetrics() });
  const memory = await openMemoryLog(chain);
  let flow: NetworkFlow | null = new NetworkFlow({ network: "devnet", log: memory.log, chain, past: null }, events);
  const facts: RequestFact[] = [];
  const played = {
    grant: { ...grantOfTests, ...changes } as Grant | KeyRefusal,
    restriction: null as "IP_NOT_ALLOWED" | null,
    credits: true as boolean | Promise<boolean>,
  };
  const access = accessOfTests({
    keys: { authenticate: () => played.grant, checkRestrictions: () => played.restriction },
    limits: createLimits({}, { clock }),
    credits: {
      take: () => played.credits,
      refund: () => undefined,
      balance: () => ({ remaining: 0n, resetsAtMs: 0 }) as never,
    },
  });
  const listeners = new Set<Parameters<SlotSource["subscribe"]>[0]>();
  const slots: SlotSource = {
    subscribe: (listener) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
  };
  let requests = 0;
  const endpoint = new StreamEndpoint(
    { networkDefault: "devnet", reportEveryMs: 0 },
    {
      clock,
      random: seededRandom(7),
      access,
      events,
      requestId: () => `req_${++requests}`,
      served: (fact) => facts.push(fact),
      refused: () => undefined,
      flows: {
        networks: ["devnet"],
        reader: new BlockReader(),
        network: (network) => (network === "devnet" ? flow : null),
      },
      slots,
      places: new ConnectionCounts(),
      pacer: new MessagePacer({ clock, access }),
    },
  );
  return {
    clock,
    endpoint,
    facts,
    played,
    memory,
    log: memory.log,
    slotMoved: (slot: bigint) => {
      for (const listener of listeners) listener("devnet", "processed", slot);
    },
    connect: async (url = "http://streams.test/ws"): Promise<PlayedClient> =>
      new PlayedClient(await endpoint.begin(new Request(url), { requestIP: () => ({ address: "127.0.0.1" }) })),
    append: async (records: readonly LogRecord[]): Promise<void> => {
      for (const record of records) {
        await memory.log.append(
          record.kind === "block" && record.body.length === 400 ? blockRecord(record.header, record.stage) : record,
        );
      }
      await settled();
    },
    closeFlow: () => {
      flow?.end("closed");
      flow = null;
    },
    [Symbol.asyncDispose]: async () => {
      endpoint[Symbol.dispose]();
      flow?.end("closed");
      await memory.log[Symbol.asyncDispose]();
    },
  };
}
