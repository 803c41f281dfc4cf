import { ManualClock } from "@sluice/lib";
import { createCredits } from "../credits.ts";
import type { CreditsOptions, CreditsStore } from "../interfaces.ts";
import { tallyInMemory } from "../tally.ts";
import { MeterInMemory } from "./meter-in-memory.ts";

export const lastSecondOfNovember = Date.UTC(2026, 10, 30, 23, 59, 59);

/** Credits over a store in memory that can be held back or made to fail; a tally of so many entries. */
export function bootCredits(
  options: Partial<CreditsOptions> = {},
  entries = 1_000,
  sweeps: "by hand" | "by itself" = "by hand",
) {
  const clock = new ManualClock(lastSecondOfNovember);
  const meter = new MeterInMemory();
  const warnings: string[] = [];
  const held: number[] = [];
  const store = {
    leases: [] as bigint[],
    /** Calls so far, by name. */
    calls: { lease: 0, giveBack: 0, settle: 0, bookAdvance: 0, openBooks: 0, used: 0 },
    isDown: false,
    fault: new Error("store down"),
    isForgetful: false,
    gate: null as Promise<void> | null,
    /** Calls of this name fail, so many times. */
    failing: { name: "settle" as keyof CreditsStore, times: 0 },
  };
  const reach = async <T>(name: keyof CreditsStore, work: () => Promise<T>): Promise<T> => {
    store.calls[name] += 1;
    if (store.gate !== null) await store.gate;
    if (store.isDown) throw store.fault;
    if (store.failing.name === name && store.failing.times > 0) {
      store.failing.times -= 1;
      throw store.fault;
    }
    return work();
  };
  const tally = tallyInMemory("holder", entries);
  const credits = createCredits(
    { ...(sweeps === "by hand" ? { sweepIntervalMs: null } : {}), ...options },
    {
      clock,
      tally,
      store: {
        lease: (...lease) =>
          reach("lease", async () => {
            const granted = await meter.lease(...lease);
            store.leases.push(granted);
            if (store.isForgetful) throw new Error("the answer was lost");
            return granted;
          }),
        giveBack: (...giving) => reach("giveBack", () => meter.giveBack(...giving)),
        settle: (...settlement) => reach("settle", () => meter.settle(...settlement)),
        bookAdvance: (advance) => reach("bookAdvance", () => meter.bookAdvance(advance)),
        openBooks: (...asked) => reach("openBooks", () => meter.openBooks(...asked)),
        used: (...asked) => reach("used", () => meter.used(...asked)),
      },
      held: (leased) => void held.push(leased),
      log: { warn: (_fields, message) => void warnings.push(message) },
    },
  );
  /** Holds back every call from now on, or until the next `hold`; the function that is returned lets them go on. */
  const hold = (): (() => Promise<void>) => {
    const gate = Promise.withResolvers<void>();
    store.gate = gate.promise;
    return async () => {
      if (store.gate === gate.promise) store.gate = null;
      gate.resolve();
      await turn();
    };
  };
  const sweep = async (count = 1): Promise<void> => {
    for (let swept = 0; swept < count; swept += 1) await credits.sweep();
  };
  return { clock, credits, meter, used: meter.months, store, warnings, held, hold, sweep };
}

/** Lets everything run that waits for nothing but its turn. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
