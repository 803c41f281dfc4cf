import type { Network } from "@sluice/contract/tiers";
import type { Connection, StoreConnection } from "../connection.ts";
import type { EngineState, EngineStores } from "../engine-records.ts";
import { FencedConnection } from "../fenced-connection.ts";
import { Bundles } from "./bundles.ts";
import { Cursors } from "./cursors.ts";
import { EncryptionKeys } from "./encryption-keys.ts";
import { Replays } from "./replays.ts";
import { Reputations } from "./reputations.ts";
import { Searchers } from "./searchers.ts";
import { EngineSwitches } from "./switches.ts";

/** What operators write goes over the connections of all; the engine's own writes have their own. */
export interface EngineConnections {
  readonly general: Connection;
  readonly engine: Connection;
}

export function engineState({ general, engine }: EngineConnections): EngineState {
  const searchers = new Searchers(general);
  const switches = new EngineSwitches(general);
  const storesOn = (through: StoreConnection, network: Network): EngineStores => ({
    searchers,
    switches,
    bundles: new Bundles(through, network),
    reputations: new Reputations(through, network),
    encryptionKeys: new EncryptionKeys(through, network),
    replays: new Replays(through),
    cursors: new Cursors(through, network),
  });
  return {
    searchers,
    switches,
    of: (network) => ({
      ...storesOn(engine, network),
      under: (lease) => storesOn(new FencedConnection(engine, lease), network),
    }),
  };
}
