import { type ProgramParser, parserOf } from "../program.ts";

/** Banana Gun. */
export const bananaGun: ProgramParser = parserOf({
  id: "BANANAjs7FJiPQqJTGFzkZJndT9o7UmKiYYGaJz6frGu",
  source: "banana_gun",
  name: "Banana Gun",
  kind: "bot",
  instructions: [],
});
