import type { PoolFee } from "@sluice/wire/accounts/stake-pool";
import { afterFee, poolTips, secondsPerYear, stakersTips, wholeStake } from "../arithmetic.ts";
import { decimalText, native } from "../decimal.ts";
import {
  commissionOf,
  holdingsBefore,
  holdingsOf,
  rewardOf,
  tipsInput,
  tipsOfAll,
  type ValidatorFigures,
} from "../figures.ts";
import type { ReadFigures } from "../figures-source.ts";
import type { EpochFacts, PoolSnapshot, ValidatorEpoch } from "../snapshot.ts";
import { type ExplainedInput, type ExplainedPart, input, step } from "./explanation.ts";

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

/** The yearly rate and its parts. */
export function apyPart(read: ReadFigures, snapshot: PoolSnapshot): ExplainedPart {
  const { facts, figures } = read;
  const inputs = facts === null ? [] : epochInputs(snapshot, facts);
  if (facts === null || figures.rating !== "counted") return { inputs, steps: unratedSteps(read, snapshot) };
  const [before, after] = [holdingsBefore(snapshot), holdingsOf(snapshot)];
  const { total, base, mev } = figures.apy;
  const kept = afterFee(figures.tips, snapshot.pool.epochFee);
  const steps = [
    ...countedSteps(facts),
    `growth = ${after.lamports} · ${before.tokens} / (${before.lamports} · ${after.tokens}) - 1`,
    step("apy", `((1 + growth)^(${secondsPerYear} / ${facts.counted.seconds}) - 1) · 100`, total),
    ...tipSteps(snapshot, facts),
    `tips of the pool = ${figures.tips}, after its fee ${feeText(figures.tips, snapshot.pool.epochFee)} = ${kept}`,
    step("mevApy", `((1 + ${kept} / ${before.lamports})^(${periodsOf(facts)}) - 1) · 100`, mev),
    step("baseApy", `${decimalText(total)} - ${decimalText(mev)}`, base),
  ];
  return { inputs, steps };
}

/** Why there is no rate of what the last update counted, and which one is shown. */
function unratedSteps(
  { facts, figures }: Pick<ReadFigures, "facts" | "figures">,
  { pool }: PoolSnapshot,
): readonly string[] {
  const { total, base, mev } = figures.apy;
  const reason =
    pool.lastUpdateEpoch === 0n
      ? "no epoch has been counted yet"
      : facts === null
        ? `what epoch ${pool.lastUpdateEpoch - 1n} brought cannot be read now`
        : "the pool says nothing of before its last update";
  if (figures.rating === "unknown") return [`${reason}, so that yearly rates are not known and shown as 0`];
  return [
    `${reason}, so that yearly rates are those that were read before it: ` +
      `apy = ${decimalText(total)}, mevApy = ${decimalText(mev)}, baseApy = ${decimalText(base)}`,
  ];
}

function countedSteps({ epoch, counted }: EpochFacts): readonly string[] {
  if (counted.epochs > 1n) {
    return [`the last update counted the ${counted.epochs} epochs up to ${epoch}, as updates before it were missed`];
  }
  if (counted.from === "sample") return [];
  return [`the last update is taken for that of epoch ${epoch} alone, as no sample tells when the one before was`];
}

const periodsOf = ({ length }: EpochFacts): string => `${secondsPerYear} / ${length.seconds}`;
const feeText = (amount: bigint, { numerator, denominator }: PoolFee): string =>
  denominator === 0n ? `${amount} - 0` : `${amount} - ceil(${amount} · ${numerator} / ${denominator})`;

function epochInputs({ address, pool, ...snapshot }: PoolSnapshot, facts: EpochFacts): readonly ExplainedInput[] {
  const before = holdingsBefore({ address, pool, ...snapshot });
  const { numerator, denominator } = pool.epochFee;
  const { epochs, seconds } = facts.counted;
  return [
    input("last epoch total lamports", `${address}, the last field`, before.lamports),
    input("last epoch pool token supply", `${address}, the field before`, before.tokens),
    input("epoch fee", `${address} at 330`, `${numerator}/${denominator}`),
    input(`seconds of epoch ${facts.epoch}`, `by ${facts.length.from}`, facts.length.seconds),
    ...(epochs === 1n ? [] : [input(`seconds of the ${epochs} epochs`, "from first block to first block", seconds)]),
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
    if (of === null || facts === null) return [stakeStep, unratedStep(validator), ...unreadSteps(validator)];
    const own = tipsInput(entry, of);
    const reward = rewardOf(entry, of);
    return [
      stakeStep,
      ...(reward === null
        ? [unratedStep(validator)]
        : [
            step(
              `apy of ${of.vote}`,
              `((1 + (${reward.paid} + ${poolTips(own)}) / ${reward.before})^(${periodsOf(facts)}) - 1) · 100`,
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
  if (facts === null) return { inputs, steps: [...steps, ...unratedSteps({ facts, figures }, snapshot)] };
  return { inputs: [...inputs, ...epochInputs(snapshot, facts)], steps: [...tipSteps(snapshot, facts), ...steps] };
}

const unratedStep = ({ address, apy, rating }: ValidatorFigures): string =>
  rating === "kept"
    ? `apy of ${address} = ${decimalText(apy)}, as it was read before: no node tells now what inflation paid`
    : `apy of ${address} is not known and shown as 0, as no node tells what inflation paid`;

/** Of a validator that is not in the vote accounts of the epoch, or whose epoch is not known. */
function unreadSteps({ address, commission, mevScore, rating }: ValidatorFigures): readonly string[] {
  return Object.entries({ commission, mevScore }).map(([name, value]) =>
    rating === "kept"
      ? `${name} of ${address} = ${decimalText(value)}, as it was read before: the last epoch cannot be read now`
      : `${name} of ${address} is not known and shown as 0, as the last epoch cannot be read`,
  );
}

function knownInputs(of: ValidatorEpoch, { name }: ValidatorFigures): readonly ExplainedInput[] {
  const { inflation } = of;
  const rewards = `getInflationReward of ${of.stakeAccount}`;
  return [
    input(`commission of ${of.vote} in basis points`, of.vote, of.commissionBasisPoints),
    ...(name === "" ? [] : [input(`name of ${of.vote}`, `the config program's info of ${of.identity}`, name)]),
    ...(inflation === "unknown"
      ? []
      : [input(`inflation for ${of.vote}`, rewards, inflation === "none" ? 0 : inflation.paid)]),
    ...(typeof inflation === "string" ? [] : [input(`stake before of ${of.vote}`, rewards, inflation.before)]),
  ];
}
