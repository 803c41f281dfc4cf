import { type Clock, type Random, systemClock, systemRandom } from "@sluice/lib";
import { engineControl } from "../admin/index.ts";
import type { Config } from "../config/index.ts";
import { createCredits, tallyInMemory } from "../credits/index.ts";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import { wireManagement } from "./management.ts";
import { openStores } from "./stores.ts";

export interface OfflineManagement extends AsyncDisposable {
  fetch(request: Request): Response | Promise<Response>;
}

/** The management application over stores that this process opens itself, for commands while no server runs. */
export async function composeManagement(config: Config): Promise<OfflineManagement> {
  const clock: Clock = systemClock;
  const random: Random = systemRandom;
  // A command prints its answer; what a store has to say on opening is for a server's log.
  const log = createLog({ level: "warn", destination: "stderr" });
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock }));
  const events = createServerEvents({ log, metrics });
  const stores = await openStores(config, { clock, random, log, metrics, events, resources: opening });
  // Nothing is spent here; what is asked is what was used.
  const credits = opening.use(
    createCredits({ sweepIntervalMs: null }, { clock, log, store: stores.state.credits, tally: tallyInMemory("", 0) }),
  );
  const management = wireManagement({
    clock,
    random,
    log,
    credits,
    stores,
    engineControl: engineControl(null),
    reload: async () => ({ kind: "unavailable" }),
    // No server runs, so nobody has anything to forget.
    revocations: { invalidateKey: () => {}, subscribe: () => undefined, invalidateAccount: () => {} },
  });
  const resources = opening.move();
  return {
    fetch: (request) => management.fetch(request),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
