/** One host whose gateway is served by two workers, on PostgreSQL, Redis and a ledger that they share. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerStatus, WorkersReport } from "@sluice/contract/schemas";
import { eventually } from "@sluice/lib/testing";
import { newSchema } from "../src/state/testing/schema.ts";
import { type Gateway, sluice, startGateway } from "./testing/gateway.ts";
import { startLedgerServer } from "./testing/ledger-server.ts";
import { isAlive, runSluice } from "./testing/network.ts";
import { ask, freshKey, heightCall, spend } from "./testing/replicas.ts";
import { startStubNode } from "./testing/stub-node.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const redisUrl = Bun.env["REDIS_URL"] ?? "";
const isRun = databaseUrl !== "" && redisUrl !== "";
if (!isRun) console.warn("NOT RUN: workers on PostgreSQL and Redis (DATABASE_URL or REDIS_URL is not set)");

const resources = new AsyncDisposableStack();
let environment: Record<string, string> = {};
let host: Gateway;

const report = async (): Promise<WorkersReport> => await sluice(host, environment, "workers", "list");
const pidOf = async (number: number): Promise<number> =>
  (await report()).workers.find(({ worker }) => worker === number)?.pid ?? -1;

/** Connections as a balancer holds them, each with one call after the other. */
class KeepAlive {
  answered = 0;
  /** Calls whose connection ended before a byte of the answer came. */
  lost = 0;
  readonly statuses = new Set<string>();
  readonly #key: string;
  #isDone = false;

  constructor(key: string) {
    this.#key = key;
  }

  /** Calls over one connection after the other, until `end`. */
  async run(): Promise<void> {
    while (!this.#isDone) await this.#connection();
  }

  end(): void {
    this.#isDone = true;
  }

  async #connection(): Promise<void> {
    const { port } = new URL(host.url);
    const socket = connect(Number(port), "127.0.0.1");
    const opened = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    // A connection that was never accepted is one that a client tries again.
    while (opened && !this.#isDone) {
      const answer = await call(socket, this.#key);
      if (answer === null) this.lost += 1;
      else {
        this.answered += 1;
        this.statuses.add(answer.slice(9, 12));
      }
      if (answer === null || /\r\nconnection: close/i.test(answer)) break;
    }
    socket.destroy();
  }
}

/** One call over a connection that is kept; null when it ends without an answer. */
function call(socket: Socket, key: string): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    const settle = (answer: string | null): void => {
      socket.off("data", take).off("close", gone).off("end", gone).off("error", gone);
      resolve(answer);
    };
    const gone = (): void => settle(null);
    const take = (bytes: Buffer): void => {
      text += bytes.toString("latin1");
      const [head = "", body] = text.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (body !== undefined && body.length >= length) settle(text);
    };
    socket.on("data", take).on("close", gone).on("end", gone).on("error", gone);
    const body = JSON.stringify(heightCall);
    const head = `POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-API-Key: ${key}\r\n`;
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  });
}

/** A PubSub connection: open, or refused with a code; `closed` is the code with which it ends. */
async function subscriber(key: string): Promise<{ readonly socket: WebSocket; readonly closed: Promise<number> }> {
  const socket = new WebSocket(`${host.pubsubUrl}/?api-key=${key}`);
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  await new Promise<void>((resolve) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("close", () => resolve());
  });
  return { socket, closed };
}

/** How many connections the account may hold beside those that are open now: they are opened, and stay. */
async function openAll(key: string, limit: number): Promise<WebSocket[]> {
  const opened: WebSocket[] = [];
  for (;;) {
    const { socket, closed } = await subscriber(key);
    // One that is refused is told why after its upgrade, and is closed then.
    const code = await Promise.race([closed, Bun.sleep(40).then(() => null)]);
    if (code !== null) {
      expect(code).toBe(4429);
      return opened;
    }
    opened.push(socket);
    if (opened.length > limit) return opened;
  }
}

