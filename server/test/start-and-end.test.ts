import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { descendants, isAlive, type Network, post, runSluice, startNetwork } from "./testing/network.ts";

/** The processes that live as long as the server: the one that bundles the console is waited for. */
async function lastingChildren(network: Network): Promise<number[]> {
  expect((await fetch(`${new URL(`${network.dev.doors["rpc"]}`).origin}/`)).status).toBe(200);
  // The ledger's engine, the chain with its virtual machine, the market, and two that simulate bundles.
  return await eventually("six children", () => {
    const children = descendants(network.process.pid);
    return children.length === 6 && children;
  });
}

/** For servers of which nothing is asked that has to do with prices. */
const withoutPrices = ["--oracle", "off"];

const call = (method: string, params: unknown[] = []) => ({ jsonrpc: "2.0", id: 1, method, params });

describe("starting", () => {
  test("a host that does not resolve is told by its key before anything is made in the directory", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-host-"));
    try {
      const env = { MASTER_KEY: "0".repeat(64), UPSTREAMS_DEVNET: "a=http://127.0.0.1:1", NETWORK_DEFAULT: "devnet" };
      const told = "BIND (environment): given no-such.invalid; expected an IP address, or a host name that resolves.";
      for (const command of [["config", "check"], ["serve"], ["dev"], ["config", "check", "--mode", "dev"]]) {
        const refused = await runSluice(command, { directory, env: { ...env, BIND: "no-such.invalid" } });
        expect([command, refused.code, refused.err.includes(told)]).toEqual([command, 1, true]);
        expect(refused.err).not.toContain("taken");
      }
      expect(readdirSync(directory)).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }, 60_000);

  test("keys, accounts and what they cost outlive a restart; --fresh starts over", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-restart-"));
    try {
      const options = { directory, keep: true, args: withoutPrices };
      const first = await startNetwork(options);
      const { dev, portOffset } = first;
      await post(first.rpcUrl, call("getSupply"));
      expect(await first.end("SIGTERM")).toBe(0);
      const second = await startNetwork({ ...options, portOffset });
      expect(second.dev.keys).toEqual(dev.keys);
      expect((await post(second.rpcUrl, call("getSlot"))).status).toBe(200);
      const listed = await runSluice(["accounts", "list", "--json"], { directory });
      expect(JSON.parse(listed.out).items.length).toBe(5);
      await second.end("SIGTERM");
      const third = await startNetwork({ ...options, portOffset, args: [...withoutPrices, "--fresh"] });
      expect(third.dev.key).not.toBe(dev.key);
      expect((await post(`${third.dev.doors["rpc"]}?api-key=${dev.key}`, call("getSlot"))).status).toBe(401);
      await third.end("SIGTERM");
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }, 120_000);

  test("serve refuses to start without a master key, and names what is missing", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-serve-"));
    const { code, err } = await runSluice(["serve"], { directory });
    expect(code).toBe(1);
    expect(err).toContain("MASTER_KEY");
    rmSync(directory, { recursive: true, force: true });
  }, 30_000);

  test("every fault of the configuration is reported at once", async () => {
    const env = { PORT_OFFSET: "many", UPSTREAMS_MAINNET: "nothing", LOG_LEVEL: "loud" };
    const { code, out, err } = await runSluice(["config", "check"], { directory: tmpdir(), env });
    expect(code).toBe(1);
    for (const name of Object.keys(env)) expect(out + err).toContain(name);
  }, 30_000);
});

describe("a server that runs", () => {
  let network: Network;
  beforeAll(async () => {
    network = await startNetwork();
  }, 60_000);
  afterAll(async () => await network?.[Symbol.asyncDispose](), 30_000);

  test("a second server on the directory, and one on taken ports, are refused with a clear message", async () => {
    const options = { directory: network.directory };
    const sameDirectory = await runSluice(["dev", "--port-offset", String(network.portOffset + 7)], options);
    expect(sameDirectory.code).toBe(1);
    expect(sameDirectory.err).toContain(network.directory);
    expect(sameDirectory.err).not.toContain("    at ");
    const elsewhere = mkdtempSync(join(tmpdir(), "sluice-taken-"));
    const samePorts = await runSluice(["dev", "--port-offset", String(network.portOffset)], { directory: elsewhere });
    expect(samePorts.code).toBe(1);
    expect(samePorts.err).toMatch(/port \d{4,5} \(\w+\) is taken/);
    expect(samePorts.err).toContain("--port-offset");
    rmSync(elsewhere, { recursive: true, force: true });
    expect((await post(network.rpcUrl, call("getSlot"))).status).toBe(200);
  }, 60_000);

  test("kill -9 of each child under load: it comes back and the endpoints stay open", async () => {
    const { length } = await lastingChildren(network);
    for (let index = 0; index < length; index++) {
      // Taken anew each time: the chain's end is that of its virtual machine too.
      const child = (await lastingChildren(network))[index] ?? Number.NaN;
      const load = Promise.all(Array.from({ length: 20 }, () => post(network.rpcUrl, call("getSupply"))));
      process.kill(child, "SIGKILL");
      for (const answer of await load) expect([200, 502, 503, 504]).toContain(answer.status);
      await eventually("the child's return", () => {
        const children = descendants(network.process.pid);
        return children.length === length && !children.includes(child);
      });
      await eventually("an answer", async () => {
        const answer = await post(network.rpcUrl, call("getSlot"));
        return answer.status === 200 && answer.body.result >= 0;
      });
    }
    expect(network.process.exitCode).toBeNull();
  }, 90_000);
});

describe("ending", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal} drains, exits with 0 and leaves no process`, async () => {
      await using network = await startNetwork();
      const children = await lastingChildren(network);
      const calls = Array.from({ length: 50 }, () => post(network.rpcUrl, call("getSupply")));
      await Promise.any(calls);
      // Some may come too late to be let in; those that were are answered.
      const [code, outcomes] = await Promise.all([network.end(signal), Promise.allSettled(calls)]);
      expect(code).toBe(0);
      const statuses = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.status] : []));
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(children.filter(isAlive)).toEqual([]);
    }, 60_000);
  }

  test("kill -9 of the server under load: no orphan, no stale lock, no lost key, a clean restart", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-kill-"));
    try {
      let network = await startNetwork({ directory, keep: true });
      for (let round = 0; round < 2; round++) {
        const children = await lastingChildren(network);
        const created = await runSluice(["accounts", "create", "--name", `round ${round}`, "--json"], { directory });
        const account = JSON.parse(created.out);
        const load = Array.from({ length: 100 }, () => post(network.rpcUrl, call("getSupply")).catch(() => null));
        await Bun.sleep(20);
        await network.end("SIGKILL");
        await Promise.all(load);
        await eventually("the children's end", () => children.filter(isAlive).length === 0, 5_000);
        const again = await startNetwork({ directory, keep: true });
        const listed = await runSluice(["accounts", "list", "--json"], { directory });
        expect(JSON.parse(listed.out).items.map((each: { id: string }) => each.id)).toContain(account.id);
        expect(again.dev.keys).toEqual(network.dev.keys);
        expect((await post(again.rpcUrl, call("getSlot"))).status).toBe(200);
        network = again;
      }
      expect(await network.end("SIGTERM")).toBe(0);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }, 120_000);
});
