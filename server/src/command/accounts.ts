import type { AccountBody, AccountCredits } from "@sluice/contract/schemas";
import type { Command } from "commander";
import { wholeNumberOrTier } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { CommandFailure, table } from "./terminal.ts";

interface Listed {
  items: AccountBody[];
  next_cursor: string | null;
}

const row = (account: AccountBody) => [
  account.id,
  account.name,
  account.tiers.platform,
  account.tiers.oracle,
  account.tiers["oracle-v2"],
  account.created_at,
];
const head = ["ACCOUNT", "NAME", "PLATFORM", "ORACLE", "ORACLE V2", "CREATED"];

export function addAccountCommands(program: Command, context: CommandContext): void {
  const accounts = program.command("accounts").description("owner accounts: who owns keys and pays with credits");
  context
    .command(accounts, "create", "create an owner account")
    .requiredOption("--name <name>", "what people call it")
    .option("--tier <tier>", "platform tier: free, developer, business, professional, enterprise", "free")
    .action(async (options) => {
      const account = await context.manage(options, "POST", "/accounts", {
        name: options.name,
        tiers: { platform: options.tier },
      });
      context.print(options, account, () => table(head, [row(account as AccountBody)]));
    });
  context
    .command(accounts, "list", "list owner accounts, oldest first")
    .option("--limit <n>", "how many at most", "50")
    .option("--cursor <cursor>", "where the page before ended")
    .action(async (options) => {
      const query = new URLSearchParams({ limit: options.limit, ...(options.cursor && { cursor: options.cursor }) });
      const page = (await context.manage(options, "GET", `/accounts?${query}`)) as Listed;
      context.print(options, page, () => table(head, page.items.map(row)));
    });
  context
    .command(accounts, "set-tier", "move an account to another tier")
    .argument("<account>", "the account's id")
    .argument("<tier>", "the new tier")
    .option("--product <product>", "platform, oracle or oracle-v2", "platform")
    .action(async (id, tier, options) => {
      const body = { product: options.product, tier };
      const account = await context.manage(options, "POST", `/accounts/${encodeURIComponent(id)}/tier`, body);
      context.print(options, account, () => table(head, [row(account as AccountBody)]));
    });
  addLimits(accounts, context);
  addReports(accounts, context);
}

function addLimits(accounts: Command, context: CommandContext): void {
  context
    .command(accounts, "set-limits", "set the limits of an account; 'tier' restores those of its tier")
    .argument("<account>", "the account's id")
    .option("--credits-monthly <n>", "credits a month")
    .option("--requests-per-second <n>", "requests a second", wholeNumberOrTier)
    .action(async (id, options) => {
      const requests = options.requestsPerSecond;
      if (requests === undefined && options.creditsMonthly === undefined) {
        throw new CommandFailure("give --credits-monthly or --requests-per-second");
      }
      const body = {
        ...(options.creditsMonthly !== undefined && {
          credits_monthly: options.creditsMonthly === "tier" ? null : options.creditsMonthly,
        }),
        ...(requests !== undefined && { requests_per_second: requests }),
      };
      const account = await context.manage(options, "POST", `/accounts/${encodeURIComponent(id)}/limits`, body);
      context.print(options, account, () => table(head, [row(account as AccountBody)]));
    });
}

function addReports(accounts: Command, context: CommandContext): void {
  context
    .command(accounts, "credits", "what an account has spent this month")
    .argument("<account>", "the account's id")
    .action(async (id, options) => {
      const credits = (await context.manage(
        options,
        "GET",
        `/accounts/${encodeURIComponent(id)}/credits`,
      )) as AccountCredits;
      context.print(
        options,
        credits,
        () => `${credits.month}: ${credits.used} of ${credits.monthly ?? "unlimited"} credits`,
      );
    });
  context
    .command(accounts, "usage", "requests and credits of the last hour")
    .argument("<account>", "the account's id")
    .action(async (id, options) => {
      const usage = (await context.manage(options, "GET", `/accounts/${encodeURIComponent(id)}/usage`)) as {
        requests: number;
        errors: number;
        credits: number;
      };
      context.print(
        options,
        usage,
        () => `last hour: ${usage.requests} requests, ${usage.errors} errors, ${usage.credits} credits`,
      );
    });
}
