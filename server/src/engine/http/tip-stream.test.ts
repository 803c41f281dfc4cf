import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Permission } from "@sluice/contract/tiers";
import { compileAddressSet, ManualClock, systemClock } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { KeyRefusal } from "../../keys/index.ts";
import { AppListener } from "../../net/index.ts";
import type { TipFloorFigures } from "../model/service.ts";
import { Admit } from "./admit.ts";
import type { TipSession } from "./tip-session.ts";
import { TipStream, tipStreamPath } from "./tip-stream.ts";

/** A client whose reading is played: while `isFull` nothing leaves, as with a peer that does not read. */
class PlayedSocket {
  readonly floors: number[] = [];
  closed: number | null = null;
  terminated = false;
  pings = 0;
  isFull = false;

  send(data: string): number {
    this.floors.push(JSON.parse(data)[0].landed_tips_25th_percentile);
    return data.length;
  }
  close(code = 1000): void {
    this.closed ??= code;
  }
  terminate(): void {
    this.terminated = true;
  }
  ping(): number {
    this.pings += 1;
    return 1;
  }
  getBufferedAmount(): number {
    return this.isFull ? 1_000_000 : 0;
  }
}

let p25: bigint;
let permissions: Permission[];
let refused: KeyRefusal["code"] | null;
let isRateSpent: boolean;
let reported: string[];
let facts: string[];
let stream: TipStream;

const figures = (): TipFloorFigures => ({
  floor: 1_000n,
  average24h: 1_000n,
  utilization: 0,
  bundleShare: 0,
  landedBlocks: 150,
  landedTips: 0,
  landed: { p25, p50: 1n, p75: 1n, p95: 1n, p99: 1n, emaP50: 1n },
  at: 0,
});

beforeEach(() => {
  p25 = 1_000_000_000n;
  permissions = ["read"];
  refused = null;
  isRateSpent = false;
  reported = [];
  facts = [];
  const admit = new Admit({
    access: accessOfTests({
      keys: {
        authenticate: (key) =>
          refused !== null || !key?.startsWith("good")
            ? { ok: false, code: refused ?? "INVALID_API_KEY" }
            : { ...grantOfTests, keyId: key, accountId: key, permissions },
        remembered: (key) => (key === "good" ? { ...grantOfTests, keyId: key } : null),
        checkRestrictions: (_grant, { clientAddress }) => (clientAddress === "10.0.0.9" ? "IP_NOT_ALLOWED" : null),
      },
      limits: {
        take: (_bucket, limit, burst) => ({
          allowed: !isRateSpent,
          limit,
          burst,
          remaining: 0,
          resetAt: 0,
          retryAfterSeconds: 1,
        }),
      },
    }),
  });
  stream = new TipStream({
    engine: { tipFloor: figures },
    admit,
    trustedProxies: compileAddressSet([]),
    requestId: () => "req_1",
    clock: new ManualClock(),
    records: {
      network: "devnet",
      clock: new ManualClock(),
      served: ({ keyId, method, status, code }) => facts.push(`${keyId} ${method} ${status} ${code}`),
    },
    events: {
      streamOpened: (method) => reported.push(`open ${method}`),
      streamClosed: (method) => reported.push(`close ${method}`),
      answered: (route, status) => reported.push(`${route} ${status}`),
      internalError: (where) => reported.push(`fault ${where}`),
    },
  });
});
afterEach(() => stream[Symbol.dispose]());

interface Asked {
  readonly headers?: Record<string, string>;
  readonly query?: string;
  readonly address?: string;
}

async function connect({ headers = { "x-api-key": "good" }, query = "", address = "10.0.0.1" }: Asked = {}) {
  const request = new Request(`http://engine${tipStreamPath}${query}`, { headers });
  const session: TipSession = await stream.begin(request, { requestIP: () => ({ address }) });
  const socket = new PlayedSocket();
  session.opened(socket);
  return { session, socket };
}

