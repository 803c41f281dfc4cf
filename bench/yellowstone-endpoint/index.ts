/**
 * What Yellowstone gRPC costs: blocks of a main network's kind to 1, 10 and 100 streams, with equal filters and with
 * different ones. CPU of the server's process for each message that a client receives, messages a second of one core,
 * and the time from a block's arrival in the log to its last message at the last client. Clients are another process.
 */
import { packBlock } from "@sluice/encode";
import { compileAddressSet, seededRandom, systemClock } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../server/src/access/testing/grants.ts";
import { createLimits } from "../../server/src/limits/index.ts";
import { chain } from "../../server/src/log/testing/chain-model.ts";
import { openMemoryLog } from "../../server/src/log/testing/memory-log.ts";
import { GrpcServer } from "../../server/src/net/index.ts";
import { createLog, createMetrics } from "../../server/src/observe/index.ts";
import {
  createStreamsEvents,
  createYellowstoneEvents,
  Flows,
  YellowstoneEndpoint,
} from "../../server/src/streams/index.ts";
import { makeBlocks } from "../yellowstone/blocks.ts";

const rounds = Number(process.argv[2] ?? 20);
const slotMs = 400;
const warmUps = 3;
type LogBlock = Extract<Parameters<Awaited<ReturnType<typeof openMemoryLog>>["log"]["append"]>[0], { kind: "block" }>;

const grant = {
  ...grantOfTests,
  tier: "enterprise" as const,
  buckets: {
    ...grantOfTests.buckets,
    messages: [{ bucket: "messages", requestsPerSecond: 1e9, burst: 2e9 }] as const,
  },
};

async function serve() {
  const memory = await openMemoryLog(chain);
  const observe = { log: createLog({ level: "silent" }), metrics: createMetrics() };
  const flows = new Flows({ events: createStreamsEvents(observe), past: null });
  await flows.follow({
    networks: ["devnet"],
    follow: async (listener) => {
      await listener("devnet", memory.log, chain);
      return { [Symbol.dispose]: () => {}, [Symbol.asyncDispose]: async () => {} };
    },
  });
  const keys = { authenticate: () => grant, remembered: () => null, checkRestrictions: () => null };
  const credits = { take: () => true, refund: () => {}, balance: () => ({ remaining: 1, resetsAtMs: 0 }) };
  const endpoint = new YellowstoneEndpoint(
    { networkDefault: "devnet", trustedProxies: compileAddressSet([]), version: "bench", heldBytesMax: 1 },
    {
      clock: systemClock,
      random: seededRandom(1),
      access: accessOfTests({ keys, limits: createLimits({}, { clock: systemClock }), credits }),
      flows,
      nodes: () => [],
      events: createYellowstoneEvents(observe),
      requestId: () => "bench",
      served: () => {},
    },
  );
  const server = await GrpcServer.open(
    { endpoint: "yellowstone", hostname: "127.0.0.1", port: 0, tls: null },
    { clock: systemClock, services: [endpoint.service], isServing: () => true },
  );
  return { log: memory.log, server, endpoint };
}

const blocks = makeBlocks(rounds + warmUps + 1);
const bodies = blocks.map(packBlock);

function recordAt(index: number): LogBlock {
  const block = blocks[index];
  const body = bodies[index];
  if (block === undefined || body === undefined) throw new Error("no block");
  const { slot, parentSlot, blockhash, previousBlockhash: parentBlockhash, blockTime, blockHeight: height } = block;
  const place = { chain, slot, blockhash, parentSlot, parentBlockhash } as LogBlock["header"];
  const header = { ...place, blockTime, height, transactions: block.transactions.length };
  // Each run has bytes of its own: what was decoded for another is not there.
  return { kind: "block", header, stage: "confirmed", body: body.slice() };
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

async function run(streams: number, kind: "equal" | "different"): Promise<string> {
  const { log, server, endpoint } = await serve();
  await log.append(recordAt(0));
  const command = [process.execPath, new URL("clients.ts", import.meta.url).pathname];
  const child = Bun.spawn([...command, `${server.port}`, `${streams}`, kind], { stdout: "pipe", stderr: "inherit" });
  const lines: string[] = [];
  const heard = new Set<() => void>();
  const listening = (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const part of child.stdout) {
      const all = (rest + decoder.decode(part, { stream: true })).split("\n");
      rest = all.pop() ?? "";
      lines.push(...all);
      for (const wake of heard) wake();
    }
  })();
  const lineAt = async (index: number): Promise<string> => {
    while (lines.length <= index) await new Promise<void>((resolve) => heard.add(resolve));
    return lines[index] ?? "";
  };
  if ((await lineAt(0)) !== "ready") throw new Error(lines.join());
  const latencies: number[] = [];
  let cpu = process.cpuUsage();
  let before = 0;
  let after = 0;
  for (let index = 1; index <= rounds + warmUps; index += 1) {
    const startedMs = performance.timeOrigin + performance.now();
    await log.append(recordAt(index));
    const [at, messages] = (await lineAt(index)).split(" ").map(Number);
    if (at === undefined || messages === undefined || Number.isNaN(at)) throw new Error(lines.at(-1));
    after = messages;
    if (index <= warmUps) {
      before = messages;
      cpu = process.cpuUsage();
    } else latencies.push(at - startedMs);
    await Bun.sleep(Math.max(0, slotMs - (performance.timeOrigin + performance.now() - startedMs)));
  }
  const { user, system } = process.cpuUsage(cpu);
  child.kill();
  await child.exited;
  await listening;
  await server.stop(1_000);
  endpoint[Symbol.dispose]();
  await log[Symbol.asyncDispose]();
  const micros = (user + system) / (after - before);
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)].map((ms) => ms.toFixed(0));
  const perBlock = ((after - before) / rounds / streams).toFixed(0);
  const aSecond = Math.round(1e6 / micros).toLocaleString("en");
  return `| ${streams} ${kind} | ${perBlock} | ${micros.toFixed(2)} | ${aSecond} | ${p50} | ${p99} |`;
}

console.log(`blocks of ${blocks[0]?.transactions.length} transactions every ${slotMs} ms, ${rounds} each`);
console.log("| streams | messages a block | CPU, µs a message | messages/s a core | latency p50, ms | p99, ms |");
console.log("|---|---|---|---|---|---|");
for (const streams of [1, 10, 100]) {
  console.log(await run(streams, "equal"));
  if (streams > 1) console.log(await run(streams, "different"));
}
process.exit(0);
