import { ListenError } from "../door/index.ts";
import { LedgerOpenError } from "../ledger/index.ts";
import { StateError } from "../state/index.ts";
import { CommandFailure } from "./terminal.ts";

/** Turns what an operator can mend into one sentence; anything else is a fault of ours and goes on as it is. */
export function explainStartFault(fault: unknown): never {
  if (fault instanceof ListenError) {
    throw new CommandFailure(
      `port ${fault.port} (${fault.door}) is taken: another server runs there. ` +
        "Stop it, or move all doors with --port-offset <n>.",
    );
  }
  if (fault instanceof StateError || fault instanceof LedgerOpenError) throw new CommandFailure(fault.message);
  throw fault;
}
