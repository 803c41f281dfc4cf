import { type ProgramParser, parserOf } from "../program.ts";
import { candySettings } from "./candy-settings.ts";

/** Candy Guard. */
export const candyGuard: ProgramParser = parserOf({
  id: "Guard1JwRhJkVH6XZhzoYxeBVQe872VH6QggF4BWmS9g",
  source: "candy_guard",
  name: "Candy Guard",
  kind: "minter",
  instructions: [
    { tag: "3339e12fb69289a6", name: "mint", does: "nft_mint", buyer: 4, mint: 6 },
    { tag: "78791792ad6ec7cd", name: "mintV2", does: "nft_mint", buyer: 5, mint: 6 },
    ...candySettings,
  ],
});
