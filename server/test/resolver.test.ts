import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { createResolver } from "@sluice/sdk";
import { freePortOffset, type Network, plainEnvironment, root, startNetwork } from "./testing/network.ts";

let network: Network;
let resolver: string;
beforeAll(async () => {
  network = await startNetwork({ args: ["--oracle", "off"] });
  resolver = `${network.dev.doors["resolver"]}`;
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

async function get(base: string, path: string) {
  const response = await fetch(`${base}${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

describe("the resolver's endpoint of a development network", () => {
  test("resolves handles, domains and sub-domains of the chain, and distinguishes absent from ambiguous", async () => {
    const handle = await get(resolver, "/resolve/%40alice");
    expect(handle).toMatchObject({
      status: 200,
      body: { input: "@alice", namespace: "handle", verification: "owner" },
    });
    const domain = await get(resolver, "/resolve/alice.x1");
    expect(domain).toMatchObject({ status: 200, body: { name: "alice.x1", namespace: "x1" } });
    expect((await get(resolver, "/resolve/nobody.xen")).status).toBe(404);
    expect((await get(resolver, "/resolve/%40alice.x1")).status).toBe(409);
    expect((await get(resolver, "/resolve/%00")).status).toBe(400);
    expect(domain.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("the SDK's resolver agrees, and the console looks names and addresses up both ways", async () => {
    const found = await createResolver({ url: resolver }).resolve("alice.x1");
    const origin = new URL(`${network.dev.doors["rpc"]}`).origin;
    const look = (input: string) => get(origin, `/api/v1/console/names?${new URLSearchParams({ input })}`);
    expect((await look("alice.x1")).body).toMatchObject({ finding: "owner", owner: found.owner });
    expect((await look(found.owner)).body).toMatchObject({ finding: "domain", owner: found.owner });
    expect((await look("nobody.xen")).body).toMatchObject({ finding: "absent", error: "domain not registered" });
  });

  test("health needs no chain; version names the node without its secrets", async () => {
    expect((await get(resolver, "/health")).body).toEqual({ ok: true });
    const { body } = await get(resolver, "/version");
    expect(body.chain_core).toMatch(/^\d+\.\d+\.\d+/);
    expect(body.rpc).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
  });
});

test("`sluice resolver` runs alone, without a store, tells its metrics and whether it is ready, and ends with 0", async () => {
  const offset = await freePortOffset();
  const port = 8691 + offset;
  const child = Bun.spawn(["sh", `${root}/bin/sluice`, "resolver"], {
    cwd: network.directory,
    env: plainEnvironment({ CHAIN_RPC_URL: network.rpcUrl, PORT_OFFSET: String(offset) }),
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    const base = `http://127.0.0.1:${port}`;
    const answer = await eventually("the lone resolver", async () => await get(base, "/resolve/alice.x1"));
    expect(answer).toMatchObject({ status: 200, body: { namespace: "x1" } });
    expect((await get(base, "/version")).body.rpc).not.toContain(network.dev.key);
    // Its port has the three paths of its document, and no other.
    expect(await get(base, "/ready")).toMatchObject({ status: 404, body: { error: "not found" } });
    const operators = `http://127.0.0.1:${9464 + offset}`;
    const metrics = await (await fetch(`${operators}/metrics`)).text();
    expect(metrics).toContain("sluice_names_answered_total{");
    expect(await get(operators, "/ready")).toMatchObject({ status: 200 });
    expect((await get(operators, "/ready?role=resolver")).body.roles).toEqual({ resolver: true });
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  } finally {
    child.kill("SIGKILL");
  }
}, 60_000);
