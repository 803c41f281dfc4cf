import type { AccountBody, AccountCredits, Page } from "@sluice/contract/schemas";
import { oracleTiers, oracleV2Tiers, type Product, platformTiers } from "@sluice/contract/tiers";
import type { Command } from "commander";
import { amountOrTier, limitOf, oneOf, wholeNumberOrTier } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { moreLine, type PageOptions, pageQuery, withPages } from "./paging.ts";
import { CommandFailure, table } from "./terminal.ts";

const root = "/api/v1/admin/accounts";
const pathOf = (id: string): string => `${root}/${encodeURIComponent(id)}`;

const row = (account: AccountBody) => [
  account.id,
  account.name,
  account.status,
  account.tiers.platform,
  account.tiers.oracle,
  account.tiers["oracle-v2"],
  account.created_at,
];
const head = ["ACCOUNT", "NAME", "STATUS", "PLATFORM", "ORACLE", "ORACLE V2", "CREATED"];

type Options = Readonly<Record<string, unknown>>;

export function addAccountCommands(program: Command, context: CommandContext): void {
  const accounts = program.command("accounts").description("owner accounts: who owns keys and pays with credits");
  const change = async (options: Options, id: string, body: object): Promise<void> => {
    const account = await context.manage(options, { method: "PATCH", path: pathOf(id), body });
    context.print(options, account, () => table(head, [row(account as AccountBody)]));
  };
  addCreate(accounts, context);
  withPages(context.command(accounts, "list", "list owner accounts, oldest first")).action(
    async (options: PageOptions & Options) => {
      const page = (await context.manage(options, { path: `${root}?${pageQuery(options)}` })) as Page<AccountBody>;
      context.print(options, page, () => table(head, page.items.map(row)) + moreLine(page.next_cursor));
    },
  );
  context
    .command(accounts, "show", "show an account with its limits")
    .argument("<account>", "the account's id")
    .action(async (id, options) => {
      const account = (await context.manage(options, { path: pathOf(id) })) as AccountBody;
      const limits = `requests a second: ${account.requests_per_second ?? "those of its tier"}; credits a month: ${account.credits_monthly ?? "those of its tier"}`;
      context.print(options, account, () => `${table(head, [row(account)])}\n\n${limits}`);
    });
  context
    .command(accounts, "rename", "give an account another name")
    .argument("<account>", "the account's id")
    .argument("<name>", "what people call it from now on")
    .action(async (id, name, options) => await change(options, id, { name }));
  context
    .command(accounts, "disable", "refuse all keys of an account until it is enabled, at once on every endpoint")
    .argument("<account>", "the account's id")
    .action(async (id, options) => await change(options, id, { status: "disabled" }));
  context
    .command(accounts, "enable", "accept the keys of a disabled account again")
    .argument("<account>", "the account's id")
    .action(async (id, options) => await change(options, id, { status: "active" }));
  addTiersAndLimits(accounts, context, change);
  addReports(accounts, context);
}

function addCreate(accounts: Command, context: CommandContext): void {
  context
    .command(accounts, "create", "create an owner account")
    .requiredOption("--name <name>", "what people call it")
    .option("--tier <tier>", `platform tier: ${platformTiers.join(", ")}`, oneOf(platformTiers), "free")
    .option(
      "--oracle-tier <tier>",
      `price oracle, variant 1: ${oracleTiers.join(", ")}`,
      oneOf(oracleTiers),
      "community",
    )
    .option(
      "--oracle-v2-tier <tier>",
      `price oracle, variant 2: ${oracleV2Tiers.join(", ")}`,
      oneOf(oracleV2Tiers),
      "community",
    )
    .action(async (options) => {
      const tiers = { platform: options.tier, oracle: options.oracleTier, "oracle-v2": options.oracleV2Tier };
      const body = { name: options.name, tiers };
      const account = await context.manage(options, { method: "POST", path: root, body });
      context.print(options, account, () => table(head, [row(account as AccountBody)]));
    });
}

const tiersOf: Readonly<Record<Product, readonly string[]>> = {
  platform: platformTiers,
  oracle: oracleTiers,
  "oracle-v2": oracleV2Tiers,
};
const products = ["platform", "oracle", "oracle-v2"] as const;

function addTiersAndLimits(
  accounts: Command,
  context: CommandContext,
  change: (options: Options, id: string, body: object) => Promise<void>,
): void {
  context
    .command(accounts, "set-tier", "move an account to another tier")
    .argument("<account>", "the account's id")
    .argument("<tier>", "the new tier")
    .option("--product <product>", products.join(", "), oneOf(products), "platform")
    .action(async (id, tier: string, options) => {
      const product: Product = options.product;
      if (!tiersOf[product].includes(tier)) {
        throw new CommandFailure(`<tier> of the product ${product} must be one of ${tiersOf[product].join(", ")}`);
      }
      await change(options, id, { tiers: { [product]: tier } });
    });
  context
    .command(accounts, "set-limits", "set the limits of an account; 'tier' restores those of its tier")
    .argument("<account>", "the account's id")
    .option("--credits-monthly <n>", "credits a month", amountOrTier)
    .option("--requests-per-second <n>", "requests a second", wholeNumberOrTier)
    .action(async (id, options) => {
      const { requestsPerSecond, creditsMonthly } = options;
      if (requestsPerSecond === undefined && creditsMonthly === undefined) {
        throw new CommandFailure("give --credits-monthly or --requests-per-second");
      }
      await change(options, id, {
        ...(creditsMonthly !== undefined && { credits_monthly: limitOf(creditsMonthly) }),
        ...(requestsPerSecond !== undefined && { requests_per_second: limitOf(requestsPerSecond) }),
      });
    });
}

function addReports(accounts: Command, context: CommandContext): void {
  context
    .command(accounts, "credits", "what an account has spent this month")
    .argument("<account>", "the account's id")
    .action(async (id, options) => {
      const path = `/accounts/${encodeURIComponent(id)}/credits`;
      const credits = (await context.manage(options, { path })) as AccountCredits;
      context.print(
        options,
        credits,
        () => `${credits.month}: ${credits.used} of ${credits.monthly ?? "unlimited"} credits${heldText(credits)}`,
      );
    });
  context
    .command(
      accounts,
      "usage",
      "the last hour, and the month of the oracle's products; 'sluice usage' has days, methods and keys",
    )
    .argument("<account>", "the account's id")
    .action(async (id, options) => {
      const usage = (await context.manage(options, { path: `/accounts/${encodeURIComponent(id)}/usage` })) as {
        requests: number;
        errors: number;
        credits: number;
        months: Readonly<Record<string, ProductMonth>>;
      };
      context.print(options, usage, () =>
        [
          `last hour: ${usage.requests} requests, ${usage.errors} errors, ${usage.credits} credits`,
          ...Object.entries(usage.months).map(([product, month]) => monthLine(product, month)),
        ].join("\n"),
      );
    });
}

/** What a process that was killed had leased: how much of it is spent is known when the next one has looked. */
const heldText = ({ held }: AccountCredits): string =>
  held === "0" ? "" : `; ${held} held by processes that are gone, until the next start says what of it is spent`;

/** The requests of one product of the oracle in the present month. */
interface ProductMonth {
  readonly tier: string;
  readonly month: string;
  readonly used: number;
  readonly quota: number | null;
  readonly resets_at: string;
}

const monthLine = (product: string, { tier, month, used, quota, resets_at }: ProductMonth): string =>
  `${product} (${tier}), ${month}: ${used} of ${quota ?? "unlimited"} requests, resets at ${resets_at}`;
