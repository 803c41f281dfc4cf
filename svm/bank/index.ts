/**
 * The machine behind a bank: it runs transactions one after another, keeps their effects and answers with every account
 * that they changed. The development chain feeds it; its answers become the chain's blocks.
 */
export { BankMachine, type BankMachineDependencies } from "./bank-machine.ts";
export {
  type AccountWrite,
  durableNonce,
  type LamportsWrite,
  MachineEndedError,
  type MachineFacts,
  type Svm,
  type SvmOutcome,
  type SvmTransaction,
  succeeded,
} from "./svm.ts";
