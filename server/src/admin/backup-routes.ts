import { isAbsolute } from "node:path";
import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { backupCreate } from "@sluice/contract/schemas";
import type { Hono } from "hono";
import type { BackupJob } from "../backup/index.ts";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";

export interface BackupRouteDependencies {
  readonly state: Pick<State, "audit">;
  readonly backups: BackupJob;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

/** Backups, which are files of the server's own machine; for its commands. */
export function addBackupRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  { state, backups }: BackupRouteDependencies,
): void {
  app.get("/backup", (context) => context.json(backups.progress()));
  app.post("/backup", async (context) => {
    const { directory, passphrase } = await readInput(context.req.raw, backupCreate, bodyBounds);
    if (!isAbsolute(directory)) {
      const errors = [{ path: "directory", message: "must be an absolute path" }];
      throw new SluiceError("INVALID_INPUT", { details: { errors } });
    }
    backups.start({ directory, passphrase });
    const detail = { directory, with_master_key: passphrase !== null };
    await state.audit.append({ actor, action: "state.backup", subject: "backup", detail });
    return context.json(backups.progress(), 202);
  });
}
