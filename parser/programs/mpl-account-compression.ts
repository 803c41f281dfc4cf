import { type ProgramParser, parserOf } from "../program.ts";

/** Account Compression of Metaplex, of Bubblegum's second version: it stands beside whatever a transaction does. */
export const mplAccountCompression: ProgramParser = parserOf({
  id: "mcmt6YrQEMKw8Mw43FmpRLmf7BqRnFMKmAcbxE3xkAW",
  source: "mpl_account_compression",
  name: "MPL Account Compression",
  kind: "helper",
  instructions: [],
});
