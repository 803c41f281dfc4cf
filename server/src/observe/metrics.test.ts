import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { createEvents } from "./events.ts";
import { createLog } from "./log.ts";
import { eventMetrics, metricTable } from "./metric-table.ts";
import { createMetrics } from "./metrics.ts";

function observed(methods?: Iterable<string>) {
  const metrics = createMetrics({}, { clock: new ManualClock(1_000_000) });
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
  return { metrics, events: createEvents({ log, metrics }, methods === undefined ? {} : { methods }), lines };
}

const fact = {
  door: "rpc",
  network: "devnet",
  method: "getSlot",
  status: 200,
  rpcCode: null,
  latencyMs: 3,
  bytesIn: 60,
  bytesOut: 40,
  credits: 5,
};

describe("metrics", () => {
  test("counters and gauges show their numbers by label", async () => {
    await using metrics = createMetrics();
    const calls = metrics.counter("calls_total", "Calls", ["door"]);
    calls.with("rpc").add();
    calls.with("rpc").add(2);
    calls.with('a"b\nc').add();
    metrics.gauge("depth", "Depth").with().set(7);
    const text = await metrics.render();
    expect(text).toContain('calls_total{door="rpc"} 3\n');
    expect(text).toContain('calls_total{door="a\\"b\\nc"} 1\n');
    expect(text).toContain("# TYPE calls_total counter");
    expect(text).toContain("\ndepth 7\n");
    expect(await metrics.render()).toContain('calls_total{door="rpc"} 3\n');
    expect(metrics.contentType).toStartWith("text/plain");
  });

  test("a histogram counts at or below each bound, with sum and count", async () => {
    await using metrics = createMetrics();
    const times = metrics.histogram("time_seconds", "Time", ["door"], [0.1, 1]).with("rpc");
    for (const value of [0.05, 0.1, 0.5, 1, 9, Number.NaN, -1]) times.observe(value);
    const text = await metrics.render();
    expect(text).toContain('time_seconds_bucket{door="rpc",le="0.1"} 2\n');
    expect(text).toContain('time_seconds_bucket{door="rpc",le="1"} 4\n');
    expect(text).toContain('time_seconds_bucket{door="rpc",le="+Inf"} 5\n');
    expect(text).toContain('time_seconds_sum{door="rpc"} 10.65\n');
    expect(text).toContain('time_seconds_count{door="rpc"} 5\n');
    expect(text).toContain("# TYPE time_seconds histogram");
  });

  test("past the bound label values are counted together as other, and that is counted", async () => {
    await using metrics = createMetrics({ labelSetsMax: 3 });
    const calls = metrics.counter("calls_total", "Calls", ["method"]);
    for (let index = 0; index < 10; index++) calls.with(`m${index}`).add();
    calls.with("m0").add();
    const text = await metrics.render();
    expect(text).toContain('calls_total{method="m0"} 2\n');
    expect(text).toContain('calls_total{method="other"} 7\n');
    expect(text).toContain('sluice_metrics_label_sets_folded_total{metric="calls_total"} 7\n');
    expect(text).not.toContain("m5");
  });

  test("a long label value is cut, and a wrong number of them is a mistake of ours", async () => {
    await using metrics = createMetrics();
    const calls = metrics.counter("calls_total", "Calls", ["method"]);
    calls.with("x".repeat(10_000)).add();
    calls.with("x".repeat(10_001)).add();
    const text = await metrics.render();
    expect(text.length).toBeLessThan(3_000);
    expect(text).toContain(`calls_total{method="${"x".repeat(128)}"} 2\n`);
    expect(() => calls.with("a", "b")).toThrow(TypeError);
    expect(() => metrics.counter("calls_total", "Again")).toThrow();
  });

  test("the process shows memory, processor time, start and event loop delay", async () => {
    await using metrics = createMetrics();
    const text = await metrics.render();
    expect(Number(/process_resident_memory_bytes (\d+)/.exec(text)?.[1])).toBeGreaterThan(1_000_000);
    expect(Number(/process_cpu_seconds_total ([\d.]+)/.exec(text)?.[1])).toBeGreaterThan(0);
    expect(text).toMatch(/process_event_loop_lag_seconds [\d.]+/);
  });
});

