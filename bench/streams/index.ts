/**
 * bench/streams: from the chain to a client, through a whole server, over `/ws`, PubSub and Yellowstone gRPC. A
 * development chain with traffic runs in a process of its own, the server as `sluice dev` runs it before that node;
 * each client is told every transaction at confirmed but votes.
 *
 * The clock: all clients are in this process and read one monotonic clock. Zero of a slot is the moment at which a
 * Yellowstone client of the node itself, here as well, has the last transaction of the slot; what a client of the
 * server has later than that is what the server adds: judging, log, matching, sending. So no clocks are compared, and
 * what this process takes to read counts on both sides. A slot counts where a client was told as many transactions as
 * the node's own; others are missing.
 *
 * `npm run bench -- streams [--clients 10] [--slots 100] [--traffic 200] [--slot-ms 400] [--only
 * ws,pubsub,yellowstone]`
 */
import { parseArgs } from "node:util";
import { eventually } from "@sluice/lib/testing";
import { startFaultyChain } from "../../server/test/testing/chain.ts";
import { startNetwork } from "../../server/test/testing/network.ts";
import { overPubSub, overWs, overYellowstone, type Subscriber, type ToldSlot } from "./subscribers.ts";

const { values } = parseArgs({
  options: {
    clients: { type: "string", default: "10" },
    slots: { type: "string", default: "100" },
    traffic: { type: "string", default: "200" },
    "slot-ms": { type: "string", default: "400" },
    only: { type: "string", default: "ws,pubsub,yellowstone" },
  },
});
const clients = Number(values.clients);
const slots = Number(values.slots);
const goalMs = 100;
/** Slots that are not measured: the first ones find code that has not run yet. */
const warmSlots = 20;
const upWithinMs = 120_000;
const settleMs = 60_000;

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

await using chain = await startFaultyChain(
  ...["--grpc-port", "0", "--traffic", values.traffic, "--slot-ms", values["slot-ms"], "--votes"],
);
const node = `node=${chain.rpc};ws=${chain.ws};grpc=${chain.grpc}`;
await using network = await startNetwork({
  env: { ROLES: "gateway,ingest,streams", UPSTREAMS_DEVNET: node, NETWORK_DEFAULT: "devnet" },
  args: ["--oracle", "off"],
});
const ready = new URL("/ready?role=streams", network.rpcUrl);
await eventually("the log of the chain", async () => (await fetch(ready)).ok, upWithinMs);

const { key, doors } = network.dev;
const open: Readonly<Record<string, () => Promise<Subscriber>>> = {
  ws: () => overWs(doors["ws"] ?? "", key),
  pubsub: () => overPubSub(doors["pubsub"] ?? "", key),
  yellowstone: () => overYellowstone(doors["yellowstone"] ?? "", key),
};
const protocols = values.only.split(",");

/** Each protocol by itself, so that none waits behind another's clients. */
async function measure(protocol: string): Promise<string> {
  const begin = open[protocol];
  if (begin === undefined) throw new Error(`there is no protocol ${protocol}`);
  const direct = await overYellowstone(chain.grpc ?? "", null);
  const subscribers = await Promise.all(Array.from({ length: clients }, begin));
  const newest = (of = direct): number => Math.max(0, ...of.slots.keys());
  // A server that has just begun reads what the chain had before.
  const isAtHead = (of: Subscriber): boolean => newest(of) > 0 && newest(of) >= newest() - 1;
  await eventually("the server at the head", () => subscribers.every(isAtHead), upWithinMs);
  const first = newest() + warmSlots;
  const last = first + slots - 1;
  const withinMs = (slots + warmSlots) * Number(values["slot-ms"]) * 4 + upWithinMs;
  await eventually("the slots", () => newest() > last, withinMs);
  const measured = [...direct.slots].filter(([slot]) => slot >= first && slot <= last);
  const isWhole = ({ slots: told }: Subscriber): boolean =>
    measured.every(([slot, { count }]) => (told.get(slot)?.count ?? 0) >= count);
  // What is missing in the end is told as missing.
  await eventually("the last slot at every client", () => subscribers.every(isWhole), settleMs).catch(() => undefined);
  for (const each of [direct, ...subscribers]) each.close();
  return row(protocol, measured, subscribers);
}

function row(
  protocol: string,
  measured: readonly (readonly [number, ToldSlot])[],
  subscribers: readonly Subscriber[],
): string {
  const [firsts, lasts]: [number[], number[]] = [[], []];
  let missing = 0;
  for (const [slot, zero] of measured) {
    for (const { slots: told } of subscribers) {
      const its = told.get(slot);
      if (its?.count !== zero.count) missing += 1;
      else {
        firsts.push(its.firstMs - zero.lastMs);
        lasts.push(its.lastMs - zero.lastMs);
      }
    }
  }
  const shown = (numbers: number[]): string => {
    const sorted = numbers.toSorted((one, other) => one - other);
    return `${quantile(sorted, 0.5).toFixed(1)} | ${quantile(sorted, 0.99).toFixed(1)}`;
  };
  const transactions = measured.reduce((sum, [, { count }]) => sum + count, 0);
  const isReached =
    quantile(
      lasts.toSorted((one, other) => one - other),
      0.99,
    ) <= goalMs;
  const goal = missing === 0 && isReached ? "reached" : "not reached";
  return `| ${[protocol, measured.length, transactions, shown(firsts), shown(lasts), missing, goal].join(" | ")} |`;
}

console.log(`${clients} clients of each protocol, ${values.traffic} transactions a second, goal ${goalMs} ms at p99`);
console.log("| protocol | slots | transactions | first p50 ms | p99 | last p50 ms | p99 | missing | goal |");
console.log("|---|---|---|---|---|---|---|---|---|");
for (const protocol of protocols) console.log(await measure(protocol));
