import { explainedRecords } from "@sluice/contract/pool";
import { Argument, type Command } from "commander";
import type { Explanation } from "../pool/index.ts";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

/** How the figures of the stake pool come about. */
export function addPoolCommands(program: Command, context: CommandContext): void {
  const pool = program.command("pool").description("the figures of the stake pool");
  context
    .command(pool, "explain", "what a record is computed from, and how")
    .addArgument(new Argument("<record>", explainedRecords.join(", ")).choices([...explainedRecords]))
    .option("--wallet <address>", "whose position")
    .option("--period <period>", "of an overview, of profits (1h, 24h, 7d, 30d) or of a chart (7d, 30d, 90d, 1y, all)")
    .option("--strategy <strategy>", "of profits")
    .option("--account <id>", "whose profits; everybody's without it")
    .action(async (record, options) => {
      const { wallet, period, strategy, account } = options;
      const asked = Object.entries({ record, wallet, period, strategy, account });
      const query = new URLSearchParams(asked.filter((each): each is [string, string] => each[1] !== undefined));
      const explanation = (await context.manage(options, { path: `/pool/explain?${query}` })) as Explanation;
      context.print(options, explanation, () => describe(explanation));
    });
}

function describe({ record, at, slot, inputs, steps }: Explanation): string {
  const rows = inputs.map(({ what, where, value }) => [what, where, value]);
  const from = slot === null ? `${record}, read at ${at}` : `${record}, read at ${at} by accounts of slot ${slot}`;
  return [from, "", table(["INPUT", "FROM", "VALUE"], rows), "", ...steps].join("\n");
}
