import { counter, type Observe } from "../../observe/index.ts";

/** The metrics of methods over lists of assets. */
export const assetListMetrics = {
  answers: counter("sluice_asset_lists_total", "Answers to methods over lists of assets, by method and outcome", [
    "method",
    "outcome",
  ]),
} as const;

export interface AssetListEvents {
  listAnswered(method: string, outcome: "answered" | "refused" | "failed"): void;
}

/** Registers the metrics of the lists and gives the function that feeds them. */
export function createAssetListEvents({ metrics }: Pick<Observe, "metrics">): AssetListEvents {
  const { answers } = metrics.register(assetListMetrics);
  return { listAnswered: (method, outcome) => answers.with(method, outcome).add(1) };
}
