import type { AuctionBundle, AuctionCaps } from "../interfaces.ts";

/** The rule in its plainest form: whether two bundles may not both win. */
export function conflict(a: AuctionBundle, b: AuctionBundle, tipAccounts: ReadonlySet<number>): boolean {
  const meets = (writes: readonly number[], others: readonly number[]): boolean =>
    writes.some((account) => !tipAccounts.has(account) && others.includes(account));
  return (
    meets(a.locks.writes, b.locks.writes) ||
    meets(a.locks.writes, b.locks.reads) ||
    meets(b.locks.writes, a.locks.reads)
  );
}

/** A description of the rule that a set of winners breaks, or null when it breaks none. */
export function breachOf(winners: readonly AuctionBundle[], caps: AuctionCaps): string | null {
  const used = new Map<number, number>();
  let computeUnits = 0;
  for (const [index, bundle] of winners.entries()) {
    computeUnits += bundle.computeUnits;
    bundle.locks.writes.forEach((account, at) => {
      const more = bundle.locks.writeComputeUnits?.[at] ?? bundle.computeUnits;
      used.set(account, (used.get(account) ?? caps.usedBy?.(account) ?? 0) + more);
    });
    for (const other of winners.slice(0, index)) {
      if (conflict(bundle, other, caps.tipAccounts)) return `${bundle.id} and ${other.id} conflict`;
    }
  }
  if (computeUnits > caps.computeUnits) return `${computeUnits} compute units of ${caps.computeUnits}`;
  for (const [account, taken] of used) if (taken > caps.accountComputeUnits) return `${taken} on account ${account}`;
  return null;
}

/** The most lamports that any set of winners pays, by looking at every set without a conflict. */
export function exhaustiveRevenue(bundles: readonly AuctionBundle[], caps: AuctionCaps): bigint {
  const neighbours = bundles.map((bundle, index) =>
    bundles.flatMap((other, at) => (at !== index && conflict(bundle, other, caps.tipAccounts) ? [at] : [])),
  );
  const blocked = bundles.map(() => 0);
  const used = new Map<number, number>();
  for (const { locks } of bundles) for (const id of locks.writes) used.set(id, caps.usedBy?.(id) ?? 0);
  let best = 0n;
  const visit = (index: number, computeUnits: number, revenue: bigint): void => {
    if (revenue > best) best = revenue;
    for (let next = index; next < bundles.length; next++) {
      const bundle = bundles[next];
      if (bundle === undefined || blocked[next] !== 0) continue;
      if (computeUnits + bundle.computeUnits > caps.computeUnits) continue;
      const { writes, writeComputeUnits } = bundle.locks;
      const takes = (at: number): number => writeComputeUnits?.[at] ?? bundle.computeUnits;
      if (writes.some((account, at) => (used.get(account) ?? 0) + takes(at) > caps.accountComputeUnits)) continue;
      const turn = (sign: 1 | -1): void => {
        writes.forEach((account, at) => void used.set(account, (used.get(account) ?? 0) + sign * takes(at)));
        for (const other of neighbours[next] ?? []) blocked[other] = (blocked[other] ?? 0) + sign;
      };
      turn(1);
      visit(next + 1, computeUnits + bundle.computeUnits, revenue + bundle.tip);
      turn(-1);
    }
  };
  visit(0, 0, 0n);
  return best;
}
