import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { createMetrics } from "../observe/index.ts";
import type { UpstreamHealth } from "../upstreams/index.ts";
import { Drain, healthSource, metricsApp } from "./health.ts";

const healthy: UpstreamHealth = {
  label: "a",
  slot: 7n,
  slotLag: 0n,
  latencyMs: 1,
  errorRate: 0,
  inFlight: 0,
  speaks: true,
  mayServe: true,
  healthy: true,
  out: null,
  restMs: null,
  refuses: [],
};
const late = { ...healthy, healthy: false, slotLag: 90n, out: "lagging" } as const;
const silent = { ...healthy, healthy: false, speaks: false, out: "silent" } as const;
const cordoned = { ...healthy, healthy: false, mayServe: false, out: "cordoned" } as const;

function boot(roles: readonly ("gateway" | "oracle")[] = ["gateway"]) {
  const clock = new ManualClock();
  const events = { serverStopping: () => undefined, serverStopped: () => undefined };
  const state = { nodes: [healthy] as readonly UpstreamHealth[] | null, isFailing: false, isAdvancing: false };
  const drain = new Drain({ delayMs: 1_000 }, { clock, events });
  const gateway = {
    upstreams: { pool: () => (state.nodes === null ? null : { health: () => [...(state.nodes ?? [])] }) },
    credits: {
      get isFailing() {
        return state.isFailing;
      },
      get isAdvancing() {
        return state.isAdvancing;
      },
    },
  };
  const record = healthSource({ networkDefault: "devnet", roles }, { clock, gateway, engine: null, drain });
  return { clock, drain, state, statusOf: () => record().status, partsOf: () => record().parts };
}

test("the server is down while no node of the default network may be called or can be reached, and degraded while none is near", () => {
  const { state, statusOf, partsOf } = boot();
  expect([statusOf(), partsOf()]).toEqual(["ok", { server: "ok", nodes: "ok", credits: "ok" }]);
  for (const [nodes, expected] of [
    [[cordoned, healthy], "ok"],
    [[silent, late], "degraded"],
    [[cordoned, cordoned], "down"],
    [[silent, cordoned], "down"],
    [[], "down"],
    [null, "down"],
  ] as const) {
    state.nodes = nodes;
    expect([statusOf(), partsOf()["nodes"]]).toEqual([expected, expected]);
  }
});

test("the server is down while credits cannot be leased", () => {
  const { state, statusOf, partsOf } = boot();
  state.isFailing = true;
  expect([statusOf(), partsOf()]).toEqual(["down", { server: "ok", nodes: "ok", credits: "down" }]);
});

test("a process that runs other roles alone does not depend on nodes and credits", () => {
  const { state, statusOf } = boot(["oracle"]);
  state.nodes = null;
  state.isFailing = true;
  expect(statusOf()).toBe("degraded");
});

test("the server is down from the wish to end on, while it still takes calls", async () => {
  const { clock, drain, statusOf, partsOf } = boot();
  let isClosed = false;
  const ended = drain.end({
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
    },
  });
  expect([statusOf(), partsOf()["server"], isClosed]).toEqual(["down", "down", false]);
  clock.advance(1_000);
  await ended;
  expect(isClosed).toBe(true);
});

test("metrics on loopback are not read through another name, which any web page could point there", async () => {
  await using metrics = createMetrics({}, { clock: new ManualClock(0) });
  const statusOf = async (bound: string, url: string): Promise<number> =>
    (await metricsApp(metrics, bound)(new Request(url))).status;
  for (const path of ["/metrics", "/health"]) {
    for (const host of ["localhost", "127.0.0.1", "[::1]", "127.8.0.1"]) {
      expect([host, await statusOf("127.0.0.1", `http://${host}:9464${path}`)]).toEqual([host, 200]);
    }
    expect(await statusOf("127.0.0.1", `http://rebound.example:9464${path}`)).toBe(421);
    expect(await statusOf("::1", `http://rebound.example:9464${path}`)).toBe(421);
    // Other hosts are asked by name, such as a service's in a cluster.
    expect(await statusOf("0.0.0.0", `http://sluice:9464${path}`)).toBe(200);
  }
});
