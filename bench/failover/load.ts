/**
 * The readers, a separate process: keep-alive connections, one getLatestBlockhash under way on each, an id of its
 * own on every call. Arguments: one JSON object (FailoverPlan). A line `{"phase": name}` on standard input begins a
 * phase and is answered with what was counted in the one before; phases overlap in no call.
 */
import { connect, type Socket } from "node:net";
import { ordersOf } from "../orders.ts";
import { slotAt } from "./slots.ts";

export interface FailoverPlan {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
}

export interface PhaseCounts {
  readonly phase: string;
  readonly reads: number;
  /** No answer, no 200, an error, or another's id. */
  readonly failed: number;
  /** Answers of a slot that is more than 50 behind. */
  readonly stale: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /**
   * Answers that took longer than a second: with one call in a hundred stalled the percentile alone may just miss them.
   */
  readonly overOneSecond: number;
  readonly failure: string;
}

const staleSlots = 50;
/** A peer that never answers fails a read then. */
const patienceMs = 10_000;

class Phase {
  readonly name: string;
  readonly #latencies: number[] = [];
  #failed = 0;
  #stale = 0;
  #failure = "";

  constructor(name: string) {
    this.name = name;
  }

  answered(latencyMs: number, fault: string | null, isStale: boolean): void {
    this.#latencies.push(latencyMs);
    if (isStale) this.#stale += 1;
    if (fault === null) return;
    this.#failed += 1;
    if (this.#failure === "") this.#failure = fault;
  }

  counts(): PhaseCounts {
    const sorted = this.#latencies.toSorted((left, right) => left - right);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      phase: this.name,
      reads: sorted.length,
      failed: this.#failed,
      stale: this.#stale,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
      overOneSecond: sorted.filter((latencyMs) => latencyMs > 1_000).length,
      failure: this.#failure,
    };
  }
}

let phase = new Phase("warm");
let nextId = 0;

/** The error in an answer, and the answer's slot. */
function judge(answer: string, id: number): { readonly fault: string | null; readonly isStale: boolean } {
  const split = answer.indexOf("\r\n\r\n");
  const body = answer.slice(split + 4);
  if (!answer.startsWith("HTTP/1.1 200")) return { fault: answer.slice(0, answer.indexOf("\r\n")), isStale: false };
  const slot = /"slot":(\d+)/.exec(body)?.[1];
  if (slot === undefined || !body.includes(`"id":${id}}`)) return { fault: body.slice(0, 120), isStale: false };
  return { fault: null, isStale: Number(slot) < slotAt(Date.now()) - staleSlots };
}

/** One reader: a call, its answer, the next call; a connection that breaks fails the call and is made again. */
class Reader {
  readonly #plan: FailoverPlan;
  #socket: Socket | null = null;
  #pending = "";
  #answered: ((answer: string | null) => void) | null = null;

  constructor(plan: FailoverPlan) {
    this.#plan = plan;
  }

  async run(): Promise<never> {
    for (;;) {
      nextId += 1;
      const id = nextId;
      const startedAt = performance.now();
      const answer = await this.#call(id);
      const { fault, isStale } = answer === null ? { fault: "no answer", isStale: false } : judge(answer, id);
      phase.answered(performance.now() - startedAt, fault, isStale);
      // One that refuses at once is not asked in a loop.
      if (fault !== null) await Bun.sleep(1);
    }
  }

  #call(id: number): Promise<string | null> {
    const { port, path, headers } = this.#plan;
    const body = `{"jsonrpc":"2.0","id":${id},"method":"getLatestBlockhash"}`;
    const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${own.join("")}Content-Length: ${body.length}\r\n\r\n`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#lost(), patienceMs);
      this.#answered = (answer) => {
        clearTimeout(timer);
        this.#answered = null;
        resolve(answer);
      };
      this.#socket ??= this.#open();
      this.#socket.write(head + body);
    });
  }

  #open(): Socket {
    const socket = connect(this.#plan.port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.on("data", (bytes) => this.#received(bytes.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (socket === this.#socket) this.#lost();
    });
    return socket;
  }

  #received(text: string): void {
    this.#pending += text;
    const split = this.#pending.indexOf("\r\n\r\n");
    if (split < 0) return;
    const head = this.#pending.slice(0, split);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    const isWhole =
      length === undefined ? this.#pending.endsWith("0\r\n\r\n") : this.#pending.length >= split + 4 + Number(length);
    if (!isWhole) return;
    const answer = this.#pending;
    this.#pending = "";
    if (/connection: *close/i.test(head)) this.#drop();
    this.#answered?.(answer);
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#pending = "";
    socket?.destroy();
  }

  #lost(): void {
    this.#drop();
    this.#answered?.(null);
  }
}

const plan = JSON.parse(process.argv[2] ?? "{}") as FailoverPlan;
for (let index = 0; index < plan.connections; index += 1) void new Reader(plan).run();
for await (const order of ordersOf<{ readonly phase: string }>(Bun.stdin.stream())) {
  const ended = phase;
  phase = new Phase(order.phase);
  console.log(JSON.stringify(ended.counts()));
}
process.exit(0);
