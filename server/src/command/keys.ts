import { keyEnvironments } from "@sluice/contract/api-key";
import type { KeyBody, KeyCreated, KeyRotated, Page } from "@sluice/contract/schemas";
import { networks, permissions } from "@sluice/contract/tiers";
import type { Command } from "commander";
import {
  addressRange,
  domainName,
  duration,
  limitOf,
  listOf,
  methodName,
  moment,
  momentOrNever,
  oneOf,
  wholeNumber,
  wholeNumberOrTier,
} from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { moreLine, type PageOptions, pageQuery, withPages } from "./paging.ts";
import { CommandFailure, table } from "./terminal.ts";

const root = "/api/v1/admin/keys";
const pathOf = (id: string): string => `${root}/${encodeURIComponent(id)}`;
const head = ["KEY", "ACCOUNT", "NAME", "HINT", "STATUS", "LAST USED"];
const row = (key: KeyBody) => [key.id, key.account_id, key.name, key.hint, key.status, key.last_used_at ?? "never"];
const shownOnce = ({ key, id, environment }: KeyCreated): string => {
  const warning = environment === "dev" ? "\nIt opens development servers alone: `sluice serve` refuses it." : "";
  return `${key}\n\nIt is shown this once: keep it. Its id is ${id}.${warning}`;
};

export function addKeyCommands(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("API keys");
  addCreate(keys, context);
  addReading(keys, context);
  addUpdate(keys, context);
  addStatus(keys, context);
  context
    .command(keys, "rotate", "replace a key by a new one that may do the same; the old one works for a while")
    .argument("<key>", "the key's id")
    .option("--overlap <duration>", "how long the old key still works, such as 90s, 15m, 12h, 7d", duration, 86_400)
    .action(async (id, options) => {
      const body = { overlap_seconds: options.overlap };
      const rotated = (await context.manage(options, {
        method: "POST",
        path: `${pathOf(id)}/rotate`,
        body,
      })) as KeyRotated;
      const until = `The old key ${rotated.replaces.id} works until ${rotated.replaces.expires_at}.`;
      context.print(options, rotated, () => `${shownOnce(rotated)}\n${until}`);
    });
}

/** The options that say what a key may do, and with whom. */
function withPowers(command: Command): Command {
  return command
    .option("--network <network>", "only this network (may be repeated)", listOf(oneOf(networks)))
    .option("--domain <domain>", "only this domain, or *.domain (may be repeated)", listOf(domainName))
    .option("--ip <range>", "only this address or CIDR range (may be repeated)", listOf(addressRange))
    .option("--permission <permission>", `${permissions.join(", ")} (may be repeated)`, listOf(oneOf(permissions)))
    .option(
      "--method <method>",
      "only this JSON-RPC method, or getToken* for several (may be repeated)",
      listOf(methodName),
    );
}

interface Powers {
  readonly network?: readonly string[];
  readonly domain?: readonly string[];
  readonly ip?: readonly string[];
  readonly permission?: readonly string[];
  readonly method?: readonly string[];
}

function addCreate(keys: Command, context: CommandContext): void {
  const command = context
    .command(keys, "create", "create a key; it is shown once")
    .requiredOption("--account <id>", "the owner account")
    .option("--name <name>", "what people call it", "key")
    .option("--environment <environment>", "live or dev; serve refuses dev keys", oneOf(keyEnvironments), "live");
  withPowers(command)
    .option("--requests-per-second <n>", "a rate below the account's", wholeNumber)
    .option("--expires <time>", "ISO 8601, after which the key is inactive", moment)
    .action(async (options) => {
      const { network = [], domain = [], ip = [], permission, method }: Powers = options;
      const body = {
        account_id: options.account,
        name: options.name,
        environment: options.environment,
        restrictions: { networks: network, domains: domain, ipRanges: ip },
        ...(permission !== undefined && { permissions: permission }),
        ...(method !== undefined && { methods: method }),
        ...(options.requestsPerSecond !== undefined && { requests_per_second: options.requestsPerSecond }),
        ...(options.expires !== undefined && { expires_at: options.expires }),
      };
      const created = (await context.manage(options, { method: "POST", path: root, body })) as KeyCreated;
      context.print(options, created, () => shownOnce(created));
    });
}

