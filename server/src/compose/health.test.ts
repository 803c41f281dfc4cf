import { expect, test } from "bun:test";
import type { IngestRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { ManualClock } from "@sluice/lib";
import { type Config, loadConfig } from "../config/index.ts";
import { fixedProbes } from "../http/testing/fixed-probes.ts";
import { createMetrics } from "../observe/index.ts";
import type { UpstreamHealth } from "../upstreams/index.ts";
import { Drain, Health } from "./health.ts";
import { metricsApp } from "./metrics-listener.ts";

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

const ingested: IngestRecord = {
  network: "devnet",
  state: "live",
  head: 9,
  confirmed: 9,
  finalized: 7,
  lag_slots: 0,
  unavailable_slots: 0,
  fault: null,
  sources: [],
};

/** A configuration of `serve`, with nodes of devnet and testnet and a builder. */
function configOf(env: Readonly<Record<string, string>>): Config {
  const outcome = loadConfig({
    mode: "serve",
    env: {
      MASTER_KEY: "5e".repeat(32),
      NETWORK_DEFAULT: "devnet",
      UPSTREAMS_DEVNET: "a=http://a",
      UPSTREAMS_TESTNET: "b=http://b",
      ENGINE_BUILDER: "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf",
      ...env,
    },
  });
  if (!outcome.ok) throw new Error("the configuration has faults");
  return outcome.config;
}

function boot(roles = "gateway") {
  const clock = new ManualClock();
  const told: string[] = [];
  const events = {
    serverStopping: () => undefined,
    serverStopped: () => undefined,
    roleServes: () => undefined,
    roleChanged: (role: string, { isReady }: { isReady: boolean }) => void told.push(`${role} ${isReady}`),
    startSummarised: () => void told.push("summary"),
  };
  const nodes: Record<Network, readonly UpstreamHealth[] | null> = {
    devnet: [healthy],
    testnet: [healthy],
    mainnet: [],
  };
  const state = {
    nodes,
    isFailing: false,
    isAdvancing: false,
    engine: { role: undefined as "standby" | undefined, status: "ok" as "ok" | "degraded" | "maintenance" },
    prices: { priced: 9, symbols: 9, active: 8, sources: 8 },
    isAnswering: true,
    conflict: null as string | null,
    ingest: [ingested] as readonly IngestRecord[],
    flows: [true] as readonly boolean[],
  };
  const drain = new Drain({ delayMs: 1_000 }, { clock, events });
  const pool = (network: Network) => {
    const found = state.nodes[network];
    return found === null ? null : { health: () => found };
  };
  const health = new Health(configOf({ ROLES: roles }), { clock, drain, events });
  health.observe({
    gateway: {
      upstreams: { pool },
      credits: {
        get isFailing() {
          return state.isFailing;
        },
        get isAdvancing() {
          return state.isAdvancing;
        },
      },
    },
    registration: {
      get conflict() {
        return state.conflict;
      },
    },
    engine: roles.includes("engine")
      ? { status: () => ({ service: "sluice-block-engine", version: "1", uptime: 1, ...state.engine }) as never }
      : null,
    oracle: roles.includes("oracle") ? { health: () => state.prices } : null,
    names: roles.includes("resolver")
      ? {
          get isAnswering() {
            return state.isAnswering;
          },
        }
      : null,
    ingest: roles.includes("ingest") ? { status: () => state.ingest } : null,
    flows: roles.includes("streams")
      ? {
          get isOpen() {
            return state.flows;
          },
        }
      : null,
  });
  health.start();
  const statusOf = () => health.health().status;
  const reasonsOf = (role: string | null) => health.ready(role).reasons.map(({ part, is }) => `${part} ${is}`);
  return { clock, drain, state, told, health, statusOf, reasonsOf, partsOf: () => health.health().parts };
}

test("a gateway is down while no node of the default network may be called or can be reached, and degraded while none is near", () => {
  const { state, statusOf, partsOf, reasonsOf } = boot();
  expect([statusOf(), partsOf()]).toEqual([
    "ok",
    { server: "ok", nodes: "ok", "nodes.testnet": "ok", credits: "ok", sharing: "ok" },
  ]);
  for (const [nodes, expected] of [
    [[cordoned, healthy], "ok"],
    [[silent, late], "degraded"],
    [[cordoned, cordoned], "down"],
    [[silent, cordoned], "down"],
    [[], "down"],
    [null, "down"],
  ] as const) {
    state.nodes.devnet = nodes;
    expect([statusOf(), partsOf()["nodes"], reasonsOf("gateway").length]).toEqual([
      expected,
      expected,
      expected === "down" ? 1 : 0,
    ]);
  }
});

test("nodes of another network that are away are told, and stop no calls of the default one", () => {
  const { state, statusOf, partsOf, reasonsOf } = boot();
  state.nodes.testnet = [silent];
  expect([statusOf(), partsOf()["nodes.testnet"], reasonsOf(null)]).toEqual(["degraded", "down", []]);
});

test("a gateway is down while credits cannot be leased, and while another process counts calls apart", () => {
  const { state, statusOf, health, reasonsOf } = boot();
  state.isFailing = true;
  expect([statusOf(), reasonsOf("gateway")]).toEqual(["down", ["credits down"]]);
  // Accounts are served from advances meanwhile, so not every call is refused.
  state.isAdvancing = true;
  expect([statusOf(), reasonsOf("gateway")]).toEqual(["degraded", []]);
  state.isFailing = false;
  state.conflict = "this process has no REDIS_URL";
  expect([statusOf(), reasonsOf("gateway")]).toEqual(["down", ["sharing down"]]);
  expect(health.ready("gateway").reasons[0]?.message).toBe("this process has no REDIS_URL");
});

test("the server is down while every call of the gateway would be refused, whatever other roles of it do", () => {
  const { state, statusOf, reasonsOf } = boot("gateway,oracle");
  state.isFailing = true;
  expect([statusOf(), reasonsOf("oracle")]).toEqual(["down", []]);
  state.isFailing = false;
  state.prices = { ...state.prices, priced: 0 };
  expect([statusOf(), reasonsOf("gateway")]).toEqual(["degraded", []]);
});

test("an engine that stands by is well and does not serve; other roles of its process do", () => {
  const { state, statusOf, health, reasonsOf } = boot("gateway,engine");
  expect(health.ready("engine")).toMatchObject({ status: "ok", roles: { gateway: true, engine: true }, reasons: [] });
  state.engine.role = "standby";
  expect([statusOf(), reasonsOf("engine"), reasonsOf("gateway")]).toEqual(["ok", ["engine standby"], []]);
  expect(health.ready("engine").status).toBe("down");
  expect(health.ready(null)).toMatchObject({ status: "ok", roles: { gateway: true, engine: false } });
  state.engine = { role: undefined, status: "maintenance" };
  expect([statusOf(), reasonsOf("engine")]).toEqual(["ok", ["engine maintenance"]]);
});

test("an oracle without a price and a resolver without its node do not serve, whatever nodes and credits do", () => {
  const { state, statusOf, health, reasonsOf } = boot("oracle,resolver");
  state.nodes.devnet = [silent];
  state.isFailing = true;
  expect([statusOf(), health.ready("oracle").status, health.ready("resolver").status]).toEqual([
    "degraded",
    "degraded",
    "degraded",
  ]);
  state.prices = { ...state.prices, active: 3 };
  expect(health.health().parts["oracle"]).toBe("degraded");
  state.prices = { ...state.prices, priced: 0 };
  expect([statusOf(), reasonsOf("oracle"), reasonsOf("resolver")]).toEqual(["degraded", ["oracle down"], []]);
  state.isAnswering = false;
  expect([statusOf(), reasonsOf(null)]).toEqual(["down", ["resolver down", "oracle down"]]);
});

test("a store that does not answer is told; whether a role serves is told by what it lacks", () => {
  const { health, statusOf, partsOf, reasonsOf } = boot();
  const condition = { driver: "redis", sinceMs: 0, latencyMs: null, lastFailure: null };
  const conditions = [
    { ...condition, store: "state", isUp: true },
    { ...condition, store: "hot", isUp: false },
  ];
  health.observe({ storeWatch: { conditions } });
  expect(partsOf()).toMatchObject({ state: "ok", hot: "down" });
  expect([statusOf(), reasonsOf("gateway")]).toEqual(["degraded", []]);
});

test("a role that this process does not run is not ready, and says so", () => {
  const { health, reasonsOf } = boot();
  for (const role of ["engine", "nobody"]) {
    expect([health.ready(role).status, reasonsOf(role)]).toEqual(["down", ["roles absent"]]);
  }
});

test("the log tells when a role serves no longer and serves again, and sums up a minute after the start", () => {
  const { clock, state, told } = boot();
  clock.advance(30_000);
  state.isFailing = true;
  clock.advance(4_000);
  state.isFailing = false;
  clock.advance(26_000);
  clock.advance(120_000);
  expect(told).toEqual(["gateway false", "gateway true", "summary"]);
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
    (await metricsApp(bound, { metrics, health: async () => fixedProbes() })(new Request(url), { requestId: "req_1" }))
      .status;
  for (const path of ["/metrics", "/health", "/ready"]) {
    for (const host of ["localhost", "127.0.0.1", "[::1]", "127.8.0.1"]) {
      expect([host, await statusOf("127.0.0.1", `http://${host}:9464${path}`)]).toEqual([host, 200]);
    }
    expect(await statusOf("127.0.0.1", `http://rebound.example:9464${path}`)).toBe(421);
    expect(await statusOf("::1", `http://rebound.example:9464${path}`)).toBe(421);
    // Other hosts are asked by name, such as a service's in a cluster.
    expect(await statusOf("0.0.0.0", `http://sluice:9464${path}`)).toBe(200);
  }
});

test("ingest is down while the log of any network takes nothing or tells nothing, and degraded while it is behind", () => {
  const { state, partsOf, reasonsOf } = boot("gateway,ingest");
  for (const [changes, expected] of [
    [{}, "ok"],
    [{ state: "lagging" }, "degraded"],
    [{ state: "catching up" }, "degraded"],
    [{ unavailable_slots: 1 }, "degraded"],
    [{ state: "paused" }, "down"],
    [{ state: "starting" }, "down"],
    [{ fault: "the disk is full" }, "down"],
  ] as const) {
    state.ingest = [ingested, { ...ingested, network: "testnet", ...changes }];
    expect([partsOf()["ingest"], reasonsOf("ingest").length]).toEqual([expected, expected === "down" ? 1 : 0]);
  }
});

test("streams are down while no network's log is open, and degraded while one of several is not", () => {
  const { state, partsOf } = boot("gateway,ingest,streams");
  for (const [flows, expected] of [
    [[true, true], "ok"],
    [[true, false], "degraded"],
    [[false, false], "down"],
  ] as const) {
    state.flows = flows;
    expect(partsOf()["streams"]).toBe(expected);
  }
});
