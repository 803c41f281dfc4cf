import { counter, gauge, type Observe } from "../observe/index.ts";

/** The metrics of the chain's log. */
export const logMetrics = {
  records: counter("sluice_log_records_total", "Records of the chain's log, by kind and by whether they were new", [
    "network",
    "kind",
    "outcome",
  ]),
  bytesWritten: counter("sluice_log_written_bytes_total", "Bytes written to the chain's log, compressed", ["network"]),
  bytesHeld: gauge("sluice_log_bytes", "Bytes that the chain's log holds", ["network"]),
  pendingBytes: gauge("sluice_log_pending_bytes", "Bytes of blocks that wait for the disk or the server of the log", [
    "network",
  ]),
  followers: gauge("sluice_log_followers", "Followers of the chain's log in this process", ["network", "stage"]),
  lagSlots: gauge("sluice_log_follower_lag_slots", "Slots that the slowest follower is behind the newest block", [
    "network",
  ]),
  trims: counter("sluice_log_trimmed_total", "Times that old blocks were trimmed, with the reason", [
    "network",
    "reason",
  ]),
  overBound: gauge(
    "sluice_log_over_bytes",
    "1 when LOG_BYTES had to trim blocks that LOG_RETENTION or the ledger still wanted, until it no longer has to",
    ["network"],
  ),
  tornTails: counter("sluice_log_torn_tails_total", "Ends of files that a crash had torn and a start removed", [
    "network",
  ]),
  damaged: counter("sluice_log_damaged_records_total", "Records that cannot be read as they were written", ["network"]),
} as const;

/** The figures of a log at one moment. */
export interface LogFigures {
  readonly bytesHeld: number;
  readonly pendingBytes: number;
  readonly followers: Readonly<Record<string, number>>;
  readonly lagSlots: number;
}

/** Why blocks were trimmed: they are old and in the ledger, or there is no more room. */
export type TrimReason = "age" | "bytes";

/** Every function is cheap and must not throw. */
export interface LogEvents {
  logAppended(network: string, kind: string, outcome: "stored" | "repeat" | "failed"): void;
  logWritten(network: string, bytes: number): void;
  logMeasured(network: string, figures: LogFigures): void;
  logTrimmed(network: string, reason: TrimReason): void;
  logOverBound(network: string, isOver: boolean): void;
  logTailTorn(network: string): void;
  logDamaged(network: string): void;
}

/** Registers the metrics of the log and gives the functions that feed them. */
export function createLogEvents({ metrics }: Pick<Observe, "metrics">): LogEvents {
  const families = metrics.register(logMetrics);
  return {
    logAppended: (network, kind, outcome) => families.records.with(network, kind, outcome).add(),
    logWritten: (network, bytes) => families.bytesWritten.with(network).add(bytes),
    logMeasured: (network, { bytesHeld, pendingBytes, followers, lagSlots }) => {
      families.bytesHeld.with(network).set(bytesHeld);
      families.pendingBytes.with(network).set(pendingBytes);
      for (const [stage, count] of Object.entries(followers)) families.followers.with(network, stage).set(count);
      families.lagSlots.with(network).set(lagSlots);
    },
    logTrimmed: (network, reason) => families.trims.with(network, reason).add(),
    logOverBound: (network, isOver) => families.overBound.with(network).set(isOver ? 1 : 0),
    logTailTorn: (network) => families.tornTails.with(network).add(),
    logDamaged: (network) => families.damaged.with(network).add(),
  };
}
