import type { KeyBody, KeyCreated } from "@sluice/contract/schemas";
import type { Command } from "commander";
import { wholeNumber } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

interface Listed {
  items: KeyBody[];
  next_cursor: string | null;
}

const head = ["KEY", "ACCOUNT", "NAME", "HINT", "STATUS", "LAST USED"];
const row = (key: KeyBody) => [key.id, key.account_id, key.name, key.hint, key.status, key.last_used_at ?? "never"];
const collect = (value: string, before: string[]): string[] => [...before, value];

export function addKeyCommands(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("API keys");
  context
    .command(keys, "create", "create a key; it is shown once")
    .requiredOption("--account <id>", "the owner account")
    .option("--name <name>", "what people call it", "key")
    .option("--environment <environment>", "live or dev; serve refuses dev keys", "live")
    .option("--network <network>", "only this network (may be repeated)", collect, [])
    .option("--domain <domain>", "only this domain, or *.domain (may be repeated)", collect, [])
    .option("--ip <range>", "only this address or CIDR range (may be repeated)", collect, [])
    .option(
      "--permission <permission>",
      "read, bundles:write, webhooks:write, keys:write, admin (may be repeated)",
      collect,
      [],
    )
    .option("--requests-per-second <n>", "a rate below the account's", wholeNumber)
    .option("--expires <time>", "ISO 8601, after which the key is inactive")
    .action(async (options) => {
      const permissions: string[] = options.permission;
      const created = (await context.manage(options, "POST", "/keys", {
        account_id: options.account,
        name: options.name,
        environment: options.environment,
        restrictions: { networks: options.network, domains: options.domain, ipRanges: options.ip },
        ...(permissions.length > 0 && { permissions }),
        ...(options.requestsPerSecond !== undefined && { requests_per_second: options.requestsPerSecond }),
        ...(options.expires && { expires_at: isoTime(options.expires) }),
      })) as KeyCreated;
      context.print(
        options,
        created,
        () => `${created.key}\n\nIt is shown this once: keep it. Its id is ${created.id}.`,
      );
    });
  context
    .command(keys, "list", "list keys, oldest first")
    .option("--account <id>", "of this owner account only")
    .option("--limit <n>", "how many at most", "50")
    .option("--cursor <cursor>", "where the page before ended")
    .action(async (options) => {
      const query = new URLSearchParams({
        limit: options.limit,
        ...(options.cursor && { cursor: options.cursor }),
        ...(options.account && { account_id: options.account }),
      });
      const page = (await context.manage(options, "GET", `/keys?${query}`)) as Listed;
      context.print(options, page, () => table(head, page.items.map(row)));
    });
  context
    .command(keys, "revoke", "revoke a key for ever, at once on every endpoint")
    .argument("<key>", "the key's id")
    .action(async (id, options) => {
      const body = { status: "revoked" };
      const key = await context.manage(options, "POST", `/keys/${encodeURIComponent(id)}/status`, body);
      context.print(options, key, () => table(head, [row(key as KeyBody)]));
    });
}

/** Reads any ISO 8601 text; any other text goes on as it is, for the server to refuse by name. */
function isoTime(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}
