import type { Network } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import type { UsdPrices } from "../enhanced/index.ts";
import { formatDecimal, type Oracle, PricesAsOf, symbolsOfMints } from "../oracle/index.ts";
import type { Stores } from "./stores.ts";

interface UsdPricesParts {
  /** Null where this process does not have the role: then prices are those that another one has recorded. */
  readonly oracle: Pick<Oracle, "summary"> | null;
  readonly ledger: Stores["ledger"];
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** The genesis hash of the chain that a network is now; null while it is not known. */
  readonly genesisOf: (network: Network) => string | null;
}

/** What a wallet is worth is told with prices of this age at most, beside the age of a record. */
const frequencySeconds = 1;

/** Prices of mints of which it is certain what they are, from the oracle of this process or as they are recorded. */
export function usdPrices(config: Config, { oracle, ledger, clock, log, genesisOf }: UsdPricesParts): UsdPrices {
  const recorded = new PricesAsOf({ clock, ledger });
  const symbols = new Map<string, ReadonlyMap<string, string>>();
  const symbolsByMint = (network: Network): ReadonlyMap<string, string> => {
    const genesisHash = genesisOf(network);
    const key = `${network} ${genesisHash}`;
    const pools = network === config.networkDefault ? config.oracle.pools : [];
    const known = symbols.get(key) ?? symbolsOfMints({ genesisHash, pools });
    symbols.set(key, known);
    return known;
  };
  return {
    symbolOf: (network, mint) => symbolsByMint(network).get(mint) ?? null,
    symbolsOf: (network) => new Set(symbolsByMint(network).values()),
    now: async () => {
      if (oracle !== null) {
        return new Map(
          oracle.summary(frequencySeconds).flatMap(({ symbol, price }) => (price === null ? [] : [[symbol, price]])),
        );
      }
      try {
        const prices = await recorded.at(clock.now());
        return new Map([...prices].map(([symbol, price]) => [symbol, formatDecimal(price)]));
      } catch (error) {
        log.warn({ error }, "prices cannot be read, and wallets are shown without values");
        return new Map();
      }
    },
  };
}
