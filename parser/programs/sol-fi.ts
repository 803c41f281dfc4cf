import { type ProgramParser, parserOf } from "../program.ts";

/** SolFi. */
export const solFi: ProgramParser = parserOf({
  id: "SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe",
  source: "sol_fi",
  name: "SolFi",
  kind: "dex",
  instructions: [],
});
