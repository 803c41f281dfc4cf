/**
 * bench/websocket: what a WebSocket costs behind the HTTP/1.1 server of net: `tunnel` (the connection goes on to a
 * listener of the runtime on loopback), `own` (frames of our own on the client's socket), and `runtime` (the client
 * connects to the runtime's listener itself, which the gateway's port cannot offer). The same session code serves all.
 * Slot notifications to all clients, then messages that come back, in alternating rounds. `npm run bench -- websocket
 * [--connections 1000] [--messages 100] [--rounds 5] [--every 20]`.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startOrdered } from "../orders.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import type { ClientOrder } from "./clients.ts";
import type { Order, Way } from "./server.ts";

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "1000" },
    messages: { type: "string", default: "100" },
    every: { type: "string", default: "20" },
    rounds: { type: "string", default: "5" },
  },
});
const connections = Number(values.connections);
const messages = Number(values.messages);
const ways: readonly Way[] = ["tunnel", "own", "runtime"];

const start = <Order>(file: string, args: readonly string[]) =>
  startOrdered<Order, number>(join(import.meta.dir, file), args);

const residentKb = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await Bun.file(`/proc/${pid}/status`).text())?.[1] ?? 0);

interface Figures {
  readonly fanOutMicros: number;
  readonly echoMicros: number;
  readonly kbEach: number;
}

async function measure(way: Way): Promise<Figures> {
  const server = start<Order>("server.ts", [way]);
  const { port = 0 } = await server.next();
  const idleKb = await residentKb(server.pid);
  const clients = start<ClientOrder>("clients.ts", [String(port), String(connections)]);
  await clients.next();
  const kbEach = ((await residentKb(server.pid)) - idleKb) / connections;
  const cpu = async (run: () => Promise<void>): Promise<number> => {
    const before = treeCpu(server.pid)?.root ?? 0;
    await run();
    return (treeCpu(server.pid)?.root ?? 0) - before;
  };
  const fanOut = async (count: number): Promise<void> => {
    clients.order({ wait: count * connections });
    await clients.next();
    server.order({ messages: count, everyMs: Number(values.every) });
    await Promise.all([server.next(), clients.next()]);
  };
  const echo = async (count: number): Promise<void> => {
    clients.order({ echo: count });
    await clients.next();
    await clients.next();
  };
  await fanOut(10);
  const fanOutMicros = (await cpu(() => fanOut(messages))) / (messages * connections);
  await echo(connections * 5);
  const echoes = connections * Math.min(50, messages);
  const echoMicros = (await cpu(() => echo(echoes))) / echoes;
  await clients.end();
  await server.end();
  return { fanOutMicros, echoMicros, kbEach };
}

const found = new Map<Way, Figures[]>(ways.map((way) => [way, []]));
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const way of round % 2 === 0 ? ways : ways.toReversed()) found.get(way)?.push(await measure(way));
}
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
console.log(
  `${connections} connections, ${messages} notifications to each, ${values.rounds} rounds, medians (min-max)`,
);
console.log("| way | µs CPU a notification | µs CPU an echo | KB a connection |\n|---|---|---|---|");
for (const [way, rounds] of found) {
  const cell = (pick: (figures: Figures) => number): string => {
    const all = rounds.map(pick);
    return `${median(all).toFixed(2)} (${Math.min(...all).toFixed(2)}-${Math.max(...all).toFixed(2)})`;
  };
  console.log(`| ${way} | ${cell((f) => f.fanOutMicros)} | ${cell((f) => f.echoMicros)} | ${cell((f) => f.kbEach)} |`);
}
