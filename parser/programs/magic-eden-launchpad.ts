import { type ProgramParser, parserOf } from "../program.ts";

/** Magic Eden Launchpad. */
export const magicEdenLaunchpad: ProgramParser = parserOf({
  id: "CMZYPASGWeTz7RNGHaRJfCq2XQ5pYK6nDvVQxzkH51zb",
  source: "magic_eden_launchpad",
  name: "Magic Eden Launchpad",
  kind: "minter",
  instructions: [],
});
