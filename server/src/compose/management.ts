import type { Clock, Random } from "@sluice/lib";
import { createManagement, type EngineControl } from "../admin/index.ts";
import type { Credits } from "../credits/index.ts";
import { createRequestIds } from "../http/index.ts";
import type { RevocationFeed } from "../keys/index.ts";
import type { Log } from "../observe/index.ts";
import { listMigrations } from "./migrations.ts";
import type { Reload } from "./reload.ts";
import type { Stores } from "./stores.ts";

export interface ManagementParts {
  readonly stores: Stores;
  readonly credits: Pick<Credits, "spent">;
  readonly revocations: RevocationFeed;
  readonly engineControl: EngineControl;
  readonly reload: Reload;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The management application, answered the same way by a server and by a command that opened the stores itself. */
export function wireManagement(parts: ManagementParts) {
  const { state, ledger } = parts.stores;
  return createManagement(
    { actor: "operator" },
    {
      state,
      clock: parts.clock,
      random: parts.random,
      requestId: createRequestIds({ random: parts.random }),
      log: parts.log,
      invalidateKey: (hash) => parts.revocations.invalidateKey(hash),
      invalidateAccount: (accountId) => parts.revocations.invalidateAccount(accountId),
      engine: parts.engineControl,
      reload: parts.reload,
      creditsUsed: (accountId) => parts.credits.spent(accountId),
      usage: async (accountId) => {
        await ledger.requests.flush();
        return await ledger.requests.lastHour(accountId);
      },
      migrations: () => listMigrations(state, ledger),
    },
  );
}
