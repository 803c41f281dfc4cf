import { type ProgramParser, parserOf } from "../program.ts";

/** OKX DEX. */
export const okxRouter: ProgramParser = parserOf({
  id: "HV1KXxWFaSeriyFvXyx48FqG9BoFbfinB8njCJonqP7K",
  source: "okx_router",
  name: "OKX DEX",
  kind: "aggregator",
  instructions: [],
});
