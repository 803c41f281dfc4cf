/**
 * The machine that simulates bundles: it holds a copy of the accounts that bundles run on, runs each bundle whole on
 * them or on its block, and answers with the tip, the units or the error. The block engine's simulation feeds it with
 * accounts and bundles by handle, and reads its outcomes.
 */
import { fileURLToPath } from "node:url";

export {
  type AccountUpdate,
  frameKinds,
  type MachineBundle,
  type MachineOutcome,
  type MachineTransaction,
  readOutcome,
  writeBundle,
  writeUpdates,
} from "./protocol.ts";

/** The module that the machine's process runs. */
export const bundleMachineEntry = fileURLToPath(new URL("./main.ts", import.meta.url));

/**
 * Settings of the machine's allocator. LiteSVM allocates some fifty small pieces for a transaction, and the runtime
 * gives them back a thousand transactions at a time: glibc keeps seven of each size at hand and searches for the rest,
 * which is
 * 1.5 to 2 of the 8.5 µs of CPU that a transfer takes. Other C libraries ignore the setting.
 */
export const bundleMachineEnvironment = {
  TZ: "UTC",
  LC_ALL: "C",
  GLIBC_TUNABLES: "glibc.malloc.tcache_count=60000",
} as const;
