import type { ServedRequest } from "../observe/index.ts";

/** The status of a fact about an open connection (Switching Protocols); its last fact has the close code. */
export const statusStillOpen = 101;

/**
 * One served request as its endpoint knows it when it has answered, or what passed over a connection since its last
 * fact. `status` is the HTTP status; of a connection `statusStillOpen` while it lasts and its close code in the last
 * fact.
 */
export interface RequestFact extends ServedRequest {
  /** Unix milliseconds. */
  readonly at: number;
  /** Of this and every other string the first 128 characters are kept. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The endpoint, under the name that its column has. */
  readonly door: "rpc" | "rest" | "ws" | "pubsub" | "yellowstone" | "engine";
  /**
   * The public code of a refusal, as the endpoint says it: of `errorTable`, of the oracle's or the engine's table, or
   * the reason of a bundle. "" for an answer, whatever it is, and for what a node refused.
   */
  readonly code: string;
  readonly cache: "HIT" | "MISS" | "";
  /** The label of the upstream; "" without one. */
  readonly upstream: string;
}
