import { type ProgramParser, parserOf } from "../program.ts";
import { candySettings } from "./candy-settings.ts";

/** Candy Machine. */
export const candyMachineV2: ProgramParser = parserOf({
  id: "cndy3Z4yapfJBmL3ShUp5exZKqR3z33thTzeNMm2gRZ",
  source: "candy_machine_v2",
  name: "Candy Machine",
  kind: "minter",
  instructions: [{ tag: "d33906a70fdb23fb", name: "mintNft", does: "nft_mint", mint: 5 }, ...candySettings],
});
