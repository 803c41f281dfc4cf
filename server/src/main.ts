/**
 * The process entry of `sluice`: arguments in, exit code out. A failure that a person can act on is one sentence; any
 * other is an internal error and shows its stack.
 */
import { CommanderError } from "commander";
import { buildProgram, CommandFailure } from "./command/index.ts";

const terminal = {
  out: (text: string) => void process.stdout.write(`${text}\n`),
  error: (text: string) => void process.stderr.write(`${text}\n`),
};

async function main(args: readonly string[]): Promise<number> {
  try {
    const program = buildProgram(terminal);
    for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
      command.exitOverride();
    }
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (error instanceof CommandFailure) terminal.error(`sluice: ${error.message}`);
    else terminal.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  }
}

process.exit(await main(process.argv.slice(2)));