describe("events", () => {
  test("a served request is counted with its time, bytes and credits", async () => {
    const { events, metrics } = observed();
    events.requestServed(fact);
    events.requestServed({ ...fact, rpcCode: -32602, credits: 0 });
    const text = await metrics.render();
    expect(text).toContain('sluice_requests_total{door="rpc",network="devnet",method="getSlot",status="200"} 2\n');
    expect(text).toContain('sluice_request_duration_seconds_sum{door="rpc",network="devnet",method="getSlot"} 0.006\n');
    expect(text).toContain('sluice_request_bytes_total{door="rpc"} 120\n');
    expect(text).toContain('sluice_response_bytes_total{door="rpc"} 80\n');
    expect(text).toContain('sluice_credits_charged_total{door="rpc",network="devnet"} 5\n');
    expect(text).toContain('sluice_rpc_errors_total{network="devnet",code="-32602"} 1\n');
    await metrics[Symbol.asyncDispose]();
  });

  test("what a dead process held is counted by meter: what came back, and what stays charged without proof", async () => {
    const { events, metrics } = observed();
    events.creditsReconciled("credits", { books: 3, returned: 120n, unproved: 0n });
    events.creditsReconciled("credits", { books: 1, returned: -5n, unproved: 0n });
    events.creditsReconciled("oracle", { books: 2, returned: 0n, unproved: 64n });
    const text = await metrics.render();
    expect(text).toContain('sluice_credit_books_reconciled_total{meter="credits"} 4\n');
    expect(text).toContain('sluice_credits_returned_total{meter="credits"} 120\n');
    expect(text).toContain('sluice_credits_unproved_total{meter="oracle"} 64\n');
    expect(text).not.toContain('sluice_credits_returned_total{meter="oracle"}');
    await metrics[Symbol.asyncDispose]();
  });

  test("methods that callers made up are counted as other and cannot crowd out the known ones", async () => {
    const { events, metrics } = observed(["getSlot"]);
    for (let index = 0; index < 3_000; index++) events.requestServed({ ...fact, method: `evil${index}` });
    events.requestServed(fact);
    const text = await metrics.render();
    expect(text).toContain('method="other",status="200"} 3000\n');
    expect(text).toContain('method="getSlot",status="200"} 1\n');
    expect(text).not.toContain("evil");
    await metrics[Symbol.asyncDispose]();
  });

  test("without known methods any number of names stays bounded and no request is lost", async () => {
    const { events, metrics } = observed();
    for (let index = 0; index < 6_000; index++) events.requestServed({ ...fact, method: `m${index}` });
    const text = await metrics.render();
    let total = 0;
    for (const match of text.matchAll(/^sluice_requests_total\{.*\} (\d+)$/gm)) total += Number(match[1]);
    expect(total).toBe(6_000);
    expect(text.match(/^sluice_requests_total\{/gm)?.length).toBe(1_001);
    await metrics[Symbol.asyncDispose]();
  });

  test("a node's health is logged when it changes, not on every probe", async () => {
    const { events, metrics, lines } = observed();
    const state = { network: "devnet", upstream: "a", slotLag: 0 } as const;
    for (const health of ["healthy", "healthy", "down", "down", "healthy"] as const) {
      events.upstreamObserved({ ...state, health });
    }
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(["info", "warn", "info"]);
    expect(await metrics.render()).toContain('sluice_upstream_healthy{network="devnet",upstream="a"} 1\n');
    await metrics[Symbol.asyncDispose]();
  });

  test("what passes over a connection is counted while it lasts, and the connection once, when it ends", async () => {
    const { events, metrics } = observed();
    const passed = { door: "pubsub", network: "devnet", method: "pubsub", bytesIn: 5, bytesOut: 70, credits: 2 };
    events.connectionPassed({ ...passed, status: 101 });
    events.connectionPassed({ ...passed, status: 101 });
    events.requestServed({ ...passed, status: 1000, rpcCode: null, latencyMs: 90_000 });
    const text = await metrics.render();
    expect(text).toContain('sluice_response_bytes_total{door="pubsub"} 210\n');
    const lines = text.split("\n").filter((line) => line.startsWith("sluice_requests_total{"));
    expect(lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)).toBe(1);
    await metrics[Symbol.asyncDispose]();
  });

  test("only a fault of ours is logged as an error", async () => {
    const { events, metrics, lines } = observed();
    events.requestRefused("rpc", "RATE_LIMIT_EXCEEDED");
    events.upstreamCalled("devnet", "a", "timeout", 30_000);
    events.extraCall("devnet", "a", "hedge");
    events.floorMissed("devnet");
    events.transactionSettled("devnet", "finalized");
    events.cacheOutcome("devnet", "slot", "hit");
    events.cacheSized(10);
    events.keyCacheOutcome("negative");
    events.ledgerFlushed("requests", 100, 4);
    events.ledgerDropped("requests", 3, "queue full");
    events.childStarted("ledger", { pid: 1 });
    events.childRestarted("ledger", "exited with 1");
    events.largeAnswerEnded("devnet", "cut");
    events.pubsubOpened("pubsub", "devnet");
    events.pubsubMoved("pubsub", "devnet");
    events.pubsubClosed("pubsub", "devnet", 1000);
    events.serverStarted({ version: "0.1.0", mode: "dev", startMs: 1500 });
    events.serverStopping("SIGTERM");
    events.serverStopped();
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    events.internalError("door", new Error("bug"), { requestId: "r1" });
    expect(JSON.parse(lines.at(-1) ?? "{}")).toMatchObject({ level: "error", requestId: "r1", where: "door" });
    expect(await metrics.render()).toContain('sluice_pubsub_connections{door="pubsub",network="devnet"} 0\n');
    await metrics[Symbol.asyncDispose]();
  });

  test("what is registered is what the reference lists, both ways", async () => {
    const { metrics } = observed();
    const text = await metrics.render();
    const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(shown.sort()).toEqual(metricTable.map(({ name, type }) => `${name} ${type}`).sort());
    await metrics[Symbol.asyncDispose]();
  });

  test("names follow the custom: base units, counters end in _total", () => {
    for (const { name, type } of Object.values(eventMetrics)) {
      expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
      expect(name).not.toMatch(/_(ms|milliseconds|kb|percent)(_|$)/);
    }
  });

  test("a served request costs well under a microsecond", () => {
    const { events } = observed(["getSlot"]);
    const rounds = 50_000;
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 10; attempt++) {
      const start = performance.now();
      for (let index = 0; index < rounds; index++) events.requestServed(fact);
      best = Math.min(best, ((performance.now() - start) * 1000) / rounds);
    }
    expect(best).toBeLessThan(0.5);
  });
});

test("sources of prices are told by streams, by how requests end, and by how old their prices come", async () => {
  const { metrics, events } = observed();
  await using _ = metrics;
  events.oracleSourceStreamOpened("kraken");
  events.oracleSourceStreamEnded("kraken", "silent");
  events.oracleSourceRequestEnded("kraken", "limited", 250);
  events.oracleSourceTicked("kraken", 2_000);
  // Its clock runs ahead: as fresh as can be.
  events.oracleSourceTicked("kraken", -3_000);
  const text = await metrics.render();
  expect(text).toContain('sluice_oracle_source_streams_opened_total{source="kraken"} 1\n');
  expect(text).toContain('sluice_oracle_source_streams_ended_total{source="kraken",reason="silent"} 1\n');
  expect(text).toContain('sluice_oracle_source_requests_total{source="kraken",end="limited"} 1\n');
  expect(text).toContain('sluice_oracle_source_request_duration_seconds_sum{source="kraken"} 0.25\n');
  expect(text).toContain('sluice_oracle_tick_delay_seconds_count{source="kraken"} 2\n');
  expect(text).toContain('sluice_oracle_tick_delay_seconds_sum{source="kraken"} 2\n');
});
