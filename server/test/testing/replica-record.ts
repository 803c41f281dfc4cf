/** What a schedule of faults keeps for its verdict. All times are of one monotonic clock, in milliseconds. */
import type { Outcome } from "./keep-alive-caller.ts";
import type { FaultKind } from "./replica-schedule.ts";

/** `steady` is polite, `rated` asks above its rate, `small` above its month, and `revoked` loses its key on the way. */
export const customerNames = ["steady", "rated", "small", "revoked"] as const;
export type CustomerName = (typeof customerNames)[number];

export interface CallRecord {
  readonly customer: CustomerName;
  readonly replica: number;
  readonly sentMs: number;
  readonly doneMs: number;
  readonly kind: Outcome["kind"];
  /** The HTTP status; 0 where there is no answer. */
  readonly status: number;
  /** Whether a call that was refused may have been carried out: it was written before its connection ended. */
  readonly isWritten?: boolean;
  /** Why a call was refused with 503. */
  readonly code?: string;
}

export interface ProbeRecord {
  readonly replica: number;
  readonly sentMs: number;
  readonly doneMs: number;
  /** The statuses of /ready and /health; 0 where there is no answer. */
  readonly ready: number;
  readonly health: number;
  /** The parts that /ready gives for its 503. */
  readonly reasons: readonly string[];
}

export interface FaultRecord {
  readonly kind: FaultKind;
  /** The process that it befell; null where it befell a store. */
  readonly replica: number | null;
  readonly fromMs: number;
  /** When what was broken was whole again, as far as the schedule mends it. */
  toMs: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface RestartRecord extends Span {
  readonly replica: number;
  /** The status with which the process ended. */
  readonly status: number | null;
}

export interface StreamRecord {
  readonly replica: number;
  readonly kind: "pubsub" | "grpc";
  /** The close code, or the status by its name. */
  readonly end: string;
  readonly atMs: number;
}

export interface ScheduleRecord {
  readonly startMs: number;
  readonly endMs: number;
  readonly calls: readonly CallRecord[];
  readonly probes: readonly ProbeRecord[];
  readonly faults: readonly FaultRecord[];
  readonly restarts: readonly RestartRecord[];
  /** Streams that ended, of those that were open when it began. */
  readonly streams: readonly StreamRecord[];
  /** Times in which the checker itself stood still, in their order. */
  readonly stalls: readonly Span[];
  /** The longest time for which the event loop of a process stood still that no step had frozen. */
  readonly lagMs: number;
  /** When the order to disable the key was acknowledged. */
  readonly revokedMs: number;
  /** The most times that one process lost what it shares through Redis. */
  readonly sharingLosses: number;
  /** Credits charged by account once all is whole. */
  readonly used: Readonly<Record<CustomerName, number>>;
}

/** How much of a time the checker itself stood still. */
export function stalledHereMs({ stalls }: Pick<ScheduleRecord, "stalls">, { fromMs, toMs }: Span): number {
  return stalls.reduce(
    (sum, stall) => sum + Math.max(0, Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs)),
    0,
  );
}

/** How much of a time the checker stood still, or a process may have. */
export function stalledMs(record: Pick<ScheduleRecord, "stalls" | "lagMs">, span: Span): number {
  return stalledHereMs(record, span) + record.lagMs;
}
