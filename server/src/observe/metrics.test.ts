import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { createServerEvents } from "./events.ts";
import { createLog } from "./log.ts";
import { counter, gauge, latency } from "./metric-definitions.ts";
import { createMetrics } from "./metrics.ts";

function observed(methods?: Iterable<string>) {
  const metrics = createMetrics({}, { clock: new ManualClock(1_000_000) });
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
  return { metrics, events: createServerEvents({ log, metrics }, methods === undefined ? {} : { methods }), lines };
}

const fact = {
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
    const definitions = { calls: counter("calls_total", "Calls", ["endpoint"]), depth: gauge("depth", "Depth") };
    const { calls, depth } = metrics.register(definitions);
    calls.with("rpc").add();
    calls.with("rpc").add(2);
    calls.with('a"b\nc').add();
    depth.with().set(7);
    const text = await metrics.render();
    expect(text).toContain('calls_total{endpoint="rpc"} 3\n');
    expect(text).toContain('calls_total{endpoint="a\\"b\\nc"} 1\n');
    expect(text).toContain("# TYPE calls_total counter");
    expect(text).toContain("\ndepth 7\n");
    expect(await metrics.render()).toContain('calls_total{endpoint="rpc"} 3\n');
    expect(metrics.contentType).toStartWith("text/plain");
  });

  test("a metric without labels is shown from the start, and other numbers of labels than its own are refused", async () => {
    await using metrics = createMetrics();
    const { calls, depth } = metrics.register({
      calls: counter("calls_total", "Calls", ["endpoint"]),
      depth: counter("depth_total", "Depth"),
    });
    expect(await metrics.render()).toContain("\ndepth_total 0\n");
    calls.with("rpc").add();
    expect(() => (calls.with as (...values: string[]) => unknown)("rpc", "more")).toThrow(TypeError);
    expect(() => (depth.with as (...values: string[]) => unknown)("rpc")).toThrow(TypeError);
    expect(() => (calls.with as (...values: string[]) => unknown)()).toThrow(TypeError);
  });

  test("a histogram counts at or below each bound, with sum and count", async () => {
    await using metrics = createMetrics();
    const definition = { ...latency("time_seconds", "Time", ["endpoint"]), buckets: [0.1, 1] };
    const times = metrics.register({ definition }).definition.with("rpc");
    for (const value of [0, 0.05, 0.1, 0.5, 1, 9, Number.NaN, -1]) times.observe(value);
    const text = await metrics.render();
    expect(text).toContain('time_seconds_bucket{endpoint="rpc",le="0.1"} 3\n');
    expect(text).toContain('time_seconds_bucket{endpoint="rpc",le="1"} 5\n');
    expect(text).toContain('time_seconds_bucket{endpoint="rpc",le="+Inf"} 6\n');
    expect(text).toContain('time_seconds_sum{endpoint="rpc"} 10.65\n');
    expect(text).toContain('time_seconds_count{endpoint="rpc"} 6\n');
    expect(text).toContain("# TYPE time_seconds histogram");
  });

  test("past the bound label values are counted together as other, and that is counted", async () => {
    await using metrics = createMetrics({ labelSetsMax: 3 });
    const { calls } = metrics.register({ calls: counter("calls_total", "Calls", ["method"]) });
    for (let index = 0; index < 10; index++) calls.with(`m${index}`).add();
    calls.with("m0").add();
    const text = await metrics.render();
    expect(text).toContain('calls_total{method="m0"} 2\n');
    expect(text).toContain('calls_total{method="other"} 7\n');
    expect(text).toContain('sluice_metrics_label_sets_folded_total{metric="calls_total"} 7\n');
    expect(text).not.toContain("m5");
  });

  test("a long label value is cut, and a wrong number of them throws", async () => {
    await using metrics = createMetrics();
    const { calls } = metrics.register({ calls: counter("calls_total", "Calls", ["method"]) });
    calls.with("x".repeat(10_000)).add();
    calls.with("x".repeat(10_001)).add();
    const text = await metrics.render();
    expect(text.length).toBeLessThan(3_000);
    expect(text).toContain(`calls_total{method="${"x".repeat(128)}"} 2\n`);
    expect(() => calls.with("a", "b")).toThrow(TypeError);
    expect(() => metrics.register({ calls: counter("calls_total", "Again") })).toThrow();
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
    events.requestServed("rpc", fact);
    events.requestServed("rpc", { ...fact, rpcCode: -32602, credits: 0 });
    const text = await metrics.render();
    expect(text).toContain('sluice_requests_total{endpoint="rpc",network="devnet",method="getSlot",status="200"} 2\n');
    expect(text).toContain(
      'sluice_request_duration_seconds_sum{endpoint="rpc",network="devnet",method="getSlot"} 0.006\n',
    );
    expect(text).toContain('sluice_request_bytes_total{endpoint="rpc"} 120\n');
    expect(text).toContain('sluice_response_bytes_total{endpoint="rpc"} 80\n');
    expect(text).toContain('sluice_credits_charged_total{endpoint="rpc",network="devnet"} 5\n');
    expect(text).toContain('sluice_rpc_errors_total{network="devnet",code="-32602"} 1\n');
    await metrics[Symbol.asyncDispose]();
  });

  test("methods that callers made up are counted as other and cannot crowd out the known ones", async () => {
    const { events, metrics } = observed(["getSlot"]);
    for (let index = 0; index < 3_000; index++) events.requestServed("rpc", { ...fact, method: `evil${index}` });
    events.requestServed("rpc", fact);
    const text = await metrics.render();
    expect(text).toContain('method="other",status="200"} 3000\n');
    expect(text).toContain('method="getSlot",status="200"} 1\n');
    expect(text).not.toContain("evil");
    await metrics[Symbol.asyncDispose]();
  });

  test("without known methods any number of names stays bounded and no request is lost", async () => {
    const { events, metrics } = observed();
    for (let index = 0; index < 6_000; index++) events.requestServed("rpc", { ...fact, method: `m${index}` });
    const text = await metrics.render();
    let total = 0;
    for (const match of text.matchAll(/^sluice_requests_total\{.*\} (\d+)$/gm)) total += Number(match[1]);
    expect(total).toBe(6_000);
    expect(text.match(/^sluice_requests_total\{/gm)?.length).toBe(1_001);
    await metrics[Symbol.asyncDispose]();
  });

  test("what passes over a connection is counted while it lasts, and the connection once, when it ends", async () => {
    const { events, metrics } = observed();
    const passed = { network: "devnet", method: "pubsub", bytesIn: 5, bytesOut: 70, credits: 2 };
    events.connectionPassed("pubsub", { ...passed, status: 101 });
    events.connectionPassed("pubsub", { ...passed, status: 101 });
    events.requestServed("pubsub", { ...passed, status: 1000, rpcCode: null, latencyMs: 90_000 });
    const text = await metrics.render();
    expect(text).toContain('sluice_response_bytes_total{endpoint="pubsub"} 210\n');
    const lines = text.split("\n").filter((line) => line.startsWith("sluice_requests_total{"));
    expect(lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)).toBe(1);
    await metrics[Symbol.asyncDispose]();
  });

  test("a served request costs well under a microsecond", () => {
    const { events } = observed(["getSlot"]);
    const rounds = 50_000;
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 10; attempt++) {
      const start = performance.now();
      for (let index = 0; index < rounds; index++) events.requestServed("rpc", fact);
      best = Math.min(best, ((performance.now() - start) * 1000) / rounds);
    }
    expect(best).toBeLessThan(0.5);
  });
});