if (isRun) {
  beforeAll(async () => {
    const schema = resources.use(await newSchema(databaseUrl));
    const ledger = resources.use(await startLedgerServer());
    const node = startStubNode();
    resources.defer(() => node.stop(true));
    const directory = mkdtempSync(join(tmpdir(), "sluice-workers-"));
    resources.defer(() => rmSync(directory, { recursive: true, force: true }));
    const redis = new URL(redisUrl);
    environment = {
      DATABASE_URL: schema.url,
      CLICKHOUSE_URL: ledger.url,
      // A database of its own, so that other processes are not counted as gateways.
      REDIS_URL: `redis://${redis.host}/${1 + Math.floor(Math.random() * 15)}`,
      MASTER_KEY: "5e".repeat(32),
      NETWORK_DEFAULT: "devnet",
      ORACLE: "off",
      WORKERS: "2",
      GENESIS_ALLOW_UNKNOWN: "stub",
      UPSTREAMS_DEVNET: `stub=http://127.0.0.1:${node.port};ws=ws://127.0.0.1:${node.port}`,
    };
    host = await startGateway(directory, environment);
    await eventually("two workers that serve", async () => (await host.metric("sluice_workers_serving")) === 2);
    await eventually("both know of each other", async () => (await host.metric("sluice_replicas")) === 4);
  }, 60_000);

  afterAll(async () => {
    await host?.end();
    await resources.disposeAsync();
  }, 30_000);

  test("connections are spread over the workers, and each command is answered on the host's socket", async () => {
    const sockets = Array.from({ length: 60 }, () => connect(Number(new URL(host.url).port), "127.0.0.1"));
    const held = (worker: number) => host.metric("sluice_connections", `worker="${worker}"`);
    await eventually("all of them", async () => (await held(1)) + (await held(2)) >= 60);
    // With a fair coin less than one in a million has fewer than 12 of 60.
    expect([(await held(1)) >= 12, (await held(2)) >= 12]).toEqual([true, true]);
    for (const socket of sockets) socket.destroy();
    const status: ServerStatus = await sluice(host, environment, "status");
    expect(status).toMatchObject({ status: "ok", roles: ["gateway", "oracle", "engine"], parts: { workers: "ok" } });
    expect(status.workers?.map(({ worker, state }) => [worker, state])).toEqual([
      [1, "serving"],
      [2, "serving"],
    ]);
    expect(status.pid).not.toBe(status.workers?.[0]?.pid ?? 0);
    expect(await sluice(host, environment, "reload")).toEqual({ applied: [], needs_restart: [] });
    expect(host.said().match(/the configuration was reloaded/g)?.length).toBe(2);
    const ready = await fetch(`http://127.0.0.1:${9464 + host.offset}/ready?role=gateway`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { roles: { gateway: true } }]);
  }, 30_000);

  test("the workers give the rate of one bucket between them, and one sum of what they counted", async () => {
    const rate = 40;
    const { key, accountId } = await freshKey(host, environment, rate);
    const counted = () => host.metric("sluice_requests_total", 'method="getBlockHeight"');
    const before = await counted();
    const lost = await host.metric("sluice_sharing_lost_total");
    const { answered, refused, other, seconds } = await spend([host, host], key, 2_500);
    // On a busy machine Redis may answer too late: then each worker's share begins full, beside what was leased.
    const alone = (await host.metric("sluice_sharing_lost_total")) > lost ? rate * 2 : 0;
    expect(answered).toBeLessThanOrEqual((rate * 2 + rate * seconds) * 1.001 + 1 + alone);
    expect(answered).toBeGreaterThan((rate * 2 + rate * seconds) * 0.75);
    expect([refused > 0, other]).toEqual([true, 0]);
    expect((await counted()) - before).toBe(answered);
    await eventually("the credits", async () => {
      const { used } = await sluice(host, environment, "accounts", "credits", accountId);
      return Number(used) >= answered && Number(used) <= answered + 2_000;
    });
  }, 30_000);

  test("an account's connections are counted over both workers, and those of a killed one are free at once", async () => {
    const { key, accountId } = await freshKey(host, environment, 1_000);
    await sluice(host, environment, "accounts", "set-tier", accountId, "free");
    const limit = 5;
    const sockets = await openAll(key, limit);
    expect(sockets.length).toBe(limit);
    expect(await host.metric("sluice_worker_connection_places")).toBe(limit);
    const victim = (await host.metric("sluice_pubsub_connections", 'worker="1"')) > 0 ? 1 : 2;
    const open = () => sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length;
    process.kill(await pidOf(victim), "SIGKILL");
    await eventually("its connections' end", () => open() < limit);
    await eventually("their places", async () => (await host.metric("sluice_worker_connection_places")) === open());
    const left = open();
    const more = await openAll(key, limit);
    expect(left + more.length).toBe(limit);
    for (const socket of [...sockets, ...more]) socket.close();
    await eventually("no places", async () => (await host.metric("sluice_worker_connection_places")) === 0);
    await eventually("the worker's return", async () => (await host.metric("sluice_workers_serving")) === 2);
  }, 30_000);

  test("one that is killed under load takes only its own connections with it: no call of the other, no credit, no count", async () => {
    const { key, accountId } = await freshKey(host, environment, 100_000);
    const load = new KeepAlive(key);
    const counted = () => host.metric("sluice_requests_total", 'method="getBlockHeight"');
    const before = await counted();
    const runs = Array.from({ length: 12 }, () => load.run());
    await eventually("some calls", () => load.answered > 500);
    const killed = await pidOf(2);
    expect(await counted()).toBeGreaterThan(before);
    const held = await host.metric("sluice_connections", 'worker="2"');
    expect(load.lost).toBe(0);
    process.kill(killed, "SIGKILL");
    const atKill = load.answered;
    await eventually("calls of the other", () => load.answered > atKill + 500);
    await eventually("the worker's return", async () => (await host.metric("sluice_workers_serving")) === 2, 20_000);
    const [lost, atReturn] = [load.lost, load.answered];
    await eventually("calls of both", () => load.answered > atReturn + 500);
    load.end();
    await Promise.all(runs);
    // Each call on its connections, and at most one more on a new one that it had not accepted yet.
    expect(load.lost).toBeLessThanOrEqual(2 * held);
    expect(load.lost).toBe(lost);
    expect([...load.statuses]).toEqual(["200"]);
    const failures = (await report()).workers.map((each) => each.failures);
    expect(failures.reduce((sum, each) => sum + each)).toBe(2);
    // What the dead one held of credits is settled by its successor: no more is charged than was asked for.
    await eventually("the settlement", async () => {
      const used = Number((await sluice(host, environment, "accounts", "credits", accountId)).used);
      return used >= load.answered && used <= load.answered + load.lost + 2_000;
    });
    const { processes } = (await sluice(host, environment, "status")) as ServerStatus;
    expect(processes.length).toBe(2);
  }, 60_000);

  test("a rolling restart under keep-alive load loses no call, and its counts stay", async () => {
    const { key } = await freshKey(host, environment, 100_000);
    const before = await Promise.all([pidOf(1), pidOf(2)]);
    const load = new KeepAlive(key);
    const counted = () => host.metric("sluice_requests_total", 'method="getBlockHeight"');
    const atFirst = await counted();
    const runs = Array.from({ length: 12 }, () => load.run());
    await eventually("some calls", () => load.answered > 200);
    const { restart } = (await sluice(host, environment, "workers", "restart")) as WorkersReport;
    expect(restart).toEqual({ state: "done", restarted: [1, 2], reason: null });
    const atEnd = load.answered;
    await eventually("calls of the new ones", () => load.answered > atEnd + 200);
    load.end();
    await Promise.all(runs);
    expect([load.lost, [...load.statuses]]).toEqual([0, ["200"]]);
    expect((await counted()) - atFirst).toBe(load.answered);
    expect(before.filter(isAlive)).toEqual([]);
    expect(await host.metric("sluice_rolling_restarts_total", 'outcome="done"')).toBe(1);
  }, 60_000);

  test("a worker that never listens stops the restart, and the host goes on with those that it has", async () => {
    const before = await Promise.all([pidOf(1), pidOf(2)]);
    const { key } = await freshKey(host, environment, 1_000);
    // Where the workers of number 1 keep what is theirs, none of them can be seated.
    const own = join(host.directory, "workers", "1");
    rmSync(own, { recursive: true, force: true });
    await Bun.write(own, "no directory");
    const { code, err } = await runSluice(["workers", "restart"], { directory: host.directory, env: environment });
    expect([code, err]).toEqual([1, expect.stringContaining("the restart has stopped: ")]);
    rmSync(own, { force: true });
    expect(await Promise.all([pidOf(1), pidOf(2)])).toEqual(before);
    expect(await ask(host, key)).toBe(200);
  }, 60_000);

  test("SIGTERM ends all workers and leaves no process; a parent that is killed takes its workers with it", async () => {
    const first = await Promise.all([pidOf(1), pidOf(2)]);
    expect(await host.end()).toBe(0);
    expect(first.filter(isAlive)).toEqual([]);
    host = await startGateway(host.directory, environment);
    // Its workers may answer calls before it answers commands.
    const second = await eventually("its commands", () => Promise.all([pidOf(1), pidOf(2)]));
    host.process.kill("SIGKILL");
    await eventually("their end", () => second.filter(isAlive).length === 0);
  }, 60_000);

  test("what workers cannot share is refused with its reason, by config check and at the start; so is a taken port", async () => {
    const { REDIS_URL: _redis, CLICKHOUSE_URL: _ledger, ...half } = environment;
    const options = { directory: host.directory, env: half };
    for (const args of [["config", "check"], ["serve"]]) {
      const { code, err } = await runSluice(args, options);
      expect(code).toBe(1);
      for (const name of ["REDIS_URL", "CLICKHOUSE_URL"]) expect(err).toContain(name);
      expect(err).toContain("each of them would count calls apart");
    }
    using taken = Bun.listen({ hostname: "0.0.0.0", port: 8899 + host.offset, socket: { data: () => undefined } });
    const args = ["serve", "--port-offset", String(taken.port - 8899)];
    const { code, err } = await runSluice(args, { directory: host.directory, env: environment });
    expect([code, err]).toEqual([1, expect.stringContaining(`port ${taken.port} (gateway) is taken`)]);
  }, 60_000);
}
