/** Clients of three processes: each customer has a kept connection to each process, on which it asks without end. */
import { KeepAliveCaller } from "./keep-alive-caller.ts";
import { type CallRecord, type CustomerName, customerNames, type ProbeRecord } from "./replica-record.ts";
import { type Customer, type ReplicaStage, replicaIndexes } from "./replica-stage.ts";

const rpcPort = 8899;
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlockHeight", params: [] });
/** Longer than any look-up or lease of credits waits, also on a machine that is busy with other work. */
const lateMs = 30_000;
/** Milliseconds between two calls of a customer to one process. */
const pauseMs: Readonly<Record<CustomerName, number>> = { steady: 12, rated: 8, small: 12, revoked: 25 };
const probePauseMs = 80;
/** Nobody is there to refuse. */
const absentPauseMs = 25;

const refused = new Set([401, 402]);

export class ReplicaLoad implements Disposable {
  readonly calls: CallRecord[] = [];
  readonly probes: ProbeRecord[] = [];
  readonly #stage: ReplicaStage;
  readonly #customers: Readonly<Record<CustomerName, Customer>>;
  readonly #isOver = new Set<CustomerName | "probes">();
  readonly #loops: Promise<void>[] = [];

  constructor(stage: ReplicaStage, customers: Readonly<Record<CustomerName, Customer>>) {
    this.#stage = stage;
    this.#customers = customers;
  }

  begin(): void {
    for (const replica of replicaIndexes) {
      for (const customer of ["steady", "rated", "small", "revoked"] as const) {
        this.#loops.push(this.#ask(customer, replica));
      }
      this.#loops.push(this.#probe(replica));
    }
  }

  /** Whether every process has refused the key since that moment. */
  isRefusedSince(sinceMs: number): boolean {
    return replicaIndexes.every((replica) => {
      return this.calls.some((call) => {
        return call.customer === "revoked" && call.replica === replica && call.status === 401 && call.sentMs > sinceMs;
      });
    });
  }

  /** These ask no more. */
  stop(...which: readonly (CustomerName | "probes")[]): void {
    for (const each of which) this.#isOver.add(each);
  }

  /** Waits for the last answers of those that were stopped, which must be all. */
  async ended(): Promise<void> {
    await Promise.all(this.#loops);
  }

  [Symbol.dispose](): void {
    this.stop(...customerNames, "probes");
  }

  async #ask(customer: CustomerName, replica: number): Promise<void> {
    using caller = new KeepAliveCaller();
    const { key } = this.#customers[customer];
    while (!this.#isOver.has(customer)) {
      const gateway = this.#stage.gateway(replica);
      if (gateway === null) {
        await Bun.sleep(absentPauseMs);
        continue;
      }
      const sentMs = performance.now();
      const outcome = await caller.post({ port: rpcPort + gateway.offset, path: "/rpc/devnet", key, body, lateMs });
      const status = outcome.kind === "answered" ? outcome.status : 0;
      const code = outcome.kind === "answered" && status === 503 ? /"code":"(\w+)"/.exec(outcome.body)?.[1] : undefined;
      const call = { customer, replica, sentMs, doneMs: performance.now(), kind: outcome.kind, status };
      const isWritten = outcome.kind === "refused" && outcome.isWritten;
      this.calls.push({ ...call, ...(code === undefined ? {} : { code }), ...(isWritten ? { isWritten } : {}) });
      // Who has nothing left looks only now and then whether it does.
      await Bun.sleep(refused.has(status) ? absentPauseMs : pauseMs[customer]);
    }
  }

  async #probe(replica: number): Promise<void> {
    while (!this.#isOver.has("probes")) {
      const gateway = this.#stage.gateway(replica);
      if (gateway !== null) {
        const sentMs = performance.now();
        const [ready, health] = await Promise.all([probed(`${gateway.url}/ready`), probed(`${gateway.url}/health`)]);
        const reasons = ready.reasons.map(({ part }) => part);
        this.probes.push({
          replica,
          sentMs,
          doneMs: performance.now(),
          ready: ready.status,
          health: health.status,
          reasons,
        });
      }
      await Bun.sleep(probePauseMs);
    }
  }
}

interface Probed {
  readonly status: number;
  readonly reasons: readonly { readonly part: string }[];
}

async function probed(url: string): Promise<Probed> {
  try {
    const answer = await fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(lateMs) });
    const { reasons = [] } = (await answer.json()) as { reasons?: readonly { part: string }[] };
    return { status: answer.status, reasons };
  } catch {
    return { status: 0, reasons: [] };
  }
}
