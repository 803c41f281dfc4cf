import { masterKeyId } from "@sluice/lib";
import type { Command } from "commander";
import type { RotationOutcome, SecretSurvey } from "../admin/index.ts";
import { type Config, managementSocketPath } from "../config/index.ts";
import type { CommandContext } from "./context.ts";
import { serverIsAt } from "./management-client.ts";
import { CommandFailure, table } from "./terminal.ts";

/** Stored secrets and the master keys that they are under. */
export function addSecretCommands(program: Command, context: CommandContext): void {
  const secrets = program.command("secrets").description("what is stored encrypted, and the master keys it is under");
  context
    .command(secrets, "list", "how many secrets are stored under which master key, and whether they can be read")
    .action(async (options) => {
      const survey = (await context.manage(options, { path: "/secrets" })) as SecretSurvey;
      context.print(options, survey, () => describe(survey));
    });
  context
    .command(secrets, "rotate", "encrypt everything under MASTER_KEY; MASTER_KEY_PREVIOUS opens what is under others")
    .action(async (options) => {
      const call = { method: "POST", path: "/secrets/rotate" } as const;
      const outcome = (await context.manage(options, call)) as RotationOutcome;
      context.print(options, outcome, () => summary(outcome));
      if (outcome.unreadable.length > 0) {
        throw new CommandFailure(`no master key opens ${outcome.unreadable.slice(0, 20).join(", ")}`);
      }
      if (outcome.passed > 0) {
        throw new CommandFailure(`${outcome.passed} secrets were changed meanwhile; run it again`);
      }
    });
  context
    .command(secrets, "forget", "delete what is stored under a master key that is lost, with what it belongs to")
    .argument("<key id>", "as `sluice secrets list` prints it")
    .action(async (keyId, options) => {
      const call = { method: "DELETE", path: `/secrets/${encodeURIComponent(keyId)}` } as const;
      const outcome = (await context.manage(options, call)) as { readonly forgotten: readonly string[] };
      context.print(options, outcome, () =>
        outcome.forgotten.length === 0 ? "nothing is under this key that cannot be read" : outcome.forgotten.join("\n"),
      );
    });
}

/**
 * What keeps the master keys of a configuration from opening what is stored, or null: asked of the running server where
 * there is one, since it holds the stores, and of the stores themselves otherwise.
 */
export async function masterKeyFault(config: Config, ask: () => Promise<unknown>): Promise<string | null> {
  if (!(await serverIsAt(managementSocketPath(config)))) {
    const { secretFault } = await import("../compose.ts");
    return await secretFault(config);
  }
  const { groups } = (await ask()) as SecretSurvey;
  const own = [...(config.masterKey === null ? [] : [config.masterKey]), ...config.masterKeysPrevious].map(masterKeyId);
  const lost = groups.filter(({ key_id: id }) => id !== "plain" && id !== "unnamed" && !own.includes(id));
  if (lost.length === 0) return null;
  const what = lost.map(({ key_id: id, secrets }) => `${secrets} under the key ${id}`).join(", ");
  return `stored secrets are ${what}, which is none of ${own.join(", ")}: see sluice secrets list`;
}

function describe({ key_id, key_ids, groups }: SecretSurvey): string {
  const role = (id: string): string =>
    id === key_id ? "MASTER_KEY" : key_ids.includes(id) ? "MASTER_KEY_PREVIOUS" : "-";
  const rows = groups.map(({ key_id: id, secrets, readable }) => [id, role(id), secrets, readable]);
  const own = key_id === null ? "no MASTER_KEY" : `MASTER_KEY is ${key_id}`;
  return [own, table(["KEY", "IS", "SECRETS", "READABLE"], rows)].join("\n");
}

const summary = ({ key_id, rotated, present, unreadable }: RotationOutcome): string =>
  `under ${key_id}: ${rotated} now, ${present} before; ${unreadable.length} cannot be read`;
