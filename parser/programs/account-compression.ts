import { type ProgramParser, parserOf } from "../program.ts";

/** Account Compression: it stands beside whatever a transaction does. */
export const accountCompression: ProgramParser = parserOf({
  id: "cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK",
  source: "account_compression",
  name: "Account Compression",
  kind: "helper",
  instructions: [],
});
