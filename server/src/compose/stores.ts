import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { type Hot, openHot } from "../hot/index.ts";
import { createLedgerEvents, type Ledger, openLedger } from "../ledger/index.ts";
import type { Log } from "../observe/index.ts";
import { openState, type State } from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";

export interface Stores {
  readonly state: State;
  readonly ledger: Ledger;
  readonly hot: Hot;
}

/** What the stores, and whoever else keeps files there, may leave in the data directory. */
export const storeParts = ["state", "ledger", "credits", "console", "sluice.sock"] as const;

export const stateOptions = (config: Config) => ({
  directory: join(config.stores.directory, "state"),
  databaseUrl: config.stores.databaseUrl,
});

/**
 * Opens all three stores side by side and puts them on the stack. When one cannot be opened, those that could are closed
 * again and the fault goes on, state's first: a directory that another server holds is then told as just that.
 */
export async function openStores(config: Config, dependencies: Dependencies): Promise<Stores> {
  const { clock, random, log, resources } = dependencies;
  const state = resources.use(await openState(stateOptions(config), { clock, random, log }));
  resources.use(sweepSessions(state, log));
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

const sweepMs = 3_600_000;

/** Takes expired sessions away now and then; they open nothing while they are still there. */
function sweepSessions(state: State, log: Log): Disposable {
  const sweep = (): void => {
    state.sessions
      .deleteExpired()
      .catch((fault: unknown) => log.warn({ fault }, "expired sessions could not be removed"));
  };
  const timer = setInterval(sweep, sweepMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
