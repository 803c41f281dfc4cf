import type { Command } from "commander";
import type { HeldCredits } from "../admin/index.ts";
import { duration, oneOf } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { CommandFailure, table } from "./terminal.ts";

const head = ["PROCESS", "METER", "ACCOUNT", "MONTH", "AMOUNT", "LAST LEASED", "ALIVE"];
const row = (held: HeldCredits) => [
  held.process,
  held.meter,
  held.account_id,
  held.month,
  held.amount,
  held.leased_at,
  held.alive ? "yes" : "no",
];

/** What processes hold of accounts' credits, and the end of what those hold that never come back. */
export function addCreditCommands(program: Command, context: CommandContext): void {
  const credits = program
    .command("credits")
    .description("credits that processes hold, and those of processes that are gone");
  context.command(credits, "holders", "what each process holds of each account").action(async (options) => {
    const { items } = (await context.manage(options, { path: "/credits/holders" })) as { items: HeldCredits[] };
    context.print(options, { items }, () => table(head, items.map(row)));
  });
  context
    .command(
      credits,
      "settle",
      "close what processes hold that never come back; it counts as used unless told otherwise",
    )
    .option("--process <id>", "of this process, as `sluice credits holders` prints it")
    .option(
      "--older-than <duration>",
      "of every process that is gone and last leased so long ago, such as 2h",
      duration,
    )
    .option("--outcome <outcome>", "used, or returned to the account as a gift", oneOf(["used", "returned"]), "used")
    .action(async (options) => {
      const { process = null, olderThan, outcome } = options;
      if (process === null && olderThan === undefined) throw new CommandFailure("give --process or --older-than");
      const body = { process, older_than_seconds: olderThan ?? 0, outcome };
      const call = { method: "POST", path: "/credits/settle", body } as const;
      const { settled } = (await context.manage(options, call)) as { settled: HeldCredits[] };
      context.print(options, { settled }, () =>
        settled.length === 0
          ? "nothing to settle: what was leased within ten minutes, or by a process that is alive, stays"
          : table(head, settled.map(row)),
      );
    });
}
