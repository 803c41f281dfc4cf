import { runAuction } from "./run-auction.ts";
import { breachOf, exhaustiveRevenue } from "./testing/exhaustive.ts";
import { smallInstance } from "./testing/instances.ts";

/**
 * Random auctions of up to 10 bundles, and one in 64 of up to 20, each beside exhaustive search: the revenue is the
 * highest there is, the gap says so, no two winners conflict, no cap is exceeded, and every bundle is a winner or a
 * loser. Each is held once more with few steps: the revenue is not above the highest then, and the bound not below it.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let capsBound = 0;
  let contested = 0;
  let cutShort = 0;
  let winnersAll = 0;
  for (let at = 0; at < n; at++) {
    const { bundles, caps } = smallInstance((seed + at * 2_654_435_761) >>> 0, { bundlesMax: at % 64 === 0 ? 20 : 10 });
    const outcome = runAuction(bundles, caps);
    const { winners, losers, revenue, gap, facts } = outcome;
    const best = exhaustiveRevenue(bundles, caps);
    const breach = breachOf(winners, caps);
    const isWhole = winners.length + losers.length === bundles.length;
    const paid = winners.reduce((sum, { tip }) => sum + tip, 0n);
    if (revenue !== best || gap !== 0n || paid !== revenue || breach !== null || !isWhole) {
      const found = `revenue ${revenue} (${paid}), gap ${gap}, exhaustive ${best}, ${breach ?? "no breach"}`;
      return { passed: false, summary: `auction ${at} of ${bundles.length} bundles: ${found}` };
    }
    const searchSteps = (at % 7) * 300;
    const cut = runAuction(bundles, caps, { searchSteps });
    if (cut.revenue > best || cut.upperBound < best || breachOf(cut.winners, caps) !== null) {
      const found = `${cut.revenue} of at most ${cut.upperBound}, exhaustive ${best}`;
      return { passed: false, summary: `auction ${at} with ${searchSteps} steps: ${found}` };
    }
    if (cut.gap > 0n) cutShort++;
    if (facts.capsBound) capsBound++;
    if (losers.some(({ lost }) => lost === "state_auction")) contested++;
    winnersAll += winners.length;
  }
  const counts = `caps bound in ${capsBound}, conflicts in ${contested}, ${cutShort} cut short, ${winnersAll} winners`;
  if (capsBound === 0 || contested === 0 || cutShort === 0)
    return { passed: false, summary: `one kind of auction never came: ${counts}` };
  return { passed: true, summary: `${n} auctions as exhaustive search has them: ${counts}` };
}
