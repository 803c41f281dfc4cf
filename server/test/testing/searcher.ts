/** A searcher that speaks to the block engine's REST endpoint with a key. */
import { eventually } from "@sluice/lib/testing";
import type { VersionedTransaction } from "@solana/web3.js";
import { textOf } from "./bundles.ts";

export interface SubmitParts {
  readonly tip?: number;
  readonly mevType?: string;
  readonly targetSlot?: number;
}

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  readonly body: any;
}

export class RestSearcher {
  readonly #endpoint: string;
  readonly #key: string;

  constructor(endpoint: string, key: string) {
    this.#endpoint = endpoint;
    this.#key = key;
  }

  async ask(path: string, init: RequestInit = {}): Promise<RestAnswer> {
    const headers = { authorization: `Bearer ${this.#key}`, "content-type": "application/json", ...init.headers };
    const response = await fetch(`${this.#endpoint}/api/v1${path}`, { ...init, headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  post(body: unknown): Promise<RestAnswer> {
    return this.ask("/bundles", { method: "POST", body: JSON.stringify(body) });
  }

  submit(transactions: readonly VersionedTransaction[], parts: SubmitParts = {}): Promise<RestAnswer> {
    return this.post({ transactions: transactions.map((each) => ({ data: textOf(each) })), tip: 10_000, ...parts });
  }

  /** The id of a bundle that is accepted. */
  async accepted(transactions: readonly VersionedTransaction[], parts: SubmitParts = {}): Promise<string> {
    const { status, body } = await this.submit(transactions, parts);
    if (status !== 202) throw new Error(`refused with ${status}: ${body.code} ${body.detail}`);
    return body.bundleId;
  }

  /** How a bundle stands. Throws where the answer does not say, as when it was asked too often. */
  async status(id: string): Promise<RestAnswer["body"]> {
    const { status, body } = await this.ask(`/bundles/${id}`);
    if (status !== 200) throw new Error(`refused with ${status}: ${body.code} ${body.detail}`);
    return body;
  }

  /** Waits until the bundle is shown as this, or as something that it will not leave for it. */
  async until(id: string, shown: "included" | "dropped" | "expired"): Promise<RestAnswer["body"]> {
    return await eventually(`${id} is ${shown}`, async () => {
      const body = await this.status(id);
      return body.status === shown && body;
    });
  }
}
