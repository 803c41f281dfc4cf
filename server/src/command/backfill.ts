import type { BackfillRecord } from "@sluice/contract/schemas";
import { networks } from "@sluice/contract/tiers";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

/** Slots of the past into the ledger, from the nodes. */
export function addBackfillCommands(program: Command, context: CommandContext): void {
  const backfill = program.command("backfill").description("slots of the past into the ledger, from the nodes");
  context
    .command(backfill, "order", "write slots into the ledger; those that it holds are not read", { isDefault: true })
    .addOption(new Option("--network <network>", networks.join(", ")).choices([...networks]))
    .option("--from <slot>", "the first slot", slotText)
    .option("--to <slot>", "the last slot", slotText)
    .action(async (options) => {
      const { network, from, to } = options;
      if (network === undefined || from === undefined || to === undefined) {
        throw new InvalidArgumentError("--network, --from and --to are needed.");
      }
      const call = { method: "POST", path: "/backfills", body: { network, from, to } } as const;
      const record = (await context.manage(options, call)) as BackfillRecord;
      context.print(options, record, () => describe([record]));
    });
  context.command(backfill, "list", "each order: how much is held, its pace, when it ends").action(async (options) => {
    const report = (await context.manage(options, { path: "/backfills" })) as { items: readonly BackfillRecord[] };
    context.print(options, report, () => describe(report.items));
  });
  context
    .command(backfill, "cancel", "end an order; what is held stays")
    .argument("<id>", "of the order, as `list` shows it")
    .action(async (id, options) => {
      const call = { method: "DELETE", path: `/backfills/${encodeURIComponent(id)}` } as const;
      const report = (await context.manage(options, call)) as { items: readonly BackfillRecord[] };
      context.print(options, report, () => describe(report.items));
    });
}

/** A slot, as decimal text. */
export function slotText(text: string): string {
  if (!/^(0|[1-9]\d{0,18})$/.test(text)) throw new InvalidArgumentError("It must be a slot, such as 250000000.");
  return text;
}

function describe(records: readonly BackfillRecord[]): string {
  const rows = records.map((each) => [
    each.id,
    each.network,
    each.from,
    each.to,
    each.state,
    `${each.slots === each.too_old ? 100 : Math.floor((each.held / (each.slots - each.too_old)) * 100)}%`,
    each.slots_per_second,
    each.eta_seconds === null ? "-" : `${each.eta_seconds} s`,
  ]);
  const faults = records.flatMap(({ id, fault }) => (fault === null ? [] : [`${id}: ${fault}`]));
  const aged = records.flatMap(({ id, slots, too_old }) =>
    too_old === 0 ? [] : [`${id}: ${agedText(slots, too_old)}`],
  );
  const heads = ["ID", "NETWORK", "FROM", "TO", "STATE", "HELD", "SLOTS/S", "ENDS IN"];
  return [table(heads, rows), ...aged, ...faults].join("\n");
}

function agedText(slots: number, aged: number): string {
  const of = aged === slots ? "all of its slots" : `${aged} of its ${slots} slots`;
  return `${of} are older than the ledger keeps blocks (LEDGER_RETENTION_BLOCKS), and are not read`;
}
