import type { HealthRecord } from "@sluice/contract/schemas";

/** The status of a fact about a connection that goes on (Switching Protocols); its last fact has the close code. */
export const statusStillOpen = 101;

/** One answered call, or what passed over a connection since its last fact, as the ledger keeps it. */
export interface RequestFact {
  readonly at: number;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly network: string;
  readonly door: "rpc" | "pubsub";
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

/** Spans of requests, where an operator has loaded an OpenTelemetry SDK; observe's Tracing has this shape. */
export interface DoorTracing {
  span<T>(
    name: string,
    attributes: Record<string, string>,
    work: (span: { note(name: string, value: string | number | boolean): void }) => T,
  ): T;
}

/** What GET /health tells; the door itself turns it to `down` while it drains. */
export type HealthSource = () => HealthRecord;
