import type { EpochRates, PoolSample, SampledDay } from "../../ledger/index.ts";
import { percentPlaces, secondsPerYear } from "../arithmetic.ts";
import { decimalText, type ExactDecimal, native } from "../decimal.ts";
import type { StakePoolFigures } from "../figures.ts";
import { changesOf, type PoolPast } from "../history.ts";
import { type ExplainedInput, type ExplainedPart, input, joined, momentText, step, stepsOf } from "./explanation.ts";

/** Parts of explanations that are about samples of the pool. */

const placeOf = ({ atMs, slot }: PoolSample): string => `the sample of ${momentText(atMs)}, read in slot ${slot}`;

const sampleInputs = (what: string, sample: PoolSample): readonly ExplainedInput[] => [
  input(`total lamports ${what}`, placeOf(sample), sample.lamports),
  input(`pool token supply ${what}`, placeOf(sample), sample.tokens),
];

const spans = [
  { before: "day", what: "a day ago", change: "rate24h", name: "24h" },
  { before: "week", what: "7 days ago", change: "rate7d", name: "7d" },
  { before: "month", what: "30 days ago", change: "rate30d", name: "30d" },
] as const;

/** How the exchange rate changed; in a day alone, or in each of the spans. */
export function rateChangesPart(past: PoolPast, figures: StakePoolFigures, isDayAlone = false): ExplainedPart {
  const { before } = past;
  const changes = changesOf(past, figures);
  return joined(
    ...spans.slice(0, isDayAlone ? 1 : undefined).map(({ before: of, what, change, name }) => {
      const sample = before[of];
      if (sample === null) return stepsOf(`rate change in ${name} = 0, as no sample is old enough and not too old`);
      const { lamports, tokens } = figures.holdings;
      const grown = `${lamports} · ${sample.tokens} / (${sample.lamports} · ${tokens})`;
      return {
        inputs: sampleInputs(what, sample),
        steps: [step(`rate change in ${name}`, `(${grown} - 1) · 100`, changes[change])],
      };
    }),
  );
}

/** How the whole of the pool changed in a day. */
export function tvlChangePart(past: PoolPast, figures: StakePoolFigures): ExplainedPart {
  const { day } = past.before;
  if (day === null) return stepsOf("tvl change in 24h = 0, as no sample is old enough and not too old");
  const expression = `(${figures.holdings.lamports} / ${day.lamports} - 1) · 100`;
  return { inputs: [], steps: [step("tvl change in 24h", expression, changesOf(past, figures).tvl24h)] };
}

/** The averages of yearly rates, from each epoch that was sampled. */
export function averagesPart({ epochs, averages }: PoolPast): ExplainedPart {
  const average = (name: string, of: readonly EpochRates[], value: ExactDecimal): string =>
    of.length === 0
      ? `${name} = 0, as no epoch was sampled`
      : step(name, `the mean of ${epochsOf(of)} epochs, ${firstOf(of)} to ${of[0]?.epoch}`, value);
  return {
    inputs: epochs.days30.map(({ epoch, epochs: counted, apy }) =>
      input(
        counted === 1n ? `apy of epoch ${epoch}` : `apy of the ${counted} epochs up to ${epoch}`,
        "its last sample, in percent",
        decimalText({ units: apy, places: percentPlaces }),
      ),
    ),
    steps: [
      average("apy_7d_avg", epochs.days7, averages.days7),
      average("apy_30d_avg", epochs.days30, averages.days30),
    ],
  };
}

const epochsOf = (rates: readonly EpochRates[]): bigint => rates.reduce((sum, { epochs }) => sum + epochs, 0n);
const firstOf = (rates: readonly EpochRates[]): bigint =>
  (rates.at(-1)?.epoch ?? 0n) - (rates.at(-1)?.epochs ?? 1n) + 1n;

/** The points of the days of a chart. */
export function daysPart(chart: "tvl" | "apy", days: readonly SampledDay[]): ExplainedPart {
  if (chart === "tvl") {
    return {
      inputs: days.map((day) => input(`total lamports at the end of ${day.day}`, placeOf(day), day.lamports)),
      steps: days.map(({ day, lamports }) => step(day, `${lamports} / 10^9`, native(lamports))),
    };
  }
  return joined(
    ...days.map((day) => {
      const { rate } = day;
      if (rate === null) return stepsOf(`${day.day} = 0, as no epoch had been counted`);
      const { lastLamports, lastTokens, periodMs, apy } = rate;
      const growth = `${day.lamports} · ${lastTokens} / (${lastLamports} · ${day.tokens})`;
      return {
        inputs: [
          ...sampleInputs(`at the end of ${day.day}`, day),
          input("last epoch total lamports", placeOf(day), lastLamports),
          input("last epoch pool token supply", placeOf(day), lastTokens),
          input("milliseconds that were counted", placeOf(day), periodMs),
        ],
        steps: [
          step(day.day, `((${growth})^(${secondsPerYear} / (${periodMs} / 1000)) - 1) · 100`, {
            units: apy,
            places: percentPlaces,
          }),
        ],
      };
    }),
  );
}
