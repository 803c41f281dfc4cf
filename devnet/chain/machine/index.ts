/**
 * machine: the chain's virtual machine, LiteSVM in a child process (`@sluice/svm/bank`), and the launcher that keeps
 * the process running. The bank sends it transactions and accounts; its answers become blocks.
 */

import { type Log, systemClock, systemRandom } from "@sluice/lib";
import { BankMachine } from "@sluice/svm/bank";
import { processLog } from "../../log.ts";
import { chainLauncher } from "./launcher.ts";

/** @throws {Error} when the process of the machine does not start. */
export function startMachine(log: Log = processLog("devnet chain")): Promise<BankMachine> {
  return BankMachine.start({
    launch: chainLauncher({ clock: systemClock, random: systemRandom }),
    clock: systemClock,
    log,
  });
}
