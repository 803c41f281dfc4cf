/**
 * The machine behind a bank: it runs transactions one after another, keeps their effects and answers with every account
 * that they changed. The development chain feeds it; its answers become the chain's blocks.
 */
export { durableNonce } from "./durable-nonce.ts";
export { MachineProcess } from "./machine-process.ts";
export {
  type AccountWrite,
  type LamportsWrite,
  MachineEndedError,
  type MachineFacts,
  type Svm,
  type SvmOutcome,
  type SvmTransaction,
  succeeded,
} from "./svm.ts";
