import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** Address lookup tables. */
export const addressLookupTable: ProgramParser = parserOf({
  id: programs.addressLookupTable,
  source: "address_lookup_table",
  name: "Address Lookup Table",
  kind: "core",
  instructions: [
    { tag: "00000000", name: "createLookupTable", does: "create_account" },
    { tag: "01000000", name: "freezeLookupTable", does: "other" },
    { tag: "02000000", name: "extendLookupTable", does: "helper" },
    { tag: "03000000", name: "deactivateLookupTable", does: "other" },
    { tag: "04000000", name: "closeLookupTable", does: "close_account" },
  ],
});
