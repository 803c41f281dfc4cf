/**
 * svm: the LiteSVM host. LiteSVM aborts its process on some hostile input and blocks its thread, so it runs in child
 * processes; this workspace holds those processes, the frames between them and their parent, and the two machines that
 * run in them: `bank/` behind the development chain's bank, and `bundles/` behind the block engine's simulation. Both
 * parents pass in the function that launches the child.
 */

export type { CompiledInstruction, TransactionErrorJson } from "./account.ts";
export { type AccountBytes, type ChainAccount, rentExemptEpoch } from "./account.ts";
export type { Launch, LaunchOptions, ProcessExit } from "./process/launcher.ts";
export { type KillReason, MachineProcess } from "./process/machine-process.ts";
