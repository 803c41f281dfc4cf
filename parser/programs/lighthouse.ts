import { type ProgramParser, parserOf } from "../program.ts";

/** Lighthouse: it stands beside whatever a transaction does. */
export const lighthouse: ProgramParser = parserOf({
  id: "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95",
  source: "lighthouse",
  name: "Lighthouse",
  kind: "helper",
  instructions: [],
});
