import type { Connection } from "../connection.ts";
import { Bundles } from "./bundles.ts";
import { Cursors } from "./cursors.ts";
import { EncryptionKeys } from "./encryption-keys.ts";
import type { EngineStores } from "./engine-records.ts";
import { Replays } from "./replays.ts";
import { Reputations } from "./reputations.ts";
import { Searchers } from "./searchers.ts";
import { EngineSwitches } from "./switches.ts";

export function engineStores(connection: Connection): EngineStores {
  return {
    bundles: new Bundles(connection),
    searchers: new Searchers(connection),
    switches: new EngineSwitches(connection),
    reputations: new Reputations(connection),
    encryptionKeys: new EncryptionKeys(connection),
    replays: new Replays(connection),
    cursors: new Cursors(connection),
  };
}
