import type { Network } from "@sluice/contract/tiers";
import { counter, type Observe } from "../../observe/index.ts";

export const archiveMetrics = {
  asked: counter(
    "sluice_history_archive_total",
    "Calls that nodes did not answer whole and the ledger was asked for: answered, absent, failed, busy",
    ["network", "method", "outcome"],
  ),
} as const;

/** Every function is cheap and must not throw. */
export interface ArchiveEvents {
  archiveAsked(network: Network, method: string, outcome: "answered" | "absent" | "failed" | "busy"): void;
  archiveFailed(network: Network, method: string, error: unknown): void;
}

/** Registers the metrics of the archive and gives the functions that feed them. */
export function createArchiveEvents({ log, metrics }: Observe): ArchiveEvents {
  const { asked } = metrics.register(archiveMetrics);
  return {
    archiveAsked: (network, method, outcome) => asked.with(network, method, outcome).add(),
    archiveFailed: (network, method, error) =>
      log.warn({ network, method, error }, "the ledger did not answer for nodes, whose answer is passed on"),
  };
}
