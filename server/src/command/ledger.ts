import type { LedgerTableBody } from "@sluice/contract/schemas";
import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

const head = ["TABLE", "ROWS", "SIZE", "OLDEST", "KEPT", "LEAST", "HOLDS"];
const mebibyte = 1024 ** 2;

const row = (one: LedgerTableBody) => [
  one.name,
  one.rows,
  `${(one.bytes / mebibyte).toFixed(1)} MiB`,
  one.oldest_at,
  one.kept ?? "by a rule of its own",
  one.least,
  one.holds,
];

/** What operators ask of the ledger. */
export function addLedgerCommands(program: Command, context: CommandContext): void {
  const ledger = program.command("ledger").description("the records of requests, prices and bundles");
  context
    .command(ledger, "tables", "the size of each table, its oldest row, and how long it keeps its rows")
    .action(async (options) => {
      const path = "/api/v1/admin/ledger/tables";
      const { items } = (await context.manage(options, { path })) as { readonly items: readonly LedgerTableBody[] };
      context.print(options, { items }, () => table(head, items.map(row)));
    });
}
