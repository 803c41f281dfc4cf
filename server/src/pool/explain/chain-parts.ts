import type { PoolFee } from "@sluice/wire/accounts/stake-pool";
import { afterFee, poolTips, secondsPerYear, stakersTips, wholeStake } from "../arithmetic.ts";
import { decimalText, native } from "../decimal.ts";
import { commissionOf, holdingsBefore, holdingsOf, tipsInput, tipsOfAll, type ValidatorFigures } from "../figures.ts";
import type { ReadFigures } from "../figures-source.ts";
import type { EpochFacts, PoolSnapshot, ValidatorEpoch } from "../snapshot.ts";
import { type ExplainedInput, type ExplainedPart, input, joined, step, stepsOf } from "./explanation.ts";

/** Parts of explanations that are about accounts of the chain. */

/** What the pool holds, in which accounts' fields. */
export function holdingsPart({ figures }: ReadFigures, { address, pool, validators }: PoolSnapshot): ExplainedPart {
  return {
    inputs: [
      input("total lamports", `${address} at 258`, pool.totalLamports),
      input("pool token supply", `${address} at 266`, pool.poolTokenSupply),
      input("validators", `${pool.validatorList}, those that only wait to be removed left out`, validators.length),
    ],
    steps: [step("tvl", `${figures.holdings.lamports} / 10^9`, native(figures.holdings.lamports))],
  };
}

/** The exchange rate from the pool's holdings. */
export function ratePart({ figures }: ReadFigures, snapshot: PoolSnapshot): ExplainedPart {
  const { lamports, tokens } = holdingsOf(snapshot);
  const supply = { units: tokens, places: snapshot.decimals };
  const decimals = input("decimals of the token", `${snapshot.pool.poolMint} at 44`, snapshot.decimals);
  const rate =
    tokens === 0n
      ? `exchange rate = ${decimalText(figures.rate)}, as there is no token`
      : step("exchange rate", `(${lamports} / 10^9) / (${tokens} / 10^${snapshot.decimals})`, figures.rate);
  return { inputs: [decimals], steps: [step("token supply", `${tokens} / 10^${snapshot.decimals}`, supply), rate] };
}

const noEpoch = stepsOf("no epoch has been counted yet, so that yearly rates are 0");

/** The yearly rate and its parts. */
export function apyPart(read: ReadFigures, snapshot: PoolSnapshot): ExplainedPart {
  const { facts, figures } = read;
  if (facts === null) return noEpoch;
  const [before, after] = [holdingsBefore(snapshot), holdingsOf(snapshot)];
  const { total, base, mev } = figures.apy;
  const kept = afterFee(figures.tips, snapshot.pool.epochFee);
  const periods = periodsOf(facts);
  const steps = [
    `growth = ${after.lamports} · ${before.tokens} / (${before.lamports} · ${after.tokens}) - 1`,
    step("apy", `((1 + growth)^(${periods}) - 1) · 100`, total),
    ...tipSteps(snapshot, facts),
    `tips of the pool = ${figures.tips}, after its fee ${feeText(figures.tips, snapshot.pool.epochFee)} = ${kept}`,
    step("mevApy", `((1 + ${kept} / ${before.lamports})^(${periods}) - 1) · 100`, mev),
    step("baseApy", `${decimalText(total)} - ${decimalText(mev)}`, base),
  ];
  const isKnown = before.lamports > 0n && before.tokens > 0n;
  const unknown = stepsOf("the pool says nothing of before its last update, so that its yearly rates are 0");
  return joined({ inputs: epochInputs(snapshot, facts), steps: [] }, isKnown ? stepsOf(...steps) : unknown);
}

const periodsOf = ({ length }: EpochFacts): string => `${secondsPerYear} / ${length.seconds}`;
const feeText = (amount: bigint, { numerator, denominator }: PoolFee): string =>
  denominator === 0n ? `${amount} - 0` : `${amount} - ceil(${amount} · ${numerator} / ${denominator})`;

