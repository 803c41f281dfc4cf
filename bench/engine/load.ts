/**
 * The load, a separate process. Each line on its standard input is a round (LoadPlan); it answers "ready" when what
 * it sends is signed, begins on request, and answers with a JSON line of its LoadResult when the last is
 * answered. Bundles are due at an even pace whatever becomes of earlier ones, and times count from when each was due.
 */
import { Client, type ClientDuplexStream, credentials, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import { addressBytes } from "@sluice/wire/base58";
import { type SignedBundle, signBundles } from "./bundles.ts";

export interface LoadSender {
  readonly key: string;
  readonly way: "unary" | "stream";
  readonly perSecond: number;
}

export interface LoadPlan {
  readonly port: number;
  readonly senders: readonly LoadSender[];
  readonly seconds: number;
  /** Base58 text. */
  readonly blockhash: string;
  /** Number of the first bundle: no two rounds send the same. */
  readonly first: number;
}

export interface SenderResult {
  readonly sent: number;
  readonly accepted: number;
  /** Answers that were none, by their reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Milliseconds from when an accepted bundle was due to its answer, in the order of their answers. */
  readonly tookMs: readonly number[];
}

export interface LoadResult {
  readonly senders: readonly SenderResult[];
  readonly seconds: number;
  readonly cpuMicros: number;
}

interface Message {
  readonly bundle_id: string;
  readonly status: string;
  readonly reason?: string;
}

/** How long answers are waited for after the last bundle. */
const answersMs = 10_000;
/** How often what is due is looked for. */
const beatMs = 2;

const service = loadSync(protoFiles.blockEngine, protoLoading)["blockengine.v1.BlockEngine"];
if (service === undefined || "format" in service) throw new Error("there is no such service");
const { SubmitBundle: unary, SubmitBundleStream: stream } = service;
if (unary === undefined || stream === undefined) throw new Error("there are no such methods");

/** One searcher on its own connection. */
class Sender {
  readonly result = { sent: 0, accepted: 0, refused: {} as Record<string, number>, tookMs: [] as number[] };
  readonly plan: LoadSender;
  readonly #client: Client;
  readonly #headers = new Metadata();
  readonly #bundles: readonly SignedBundle[];
  readonly #stream: ClientDuplexStream<object, Message> | null;
  /** When each bundle of the stream that has no answer yet was due; answers come in this order. */
  readonly #waiting: number[] = [];
  #open = 0;

  constructor(port: number, plan: LoadSender, bundles: readonly SignedBundle[]) {
    this.plan = plan;
    this.#bundles = bundles;
    this.#headers.set("x-api-key", plan.key);
    const own = { "grpc.use_local_subchannel_pool": 1, "grpc.enable_retries": 0 };
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), own);
    this.#stream = plan.way === "stream" ? this.#openStream() : null;
  }

  get isDone(): boolean {
    return this.#open === 0;
  }

  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + answersMs, (fault) => (fault === undefined ? resolve() : reject(fault)));
    });
  }

  /** Sends what is due by now, as milliseconds since the round began. */
  beat(startedAt: number, sinceMs: number): void {
    const due = Math.min(this.#bundles.length, Math.floor((sinceMs * this.plan.perSecond) / 1_000));
    while (this.result.sent < due) {
      const bundle = this.#bundles[this.result.sent];
      this.result.sent += 1;
      const dueAt = startedAt + (this.result.sent * 1_000) / this.plan.perSecond;
      if (bundle !== undefined) this.#send(bundle, dueAt);
    }
  }

  close(): void {
    this.#stream?.cancel();
    this.#client.close();
  }

  #send({ transaction }: SignedBundle, dueAt: number): void {
    this.#open += 1;
    const message = { transactions: [transaction], tip: "20000", mev_type: "arbitrage" };
    if (this.#stream !== null) {
      this.#waiting.push(dueAt);
      this.#stream.write(message);
      return;
    }
    const { path, requestSerialize, responseDeserialize } = unary as NonNullable<typeof unary>;
    this.#client.makeUnaryRequest(
      path,
      requestSerialize,
      (bytes) => responseDeserialize(bytes) as unknown as Message,
      message,
      this.#headers,
      (fault, answer) => {
        this.#answered(
          dueAt,
          fault === null ? (answer as Message) : { bundle_id: "", status: "", reason: `status ${fault.code}` },
        );
      },
    );
  }

  #openStream(): ClientDuplexStream<object, Message> {
    const { path, requestSerialize, responseDeserialize } = stream as NonNullable<typeof stream>;
    const open = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      (bytes) => responseDeserialize(bytes) as unknown as Message,
      this.#headers,
    );
    const own = new Set(this.#bundles.map(({ id }) => id));
    open.on("data", (message: Message) => {
      // Results of answered bundles come by this stream too, and are ignored.
      const isAnswer = message.status === "accepted" || !this.#isAnswered(message.bundle_id, own);
      if (!isAnswer || this.#waiting.length === 0) return;
      own.delete(message.bundle_id);
      this.#answered(this.#waiting.shift() ?? 0, message);
    });
    open.on("error", ({ code }: { code?: number }) => {
      for (const dueAt of this.#waiting.splice(0))
        this.#answered(dueAt, { bundle_id: "", status: "", reason: `ended ${code}` });
    });
    return open;
  }

  /** A bundle that was refused without an id is one that has no answer yet. */
  #isAnswered(id: string, unanswered: ReadonlySet<string>): boolean {
    return id !== "" && !unanswered.has(id);
  }

  #answered(dueAt: number, { status, reason = "" }: Message): void {
    this.#open -= 1;
    if (status === "accepted") {
      this.result.accepted += 1;
      this.result.tookMs.push(performance.now() - dueAt);
    } else this.result.refused[reason] = (this.result.refused[reason] ?? 0) + 1;
  }
}

