import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { type Credits, createCreditsEvents, openCredits } from "../credits/index.ts";
import type { CreditStore, MeteredProduct } from "../state/index.ts";
import type { Dependencies } from "./dependencies.ts";

/** Where processes of this data directory keep the tallies of what they spend. */
const tallyDirectory = (config: Config): string => join(config.stores.directory, "credits");

/** Credits, or the requests of a product, over their store, with a tally in the data directory. */
export function wireCredits(
  config: Config,
  { meter, store }: { readonly meter: "credits" | MeteredProduct; readonly store: CreditStore },
  dependencies: Dependencies,
): Credits {
  const { clock, random, log, resources } = dependencies;
  const events = createCreditsEvents(dependencies);
  return resources.use(
    openCredits({ directory: tallyDirectory(config), meter }, { clock, random, log, events, store }),
  );
}
