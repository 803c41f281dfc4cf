/**
 * Hands bundles in at the endpoints of a block engine that may be killed at any moment, and asks what became of them.
 */
import { protoFiles } from "@sluice/contract/proto";
import { encodeBase58 } from "@sluice/wire/base58";
import { authClient, makeIdentity, signIn } from "../../src/engine/testing/signed-in.ts";
import { type Ended, type Headers, PlainClient } from "../../src/net/grpc/testing/grpc-client.ts";
import type { DrawnBundle } from "./chaos-bundles.ts";
import type { SealingKey } from "./chaos-sealed.ts";
import type { BundleStatus, Handed } from "./chaos-status.ts";
import { ConfirmationStream, type ReportedStories, ResultsStream } from "./chaos-streams.ts";
import type { Network } from "./network.ts";

/** `jito-base58` and `jito-base64` are Jito's JSON-RPC, `jito-grpc` its SearcherService. */
export const chaosEndpoints = ["rest", "grpc", "stream", "jito-grpc", "jito-base58", "jito-base64"] as const;
export type ChaosEndpoint = (typeof chaosEndpoints)[number];

/** A bundle as it is handed in. */
export interface HandedBundle {
  readonly bundle: DrawnBundle;
  readonly id: string;
  /** In place of its transactions. */
  readonly envelope: Uint8Array | null;
}

const answerWithinMs = 10_000;
/** Each address may ask a hundred times a second, so a campaign comes from many. */
const addresses = 200;

export interface SearcherOptions {
  readonly key: string;
  /** What this searcher's streams report, over all lives of the server. */
  readonly reported: ReportedStories;
  /** Whether it signs in to Jito's endpoints with a key pair of its own. */
  readonly signsIn: boolean;
}

/** One searcher at the endpoints of one life of the server. */
export class ChaosSearcher implements Disposable {
  readonly #rest: string;
  readonly #options: SearcherOptions;
  readonly #grpc: PlainClient;
  readonly #jito: PlainClient;
  readonly #port: number;
  #headers: Promise<Headers> | null = null;
  #stream: ConfirmationStream | null = null;
  #results: ResultsStream | null = null;
  #asked = 0;
  #isClosed = false;

  constructor({ dev }: Network, options: SearcherOptions) {
    const { engineRest, engineGrpc } = dev.doors;
    this.#rest = `${engineRest}/api/v1`;
    this.#options = options;
    this.#port = Number(new URL(`${engineGrpc}`).port);
    this.#grpc = new PlainClient(this.#port, { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" });
    this.#jito = new PlainClient(this.#port, { file: protoFiles.searcher, service: "searcher.SearcherService" });
  }

