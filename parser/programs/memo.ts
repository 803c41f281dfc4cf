import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Memo: it stands beside whatever a transaction does. */
export const memo: ProgramParser = parserOf({
  id: programs.memo,
  source: "memo",
  name: "Memo",
  kind: "helper",
  instructions: [],
});
