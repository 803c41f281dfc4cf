import { type ProgramParser, parserOf } from "../program.ts";

/** Noop of Metaplex, by which Bubblegum tells leaves of its second version: it stands beside whatever is done. */
export const mplNoop: ProgramParser = parserOf({
  id: "mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3",
  source: "mpl_noop",
  name: "MPL Noop",
  kind: "helper",
  instructions: [],
});