describe("who may follow the tip floor", () => {
  test("a key in each place that the port knows, for reading alone", async () => {
    for (const asked of [
      {},
      { headers: { authorization: "Bearer good" } },
      { headers: { "x-jito-auth": "good" } },
      { headers: {}, query: "?api-key=good" },
      { headers: {}, query: "?uuid=good" },
    ]) {
      const { socket } = await connect(asked);
      expect([socket.floors, socket.closed]).toEqual([[1], null]);
    }
    expect(stream.size).toBe(5);
  });

  test("others are closed with the code of their refusal and sent nothing", async () => {
    const closedWith = async (asked: Asked = {}) => {
      const { socket } = await connect(asked);
      return [socket.closed, socket.floors.length];
    };
    expect(await closedWith({ headers: {} })).toEqual([4401, 0]);
    expect(await closedWith({ headers: { "x-api-key": "bad" } })).toEqual([4401, 0]);
    expect(await closedWith({ address: "10.0.0.9" })).toEqual([4403, 0]);
    permissions = ["bundles:write"];
    expect(await closedWith()).toEqual([4403, 0]);
    refused = "OVERLOADED";
    expect(await closedWith()).toEqual([4503, 0]);
    refused = null;
    isRateSpent = true;
    expect(await closedWith()).toEqual([4429, 0]);
    expect([stream.size, reported.filter((line) => line.startsWith("open"))]).toEqual([0, []]);
    // Those whose account is known.
    expect(facts).toEqual([
      `good ${tipStreamPath} 4403 PERMISSION_DENIED`,
      `good ${tipStreamPath} 4403 PERMISSION_DENIED`,
      `good ${tipStreamPath} 4429 RATE_LIMIT_EXCEEDED`,
    ]);
  });

  test("an account has twenty clients at most, and a place is free again when one leaves", async () => {
    const clients = [];
    for (let index = 0; index < 20; index += 1) clients.push(await connect());
    expect((await connect()).socket.closed).toBe(4429);
    expect((await connect({ headers: { "x-api-key": "good too" } })).socket.closed).toBeNull();
    clients[0]?.session.closed();
    expect((await connect()).socket.closed).toBeNull();
  });

  test("a key that is revoked ends its client, a store that does not answer ends no client", async () => {
    const { socket } = await connect();
    refused = "OVERLOADED";
    await stream.recheck();
    expect(socket.closed).toBeNull();
    refused = "INVALID_API_KEY";
    await stream.recheck();
    expect(socket.closed).toBe(4401);
  });
});

describe("what is reported", () => {
  test("the floor at once and at each change; an unchanged one every fifth look", async () => {
    const { socket } = await connect();
    stream.check();
    p25 = 2_000_000_000n;
    stream.check();
    for (let look = 0; look < 9; look += 1) stream.check();
    expect(socket.floors).toEqual([1, 1, 2, 2]);
  });

  test("a client that does not read is passed over and gets the present when it reads again", async () => {
    const { socket } = await connect();
    socket.isFull = true;
    for (const next of [2n, 3n, 4n]) {
      p25 = next * 1_000_000_000n;
      stream.check();
    }
    socket.isFull = false;
    p25 = 5_000_000_000n;
    stream.check();
    expect(socket.floors).toEqual([1, 5]);
  });

  test("a client that answers no ping is gone after two, and one that leaves is forgotten", async () => {
    const silent = await connect();
    const alive = await connect();
    for (let tick = 0; tick < 4; tick += 1) {
      silent.session.tick();
      alive.session.tick();
      alive.session.ponged();
    }
    expect([silent.socket.pings, silent.socket.terminated]).toEqual([2, true]);
    expect([alive.socket.pings, alive.socket.terminated]).toEqual([4, false]);
    silent.session.closed();
    silent.session.closed();
    expect([stream.size, reported.filter((line) => line.startsWith("close"))]).toEqual([1, [`close ${tipStreamPath}`]]);
    alive.session.drain();
    expect(alive.socket.closed).toBe(1001);
  });
});

test("over a real socket: the same record as over HTTP, whatever the client says meanwhile", async () => {
  await using endpoint = new AppListener(
    { hostname: "127.0.0.1", port: 0 },
    {
      fetch: () => new Response(null, { status: 404 }),
      sockets: [stream],
      clock: systemClock,
      requestId: () => "req_1",
      events: { internalError: (_where, error) => void reported.push(String(error)) },
    },
  );
  const socket = new WebSocket(`ws://127.0.0.1:${endpoint.port}${tipStreamPath}?uuid=good`);
  const messages: string[] = [];
  const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  socket.addEventListener("message", ({ data }) => {
    messages.push(String(data));
    arrivals[messages.length - 1]?.resolve();
  });
  await arrivals[0]?.promise;
  socket.send("hello");
  p25 = 3_000_000_000n;
  stream.check();
  await arrivals[1]?.promise;
  expect(messages.slice(0, 2).map((text) => JSON.parse(text)[0].landed_tips_25th_percentile)).toEqual([1, 3]);
  expect(Object.keys(JSON.parse(messages[0] ?? "")[0]).length).toBe(7);
  const gone = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  await endpoint.stop(1_000);
  expect(await gone).toBe(1001);
  expect(reported.filter((line) => line.includes("rror"))).toEqual([]);
});
