import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { RequestFact } from "../../ledger/index.ts";

/** Where an endpoint of the engine records what it refuses. */
export interface RefusalRecords {
  readonly network: Network;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Must not block or throw. */
  readonly served: (fact: RequestFact) => void;
}

/** Whom a refusal is recorded for; `keyId` is "" for who signed in without a key. */
export interface RecordedCaller {
  readonly accountId: string;
  readonly keyId: string;
}

/** A refusal as its endpoint knows it. What an endpoint cannot count of the bytes is 0. */
export interface RecordedRefusal extends Pick<RequestFact, "requestId" | "method" | "status" | "code"> {
  readonly caller: RecordedCaller;
  /** When the call, or the bundle in it, came; monotonic milliseconds. */
  readonly sinceMs: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
}

export function recordRefusal({ network, clock, served }: RefusalRecords, call: RecordedRefusal): void {
  const { caller, sinceMs, ...answer } = call;
  const { accountId, keyId } = caller;
  const latencyMs = clock.monotonic() - sinceMs;
  served({
    bytesIn: 0,
    bytesOut: 0,
    ...answer,
    at: clock.now() - latencyMs,
    accountId,
    keyId,
    network,
    door: "engine",
    rpcCode: null,
    latencyMs,
    credits: 0,
    cache: "",
    upstream: "",
  });
}
