/**
 * A process with a ledger, as the server has one: facts are appended at a steady pace or as fast as they are taken.
 * facts.ts <directory>; reads one Order a line and answers each with one Answer; ends with its standard input.
 */
import { setImmediate } from "node:timers/promises";
import { systemClock, systemRandom } from "@sluice/lib";
import { openLedger, type RequestFact } from "../../server/src/ledger/index.ts";
import { treeCpu } from "../rpc/process-cpu.ts";

export interface Order {
  readonly facts: number;
  /** Facts a second, or null for as many as are taken. */
  readonly perSecond: number | null;
  /** False makes the facts and drops them, which shows what the bench itself costs. */
  readonly append: boolean;
}

export interface Answer {
  readonly seconds: number;
  readonly serverMicros: number;
  readonly engineMicros: number;
  readonly dropped: number;
  readonly stored: number;
}

const methods = ["getTransaction", "getSlot", "getAccountInfo", "getLatestBlockhash", "sendTransaction"];
const accounts = Array.from({ length: 50 }, () => Buffer.from(systemRandom.bytes(8)).toString("hex"));
const waitingMax = 80_000;

/** Ids are created beforehand, as the gateway creates them before a fact is due. */
const ids = Array.from({ length: 20_000 }, () => Buffer.from(systemRandom.bytes(16)).toString("hex"));

function factOf(index: number, at: number): RequestFact {
  // A few accounts make most of the requests.
  const account = accounts[(index * index) % 50] ?? "";
  return {
    at,
    requestId: ids[index % ids.length] ?? "",
    accountId: account,
    keyId: account,
    network: "devnet",
    door: "rpc",
    method: methods[index % 5] ?? "",
    status: 200,
    rpcCode: index % 50 === 0 ? -32_602 : null,
    latencyMs: (index % 997) / 100,
    bytesIn: 100 + (index % 90),
    bytesOut: 300 + (index % 4_000),
    credits: 1,
    code: "",
    cache: index % 3 === 0 ? "MISS" : "HIT",
    upstream: "node-1",
  };
}

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: facts.ts <directory>");
const log = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error };
const ledger = await openLedger({ directory, clickhouseUrl: null, cluster: null }, { clock: systemClock, log });

async function rowsStored(): Promise<number> {
  const [row] = await ledger.query<{ n: string }>("SELECT count() AS n FROM requests");
  return Number(row?.n ?? 0);
}

const engineCpu = (): number => treeCpu(ledger.childPid() ?? 0)?.root ?? 0;
/** Every fact is kept for a moment, so that making it costs the same whether it is appended or not. */
const kept: RequestFact[] = [];

function make(from: number, to: number, append: boolean): void {
  const at = Date.now();
  for (let index = from; index < to; index++) {
    const fact = factOf(index, at);
    kept[index % 1_024] = fact;
    if (append) ledger.requests.append(fact);
  }
}

async function steadily(order: Order, perSecond: number): Promise<void> {
  const startedAt = performance.now();
  for (let made = 0; made < order.facts; await Bun.sleep(5)) {
    const due = Math.min(order.facts, Math.floor(((performance.now() - startedAt) * perSecond) / 1000));
    make(made, due, order.append);
    made = due;
  }
}

/** Pieces that leave room in the queue, so that nothing is dropped and the queue never runs dry. */
async function asFastAsTaken(order: Order): Promise<void> {
  const piece = 5_000;
  for (let made = 0; made < order.facts; made += piece) {
    make(made, made + piece, order.append);
    while (ledger.requests.waiting() > waitingMax) await Bun.sleep(1);
    await setImmediate();
  }
}

async function obey(order: Order): Promise<Answer> {
  const droppedBefore = ledger.requests.dropped();
  const storedBefore = await rowsStored();
  const server = process.cpuUsage();
  const engine = engineCpu();
  const startedAt = performance.now();
  if (order.perSecond === null) await asFastAsTaken(order);
  else await steadily(order, order.perSecond);
  if (order.append) await ledger.requests.flush();
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(server);
  return {
    seconds,
    serverMicros: used.user + used.system,
    engineMicros: engineCpu() - engine,
    dropped: ledger.requests.dropped() - droppedBefore,
    stored: (await rowsStored()) - storedBefore,
  };
}

async function end(): Promise<void> {
  await ledger[Symbol.asyncDispose]();
  process.exit(0);
}

process.on("SIGTERM", end);
console.log(JSON.stringify({ ready: true }));
for await (const line of console) {
  if (line !== "") console.log(JSON.stringify(await obey(JSON.parse(line) as Order)));
}
await end();
