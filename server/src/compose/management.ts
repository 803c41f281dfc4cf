import type { Clock, Random } from "@sluice/lib";
import { createManagement, type EngineBoard } from "../admin/index.ts";
import type { Credits } from "../credits/index.ts";
import { createRequestIds } from "../http/index.ts";
import type { Log } from "../observe/index.ts";
import type { Forgetting } from "./forgetting.ts";
import { listMigrations } from "./migrations.ts";
import type { Reload } from "./reload.ts";
import type { Stores } from "./stores.ts";

export interface ManagementParts {
  readonly stores: Stores;
  readonly credits: Pick<Credits, "spent">;
  readonly forgetting: Forgetting;
  readonly engineBoard: EngineBoard;
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
      forgetKey: (hash) => parts.forgetting.forgetKey(hash),
      forgetAccount: (accountId) => parts.forgetting.forgetAccount(accountId),
      engine: parts.engineBoard,
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
