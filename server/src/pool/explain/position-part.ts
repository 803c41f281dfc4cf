import { secondsPerYear } from "../arithmetic.ts";
import { native } from "../decimal.ts";
import type { WalletPosition } from "../position/position-figures.ts";
import { type ExplainedPart, input, momentText, step } from "./explanation.ts";

/** A wallet's tokens, their value, their cost by its movements, and what they brought. */
export function positionPart(position: WalletPosition): ExplainedPart {
  const { wallet, pool, figures, basis, accounts } = position;
  const { lamports, tokens: supply } = pool.holdings;
  const held = { units: figures.tokens, places: pool.decimals };
  const worth = (amount: bigint): string => `floor(${amount} · ${lamports} / ${supply})`;
  return {
    inputs: [
      input("tokens", accounts.length === 0 ? `${wallet}, which has no account` : accounts.join(", "), figures.tokens),
    ],
    steps: [
      step("tokenBalance", `${figures.tokens} / 10^${pool.decimals}`, held),
      step("valueInNative", `${worth(figures.tokens)} / 10^9`, native(figures.value)),
      ...basis.steps,
      `cost of ${basis.known} tokens = ${basis.lamports}; ${basis.unknown} tokens are of unknown cost and count as 0`,
      step("unrealizedRewards", `(${worth(basis.known)} - ${basis.lamports}) / 10^9`, native(figures.rewards)),
      apyStep(position),
    ],
  };
}

function apyStep({ figures, basis, nowMs, epochSeconds }: WalletPosition): string {
  if (basis.lamports === 0n) return "apyEarned = 0, as no cost is known";
  const seconds = (nowMs - basis.heldSinceMs) / 1_000;
  const since = `held since ${momentText(basis.heldSinceMs)} on average of cost, ${seconds} s`;
  if (epochSeconds === null || seconds < epochSeconds) return `apyEarned = 0, as it is ${since}, less than an epoch`;
  const power = `${secondsPerYear} / ${seconds}`;
  return `${step("apyEarned", `((1 + ${figures.rewards} / ${figures.cost})^(${power}) - 1) · 100`, figures.apy)}, ${since}`;
}
