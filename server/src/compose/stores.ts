import { join } from "node:path";
import type { Timer } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import { type Credits, createCreditsEvents, openCredits } from "../credits/index.ts";
import { type Hot, openHot } from "../hot/index.ts";
import { createLedgerEvents, type Ledger, openLedger } from "../ledger/index.ts";
import { type CreditStore, type MeteredProduct, openState, type State } from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";

export interface Stores {
  readonly state: State;
  readonly ledger: Ledger;
  readonly hot: Hot;
}

const sweepMs = 3_600_000;

/** The files and folders of a server in its data directory. */
export const storeParts = ["state", "ledger", "credits", "console", "sluice.sock"] as const;

export const stateOptions = (config: Config) => ({
  directory: join(config.stores.directory, "state"),
  databaseUrl: config.stores.databaseUrl,
});

/**
 * Opens all three stores and puts them on the stack. Rejects with the first store's error when one does not open,
 * having closed the others; state comes first, so that a directory that another server holds is reported as such.
 */
export async function openStores(config: Config, dependencies: Dependencies): Promise<Stores> {
  const { clock, random, log, resources } = dependencies;
  const state = resources.use(await openState(stateOptions(config), { clock, random, log }));
  resources.use(sweepSessions(state, dependencies));
  const [ledger, hot] = await Promise.allSettled([
    openLedger(
      {
        directory: join(config.stores.directory, "ledger"),
        clickhouseUrl: config.stores.clickhouseUrl,
        cluster: config.stores.clickhouseCluster,
      },
      { clock, random, log, events: createLedgerEvents(dependencies) },
    ),
    openHot({ redisUrl: config.stores.redisUrl }, { clock, log, random }),
  ]);
  if (ledger.status === "fulfilled") resources.use(ledger.value);
  if (hot.status === "fulfilled") resources.use(hot.value);
  if (ledger.status === "rejected") throw ledger.reason;
  if (hot.status === "rejected") throw hot.reason;
  return { state, ledger: ledger.value, hot: hot.value };
}

/** Removes expired sessions every hour; they open nothing while they are still stored. */
function sweepSessions(state: State, { clock, log }: Dependencies): Timer {
  return clock.every(sweepMs, () => {
    state.sessions
      .deleteExpired()
      .catch((error: unknown) => log.warn({ error }, "expired sessions could not be removed"));
  });
}

/** Credits, or the requests of a product, over their store, with a tally in the data directory. */
export function openMeter(
  config: Config,
  { meter, store }: { readonly meter: "credits" | MeteredProduct; readonly store: CreditStore },
  dependencies: Dependencies,
): Credits {
  const { clock, random, log, resources } = dependencies;
  const directory = join(config.stores.directory, "credits");
  const events = createCreditsEvents(dependencies);
  return resources.use(openCredits({ directory, meter }, { clock, random, log, events, store }));
}
