import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Memo: it stands beside whatever a transaction does. */
export const memoV1: ProgramParser = parserOf({
  id: programs.memoV1,
  source: "memo",
  name: "Memo",
  kind: "helper",
  instructions: [],
});