function epochInputs({ address, pool, ...snapshot }: PoolSnapshot, facts: EpochFacts): readonly ExplainedInput[] {
  const before = holdingsBefore({ address, pool, ...snapshot });
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

/** Each validator's tips in the epoch, and what of them is the pool's. */
function tipSteps(snapshot: PoolSnapshot, facts: EpochFacts): readonly string[] {
  return snapshot.validators.flatMap((entry) => {
    const of = facts.validators.get(entry.voteAccount);
    if (of === undefined) return [];
    const tips = tipsInput(entry, of);
    const whole = wholeStake(tips);
    return [
      `${of.vote}: ${of.tips} - floor(${of.tips} · ${of.tipCommissionBasisPoints} / 10000) = ${stakersTips(tips)}, ` +
        `floor(${stakersTips(tips)} · ${tips.poolStake} / ${whole}) = ${poolTips(tips)}`,
    ];
  });
}

/** Stakes, commissions, names, yearly rates and scores of the validators. */
export function validatorsPart({ facts, figures }: ReadFigures, snapshot: PoolSnapshot): ExplainedPart {
  const list = snapshot.pool.validatorList;
  const shown = new Map(figures.validators.map((validator) => [validator.address, validator]));
  const known = snapshot.validators.flatMap((entry) => {
    const validator = shown.get(entry.voteAccount);
    return validator === undefined ? [] : [{ entry, validator, of: facts?.validators.get(entry.voteAccount) ?? null }];
  });
  const inputs = known.flatMap(({ entry, validator, of }) => [
    input(`active stake of ${entry.voteAccount}`, list, entry.activeStakeLamports),
    input(`stake on its way of ${entry.voteAccount}`, list, entry.transientStakeLamports),
    ...(of === null ? [] : knownInputs(of, validator)),
  ]);
  const { tips, stake } = facts === null ? { tips: 0n, stake: 0n } : tipsOfAll(snapshot, facts);
  const steps = known.flatMap(({ entry, validator, of }) => {
    const { activeStakeLamports: active, transientStakeLamports: moving } = entry;
    const stakeStep = step(`stake of ${entry.voteAccount}`, `(${active} + ${moving}) / 10^9`, native(validator.stake));
    if (of === null || facts === null) return [stakeStep];
    const own = tipsInput(entry, of);
    return [
      stakeStep,
      ...(of.inflation === null
        ? [`apy of ${of.vote} = 0, as no node tells what inflation paid`]
        : [
            step(
              `apy of ${of.vote}`,
              `((1 + (${of.inflation.paid} + ${poolTips(own)}) / ${of.inflation.before})^(${periodsOf(facts)}) - 1) · 100`,
              validator.apy,
            ),
          ]),
      `commission of ${of.vote} = ${of.commissionBasisPoints} / 100 = ${decimalText(commissionOf(of))}`,
      step(
        `mevScore of ${of.vote}`,
        `100 · x / (x + y) with x = ${stakersTips(own)} / ${wholeStake(own)}, y = ${tips} / ${stake}`,
        validator.mevScore,
      ),
    ];
  });
  if (facts === null) return joined({ inputs, steps }, noEpoch);
  return { inputs: [...inputs, ...epochInputs(snapshot, facts)], steps: [...tipSteps(snapshot, facts), ...steps] };
}

function knownInputs(of: ValidatorEpoch, { name }: ValidatorFigures): readonly ExplainedInput[] {
  const { inflation } = of;
  return [
    input(`commission of ${of.vote} in basis points`, of.vote, of.commissionBasisPoints),
    ...(name === "" ? [] : [input(`name of ${of.vote}`, `the config program's info of ${of.identity}`, name)]),
    ...(inflation === null
      ? []
      : [
          input(`inflation for ${of.vote}`, `getInflationReward of ${of.stakeAccount}`, inflation.paid),
          input(`stake before of ${of.vote}`, `getInflationReward of ${of.stakeAccount}`, inflation.before),
        ]),
  ];
}
