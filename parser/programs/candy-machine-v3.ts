import { type ProgramParser, parserOf } from "../program.ts";
import { candySettings } from "./candy-settings.ts";

/** Candy Machine. */
export const candyMachineV3: ProgramParser = parserOf({
  id: "CndyV3LdqHUfDLmE5naZjVN8rBZz4tqhdefbAnjHG3JR",
  source: "candy_machine_v3",
  name: "Candy Machine",
  kind: "minter",
  instructions: [
    { tag: "3339e12fb69289a6", name: "mint", does: "nft_mint", mint: 4 },
    { tag: "78791792ad6ec7cd", name: "mintV2", does: "nft_mint", buyer: 4, mint: 5 },
    ...candySettings,
  ],
});
