import type { Grant } from "../keys/index.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestFact } from "./interfaces.ts";

/** What is told about one answered call, beside what its exchange knows. */
export interface ServedCall {
  readonly method: string;
  readonly status: number;
  readonly rpcCode: number | null;
  readonly latencyMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly credits: number;
  readonly cache: "HIT" | "MISS" | "";
  readonly upstream: string;
}

export function factOf(exchange: Exchange, grant: Grant, call: ServedCall): RequestFact {
  return {
    at: exchange.at,
    requestId: exchange.requestId,
    accountId: grant.accountId,
    keyId: grant.keyId,
    network: exchange.network,
    door: "rpc",
    method: call.method,
    status: call.status,
    rpcCode: call.rpcCode,
    latencyMs: call.latencyMs,
    bytesIn: call.bytesIn,
    bytesOut: call.bytesOut,
    credits: call.credits,
    cache: call.cache,
    upstream: call.upstream,
  };
}
