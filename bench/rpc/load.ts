/**
 * The load, a separate process: keep-alive connections over raw TCP, each with one request under way at a time.
 * Arguments: one JSON object (LoadPlan). Warms up until "start" comes on standard input, then counts for the given time
 * and prints one JSON line (LoadResult). Every answer must be a 200 with the length it states; the first one of each
 * connection, warm and counted, is parsed and its id compared.
 */
export interface LoadPlan {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly method: string;
  /** JSON text. */
  readonly params: string;
  /** Whether every request has its own id, as clients send them, or all have the same. */
  readonly ids: "changing" | "fixed";
  /** Calls in each request; more than 1 makes it a JSON-RPC batch. */
  readonly batch: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the load itself. */
  readonly cpuMicrosPerRequest: number;
  /** X-Cache-Status of the answer that was looked at last. */
  readonly cacheStatus: string;
  readonly fault: string | null;
}

interface Answered {
  readonly id?: unknown;
  readonly result?: unknown;
}

/** Latencies are counted in steps of 10 µs up to 2 s. */
const stepMs = 0.01;
const steps = 200_000;
const idStart = 1_000_000_000;
/** As many calls as a batch may hold. */
const batchMax = 100;

class Load {
  readonly #plan: LoadPlan;
  readonly #counts = new Uint32Array(steps);
  readonly #head: string;
  #nextId = idStart;
  #requests = 0;
  #isCounting = false;
  /** 0 while warming up, 1 while counting; the first answer of each connection in each is looked at closely. */
  #phase = 0;
  cacheStatus = "";
  fault: string | null = null;
  #isOver = false;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    const own = Object.entries(plan.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = this.#body(idStart).length;
    this.#head = `POST ${plan.path} HTTP/1.1\r\nHost: 127.0.0.1:${plan.port}\r\nContent-Type: application/json\r\n${own.join("")}Content-Length: ${length}\r\n\r\n`;
  }

  async connect(): Promise<void> {
    const opening = Array.from({ length: this.#plan.connections }, () => this.#open());
    await Promise.all(opening);
  }

  count(): void {
    this.#counts.fill(0);
    this.#requests = 0;
    this.#isCounting = true;
    this.#phase = 1;
  }

  stop(): { requests: number; p50Ms: number; p99Ms: number } {
    this.#isOver = true;
    return { requests: this.#requests, p50Ms: this.#quantile(0.5), p99Ms: this.#quantile(0.99) };
  }

  #body(id: number): string {
    const { batch } = this.#plan;
    if (batch === 1) return this.#call(id);
    // Ids of one batch differ in their last digits, so that every body has the same length.
    return `[${Array.from({ length: batch }, (_, index) => this.#call(id * batchMax + index)).join(",")}]`;
  }

  #call(id: number): string {
    return `{"jsonrpc":"2.0","id":${id},"method":"${this.#plan.method}","params":${this.#plan.params}}`;
  }

  #request(id: number): string {
    return this.#head + this.#body(id);
  }

  async #open(): Promise<void> {
    const fixed = this.#request(1_000_000_000);
    let id = idStart;
    let sentAt = 0;
    let pending: Buffer = Buffer.alloc(0);
    let checkedIn = -1;
    const send = (socket: Bun.Socket<undefined>): void => {
      if (this.#plan.ids === "changing") {
        this.#nextId += 1;
        id = this.#nextId;
      }
      sentAt = performance.now();
      socket.write(this.#plan.ids === "changing" ? this.#request(id) : fixed);
    };
    await Bun.connect<undefined>({
      hostname: "127.0.0.1",
      port: this.#plan.port,
      socket: {
        open: send,
        data: (socket, bytes) => {
          pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
          const end = answerEnd(pending);
          if (end === 0) return;
          const elapsed = performance.now() - sentAt;
          if (checkedIn !== this.#phase || pending[9] !== 0x32) this.#check(pending.toString("utf8", 0, end), id);
          checkedIn = this.#phase;
          pending = Buffer.alloc(0);
          if (this.#isCounting) {
            this.#requests += 1;
            const step = Math.min(steps - 1, Math.floor(elapsed / stepMs));
            this.#counts[step] = (this.#counts[step] ?? 0) + 1;
          }
          if (!this.#isOver) send(socket);
          else socket.end();
        },
        close: () => {
          if (!this.#isOver) this.fault ??= "a connection was closed";
        },
        error: (_socket, error) => {
          this.fault ??= error.message;
        },
      },
    });
  }

  #check(answer: string, id: number): void {
    const split = answer.indexOf("\r\n\r\n");
    const head = answer.slice(0, split);
    this.cacheStatus = /x-cache-status: *(\S+)/i.exec(head)?.[1] ?? "";
    if (!head.startsWith("HTTP/1.1 200")) {
      this.fault ??= `${head.slice(0, head.indexOf("\r\n"))} ${answer.slice(split + 4, split + 300)}`;
      return;
    }
    if (/transfer-encoding: *chunked/i.test(head)) return;
    const body: Answered | Answered[] = JSON.parse(answer.slice(split + 4));
    const first = Array.isArray(body) ? body[0] : body;
    const isWhole = this.#plan.batch === 1 || (Array.isArray(body) && body.length === this.#plan.batch);
    const expected = this.#plan.batch === 1 ? id : id * batchMax;
    if (!isWhole || first?.id !== expected || first.result === undefined)
      this.fault ??= `wrong answer: ${answer.slice(split + 4, split + 200)}`;
  }

  #quantile(part: number): number {
    let left = Math.ceil(this.#requests * part);
    for (let step = 0; step < steps; step += 1) {
      left -= this.#counts[step] ?? 0;
      if (left <= 0) return (step + 1) * stepMs;
    }
    return steps * stepMs;
  }
}

/** Length of the whole answer when it is there, 0 while it is not. */
function answerEnd(bytes: Buffer): number {
  const split = bytes.indexOf("\r\n\r\n");
  if (split < 0) return 0;
  const head = bytes.toString("latin1", 0, split);
  const length = /content-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const end = split + 4 + Number(length);
    return bytes.length >= end ? end : 0;
  }
  return bytes.indexOf("0\r\n\r\n", split) < 0 ? 0 : bytes.length;
}

async function main(plan: LoadPlan): Promise<LoadResult> {
  const load = new Load(plan);
  await load.connect();
  for await (const _ of Bun.stdin.stream()) break;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  load.count();
  await Bun.sleep(plan.seconds * 1_000);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const { requests, p50Ms, p99Ms } = load.stop();
  const cpuMicrosPerRequest = (cpu.user + cpu.system) / Math.max(1, requests);
  return { requests, seconds, p50Ms, p99Ms, cpuMicrosPerRequest, cacheStatus: load.cacheStatus, fault: load.fault };
}

if (import.meta.main) {
  console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? "{}"))));
  process.exit(0);
}
