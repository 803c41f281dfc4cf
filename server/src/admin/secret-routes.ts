import { SluiceError } from "@sluice/contract/errors";
import type { SecretVault } from "@sluice/lib";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { State } from "../state/index.ts";
import { forgetSecrets, rotateSecrets, surveySecrets } from "./stored-secrets.ts";

export interface SecretRouteDependencies {
  readonly state: Pick<State, "secrets" | "audit" | "processes">;
  /** With the master keys of the process. */
  readonly vault: SecretVault;
}

/** Processes that a refusal names. */
const namedMax = 5;

const keyIdForm = /^(?:[0-9a-f]{16}|unnamed)$/;

/** Stored secrets and the master keys that they are under; for the commands of the server's own machine. */
export function addSecretRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  { state, vault }: SecretRouteDependencies,
): void {
  const secrets = { store: state.secrets, vault };
  app.get("/secrets", async (context) => context.json(await surveySecrets(secrets)));
  app.post("/secrets/rotate", async (context) => {
    if (vault.keyId === null) throw new SluiceError("CONFLICT", { message: "There is no MASTER_KEY to encrypt with" });
    await requireKeyEverywhere(vault.keyId, state.processes);
    const outcome = await rotateSecrets(secrets);
    const { unreadable, ...detail } = outcome;
    const entry = { actor, action: "secrets.rotate", subject: vault.keyId };
    await state.audit.append({ ...entry, detail: { ...detail, unreadable: unreadable.length } });
    return context.json(outcome);
  });
  app.delete("/secrets/:key", async (context) => {
    const keyId = context.req.param("key");
    if (!keyIdForm.test(keyId)) {
      const errors = [{ path: "key", message: "must be the id of a master key: 16 hexadecimal digits, or unnamed" }];
      throw new SluiceError("INVALID_INPUT", { details: { errors } });
    }
    const forgotten = await forgetSecrets(secrets, keyId);
    const detail = { forgotten: forgotten.slice(0, 100), count: forgotten.length };
    if (forgotten.length > 0) await state.audit.append({ actor, action: "secrets.forget", subject: keyId, detail });
    return context.json({ forgotten });
  });
}

/** A process without the new key would leave out, from its next reading on, what is encrypted under it. */
async function requireKeyEverywhere(keyId: string, processes: Pick<State["processes"], "list">): Promise<void> {
  const lacking = (await processes.list()).filter(({ masterKeys }) => masterKeys?.includes(keyId) !== true);
  if (lacking.length === 0) return;
  const named = lacking.slice(0, namedMax).map(({ id, roles, version, masterKeys }) => {
    const has = masterKeys === null ? "does not tell its keys" : `has ${masterKeys.join(", ") || "none"}`;
    return `${id} (version ${version}, roles ${roles.join(", ")}) ${has}`;
  });
  throw new SluiceError("CONFLICT", {
    message:
      `MASTER_KEY is the key ${keyId}, and ${lacking.length} of the processes on this database cannot open what is ` +
      `encrypted with it: ${named.join("; ")}. Start them with it in MASTER_KEY or MASTER_KEY_PREVIOUS first`,
  });
}