/** Each sender's share of the round, dealt in turns, so that no two payers of a moment are the same. */
function deal(plan: LoadPlan): SignedBundle[][] {
  const counts = plan.senders.map(({ perSecond }) => Math.floor(perSecond * plan.seconds));
  const all = signBundles(
    addressBytes(plan.blockhash),
    counts.reduce((sum, count) => sum + count, 0),
    plan.first,
  );
  const turns = counts.flatMap((count, sender) =>
    Array.from({ length: count }, (_, index) => ({ sender, at: index / count })),
  );
  const hands: SignedBundle[][] = plan.senders.map(() => []);
  for (const [index, { sender }] of turns.toSorted((one, other) => one.at - other.at).entries()) {
    const bundle = all[index];
    if (bundle !== undefined) hands[sender]?.push(bundle);
  }
  return hands;
}

async function prepare(plan: LoadPlan): Promise<Sender[]> {
  const hands = deal(plan);
  const senders = plan.senders.map((each, index) => new Sender(plan.port, each, hands[index] ?? []));
  await Promise.all(senders.map((sender) => sender.ready()));
  return senders;
}

async function run(senders: readonly Sender[], plan: LoadPlan): Promise<LoadResult> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  for (let since = 0; since < plan.seconds * 1_000; since = performance.now() - startedAt) {
    for (const sender of senders) sender.beat(startedAt, since);
    await Bun.sleep(beatMs);
  }
  for (const sender of senders) sender.beat(startedAt, plan.seconds * 1_000);
  const until = performance.now() + answersMs;
  while (performance.now() < until && !senders.every((sender) => sender.isDone)) await Bun.sleep(beatMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(before);
  const results = senders.map(({ result }) => ({ ...result, tookMs: [...result.tookMs] }));
  for (const sender of senders) sender.close();
  return { senders: results, seconds, cpuMicros: user + system };
}

let prepared: { readonly senders: readonly Sender[]; readonly plan: LoadPlan } | null = null;
for await (const line of console) {
  if (line !== "go") {
    const plan = JSON.parse(line) as LoadPlan;
    prepared = { senders: await prepare(plan), plan };
    console.log("ready");
  } else if (prepared !== null) console.log(JSON.stringify(await run(prepared.senders, prepared.plan)));
}
