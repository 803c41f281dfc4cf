import { sleep, systemClock } from "@sluice/lib";
import { endInOrder } from "../end-of-process.ts";
import { processLog } from "../log.ts";
import { type Clock, startMarket } from "./market.ts";
import { parseCommandLine } from "./options.ts";

const clock: Clock = {
  now: () => systemClock.now(),
  sleep: (ms) => sleep(systemClock, ms),
  every: (ms, call) => systemClock.every(ms, call),
};

/**
 * Entry of the market's process. Prints one JSON line when it is ready; ends with 0 on SIGTERM and SIGINT, and at the
 * end of its standard input when that is a pipe or --exit-with-parent was given, so that it never outlives its parent.
 */
function main(): void {
  const command = parseCommandLine(Bun.argv.slice(2));
  if (!command.ok) {
    for (const fault of command.faults) process.stderr.write(`devnet market: ${fault}\n`);
    process.exit(2);
  }
  const log = processLog("devnet market");
  // The market goes on, whatever a client sent: a defect costs no more than one answer.
  process.on("unhandledRejection", (reason) => log.error({ reason }, "a promise was rejected and nothing handled it"));
  const market = startMarket(command.options, { clock });
  endInOrder(market, command.exitWithParent);
  const { exchanges, adminUrl } = market;
  process.stdout.write(`${JSON.stringify({ ready: true, exchanges, admin: adminUrl })}\n`);
}

main();
