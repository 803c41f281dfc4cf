import { type ProgramParser, parserOf } from "../program.ts";
import { candySettings } from "./candy-settings.ts";

/** Core Candy Guard. */
export const coreCandyGuard: ProgramParser = parserOf({
  id: "CMAGAKJ67e9hRZgfC5SFTbZH8MgEmtqazKXjmkaJjWTJ",
  source: "core_candy_guard",
  name: "Core Candy Guard",
  kind: "minter",
  instructions: [{ tag: "9162c076b8937668", name: "mintV1", does: "nft_mint", buyer: 6, mint: 7 }, ...candySettings],
});
