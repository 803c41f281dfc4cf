import { join } from "node:path";
import type { Clock, Random } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import { type Credits, openCredits } from "../credits/index.ts";
import type { Events, Log } from "../observe/index.ts";
import type { CreditStore, MeteredProduct } from "../state/index.ts";

interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: Events;
  readonly resources: AsyncDisposableStack;
}

/** Where processes of this data directory keep the tallies of what they spend. */
const tallyDirectory = (config: Config): string => join(config.stores.directory, "credits");

/** Credits, or the requests of a product, over their store, with a tally in the data directory. */
export function wireCredits(
  config: Config,
  { meter, store }: { readonly meter: "credits" | MeteredProduct; readonly store: CreditStore },
  { clock, random, log, events, resources }: Dependencies,
): Credits {
  return resources.use(
    openCredits({ directory: tallyDirectory(config), meter }, { clock, random, log, events, store }),
  );
}
