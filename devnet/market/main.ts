import { endInOrder } from "../end-of-process.ts";
import { type Clock, startMarket } from "./market.ts";
import { parseCommandLine } from "./options.ts";

const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => Bun.sleep(ms),
  every(ms, call) {
    const timer = setInterval(call, ms);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
};

/**
 * Entry of the market's process. Prints one JSON line when it is ready; ends with 0 on SIGTERM and SIGINT, and at the end
 * of its standard input when that is a pipe or --exit-with-parent was given, so that it never outlives its parent.
 */
function main(): void {
  const command = parseCommandLine(Bun.argv.slice(2));
  if (!command.ok) {
    for (const fault of command.faults) console.error(`devnet market: ${fault}`);
    process.exit(2);
  }
  // Whatever a client sent, the market goes on: a fault of ours is told and costs no more than one answer.
  process.on("unhandledRejection", (reason) => console.error(reason));
  const market = startMarket(command.options, { clock: systemClock });
  endInOrder(market, command.exitWithParent);
  const { exchanges, adminUrl } = market;
  process.stdout.write(`${JSON.stringify({ ready: true, exchanges, admin: adminUrl })}\n`);
}

main();
