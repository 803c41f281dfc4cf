import type { Network } from "@sluice/contract/tiers";
import { counter, gauge, type Observe } from "../../observe/index.ts";

/** The metrics of the index of assets. */
export const assetIndexMetrics = {
  changes: counter("sluice_asset_index_changes_total", "Changes of compressed assets that were indexed", ["network"]),
  readings: counter(
    "sluice_asset_index_readings_total",
    "Assets that were read from nodes and indexed, by the commitment of the reading",
    ["network", "commitment"],
  ),
  unsettled: gauge("sluice_asset_index_unsettled", "Assets whose newest reading is not final yet", ["network"]),
  postponed: gauge(
    "sluice_asset_index_postponed",
    "Assets whose holder the nodes refuse to tell; they are asked again a minute later",
    ["network"],
  ),
  refusals: counter("sluice_asset_index_refusals_total", "Holders of assets that the nodes refused to tell", [
    "network",
  ]),
  lag: gauge("sluice_asset_index_lag_slots", "Slots from the last indexed block to the newest block of the ledger", [
    "network",
  ]),
  failures: counter("sluice_asset_index_failures_total", "Rounds of the index that failed and are repeated", [
    "network",
  ]),
} as const;

export interface AssetIndexEvents {
  changesIndexed(network: Network, count: number): void;
  readingsIndexed(network: Network, commitment: "confirmed" | "finalized", count: number): void;
  indexStands(
    network: Network,
    figures: { readonly unsettled: number; readonly postponed: number; readonly lagSlots: number },
  ): void;
  /** Holders that nodes refuse to tell: the assets are indexed without an owner, and read again later. */
  holdersRefused(network: Network, count: number): void;
  /** The round is repeated; the log says the first of several. */
  indexFailed(network: Network, failure: { readonly error: unknown; readonly isFirst: boolean }): void;
  fillEnded(network: Network, fill: { readonly id: string; readonly state: string; readonly read: number }): void;
}

/** Registers the metrics of the index and gives the functions that feed them. */
export function createAssetIndexEvents({ metrics, log }: Pick<Observe, "metrics" | "log">): AssetIndexEvents {
  const families = metrics.register(assetIndexMetrics);
  return {
    changesIndexed: (network, count) => families.changes.with(network).add(count),
    readingsIndexed: (network, commitment, count) => families.readings.with(network, commitment).add(count),
    holdersRefused: (network, count) => {
      if (count > 0) families.refusals.with(network).add(count);
    },
    indexStands: (network, { unsettled, postponed, lagSlots }) => {
      families.postponed.with(network).set(postponed);
      families.unsettled.with(network).set(unsettled);
      families.lag.with(network).set(lagSlots);
    },
    indexFailed: (network, { error, isFirst }) => {
      families.failures.with(network).add(1);
      if (isFirst) log.warn({ network, error }, "the index of assets waits for nodes or the ledger");
    },
    fillEnded: (network, fill) => log.info({ network, ...fill }, "a fill of the index of assets has ended"),
  };
}
