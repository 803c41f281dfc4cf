import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import type { TickReplayOptions } from "./oracle-replay.ts";

/** Computes prices again from the tick log. It reads only files, so it runs beside a server or without one. */
export function addOracleCommands(program: Command, context: CommandContext): void {
  const oracle = program.command("oracle").description("look into the price oracle");
  context
    .command(oracle, "replay", "compute the rounds of the tick log again and compare them with those of the server")
    .option("--log <directory>", "the log, in place of the one in the data directory")
    .option("--print", "print each round as a line of JSON")
    .option("--symbol <symbol>", "print this symbol's rounds alone")
    .action(async (options: TickReplayOptions) => {
      const { replay } = await import("./oracle-replay.ts");
      replay(context, options);
    });
}
