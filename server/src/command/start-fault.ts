import { fileFaultOf } from "@sluice/lib";
import { BackupError } from "../backup/index.ts";
import { StartRefusedError } from "../compose.ts";
import { LedgerOpenError } from "../ledger/index.ts";
import { CertificateFault, ListenError } from "../net/index.ts";
import { StateError } from "../state/index.ts";
import { WorkerStartError } from "../workers/index.ts";
import { CommandFailure } from "./terminal.ts";

/** Turns an error that an operator can correct into one message; any other error is rethrown unchanged. */
export function explainStartFault(error: unknown): never {
  if (error instanceof BackupError) throw new CommandFailure(error.message);
  if (error instanceof StartRefusedError) throw new CommandFailure(`${error.code}: ${error.message}`);
  if (error instanceof ListenError) throw new CommandFailure(explainListening(error));
  if (error instanceof WorkerStartError) throw new CommandFailure(error.message);
  if (error instanceof CertificateFault) throw new CommandFailure(error.message);
  const store = storeFaultOf(error);
  if (store !== null) throw new CommandFailure(store.message);
  const fault = fileFaultOf(error);
  if (fault === null || !(error instanceof Error)) throw error;
  const path = "path" in error ? String(error.path) : error.message;
  throw new CommandFailure(`${path}: ${fault.cause}. ${fault.remedy}`);
}

/** What a store said, also where a failed read of it came as the cause of another error. */
function storeFaultOf(error: unknown): Error | null {
  for (let depth = 0, at = error; depth < causesMax && at instanceof Error; depth += 1, at = at.cause) {
    if (at instanceof StateError || at instanceof LedgerOpenError) return at;
  }
  return null;
}

const causesMax = 8;

/** Whether a store was to be opened and is not there. */
export function isStoreAbsent(error: unknown): boolean {
  return (error instanceof StateError || error instanceof LedgerOpenError) && error.code === "ABSENT";
}

/** The system's code of a failed listen; gRPC's server has it in its text alone. */
function systemCodeOf(cause: unknown): unknown {
  if (!(cause instanceof Error)) return null;
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  return /\b(EADDRINUSE|EADDRNOTAVAIL|EACCES|EINVAL)\b/.exec(cause.message)?.[1] ?? null;
}

function explainListening({ details: { endpoint, port }, cause }: ListenError): string {
  switch (systemCodeOf(cause)) {
    case "EINVAL":
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `the ${endpoint} endpoint cannot listen: its address is none of this machine's. See BIND and --bind.`;
    case "EACCES":
      return `port ${port} (${endpoint}) needs more rights than this user has. Move all ports with --port-offset <n>.`;
    case "EADDRINUSE":
      return (
        `port ${port} (${endpoint}) is taken: another server runs there. ` +
        "Stop it, or move all ports with --port-offset <n>."
      );
    default: {
      const said = cause instanceof Error ? cause.message : String(cause);
      return `the ${endpoint} endpoint cannot listen on port ${port}: ${said}. See BIND, --bind and --port-offset.`;
    }
  }
}
