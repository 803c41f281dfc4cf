import { LedgerOpenError } from "../ledger/index.ts";
import { ListenError } from "../net/index.ts";
import { StateError } from "../state/index.ts";
import { CommandFailure } from "./terminal.ts";

/** Turns an error that an operator can correct into one sentence; any other error is rethrown unchanged. */
export function explainStartFault(error: unknown): never {
  if (error instanceof ListenError) throw new CommandFailure(explainListening(error));
  if (error instanceof StateError || error instanceof LedgerOpenError) throw new CommandFailure(error.message);
  throw error;
}

function explainListening({ details: { endpoint, port }, cause }: ListenError): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  switch (code) {
    case "EINVAL":
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `the ${endpoint} endpoint cannot listen: its address is none of this machine's. See BIND and --bind.`;
    case "EACCES":
      return `port ${port} (${endpoint}) needs more rights than this user has. Move all ports with --port-offset <n>.`;
    default:
      return (
        `port ${port} (${endpoint}) is taken: another server runs there. ` +
        "Stop it, or move all ports with --port-offset <n>."
      );
  }
}
