import { searcherTierLimits } from "@sluice/contract/engine";
import type { Page, SearcherLimitBody, SearcherLinkBody } from "@sluice/contract/schemas";
import type { Command } from "commander";
import { limitOf, wholeNumber, wholeNumberOrTier } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { moreLine, type PageOptions, pageQuery, withPages } from "./paging.ts";
import { table } from "./terminal.ts";

const root = "/api/v1/admin/searchers";
const linkHead = ["PUBLIC KEY", "ACCOUNT", "LINKED"];
const linkRow = (link: SearcherLinkBody) => [link.pubkey, link.account_id, link.linked_at];
const limitHead = ["SEARCHER", "BUNDLES/S", "BURST", "SET"];
const limitRow = (limit: SearcherLimitBody) => [limit.searcher_id, limit.bundles_per_second, limit.burst, limit.set_at];
/** As the tiers have it. */
const burstFactor = searcherTierLimits.bronze.burst / searcherTierLimits.bronze.bundlesPerSecond;

/** Who sends bundles: which public key is whose, and how many bundles a second a searcher may send. */
export function addSearcherCommands(program: Command, context: CommandContext): void {
  const searchers = program.command("searchers").description("who sends bundles: public keys and limits");
  context
    .command(searchers, "link", "have bundles signed in by a public key count for an account")
    .argument("<pubkey>", "the public key, in base58")
    .argument("<account>", "the account's id")
    .action(async (pubkey, account, options) => {
      const link = await context.manage(options, { method: "POST", path: root, body: { pubkey, account_id: account } });
      context.print(options, link, () => table(linkHead, [linkRow(link as SearcherLinkBody)]));
    });
  context
    .command(searchers, "unlink", "have a public key stand for itself again")
    .argument("<pubkey>", "the public key, in base58")
    .action(async (pubkey, options) => {
      await context.manage(options, { method: "DELETE", path: `${root}/${encodeURIComponent(pubkey)}` });
      context.print(options, { unlinked: pubkey }, () => `${pubkey} is linked to no account`);
    });
  withPages(context.command(searchers, "list", "list linked public keys"))
    .option("--account <id>", "of this account only")
    .action(async (options: PageOptions & { readonly account?: string }) => {
      const path = `${root}?${pageQuery(options, { account_id: options.account })}`;
      const page = (await context.manage({ ...options }, { path })) as Page<SearcherLinkBody>;
      context.print({ ...options }, page, () => table(linkHead, page.items.map(linkRow)) + moreLine(page.next_cursor));
    });
  addLimits(searchers, context);
}

function addLimits(searchers: Command, context: CommandContext): void {
  context
    .command(searchers, "limit", "set the limit of a searcher; 'tier' restores that of its tier")
    .argument("<searcher>", "an account's id, or pubkey: and a public key")
    .argument("<bundles-per-second>", "a whole number, 0 to stop the searcher, or 'tier'", wholeNumberOrTier)
    .option("--burst <n>", "bundles that may come at once; twice the rate by default", wholeNumber)
    .action(async (searcher: string, given: number | "tier", options) => {
      const rate = limitOf(given);
      const path = `${root}/limits/${encodeURIComponent(searcher)}`;
      if (rate === null) {
        await context.manage(options, { method: "DELETE", path });
        context.print(options, { searcher_id: searcher, limit: null }, () => `${searcher} has its tier's limit`);
        return;
      }
      const body = { bundles_per_second: rate, burst: options.burst ?? rate * burstFactor };
      const limit = await context.manage(options, { method: "PUT", path, body });
      context.print(options, limit, () => table(limitHead, [limitRow(limit as SearcherLimitBody)]));
    });
  withPages(context.command(searchers, "limits", "list the limits that were set")).action(
    async (options: PageOptions) => {
      const path = `${root}/limits?${pageQuery(options)}`;
      const page = (await context.manage({ ...options }, { path })) as Page<SearcherLimitBody>;
      context.print(
        { ...options },
        page,
        () => table(limitHead, page.items.map(limitRow)) + moreLine(page.next_cursor),
      );
    },
  );
}
