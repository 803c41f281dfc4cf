import { tickLogDirectory } from "../compose.ts";
import { oracleReplayOptions, type ReplayReport, replayLog, serialiseRound, tickLogFiles } from "../oracle/index.ts";
import type { CommandContext } from "./context.ts";
import { CommandFailure } from "./terminal.ts";

export interface TickReplayOptions extends Readonly<Record<string, unknown>> {
  readonly print?: boolean;
  readonly symbol?: string;
  readonly log?: string;
}

/**
 * Computes the rounds of a tick log again and prints how they compare with the server's.
 * @throws {CommandFailure} when there is no log, or rounds differ
 */
export function replay(context: CommandContext, options: TickReplayOptions): void {
  const files = filesOf(options.log ?? tickLogDirectory(context.config(options)));
  const symbol = options.symbol === undefined ? undefined : readSymbol(options.symbol);
  const print = options.print === true || symbol !== undefined;
  const report = replayLog(files, oracleReplayOptions, (round) => {
    if (print && (symbol === undefined || round.symbol === symbol)) context.terminal.out(serialiseRound(round));
  });
  if (print) context.terminal.error(summary(report));
  else context.print(options, report, () => summary(report));
  if (report.differing > 0) throw new CommandFailure("the replay differs from the rounds of the server");
}

function readSymbol(text: string): string {
  const symbol = text.toUpperCase();
  if (oracleReplayOptions.symbols.includes(symbol)) return symbol;
  throw new CommandFailure(`--symbol expects one of ${oracleReplayOptions.symbols.join(", ")}`);
}

function filesOf(directory: string): string[] {
  try {
    const files = tickLogFiles(directory);
    if (files.length > 0) return files;
  } catch {
    // Reported below in the same words: there is nothing to replay.
  }
  throw new CommandFailure(`there is no tick log in ${directory}`);
}

function summary({ inputs, rounds, proved, differing, unprovable, damaged }: ReplayReport): string {
  const missing = unprovable === 0 ? "" : `, ${unprovable} before which something is missing`;
  const torn = damaged === 0 ? "" : `, ${damaged} damaged`;
  return `${inputs} inputs, ${rounds} rounds; digests: ${proved} the same, ${differing} not${missing}${torn}`;
}
