import { mevTypes } from "@sluice/contract/engine";
import { mevBreakdownNames } from "@sluice/contract/pool";
import type { LandedBundle } from "../ledger/index.ts";
import { afterFee, poolTips, secondsPerYear, stakersTips } from "./arithmetic.ts";
import { decimalText, native } from "./decimal.ts";
import { holdingsBefore, holdingsOf, stakeOf } from "./figures.ts";
import type { ReadFigures } from "./figures-source.ts";
import type { EpochFacts, PoolSnapshot, ValidatorEpoch } from "./snapshot.ts";

/** What a figure is computed from: what it is, where anybody can read it, and its value in the smallest unit. */
export interface ExplainedInput {
  readonly what: string;
  readonly where: string;
  readonly value: string;
}

/** How a record comes about. */
export interface Explanation {
  readonly record: string;
  /** The slot of the accounts; null where there is no pool, or nothing is from the chain. */
  readonly slot: string | null;
  readonly inputs: readonly ExplainedInput[];
  /** The arithmetic, one step a line. */
  readonly steps: readonly string[];
}

const input = (what: string, where: string, value: bigint | number | string): ExplainedInput => ({
  what,
  where,
  value: String(value),
});

function holdingInputs({ address, pool }: PoolSnapshot): readonly ExplainedInput[] {
  return [
    input("total lamports", `${address} at 258`, pool.totalLamports),
    input("pool token supply", `${address} at 266`, pool.poolTokenSupply),
  ];
}

function rateSteps({ figures }: ReadFigures, snapshot: PoolSnapshot): readonly string[] {
  const { lamports, tokens } = holdingsOf(snapshot);
  const rate = decimalText(figures.rate);
  if (tokens === 0n) return [`exchange rate = ${rate}, as there is no token`];
  return [`exchange rate = (${lamports} / 10^9) / (${tokens} / 10^${snapshot.decimals}) = ${rate}`];
}

/** A validator's tips in the epoch, and what of them is the pool's. */
function tipSteps(snapshot: PoolSnapshot, facts: EpochFacts): readonly string[] {
  return snapshot.validators.flatMap(({ voteAccount, activeStakeLamports }) => {
    const of = facts.validators.get(voteAccount);
    if (of === undefined) return [];
    const tips = { ...tipNumbers(of), poolStake: activeStakeLamports };
    return [
      `${voteAccount}: ${of.tips} - floor(${of.tips} · ${of.tipCommissionBasisPoints} / 10000) = ${stakersTips(tips)}, ` +
        `floor(${stakersTips(tips)} · ${activeStakeLamports} / ${of.totalStake}) = ${poolTips(tips)}`,
    ];
  });
}

const tipNumbers = ({ tips, tipCommissionBasisPoints, totalStake }: ValidatorEpoch) => ({
  tips,
  commissionBasisPoints: tipCommissionBasisPoints,
  totalStake,
});

function epochInputs(snapshot: PoolSnapshot, facts: EpochFacts): readonly ExplainedInput[] {
  const { address, pool } = snapshot;
  const before = holdingsBefore(snapshot);
  const { numerator, denominator } = pool.epochFee;
  return [
    input("last epoch total lamports", `${address}, the last field`, before.lamports),
    input("last epoch pool token supply", `${address}, the field before`, before.tokens),
    input("epoch fee", `${address} at 330`, `${numerator}/${denominator}`),
    input(`seconds of epoch ${facts.epoch}`, `by ${facts.length.from}`, facts.length.seconds),
    ...[...facts.validators.values()].flatMap((of) => [
      input(`tips of ${of.vote}`, of.tipAccount, of.tips),
      input(`whole stake of ${of.vote}`, "getVoteAccounts", of.totalStake),
    ]),
  ];
}

