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
  const free = { searchers: new Searchers(connection), switches: new EngineSwitches(connection) };
  return {
    ...free,
    ...poolStores(connection),
    leases: new Leases(connection),
    under: (lease) => ({ ...free, ...poolStores(new FencedConnection(connection, lease)) }),
  };
}

/** What the holder of the pool's lease alone writes. */
function poolStores(connection: StoreConnection): Omit<EngineStores, "searchers" | "switches"> {
  return {
    bundles: new Bundles(connection),
    reputations: new Reputations(connection),
    encryptionKeys: new EncryptionKeys(connection),
    replays: new Replays(connection),
    cursors: new Cursors(connection),
  };
}
