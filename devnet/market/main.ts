import { fstatSync } from "node:fs";
import { type Clock, startMarket } from "./market.ts";
import { parseCommandLine } from "./options.ts";

/** Whether standard input is a pipe that somebody holds open; the end of it then means that he is gone. */
function inputIsPipe(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isSocket();
}

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
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    await market[Symbol.asyncDispose]();
    process.exit(0);
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  if (command.exitWithParent || inputIsPipe()) {
    process.stdin.on("end", end);
    process.stdin.on("close", end);
    process.stdin.resume();
  }
  const { exchanges, adminUrl } = market;
  process.stdout.write(`${JSON.stringify({ ready: true, exchanges, admin: adminUrl })}\n`);
}

main();
