import { programs } from "@sluice/wire/programs";
import type { Instruction, ProgramParser } from "../program.ts";

const create: Instruction = { tag: "00", name: "create", does: "create_account" };
const createIdempotent: Instruction = { tag: "01", name: "createIdempotent", does: "create_account" };
const recoverNested: Instruction = { tag: "02", name: "recoverNested", does: "transfer" };

/** The program of associated token accounts. Empty data are `create`. */
export const associatedToken: ProgramParser = {
  id: programs.associatedToken,
  source: "associated_token",
  name: "Associated Token",
  kind: "core",
  instructions: [create, createIdempotent, recoverNested],
  instructionOf: ({ data }) => {
    switch (data[0] ?? 0) {
      case 0:
        return create;
      case 1:
        return createIdempotent;
      case 2:
        return recoverNested;
      default:
        return null;
    }
  },
};