function apySteps({ figures }: ReadFigures, snapshot: PoolSnapshot, facts: EpochFacts): readonly string[] {
  const [before, after] = [holdingsBefore(snapshot), holdingsOf(snapshot)];
  const { total, base, mev } = figures.apy;
  const fee = snapshot.pool.epochFee;
  const periods = `${secondsPerYear} / ${facts.length.seconds}`;
  return [
    `growth = ${after.lamports} · ${before.tokens} / (${before.lamports} · ${after.tokens}) - 1`,
    `apy = ((1 + growth)^(${periods}) - 1) · 100 = ${decimalText(total)}`,
    ...tipSteps(snapshot, facts),
    `tips of the pool = ${figures.tips}, after its fee ${afterFee(figures.tips, fee)}`,
    `mevApy = ((1 + ${afterFee(figures.tips, fee)} / ${before.lamports})^(${periods}) - 1) · 100 = ${decimalText(mev)}`,
    `baseApy = ${decimalText(total)} - ${decimalText(mev)} = ${decimalText(base)}`,
  ];
}

const noPoolSteps = ["there is no pool on the chain, and what is not known is 0"] as const;
const noEpochSteps = ["no epoch has been counted yet, so that yearly rates are 0"] as const;

/** The records of the chain that are explained. */
export const chainRecords = ["pool", "exchange-rate", "apy", "validators"] as const;
export type ExplainedRecord = (typeof chainRecords)[number];

/** How a record of the chain comes about. */
export function explainChain(record: ExplainedRecord, read: ReadFigures): Explanation {
  const { snapshot, facts, figures } = read;
  if (snapshot === null) return { record, slot: null, inputs: [], steps: noPoolSteps };
  const slot = snapshot.slot.toString();
  if (record === "exchange-rate") {
    return { record, slot, inputs: holdingInputs(snapshot), steps: rateSteps(read, snapshot) };
  }
  const epoch = facts === null ? [] : epochInputs(snapshot, facts);
  if (record === "validators") {
    const list = snapshot.pool.validatorList;
    const stakes = snapshot.validators.flatMap((entry) => {
      const paid = facts?.validators.get(entry.voteAccount)?.inflation ?? null;
      return [
        input(`stake of ${entry.voteAccount}`, list, stakeOf(entry)),
        ...(paid === null ? [] : [input(`inflation of ${entry.voteAccount}`, "getInflationReward", paid.paid)]),
        ...(paid === null ? [] : [input(`stake before of ${entry.voteAccount}`, "getInflationReward", paid.before)]),
      ];
    });
    const steps = figures.validators.map(({ address, apy, mevScore, stake }) => {
      return `${address}: stake ${decimalText(native(stake))}, apy ${decimalText(apy)}, mevScore ${decimalText(mevScore)}`;
    });
    const inputs = [...stakes, ...epoch];
    return { record, slot, inputs, steps: [...(facts === null ? noEpochSteps : tipSteps(snapshot, facts)), ...steps] };
  }
  const apy = facts === null ? noEpochSteps : apySteps(read, snapshot, facts);
  if (record === "apy") return { record, slot, inputs: [...holdingInputs(snapshot), ...epoch], steps: apy };
  const tvl = `tvl = ${figures.holdings.lamports} / 10^9 = ${decimalText(native(figures.holdings.lamports))}`;
  const inputs = [...holdingInputs(snapshot), ...epoch];
  return { record, slot, inputs, steps: [tvl, ...rateSteps(read, snapshot), ...apy] };
}

/** How what bundles brought comes about, from each of those that landed. */
export function explainBundles(record: string, bundles: readonly LandedBundle[], landedMax: number): Explanation {
  const sum = (of: readonly LandedBundle[]): bigint => of.reduce((total, { tip }) => total + tip, 0n);
  const byType = mevTypes.map((type) => {
    const of = bundles.filter(({ mevType }) => mevType === type);
    return `${mevBreakdownNames[type]}: ${of.length} bundles, ${sum(of)} lamports`;
  });
  const isCut = bundles.length === landedMax;
  return {
    record,
    slot: null,
    inputs: bundles.map(({ id, slot, tip, mevType }) => input(`tip of a bundle (${mevType})`, `${id} in ${slot}`, tip)),
    steps: [...byType, `${bundles.length} bundles, ${sum(bundles)} lamports${isCut ? ": the newest ones alone" : ""}`],
  };
}