function addReading(keys: Command, context: CommandContext): void {
  withPages(context.command(keys, "list", "list keys, oldest first"))
    .option("--account <id>", "of this owner account only")
    .action(async (options: PageOptions & { readonly account?: string }) => {
      const query = pageQuery(options, { account_id: options.account });
      const page = (await context.manage({ ...options }, { path: `${root}?${query}` })) as Page<KeyBody>;
      context.print({ ...options }, page, () => table(head, page.items.map(row)) + moreLine(page.next_cursor));
    });
  context
    .command(keys, "show", "show a key: what it may do, from where and until when")
    .argument("<key>", "the key's id")
    .action(async (id, options) => {
      const key = (await context.manage(options, { path: pathOf(id) })) as KeyBody;
      context.print(options, key, () => describe(key));
    });
}

function describe(key: KeyBody): string {
  const all = (entries: readonly string[]): string => (entries.length === 0 ? "any" : entries.join(", "));
  const { networks: chains, domains, ipRanges } = key.restrictions;
  return table(
    ["KEY", key.id],
    [
      ["account", key.account_id],
      ["name", key.name],
      ["hint", key.hint],
      ["environment", key.environment],
      ["status", key.status],
      ["permissions", key.permissions.length === 0 ? "none" : key.permissions.join(", ")],
      ["methods", all(key.methods)],
      ["networks", all(chains)],
      ["domains", all(domains)],
      ["addresses", all(ipRanges)],
      ["requests/s", key.requests_per_second ?? "the account's"],
      ["expires", key.expires_at ?? "never"],
      ["created", key.created_at],
      ["last used", key.last_used_at ?? "never"],
    ],
  );
}

function addUpdate(keys: Command, context: CommandContext): void {
  const command = context
    .command(keys, "update", "change a key; what is not named stays as it is")
    .argument("<key>", "the key's id")
    .option("--name <name>", "what people call it");
  withPowers(command)
    .option("--unrestricted", "on any network, from any domain and address, but for those named beside it")
    .option("--all-methods", "any JSON-RPC method that its permissions allow")
    .option("--requests-per-second <n>", "a rate below the account's; 'tier' for none of its own", wholeNumberOrTier)
    .option("--expires <time>", "ISO 8601, after which the key is inactive; or 'never'", momentOrNever)
    .action(async (id, options) => {
      const { permission, method = options.allMethods === true ? [] : undefined }: Powers = options;
      const restrictions = await restrictionsOf(context, id, options);
      const body = {
        ...(options.name !== undefined && { name: options.name }),
        ...(permission !== undefined && { permissions: permission }),
        ...(method !== undefined && { methods: method }),
        ...(restrictions !== null && { restrictions }),
        ...(options.requestsPerSecond !== undefined && { requests_per_second: limitOf(options.requestsPerSecond) }),
        ...(options.expires !== undefined && { expires_at: options.expires === "never" ? null : options.expires }),
      };
      if (Object.keys(body).length === 0) throw new CommandFailure("name what is to change, such as --name or --ip");
      const key = (await context.manage(options, { method: "PATCH", path: pathOf(id), body })) as KeyBody;
      context.print(options, key, () => describe(key));
    });
}

/** The API replaces all restrictions at once: those that are not named are taken from the key as it is. */
async function restrictionsOf(
  context: CommandContext,
  id: string,
  options: Powers & { readonly unrestricted?: boolean },
): Promise<KeyBody["restrictions"] | null> {
  const { network, domain, ip, unrestricted = false } = options;
  if (network === undefined && domain === undefined && ip === undefined && !unrestricted) return null;
  const before = unrestricted ? null : ((await context.manage({ ...options }, { path: pathOf(id) })) as KeyBody);
  const { networks: chains = [], domains = [], ipRanges = [] } = before?.restrictions ?? {};
  return {
    networks: networks.filter((each) => (network ?? chains).includes(each)),
    domains: [...(domain ?? domains)],
    ipRanges: [...(ip ?? ipRanges)],
  };
}

function addStatus(keys: Command, context: CommandContext): void {
  for (const [name, status, meaning] of [
    ["disable", "disabled", "refuse a key until it is enabled, at once on every endpoint"],
    ["enable", "active", "accept a disabled key again"],
  ] as const) {
    context
      .command(keys, name, meaning)
      .argument("<key>", "the key's id")
      .action(async (id, options) => {
        const key = await context.manage(options, { method: "PATCH", path: pathOf(id), body: { status } });
        context.print(options, key, () => table(head, [row(key as KeyBody)]));
      });
  }
  context
    .command(keys, "revoke", "revoke a key for ever, at once on every endpoint")
    .argument("<key>", "the key's id")
    .action(async (id, options) => {
      await context.manage(options, { method: "DELETE", path: pathOf(id) });
      const key = await context.manage(options, { path: pathOf(id) });
      context.print(options, key, () => table(head, [row(key as KeyBody)]));
    });
}
