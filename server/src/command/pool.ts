import { Argument, type Command } from "commander";
import type { Explanation } from "../pool/index.ts";
import { explainedRecords } from "../pool/index.ts";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

/** How the figures of the stake pool come about. */
export function addPoolCommands(program: Command, context: CommandContext): void {
  const pool = program.command("pool").description("the figures of the stake pool");
  context
    .command(pool, "explain", "what a record is computed from, and how")
    .addArgument(new Argument("<record>", explainedRecords.join(", ")).choices([...explainedRecords]))
    .action(async (record, options) => {
      const explanation = (await context.manage(options, { path: `/pool/${record}` })) as Explanation;
      context.print(options, explanation, () => describe(explanation));
    });
}

function describe({ record, slot, inputs, steps }: Explanation): string {
  const rows = inputs.map(({ what, where, value }) => [what, where, value]);
  const from = slot === null ? record : `${record}, by accounts of slot ${slot}`;
  return [from, "", table(["INPUT", "FROM", "VALUE"], rows), "", ...steps].join("\n");
}
