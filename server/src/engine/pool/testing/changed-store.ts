import type { BundleStore } from "../../../state/index.ts";

const methods = [
  "accept",
  "step",
  "open",
  "noteForwarded",
  "setFollowers",
  "get",
  "live",
  "list",
  "unreported",
  "markReported",
  "forget",
] as const;

/** A store in which some methods are others. */
export function changedStore(store: BundleStore, changes: Partial<BundleStore>): BundleStore {
  const bound = Object.fromEntries(methods.map((name) => [name, store[name].bind(store)]));
  return { ...bound, ...changes } as BundleStore;
}
