import type { Clock, Random } from "@sluice/lib";
import type { Metrics, RootLog, ServerEvents } from "../observe/index.ts";
import type { Certificates, TrustedHeaders } from "./tls.ts";

const processIdBytes = 12;

/** An id that no other run of a process has. */
export const newProcessId = (random: Random): string => Buffer.from(random.bytes(processIdBytes)).toString("hex");

/** What every step of the start is handed. */
export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: RootLog;
  readonly metrics: Metrics;
  readonly events: ServerEvents;
  /** Identifies this run of the process wherever processes know of each other: 24 hexadecimal digits. */
  readonly processId: string;
  readonly certificates: Certificates;
  /** Null where no connection begins with a header of the PROXY protocol. */
  readonly proxies: TrustedHeaders | null;
  /** Opened resources are put here; they are closed in reverse order. */
  readonly resources: AsyncDisposableStack;
}
