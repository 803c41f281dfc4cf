/** Hands bundles in at the doors of a block engine that may be killed at any moment, and asks what became of them. */
import { protoFiles } from "@sluice/contract/proto/index.ts";
import { PlainClient } from "../../src/engine/testing/grpc-client.ts";
import type { DrawnBundle } from "./chaos-bundles.ts";
import type { Network } from "./network.ts";

export type ChaosDoor = "rest" | "grpc";

/** How a door answered: `unknown` where the answer did not come, or says that it is not known whether it is accepted. */
export type Handed =
  | { readonly said: "accepted"; readonly id: string }
  | { readonly said: "rejected"; readonly reason: string }
  | { readonly said: "refused" | "unknown" | "faulty"; readonly reason: string };

export interface BundleStanding {
  readonly status: "accepted" | "included" | "dropped" | "expired";
  readonly slot: number | null;
  readonly signatures: readonly string[];
  readonly reason: string | null;
}

const answerWithinMs = 10_000;
/** Each address may ask a hundred times a second, so a campaign comes from many. */
const addresses = 200;

/** One searcher at the doors of one life of the server. */
export class ChaosSearcher implements Disposable {
  readonly #rest: string;
  readonly #key: string;
  readonly #grpc: PlainClient;
  #asked = 0;

  constructor({ dev }: Network, key: string) {
    const { engineRest, engineGrpc } = dev.doors;
    this.#rest = `${engineRest}/api/v1/bundles`;
    this.#key = key;
    this.#grpc = new PlainClient(Number(new URL(`${engineGrpc}`).port), {
      file: protoFiles.blockEngine,
      service: "blockengine.v1.BlockEngine",
    });
  }

  submit(door: ChaosDoor, bundle: DrawnBundle): Promise<Handed> {
    return door === "rest" ? this.#overRest(bundle) : this.#overGrpc(bundle);
  }

  async #overRest({ transactions, tip, targetSlot }: DrawnBundle): Promise<Handed> {
    const body = {
      transactions: transactions.map((bytes) => ({ data: Buffer.from(bytes).toString("base64") })),
      tip: Number(tip),
      mevType: "arbitrage",
      ...(targetSlot === null ? {} : { targetSlot: Number(targetSlot) }),
    };
    try {
      const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const response = await this.#fetch(this.#rest, init);
      return restAnswer(response.status, await response.json());
    } catch (fault) {
      return { said: "unknown", reason: String(fault) };
    }
  }

  async #overGrpc({ transactions, tip, targetSlot }: DrawnBundle): Promise<Handed> {
    const message = {
      transactions: transactions.map((bytes) => Buffer.from(bytes)),
      tip: String(tip),
      mev_type: "arbitrage",
      ...(targetSlot === null ? {} : { target_slot: String(targetSlot) }),
    };
    // A client whose server was killed is closed, and begins no call.
    const ended = await this.#grpc.call("SubmitBundle", message, { "x-api-key": this.#key }).catch(() => null);
    if (ended === null) return { said: "unknown", reason: "the client is closed" };
    if (!("message" in ended)) {
      const reason = `${ended.status}: ${ended.details}`;
      if (ended.status === "INTERNAL") return { said: "faulty", reason };
      return { said: ended.status === "RESOURCE_EXHAUSTED" ? "refused" : "unknown", reason };
    }
    const { bundle_id, status, reason } = ended.message;
    return status === "accepted"
      ? { said: "accepted", id: String(bundle_id) }
      : { said: "rejected", reason: String(reason) };
  }

  /** Bytes that need be no message, and a body that need be no JSON. */
  async submitRaw(bytes: Uint8Array): Promise<void> {
    const body = Buffer.from(bytes);
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const calls = [this.#grpc.callRaw("SubmitBundle", body, { "x-api-key": this.#key }), this.#fetch(this.#rest, init)];
    await Promise.allSettled(calls);
  }

  /** Null where nobody knows the id. Throws when the server does not answer. */
  async standing(id: string): Promise<BundleStanding | null> {
    const response = await this.#fetch(`${this.#rest}/${id}`, {});
    if (response.status === 404) return null;
    if (response.status !== 200) throw new Error(`the standing of ${id} is answered ${response.status}`);
    return (await response.json()) as BundleStanding;
  }

  #fetch(url: string, { headers, ...init }: RequestInit): Promise<Response> {
    this.#asked = (this.#asked + 1) % addresses;
    return fetch(url, {
      ...init,
      headers: { ...headers, "x-api-key": this.#key, "x-forwarded-for": `10.1.0.${1 + this.#asked}` },
      signal: AbortSignal.timeout(answerWithinMs),
    });
  }

  [Symbol.dispose](): void {
    this.#grpc[Symbol.dispose]();
  }
}

function restAnswer(status: number, body: unknown): Handed {
  const { bundleId, code, error } = body as { bundleId?: string; code?: string; error?: { code?: string } };
  const reason = `${code ?? error?.code ?? status}`;
  if (status === 202) return { said: "accepted", id: `${bundleId}` };
  if (status === 400) return { said: "rejected", reason };
  if (status === 429) return { said: "refused", reason };
  return { said: status === 500 ? "faulty" : "unknown", reason };
}
