/**
 * An open load, a separate process: calls are offered at a rate whether answers come or not, over connections that
 * hold one call each; a call that finds no connection free opens one, up to a bound, and beyond it is not offered.
 * Arguments: one JSON object (OpenPlan). A line `{"stage", "rate"}` on standard input begins a stage, and is answered
 * with the counts of the one before.
 */
import { ordersOf } from "../orders.ts";

export interface OpenPlan {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectionsMax: number;
  /** Calls that no answer has come to after so long are given up, as clients do: their connection is closed. */
  readonly patienceMs: number;
  readonly method: string;
  /** JSON text. */
  readonly params: string;
}

export interface StageOrder {
  readonly stage: string;
  /** Calls a second; null offers as many as are answered, on so many connections. */
  readonly rate: number | null;
  readonly connections: number;
}

export interface StageCounts {
  readonly stage: string;
  readonly seconds: number;
  readonly offered: number;
  /** Whole answers with status 200 and a result. */
  readonly good: number;
  /** Answers 503 with Retry-After. */
  readonly refused: number;
  readonly other: number;
  /** Given up by the caller. */
  readonly abandoned: number;
  /** Calls that found no connection. */
  readonly unoffered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Good answers of each tenth of a second. */
  readonly goodByTenth: readonly number[];
}

const tickMs = 5;
/** The wait that Retry-After requires of a refused caller. */
const retryMs = 1_000;

interface Line {
  readonly socket: Bun.Socket<Line>;
  startedAt: number;
  isBusy: boolean;
  pending: string;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as OpenPlan;
const own = Object.entries(plan.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const idLength = 10;
let nextId = 10 ** (idLength - 1);
const bodyOf = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"${plan.method}","params":${plan.params}}`;
const head = `POST ${plan.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${own.join("")}Content-Length: ${bodyOf(nextId).length}\r\n\r\n`;

const idle: Line[] = [];
const lines = new Set<Line>();
let opening = 0;
let order: StageOrder = { stage: "idle", rate: 0, connections: 0 };
let counts = fresh();
let owed = 0;

function fresh() {
  return {
    startedAt: performance.now(),
    offered: 0,
    good: 0,
    refused: 0,
    other: 0,
    abandoned: 0,
    unoffered: 0,
    latencies: [] as number[],
    goodByTenth: [] as number[],
  };
}

function send(line: Line): void {
  nextId += 1;
  line.isBusy = true;
  line.startedAt = performance.now();
  counts.offered += 1;
  line.socket.write(head + bodyOf(nextId));
}

function answered(line: Line): void {
  const text = line.pending;
  line.pending = "";
  line.isBusy = false;
  const nowMs = performance.now();
  if (text.startsWith("HTTP/1.1 200") && text.includes('"result"')) {
    counts.good += 1;
    counts.latencies.push(nowMs - line.startedAt);
    const tenth = Math.floor((nowMs - counts.startedAt) / 100);
    counts.goodByTenth[tenth] = (counts.goodByTenth[tenth] ?? 0) + 1;
  } else if (text.startsWith("HTTP/1.1 503") && /\r\nretry-after: *[1-9]/i.test(text)) counts.refused += 1;
  else counts.other += 1;
  if (text.startsWith("HTTP/1.1 503")) {
    // A caller that is asked to return after a second returns then, and not before.
    setTimeout(() => idle.push(line), retryMs);
    return;
  }
  if (order.rate === null) {
    if (lines.size <= order.connections) send(line);
    else line.socket.end();
  } else idle.push(line);
}

function isWhole(text: string): boolean {
  const split = text.indexOf("\r\n\r\n");
  if (split < 0) return false;
  const length = /content-length: *(\d+)/i.exec(text.slice(0, split))?.[1];
  return length === undefined ? text.endsWith("0\r\n\r\n") : text.length >= split + 4 + Number(length);
}

async function open(): Promise<void> {
  opening += 1;
  try {
    await Bun.connect<Line>({
      hostname: "127.0.0.1",
      port: plan.port,
      socket: {
        open: (socket) => {
          const line: Line = { socket, startedAt: 0, isBusy: false, pending: "" };
          socket.data = line;
          lines.add(line);
          send(line);
        },
        data: (socket, bytes) => {
          socket.data.pending += bytes.toString("latin1");
          if (isWhole(socket.data.pending)) answered(socket.data);
        },
        close: (socket) => {
          if (socket.data === undefined) return;
          lines.delete(socket.data);
          if (socket.data.isBusy) counts.other += 1;
          socket.data.isBusy = false;
        },
        error: () => undefined,
      },
    });
  } catch {
    counts.other += 1;
  } finally {
    opening -= 1;
  }
}

function offer(): void {
  const line = idle.pop();
  if (line !== undefined) {
    if (lines.has(line)) send(line);
    else offer();
  } else if (lines.size + opening < plan.connectionsMax) void open();
  else counts.unoffered += 1;
}

/** Offers what is due, and gives up what has waited too long. */
function tick(): void {
  if (order.rate === null) {
    for (let missing = order.connections - lines.size - opening; missing > 0; missing -= 1) void open();
  } else {
    owed += (order.rate * tickMs) / 1_000;
    for (; owed >= 1; owed -= 1) offer();
  }
  const oldest = performance.now() - plan.patienceMs;
  for (const line of lines) {
    if (!line.isBusy || line.startedAt > oldest) continue;
    line.isBusy = false;
    counts.abandoned += 1;
    lines.delete(line);
    line.socket.terminate();
  }
}

function finished(): StageCounts {
  const { latencies, startedAt, ...rest } = counts;
  const sorted = latencies.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const seconds = (performance.now() - startedAt) / 1_000;
  const goodByTenth = Array.from(rest.goodByTenth, (good) => good ?? 0);
  return { ...rest, goodByTenth, stage: order.stage, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

setInterval(tick, tickMs);
for await (const next of ordersOf<StageOrder>(Bun.stdin.stream())) {
  const ended = finished();
  order = next;
  counts = fresh();
  owed = 0;
  // What is free when an order for answered calls comes goes on with it.
  if (order.rate === null) for (const line of idle.splice(0)) if (lines.has(line)) send(line);
  console.log(JSON.stringify(ended));
}
process.exit(0);
