import { platformTierLimits } from "@sluice/contract/tiers";
import { BoundedMap, type Clock } from "@sluice/lib";
import type { Credits } from "../credits/index.ts";
import type { State } from "../state/index.ts";

/** The price of a delivery that succeeded or was given up. Source: decisions, Platform, Credits. */
const price = 1;
/** How long a change of an account's tier may go unnoticed by deliveries. */
const keptMs = 30_000;
const accountsMax = 10_000;

interface KnownAccount {
  readonly untilMs: number;
  /** Null is unlimited. */
  readonly monthly: bigint | null;
}

interface ChargesDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly accounts: Pick<State["accounts"], "get">;
  readonly credits: Pick<Credits, "take" | "refund">;
}

/** The credits of deliveries: no key is looked at when one goes out, so the account's month is looked up here. */
export class WebhookCharges {
  readonly #dependencies: ChargesDependencies;
  readonly #known = new BoundedMap<string, KnownAccount>({ max: accountsMax });

  constructor(dependencies: ChargesDependencies) {
    this.#dependencies = dependencies;
  }

  take(accountId: string): boolean | Promise<boolean> {
    const known = this.#known.get(accountId);
    if (known === undefined || known.untilMs <= this.#dependencies.clock.monotonic()) return this.#takeAnew(accountId);
    return this.#dependencies.credits.take(accountId, known.monthly, price);
  }

  refund(accountId: string, takenAtMs: number): void {
    this.#dependencies.credits.refund(accountId, price, takenAtMs);
  }

  async #takeAnew(accountId: string): Promise<boolean> {
    const { accounts, clock, credits } = this.#dependencies;
    const account = await accounts.get(accountId);
    // Its webhooks have gone with it.
    if (account === null || account.disabledAt !== null) return false;
    const monthly = account.creditsMonthly ?? platformTierLimits[account.tiers.platform].creditsMonthly;
    this.#known.set(accountId, { untilMs: clock.monotonic() + keptMs, monthly });
    return await credits.take(accountId, monthly, price);
  }
}