  async submit(endpoint: ChaosEndpoint, handed: HandedBundle): Promise<Handed> {
    // A client whose server was killed begins no call.
    if (this.#isClosed) return { said: "unknown", reason: "the client is closed" };
    switch (endpoint) {
      case "rest":
        return this.#overRest(handed);
      case "grpc":
        return this.#overGrpc(handed);
      case "stream":
        return await (handed.bundle.kind === "hostile"
          ? this.#overAnotherStream(handed)
          : this.#ourStream().submit(handed.id, messageOf(handed)));
      case "jito-grpc":
        return this.#overJitoGrpc(handed);
      default:
        return this.#overJitoRpc(handed, endpoint === "jito-base58" ? "base58" : "base64");
    }
  }

  /** Begins to listen, at both kinds of streams, where it does not; with `again` anew. */
  listen(again = false): void {
    if (this.#isClosed) return;
    if (again) {
      this.#stream?.cancel();
      this.#results?.cancel();
    }
    this.#ourStream();
    if (this.#results?.isOpen !== true) {
      const stream = this.#jito.subscribe("SubscribeBundleResults", {}, { "x-api-key": this.#options.key });
      this.#results = new ResultsStream(stream, this.#options.reported);
    }
  }

  /** Bundles whose end its open streams have still to report, by what each is said to be. */
  unreported(states: ReadonlyMap<string, BundleStatus>): readonly string[] {
    return [...(this.#stream?.unreported(states) ?? []), ...(this.#results?.unreported(states) ?? [])];
  }

  #ourStream(): ConfirmationStream {
    if (this.#stream?.isOpen === true) return this.#stream;
    const stream = this.#grpc.duplex("SubmitBundleStream", { "x-api-key": this.#options.key });
    this.#stream = new ConfirmationStream(stream, this.#options.reported);
    return this.#stream;
  }

  /**
   * What is no bundle has no id by which its answer is known among others: it has a stream of its own, that ends with
   * it.
   */
  async #overAnotherStream(handed: HandedBundle): Promise<Handed> {
    const stream = this.#grpc.duplex("SubmitBundleStream", { "x-api-key": this.#options.key });
    stream.say(messageOf(handed));
    stream.halfClose();
    const ended = await Promise.race([stream.ended, Bun.sleep(answerWithinMs)]);
    stream.cancel();
    const isAnswered = ended?.status === "OK";
    return { said: isAnswered ? "rejected" : "unknown", reason: isAnswered ? "by a stream" : `${ended?.status}` };
  }

  async #overRest({ bundle: { transactions, tip, targetSlot }, envelope }: HandedBundle): Promise<Handed> {
    const body = {
      transactions: envelope === null ? transactions.map((bytes) => ({ data: base64(bytes) })) : [],
      tip: Number(tip),
      mevType: "arbitrage",
      ...(targetSlot === null ? {} : { targetSlot: Number(targetSlot) }),
      ...(envelope === null ? {} : { encryptedPayload: base64(envelope) }),
    };
    return await this.#post(body, (status, answer) => {
      const { bundleId, code } = answer as { bundleId?: string; code?: string };
      return httpAnswer(status, `${code ?? status}`, `${bundleId}`, 202);
    });
  }

  async #overJitoRpc({ bundle }: HandedBundle, encoding: "base58" | "base64"): Promise<Handed> {
    const texts = bundle.transactions.map(encoding === "base58" ? encodeBase58 : base64);
    const body = { jsonrpc: "2.0", id: 1, method: "sendBundle", params: [texts, { encoding }] };
    return await this.#post(body, (status, answer) => {
      const { result, error } = answer as { result?: string; error?: { message?: string } };
      return httpAnswer(status, `${error?.message ?? status}`, `${result}`, 200);
    });
  }

  async #post(body: object, read: (status: number, answer: unknown) => Handed): Promise<Handed> {
    try {
      const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const response = await this.#fetch("/bundles", init);
      return read(response.status, await response.json());
    } catch (fault) {
      return { said: "unknown", reason: String(fault) };
    }
  }

  async #overGrpc(handed: HandedBundle): Promise<Handed> {
    const calling = this.#grpc.call("SubmitBundle", messageOf(handed), { "x-api-key": this.#options.key });
    const ended = await calling.catch(() => null);
    const failed = grpcFailure(ended);
    if (failed !== null) return failed;
    const { bundle_id, status, reason } = messageIn(ended);
    return status === "accepted"
      ? { said: "accepted", id: String(bundle_id) }
      : { said: "rejected", reason: String(reason) };
  }

  async #overJitoGrpc({ bundle: { transactions } }: HandedBundle): Promise<Handed> {
    const packets = transactions.map((data) => ({ data: Buffer.from(data), meta: { size: String(data.length) } }));
    const headers = await this.#jitoHeaders();
    const ended = await this.#jito.call("SendBundle", { bundle: { packets } }, headers).catch(() => null);
    if (ended?.status === "INVALID_ARGUMENT")
      return { said: "rejected", reason: "details" in ended ? ended.details : "" };
    return grpcFailure(ended) ?? { said: "accepted", id: String(messageIn(ended)["uuid"]) };
  }

  async #jitoHeaders(): Promise<Headers> {
    const { key, signsIn } = this.#options;
    if (!signsIn) return { "x-api-key": key };
    this.#headers ??= this.#signIn();
    return await this.#headers;
  }

  async #signIn(): Promise<Headers> {
    using auth = authClient(this.#port);
    return (await signIn(auth, "SEARCHER", makeIdentity())).headers;
  }

  /** Bytes that need be no message, at each endpoint. */
  async submitRaw(bytes: Uint8Array): Promise<void> {
    if (this.#isClosed) return;
    const body = Buffer.from(bytes);
    const key = { "x-api-key": this.#options.key };
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const stream = this.#grpc.duplexRaw("SubmitBundleStream", key);
    stream.say(body);
    stream.halfClose();
    const ended = Promise.race([stream.ended, Bun.sleep(1_000)]).finally(() => stream.cancel());
    const calls = [
      this.#grpc.callRaw("SubmitBundle", body, key),
      this.#jito.callRaw("SendBundle", body, key),
      this.#fetch("/bundles", init),
      ended,
    ];
    await Promise.allSettled(calls);
  }

  /** Null where the id is unknown to this searcher. Throws when the server does not answer. */
  async state(id: string): Promise<BundleStatus | null> {
    const response = await this.#fetch(`/bundles/${id}`, {});
    if (response.status === 404) return null;
    if (response.status !== 200) throw new Error(`the standing of ${id} is answered ${response.status}`);
    const status = (await response.json()) as BundleStatus;
    // The ledger has the reason without the program's error.
    return { ...status, reason: status.reason?.split(":", 1)[0] ?? null };
  }

  /** The newest key that bundles may be sealed with. Throws when the server does not answer. */
  async sealingKey(): Promise<SealingKey> {
    const response = await this.#fetch("/encryption-keys", {});
    const { network, keys } = (await response.json()) as {
      network: string;
      keys: readonly Omit<SealingKey, "network">[];
    };
    const newest = keys.at(-1);
    if (newest === undefined) throw new Error("there is no key");
    return { network, ...newest };
  }

  #fetch(path: string, { headers, ...init }: RequestInit): Promise<Response> {
    this.#asked = (this.#asked + 1) % addresses;
    return fetch(`${this.#rest}${path}`, {
      ...init,
      headers: { ...headers, "x-api-key": this.#options.key, "x-forwarded-for": `10.1.0.${1 + this.#asked}` },
      signal: AbortSignal.timeout(answerWithinMs),
    });
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#stream?.cancel();
    this.#results?.cancel();
    this.#grpc[Symbol.dispose]();
    this.#jito[Symbol.dispose]();
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

function messageOf({ bundle: { transactions, tip, targetSlot }, envelope }: HandedBundle): object {
  return {
    transactions: envelope === null ? transactions.map((bytes) => Buffer.from(bytes)) : [],
    tip: String(tip),
    mev_type: "arbitrage",
    ...(targetSlot === null ? {} : { target_slot: String(targetSlot) }),
    ...(envelope === null ? {} : { encrypted_payload: Buffer.from(envelope) }),
  };
}

/** Said while the leaders' links are cut: the bundle is certainly not taken. */
const noLeader = "Bundle Dropped, no connected leader up soon.";

const messageIn = (ended: Ended | null): Record<string, unknown> =>
  ended !== null && "message" in ended ? ended.message : {};

/** What a call says that gave no answer; null for one that gave one. */
function grpcFailure(ended: Ended | null): Handed | null {
  if (ended === null) return { said: "unknown", reason: "the client is closed" };
  if ("message" in ended) return null;
  if (ended.details === noLeader) return { said: "rejected", reason: ended.details };
  const reason = `${ended.status}: ${ended.details}`;
  if (ended.status === "INTERNAL" && !ended.details.includes("RST_STREAM")) return { said: "faulty", reason };
  return { said: ended.status === "RESOURCE_EXHAUSTED" ? "refused" : "unknown", reason };
}

function httpAnswer(status: number, reason: string, id: string, taken: number): Handed {
  if (status === taken) return { said: "accepted", id };
  if (status === 400 || reason === "no_leader" || reason === noLeader) return { said: "rejected", reason };
  if (status === 429) return { said: "refused", reason };
  return { said: status === 500 ? "faulty" : "unknown", reason };
}
