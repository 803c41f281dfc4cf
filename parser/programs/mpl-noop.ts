import { type ProgramParser, parserOf } from "../program.ts";

/** Noop of Metaplex, by which Bubblegum's second version tells its leaves: it stands beside whatever a transaction does. */
export const mplNoop: ProgramParser = parserOf({
  id: "mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3",
  source: "mpl_noop",
  name: "MPL Noop",
  kind: "helper",
  instructions: [],
});
