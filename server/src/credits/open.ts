import type { Random } from "@sluice/lib";
import { createCredits } from "./credits.ts";
import type { Credits, CreditsDependencies, CreditsOptions } from "./interfaces.ts";
import { Reconciler, type ReconcilerDependencies } from "./reconciler.ts";
import { tallyInMemory } from "./tally.ts";
import { createTally, type OwnTally, readBootId } from "./tally-file.ts";

export interface OpenCreditsOptions extends CreditsOptions {
  /** Where this and other processes of the host keep their tallies; made where it is missing. */
  readonly directory: string;
  /** What is counted: `credits`, or the product whose requests are. */
  readonly meter: string;
}

export type OpenCreditsDependencies = Omit<CreditsDependencies, "tally"> &
  ReconcilerDependencies & { readonly random: Random };

const holderBytes = 12;
/** Lease accounts in memory, where no file can be kept. */
const entriesInMemory = 131_072;

/**
 * Credits with a tally in a file, so that what this process holds when it is killed can be settled; and settles what
 * others, dead by now, have left in the same directory. Disposing settles everything and takes the file away.
 */
export function openCredits(options: OpenCreditsOptions, dependencies: OpenCreditsDependencies): Credits {
  const { random, log } = dependencies;
  const place = { directory: options.directory, meter: options.meter, bootId: readBootId() };
  const holder = Buffer.from(random.bytes(holderBytes)).toString("hex");
  const own = ownTally(() => createTally(place, holder), holder, log);
  const credits = createCredits(options, { ...dependencies, tally: own.tally });
  const reconciler = new Reconciler({ place, own: holder }, dependencies);
  void reconciler.run();
  return {
    get isSettled() {
      return credits.isSettled;
    },
    take: (accountId, allowance, cost) => credits.take(accountId, allowance, cost),
    refund: (accountId, cost, takenAtMs) => credits.refund(accountId, cost, takenAtMs),
    spent: (accountId) => credits.spent(accountId),
    sweep: () => credits.sweep(),
    [Symbol.asyncDispose]: async () => {
      await reconciler[Symbol.asyncDispose]();
      await credits[Symbol.asyncDispose]();
      own.release(credits.isSettled);
    },
  };
}

function ownTally(create: () => OwnTally, holder: string, log: CreditsDependencies["log"]): OwnTally {
  try {
    return create();
  } catch (error) {
    log.warn({ error }, "no tally can be kept: what this process holds of credits stays charged if it is killed");
    return { tally: tallyInMemory(holder, entriesInMemory), release: () => undefined };
  }
}
