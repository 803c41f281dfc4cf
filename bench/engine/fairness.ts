import type { Loads } from "./loads.ts";
import { median, quantile, row } from "./report.ts";
import type { RunningSluice } from "./sluice.ts";

export interface FairnessOptions {
  readonly loads: Loads;
  readonly sluice: RunningSluice;
  readonly echoPort: number;
  readonly rounds: number;
  readonly seconds: number;
  /** Bundles a second of each searcher, and its limit. */
  readonly perSecond: number;
  /** The first is that of the one who floods. */
  readonly keys: readonly string[];
  readonly drained: () => Promise<void>;
}

/** How many times its rate one searcher sends while the others keep theirs. */
const floodTimes = 100;

/**
 * The latency of other searchers when one searcher sends far more than it may, by calls and by its stream; the bare
 * server, which refuses nothing, shows what the same messages do to it.
 */
export async function fairness(options: FairnessOptions): Promise<void> {
  const { loads, sluice, echoPort, rounds, seconds, perSecond, keys, drained } = options;
  const run = async (port: number, way: "unary" | "stream", times: number) => {
    const plan = keys.map((key, index) => ({
      key,
      way: index === 0 ? way : ("unary" as const),
      perSecond: index === 0 ? perSecond * times : perSecond,
    }));
    await loads.prepare(port, plan, seconds);
    const { senders } = await loads.run();
    if (port === sluice.grpcPort) await drained();
    const [flooding, ...others] = senders;
    return {
      p99: quantile(
        others.flatMap(({ tookMs }) => tookMs),
        0.99,
      ),
      refusedOfOthers: others.reduce((sum, each) => sum + each.sent - each.accepted, 0),
      flooded: flooding?.sent ?? 0,
      accepted: flooding?.accepted ?? 0,
    };
  };
  console.log(
    `\none searcher at ${floodTimes} times its ${perSecond} a second, ${keys.length - 1} others at theirs, by calls`,
  );
  row("", ["p99 alone", "p99 flooded", "ratio", "range", "flood sent", "taken", "others lost"]);
  for (const [name, port] of [
    ["sluice", sluice.grpcPort],
    ["bare grpc-js", echoPort],
  ] as const) {
    for (const way of ["unary", "stream"] as const) {
      const pairs = [];
      for (let round = 0; round < rounds; round += 1) {
        const order = round % 2 === 0 ? [1, floodTimes] : [floodTimes, 1];
        const byTimes = new Map<number, Awaited<ReturnType<typeof run>>>();
        for (const times of order) byTimes.set(times, await run(port, way, times));
        const [alone, flooded] = [byTimes.get(1), byTimes.get(floodTimes)];
        if (alone !== undefined && flooded !== undefined)
          pairs.push({ alone, flooded, ratio: flooded.p99 / alone.p99 });
      }
      const ratios = pairs.map(({ ratio }) => ratio);
      row(`${name}, flood by ${way === "unary" ? "calls" : "stream"}`, [
        median(pairs.map(({ alone }) => alone.p99)).toFixed(1),
        median(pairs.map(({ flooded }) => flooded.p99)).toFixed(1),
        median(ratios).toFixed(2),
        `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`,
        String(median(pairs.map(({ flooded }) => flooded.flooded))),
        String(median(pairs.map(({ flooded }) => flooded.accepted))),
        String(pairs.reduce((sum, { alone, flooded }) => sum + alone.refusedOfOthers + flooded.refusedOfOthers, 0)),
      ]);
    }
  }
}
