/**
 * The load, a separate process. Each line on its standard input is a round (LoadPlan); it answers with three: "ready"
 * when what it sends is signed, "confirmed" when it has sent it and seen it confirmed, and a JSON line with the result
 * when it has checked what became of it.
 */
import { addressBytes } from "@sluice/wire/base58";
import { Connection, postOf } from "./connection.ts";
import { feeLamports, makeWallets, signTransfers } from "./transfers.ts";

export interface LoadPlan {
  readonly port: number;
  readonly socketPort: number;
  readonly transfers: number;
  /** Number of the first transfer: no two rounds send the same. */
  readonly first: number;
  /** sendTransaction calls in one HTTP request; 1 sends no batches. */
  readonly callsPerRequest: number;
}

export interface LoadResult {
  readonly transfers: number;
  /** From the first confirmed slot with transfers to the last. */
  readonly confirmedPerSecond: number;
  readonly slotMs: readonly number[];
  readonly readMs: readonly number[];
  readonly cpuMicros: number;
}

/**
 * Transfers sent and not yet in a frozen block: more than a slot takes, and fewer than the chain lets wait (10,000).
 */
const windowMax = 9_000;
const connections = 4;
const readEveryMs = 4;
const waitMsMax = 60_000;
const wallets = makeWallets();

async function rpc<Result>(connection: Connection, port: number, method: string, params: unknown[]): Promise<Result> {
  const body = await connection.send(postOf(port, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })));
  const { result, error } = JSON.parse(body.toString()) as { result: Result; error?: unknown };
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result;
}

function requestsOf(plan: LoadPlan, blockhash: string): Uint8Array[] {
  const calls: string[] = [];
  for (const bytes of signTransfers(wallets, addressBytes(blockhash), plan.transfers, plan.first)) {
    const params = [Buffer.from(bytes).toString("base64"), { encoding: "base64", skipPreflight: true }];
    calls.push(JSON.stringify({ jsonrpc: "2.0", id: calls.length, method: "sendTransaction", params }));
  }
  const requests: Uint8Array[] = [];
  for (let at = 0; at < calls.length; at += plan.callsPerRequest) {
    const some = calls.slice(at, at + plan.callsPerRequest);
    requests.push(postOf(plan.port, plan.callsPerRequest === 1 ? (some[0] ?? "") : `[${some.join()}]`));
  }
  return requests;
}

/** Slots as PubSub reports them. */
class SlotWatch {
  /** When each came. */
  readonly times: number[] = [];
  readonly #socket: WebSocket;
  #came = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (!String(data).includes("slotNotification")) return;
      this.times.push(performance.now());
      this.#came.resolve();
      this.#came = Promise.withResolvers();
    });
    socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
  }

  static async open(port: number): Promise<SlotWatch> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    return new SlotWatch(socket);
  }

  next(): Promise<void> {
    return this.#came.promise;
  }

  close(): void {
    this.#socket.close();
  }
}

/** The transactions that blocks contain so far, as a client counts them. */
class Progress {
  #processed = 0;
  /** When the confirmed count moved, and to what. */
  readonly moves: { readonly at: number; readonly count: number }[] = [];
  readonly #base: number;

  constructor(base: number) {
    this.#base = base;
  }

  get processed(): number {
    return this.#processed;
  }

  get confirmed(): number {
    return this.moves.at(-1)?.count ?? 0;
  }

  /** Asks for the counts whenever a slot came, until so many transactions are confirmed. */
  async follow(slots: SlotWatch, connection: Connection, port: number, until: number): Promise<void> {
    const started = performance.now();
    while (this.confirmed < until) {
      const config = (commitment: string) => [{ commitment }];
      this.#processed = (await rpc<number>(connection, port, "getTransactionCount", config("processed"))) - this.#base;
      const confirmed = (await rpc<number>(connection, port, "getTransactionCount", config("confirmed"))) - this.#base;
      if (confirmed > this.confirmed) this.moves.push({ at: performance.now(), count: confirmed });
      if (performance.now() - started > waitMsMax) throw new Error(`${this.confirmed} of ${until} were confirmed`);
      if (confirmed < until) await slots.next();
    }
  }
}

