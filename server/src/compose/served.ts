import type { Config } from "../config/index.ts";
import { ServedRequests } from "../credits/index.ts";
import { type RequestFact, statusStillOpen } from "../ledger/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { openMeter, type Stores } from "./stores.ts";

/** Takes the facts of all endpoints, and knows how many there were. */
export interface FactKeeper {
  append(fact: RequestFact): void;
  /** Requests of an account that were served in a month, recorded or not. */
  served(accountId: string, month: string): Promise<bigint>;
}

/** Each fact goes to the ledger, and is counted in the state store: a kill may take the one and not the other. */
export function openFactKeeper(config: Config, dependencies: Dependencies & { readonly stores: Stores }): FactKeeper {
  const { clock, log, stores } = dependencies;
  const store = stores.state.served;
  const meter = openMeter(config, { meter: "served", store, sweepIntervalMs: reportMs }, dependencies);
  const counted = new ServedRequests({ clock, meter, store, log });
  const { requests } = stores.ledger;
  return {
    append: (fact) => {
      requests.append(fact);
      if (fact.status !== statusStillOpen) counted.count(fact.accountId, fact.at);
    },
    served: (accountId, month) => counted.served(accountId, month),
  };
}

/** How often the counts go to the state store; until then a kill leaves them in the tally. */
const reportMs = 5_000;
