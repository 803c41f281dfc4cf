import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** The system program. Moves of lamports are read from the calls by the neutral layer. */
export const system: ProgramParser = parserOf({
  id: programs.system,
  source: "system",
  name: "System",
  kind: "core",
  instructions: [
    { tag: "00000000", name: "createAccount", does: "create_account" },
    { tag: "01000000", name: "assign", does: "helper" },
    { tag: "02000000", name: "transfer", does: "transfer" },
    { tag: "03000000", name: "createAccountWithSeed", does: "create_account" },
    { tag: "04000000", name: "advanceNonceAccount", does: "helper" },
    { tag: "05000000", name: "withdrawNonceAccount", does: "transfer" },
    { tag: "06000000", name: "initializeNonceAccount", does: "helper" },
    { tag: "07000000", name: "authorizeNonceAccount", does: "helper" },
    { tag: "08000000", name: "allocate", does: "helper" },
    { tag: "09000000", name: "allocateWithSeed", does: "helper" },
    { tag: "0a000000", name: "assignWithSeed", does: "helper" },
    { tag: "0b000000", name: "transferWithSeed", does: "transfer" },
    { tag: "0c000000", name: "upgradeNonceAccount", does: "helper" },
    { tag: "0d000000", name: "createAccountAllowPrefund", does: "create_account" },
  ],
  decide(instruction, call, view) {
    if (instruction.name !== "withdrawNonceAccount") return instruction;
    // A nonce account of which nothing is left is closed.
    const nonce = call.accounts[0] ?? -1;
    const closed = view.succeeded && view.meta?.postBalances[nonce] === 0n;
    return closed ? { ...instruction, does: "close_account" } : instruction;
  },
});