async function sendAll(requests: readonly Uint8Array[], plan: LoadPlan, progress: Progress): Promise<void> {
  let next = 0;
  const sender = async () => {
    const connection = await Connection.open(plan.port);
    for (let request = requests[next]; request !== undefined; request = requests[next]) {
      next += 1;
      const answer = await connection.send(request);
      if (answer.includes('"error"')) throw new Error(answer.toString("utf8", 0, 300));
      while (next * plan.callsPerRequest - progress.processed > windowMax) await Bun.sleep(1);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, sender));
}

/** Reads accounts one after another at an even pace while others send, and gives how long each took. */
async function readWhile(plan: LoadPlan, isOver: () => boolean): Promise<number[]> {
  const connection = await Connection.open(plan.port);
  const times: number[] = [];
  const requests = wallets.map(({ address }) => {
    const params = [address, { encoding: "base64", commitment: "confirmed" }];
    return postOf(plan.port, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getAccountInfo", params }));
  });
  for (let index = 0; !isOver(); index += 1) {
    const asked = performance.now();
    await connection.send(requests[index % requests.length] ?? new Uint8Array());
    const took = performance.now() - asked;
    times.push(took);
    await Bun.sleep(Math.max(0, readEveryMs - took));
  }
  connection.close();
  return times;
}

async function lamportsHeld(connection: Connection, port: number): Promise<bigint> {
  let sum = 0n;
  for (let at = 0; at < wallets.length; at += 100) {
    const addresses = wallets.slice(at, at + 100).map(({ address }) => address);
    const config = { commitment: "confirmed", encoding: "base64", dataSlice: { offset: 0, length: 0 } };
    const { value } = await rpc<{ value: { lamports: number }[] }>(connection, port, "getMultipleAccounts", [
      addresses,
      config,
    ]);
    for (const { lamports } of value) sum += BigInt(lamports);
  }
  return sum;
}

/** Throws when a transfer of one of the newest confirmed blocks failed. */
async function checkBlock(connection: Connection, port: number): Promise<void> {
  const slot = await rpc<number>(connection, port, "getSlot", [{ commitment: "confirmed" }]);
  const config = { transactionDetails: "accounts", rewards: false, commitment: "confirmed" };
  for (let at = slot; at > 0; at -= 1) {
    const block = await rpc<{ transactions: { meta: { err: unknown } }[] }>(connection, port, "getBlock", [at, config]);
    if (block.transactions.length === 0) continue;
    if (block.transactions.some(({ meta }) => meta.err !== null)) throw new Error(`transfers of slot ${at} failed`);
    return;
  }
}

async function round(plan: LoadPlan): Promise<LoadResult> {
  const control = await Connection.open(plan.port);
  const call = <Result>(method: string, ...params: unknown[]) => rpc<Result>(control, plan.port, method, params);
  const { value } = await call<{ value: { blockhash: string } }>("getLatestBlockhash", { commitment: "confirmed" });
  const requests = requestsOf(plan, value.blockhash);
  const before = await lamportsHeld(control, plan.port);
  const progress = new Progress(await call<number>("getTransactionCount", { commitment: "processed" }));
  const slots = await SlotWatch.open(plan.socketPort);
  console.log("ready");
  const cpuBefore = process.cpuUsage();
  let isOver = false;
  const reading = readWhile(plan, () => isOver);
  const following = progress.follow(slots, control, plan.port, plan.transfers);
  await sendAll(requests, plan, progress);
  const sentAll = slots.times.length;
  await following;
  isOver = true;
  const readMs = await reading;
  const { user, system } = process.cpuUsage(cpuBefore);
  slots.close();
  console.log("confirmed");
  const lost = before - (await lamportsHeld(control, plan.port)) - BigInt(plan.transfers) * feeLamports;
  if (lost !== 0n) throw new Error(`${lost} lamports are missing`);
  await checkBlock(control, plan.port);
  control.close();
  // The first slot is cut by the start, the last by the end; whole ones lie between.
  const [first, last] = [progress.moves[0], progress.moves.at(-2)];
  if (first === undefined || last === undefined || last === first) throw new Error("too few slots for a rate");
  const slotMs = slots.times.slice(1, sentAll).map((time, index) => time - (slots.times[index] ?? time));
  return {
    transfers: plan.transfers,
    confirmedPerSecond: ((last.count - first.count) / (last.at - first.at)) * 1_000,
    slotMs,
    readMs,
    cpuMicros: user + system,
  };
}

for await (const line of console) console.log(JSON.stringify(await round(JSON.parse(line) as LoadPlan)));
