/**
 * bench/fanout: what a message to a client costs where many clients get the same: `groups` of net, which join what is
 * published in one turn of the event loop and write once a client; `each`, the same connections with one write for each
 * message; `applications`, groups over the runtime's WebSockets, as on the ports of applications; `publish`, the
 * runtime's own; `ws` on Node. Clients are in a process of their own and count bytes. Rounds alternate.
 * `npm run bench -- fanout [--rounds 5] [--only case,case] [--ways groups,ws]`.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ordersOf } from "../orders.ts";
import {
  type ClientsOrder,
  type ClientsReport,
  messageBytes,
  type ServerOrder,
  type ServerReport,
  stallBytes,
  stalledPath,
  type Turns,
  type Way,
  ways,
} from "./workload.ts";

interface Case extends Turns {
  readonly clients: number;
  readonly stalled: number;
}
const cases: Readonly<Record<string, Case>> = {
  bursts: { clients: 500, stalled: 0, messages: 30, turns: 60, everyMs: 40 },
  single: { clients: 500, stalled: 0, messages: 1, turns: 300, everyMs: 12 },
  ticks: { clients: 1_000, stalled: 0, messages: 1, turns: 40, everyMs: 100 },
  many: { clients: 10_000, stalled: 0, messages: 1, turns: 12, everyMs: 300 },
  "many-bursts": { clients: 10_000, stalled: 0, messages: 30, turns: 6, everyMs: 800 },
  read: { clients: 900, stalled: 0, messages: 30, turns: 40, everyMs: 60 },
  stalled: { clients: 900, stalled: 100, messages: 30, turns: 40, everyMs: 60 },
};

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: [...Object.keys(cases), "membership"].join(",") },
    ways: { type: "string", default: ways.join(",") },
  },
});
const chosen = ways.filter((way) => values.ways.split(",").includes(way));

function start<O, R>(command: readonly string[]) {
  const child = Bun.spawn([...command], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = ordersOf<R>(child.stdout);
  const next = async (): Promise<R> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${command.join(" ")} has ended`);
    return value;
  };
  return {
    next,
    order: (order: O) => {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      child.stdin.flush();
    },
    end: async () => {
      child.kill();
      await child.exited;
    },
  };
}

const here = (file: string): string => join(import.meta.dir, file);
const serverOf = (way: Way): readonly string[] =>
  way === "ws"
    ? ["node", here("ws-server.mjs"), JSON.stringify({ stalledPath, stallBytes, messageBytes })]
    : [process.execPath, here("server.ts"), way];

interface Figures extends ClientsReport {
  readonly cpu: number;
  readonly system: number;
  readonly rssMb: number;
}

async function measure(way: Way, { clients, stalled, ...play }: Case): Promise<Figures> {
  const server = start<ServerOrder, { readonly port: number } & ServerReport>(serverOf(way));
  const { port } = await server.next();
  const counts = [String(port), String(clients), String(stalled)];
  const reader = start<ClientsOrder, ClientsReport>([process.execPath, here("clients.ts"), ...counts]);
  try {
    await reader.next();
    if (stalled > 0) {
      server.order({ stall: true });
      await server.next();
    }
    const run = async (turns: number): Promise<ServerReport> => {
      reader.order({ expect: { turns, messages: play.messages } });
      await reader.next();
      server.order({ ...play, turns });
      const [report] = await Promise.all([server.next(), reader.next()]);
      return report;
    };
    await run(3);
    const { beganMicros, userMicros, systemMicros, rssBytes } = await run(play.turns);
    reader.order({ report: { beganMicros } });
    const count = play.turns * play.messages * clients;
    const cpu = (userMicros + systemMicros) / count;
    return { ...(await reader.next()), cpu, system: systemMicros / count, rssMb: rssBytes / 1024 ** 2 };
  } finally {
    await reader.end();
    await server.end();
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

function print(name: string, { clients, stalled, messages }: Case, found: ReadonlyMap<Way, readonly Figures[]>): void {
  const withStalled = stalled === 0 ? "" : `, and ${stalled} that do not read`;
  console.log(`\n${name}: ${clients} clients${withStalled}, ${messages} messages of ${messageBytes} bytes a turn`);
  console.log(
    "| way | µs CPU a message | of it system | times groups | messages/s a core | p50 ms | p99 ms | last ms | RSS MB |",
  );
  console.log("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
  const first = median((found.get("groups") ?? []).map(({ cpu }) => cpu));
  for (const [way, rounds] of found) {
    const of = (pick: (figures: Figures) => number): number => median(rounds.map(pick));
    const all = rounds.map(({ cpu }) => cpu);
    const cells = [
      `${of(({ cpu }) => cpu).toFixed(2)} (${Math.min(...all).toFixed(2)}-${Math.max(...all).toFixed(2)})`,
      of(({ system }) => system).toFixed(2),
      first === 0 ? "" : (of(({ cpu }) => cpu) / first).toFixed(2),
      Math.round(1e6 / of(({ cpu }) => cpu)).toLocaleString("en"),
      ...[of(({ p50 }) => p50), of(({ p99 }) => p99), of(({ last }) => last)].map((ms) => ms.toFixed(1)),
      of(({ rssMb }) => rssMb).toFixed(0),
    ];
    console.log(`| ${way} | ${cells.join(" | ")} |`);
  }
}

for (const [name, plan] of Object.entries(cases)) {
  if (!values.only.split(",").includes(name)) continue;
  const found = new Map<Way, Figures[]>(chosen.map((way) => [way, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const way of round % 2 === 0 ? chosen : chosen.toReversed()) found.get(way)?.push(await measure(way, plan));
  }
  print(name, plan, found);
}

if (values.only.split(",").includes("membership")) {
  const child = start<never, Record<string, number>>([process.execPath, here("membership.ts")]);
  console.log("\nmembership: 100,000 groups, 10,000 members of ten each");
  console.log(await child.next());
  await child.end();
}
