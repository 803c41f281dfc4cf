import type { Network } from "@sluice/contract/tiers";
import type { Connection, StoreConnection } from "../connection.ts";
import type { EngineState, EngineStores } from "../engine-records.ts";
import { Bundles } from "./bundles.ts";
import { Cursors } from "./cursors.ts";
import { EncryptionKeys } from "./encryption-keys.ts";
import { FencedConnection } from "./fenced-connection.ts";
import { Leases } from "./leases.ts";
import { Replays } from "./replays.ts";
import { Reputations } from "./reputations.ts";
import { Searchers } from "./searchers.ts";
import { EngineSwitches } from "./switches.ts";

export function engineState(connection: Connection): EngineState {
  const searchers = new Searchers(connection);
  const switches = new EngineSwitches(connection);
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
    leases: new Leases(connection),
    of: (network) => ({
      ...storesOn(connection, network),
      under: (lease) => storesOn(new FencedConnection(connection, lease), network),
    }),
  };
}
