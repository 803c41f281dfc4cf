import { mevTypes } from "@sluice/contract/engine";
import { mevBreakdownNames } from "@sluice/contract/pool";
import type { BundleBalances, BundleFigures, BundleGain, BundleMevFigures, LandedBundle } from "../../ledger/index.ts";
import { profitOf, sharesPercent } from "../arithmetic.ts";
import { decimalText, divide, native, zeroOf } from "../decimal.ts";
import { landingRate } from "../figures.ts";
import { type ExplainedInput, type ExplainedPart, input, step } from "./explanation.ts";

/** Parts of explanations that are about bundles. */

/** Bundles that an explanation lists. */
export const bundlesListedMax = 1_000;

const bundleInput = ({ id, mevType, slot, tip }: LandedBundle): ExplainedInput =>
  input(`tip of a bundle (${mevType})`, `${id} in slot ${slot}`, tip);

/** Said where not all are listed, and where the ledger has got some since the sums were read. */
function listed(shown: number, all: number | bigint): readonly string[] {
  if (BigInt(shown) < BigInt(all)) {
    return [`listed are the newest ${shown} of ${all} bundles; the sums are of all of them`];
  }
  if (BigInt(shown) === BigInt(all)) return [];
  return [`listed are ${shown} bundles; the sums are of the ${all} that the ledger had when they were read`];
}

/** What became of bundles in a period. Those that did not land are known to who submitted them alone. */
export function outcomesPart(period: string, figures: BundleFigures, bundles: readonly LandedBundle[]): ExplainedPart {
  const { ended, landed, tips } = figures;
  return {
    inputs: bundles.map(bundleInput),
    steps: [
      ...listed(bundles.length, landed),
      `tips in ${period} = ${tips} lamports of ${landed} bundles that landed`,
      `tip of one = ${tips} / ${landed} = ${divide(tips, BigInt(landed))}`,
      step("landing rate", `${landed} / ${ended} that ended`, landingRate(figures)),
    ],
  };
}

/** Tips by type of bundle. */
export function typesPart(byType: readonly BundleMevFigures[], bundles: readonly LandedBundle[]): ExplainedPart {
  const of = (type: string) => byType.find(({ mevType }) => mevType === type);
  const tips = mevTypes.map((type) => of(type)?.tips ?? 0n);
  const shares = sharesPercent(tips);
  const sum = tips.reduce((total, each) => total + each, 0n);
  const landed = byType.reduce((total, each) => total + each.landed, 0);
  return {
    inputs: bundles.map(bundleInput),
    steps: [
      ...listed(bundles.length, landed),
      ...mevTypes.map((type, index) => {
        const [tip = 0n, share = zeroOf(0)] = [tips[index], shares[index]];
        const count = of(type)?.landed ?? 0;
        return (
          `${mevBreakdownNames[type]}: ${count} bundles, ${tip} lamports = ${decimalText(native(tip))}, ` +
          `${tip} / ${sum} · 100 = ${decimalText(share)}, what rounding leaves to the largest remainders`
        );
      }),
      `${landed} bundles, ${sum} lamports`,
    ],
  };
}

/** Profit and loss of landed bundles. */
export function profitsPart(balances: BundleBalances, gains: readonly BundleGain[]): ExplainedPart {
  const { gained, fees, tips, bundles } = balances;
  const { revenue, cost, net, average } = profitOf(balances);
  return {
    inputs: gains.flatMap(({ id, slot, ...of }) => {
      const where = `${id} in slot ${slot}`;
      return [
        input("gained by its owner's native and wrapped balances", where, of.gained),
        input("fees that its owner paid", where, of.fees),
        input("its tip", where, of.tip),
      ];
    }),
    steps: [
      ...listed(gains.length, bundles),
      step("netProfit", `${gained} / 10^9`, native(net)),
      step("totalCost", `(${fees} + ${tips}) / 10^9`, native(cost)),
      step("totalRevenue", `(${gained} + ${fees} + ${tips}) / 10^9`, native(revenue)),
      step("avgProfitPerBundle", `${gained} / ${bundles} / 10^9`, native(average)),
    ],
  };
}
