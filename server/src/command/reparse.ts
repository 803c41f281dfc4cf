import type { ReparseRecord } from "@sluice/contract/schemas";
import { networks } from "@sluice/contract/tiers";
import { type Command, Option } from "commander";
import { slotText } from "./backfill.ts";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

/** Transactions of the ledger through the parser again. */
export function addReparseCommands(program: Command, context: CommandContext): void {
  const reparse = program.command("reparse").description("parse the transactions of the ledger again");
  context
    .command(reparse, "order", "parse what the ledger holds of these slots again, or all of it", { isDefault: true })
    .addOption(
      new Option("--network <network>", `${networks.join(", ")}; needed where the server has several`).choices([
        ...networks,
      ]),
    )
    .option("--from <slot>", "the first slot; the first that is held unless given", slotText)
    .option("--to <slot>", "the last slot; the last that is final unless given", slotText)
    .action(async (options) => {
      const { network, from, to } = options;
      const call = { method: "POST", path: "/reparses", body: { network, from, to } } as const;
      const record = (await context.manage(options, call)) as ReparseRecord;
      context.print(options, record, () => describe([record]));
    });
  context
    .command(reparse, "list", "each order, and how far the present version of the parser is: pace, when it ends")
    .action(async (options) => {
      const report = (await context.manage(options, { path: "/reparses" })) as { items: readonly ReparseRecord[] };
      context.print(options, report, () => describe(report.items));
    });
  context
    .command(reparse, "cancel", "end an order; what is written stays")
    .argument("<id>", "of the order, as `list` shows it")
    .action(async (id, options) => {
      const call = { method: "DELETE", path: `/reparses/${encodeURIComponent(id)}` } as const;
      const report = (await context.manage(options, call)) as { items: readonly ReparseRecord[] };
      context.print(options, report, () => describe(report.items));
    });
}

function describe(records: readonly ReparseRecord[]): string {
  const rows = records.map((each) => [
    each.id,
    each.network,
    each.from,
    each.to,
    each.parser_version,
    each.state,
    `${each.slots === 0 ? 100 : Math.floor((each.done / each.slots) * 100)}%`,
    each.transactions,
    each.transactions_per_second,
    each.eta_seconds === null ? "-" : `${each.eta_seconds} s`,
  ]);
  const faults = records.flatMap(({ id, fault }) => (fault === null ? [] : [`${id}: ${fault}`]));
  const head = ["ID", "NETWORK", "FROM", "TO", "VERSION", "STATE", "DONE", "TRANSACTIONS", "PER SECOND", "ENDS IN"];
  return [table(head, rows), ...faults].join("\n");
}
