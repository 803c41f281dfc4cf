/** One served request, as the gateway knows it when it has answered, or what passed over a connection since its last fact. */
export interface RequestFact {
  /** Unix milliseconds. */
  readonly at: number;
  /** Of this and every other string the first 128 characters are kept. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly network: string;
  readonly door: "rpc" | "rest" | "ws" | "pubsub";
  readonly method: string;
  /** HTTP status; of a connection 101 while it lasts and its close code in the last fact. */
  readonly status: number;
  /** JSON-RPC error code, null for a result. */
  readonly rpcCode: number | null;
  readonly latencyMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly credits: number;
  readonly cache: "HIT" | "MISS" | "";
  /** The upstream's label, "" when none was asked. */
  readonly upstream: string;
}
