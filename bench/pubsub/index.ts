/**
 * bench/pubsub: what a notification of Solana PubSub costs a gateway for each client of one subscription, and how many
 * subscriptions its node has. With `--before` another checkout runs in alternating rounds beside this one.
 * `npm run bench -- pubsub [--clients 1000] [--notifications 200] [--burst 1] [--every 20] [--rounds 3]
 * [--before <checkout>]`.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startOrdered } from "../orders.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import type { ClientOrder } from "./clients.ts";
import type { NodeOrder } from "./node.ts";

const { values } = parseArgs({
  options: {
    clients: { type: "string", default: "1000" },
    notifications: { type: "string", default: "200" },
    every: { type: "string", default: "20" },
    burst: { type: "string", default: "1" },
    rounds: { type: "string", default: "3" },
    before: { type: "string" },
  },
});
const clients = Number(values.clients);
const notifications = Number(values.notifications);

const start = <Order>(file: string, ...args: string[]) =>
  startOrdered<Order, string | number>(join(import.meta.dir, file), args);

interface Figures {
  readonly micros: number;
  readonly kbEach: number;
  readonly subscriptions: number;
}

const residentKb = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await Bun.file(`/proc/${pid}/status`).text())?.[1] ?? 0);

async function measure(root: string): Promise<Figures> {
  const node = start<NodeOrder>("node.ts");
  const { url, ws } = await node.next();
  const gateway = start("gateway.ts", root, String(url), String(ws));
  const { port } = await gateway.next();
  const idleKb = await residentKb(gateway.pid);
  const many = start<ClientOrder>("clients.ts", String(port), String(clients));
  await many.next();
  const kbEach = ((await residentKb(gateway.pid)) - idleKb) / clients;
  const notify = async (count: number): Promise<number> => {
    many.order({ wait: count * clients });
    await many.next();
    node.order({ notifications: count, everyMs: Number(values.every), burst: Number(values.burst) });
    const [told] = await Promise.all([node.next(), many.next()]);
    return Number(told["subscriptions"]);
  };
  await notify(20);
  const before = treeCpu(gateway.pid)?.root ?? 0;
  const subscriptions = await notify(notifications);
  const micros = ((treeCpu(gateway.pid)?.root ?? 0) - before) / (notifications * clients);
  for (const each of [many, gateway, node]) await each.end();
  return { micros, kbEach, subscriptions };
}

const here = join(import.meta.dir, "../..");
const roots = new Map([...(values.before === undefined ? [] : [["before", values.before] as const]), ["now", here]]);
const found = new Map<string, Figures[]>([...roots.keys()].map((name) => [name, []]));
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const [name, root] of roots) found.get(name)?.push(await measure(root));
}
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
console.log(
  `${clients} clients of one subscription, ${notifications} notifications, ${values.burst} at a time, ${values.rounds} rounds, medians`,
);
console.log(
  "| checkout | µs CPU a notification and client | KB a client | subscriptions at the node |\n|---|---|---|---|",
);
for (const [name, rounds] of found) {
  const micros = rounds.map((each) => each.micros);
  const range = `${median(micros).toFixed(2)} (${Math.min(...micros).toFixed(2)}-${Math.max(...micros).toFixed(2)})`;
  const kb = median(rounds.map((each) => each.kbEach)).toFixed(1);
  console.log(`| ${name} | ${range} | ${kb} | ${median(rounds.map((each) => each.subscriptions))} |`);
}
