import type { AuctionBundle } from "@sluice/auction";
import type { Tick } from "./workload.ts";

/** Takes bundles by score, highest first, each if it conflicts with none taken and the caps have room. */
export function greedy(
  { bundles, caps }: Tick,
  score: (bundle: AuctionBundle) => number,
): { readonly revenue: bigint; readonly upperBound: bigint } {
  const order = bundles.map((bundle) => ({ bundle, score: score(bundle) })).sort((a, b) => b.score - a.score);
  const written = new Set<number>();
  const read = new Set<number>();
  const used = new Map<number, number>();
  let computeUnits = 0;
  let revenue = 0n;
  for (const { bundle } of order) {
    const { writes, reads } = bundle.locks;
    if (computeUnits + bundle.computeUnits > caps.computeUnits) continue;
    const isFree = (account: number): boolean =>
      caps.tipAccounts.has(account)
        ? (used.get(account) ?? 0) + bundle.computeUnits <= caps.accountComputeUnits
        : !written.has(account) && !read.has(account);
    if (!writes.every(isFree) || reads.some((account) => written.has(account))) continue;
    for (const account of writes) {
      if (caps.tipAccounts.has(account)) used.set(account, (used.get(account) ?? 0) + bundle.computeUnits);
      else written.add(account);
    }
    for (const account of reads) read.add(account);
    computeUnits += bundle.computeUnits;
    revenue += bundle.tip;
  }
  return { revenue, upperBound: -1n };
}
