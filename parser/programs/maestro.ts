import { type ProgramParser, parserOf } from "../program.ts";

/** Maestro. */
export const maestro: ProgramParser = parserOf({
  id: "MaestroAAe9ge5HTc64VbBQZ6fP77pwvrhM8i1XWSAx",
  source: "maestro",
  name: "Maestro",
  kind: "bot",
  instructions: [],
});
