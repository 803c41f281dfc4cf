import type { SourceId } from "../tick.ts";
import type { DropReason } from "./row.ts";
import type { SourceStatus } from "./source-health.ts";

/** How a call to an exchange ended. */
export type RequestEnd =
  | "rows"
  | "limited"
  | "banned"
  | "unknown-market"
  | "refused"
  | "unavailable"
  | "malformed"
  | "unreachable"
  | "timeout";

/** Why a stream's connection ended, or its attempt. */
export type StreamEnd =
  | "connect-timeout"
  | "connect-failed"
  | "no-ticket"
  | "closed-by-exchange"
  | "silent"
  | "no-rows"
  | "frozen"
  | "flood"
  | "oversized"
  | "replaced"
  | "stopped";

/** What the sources tell whoever counts and writes logs. Every label has few values. */
export interface SourceEvents {
  sourceStatusChanged(source: SourceId, from: SourceStatus, to: SourceStatus): void;
  /** A price was published; `delayMs` lies between the exchange's time and receipt. */
  sourceTicked(source: SourceId, delayMs: number): void;
  sourceDropped(source: SourceId, reason: DropReason): void;
  sourceStreamOpened(source: SourceId): void;
  sourceStreamEnded(source: SourceId, reason: StreamEnd): void;
  sourceRequestEnded(source: SourceId, end: RequestEnd, durationMs: number): void;
  /** A fault of our own while a source was read, which was contained. */
  sourceFault(source: SourceId, fault: unknown): void;
}
