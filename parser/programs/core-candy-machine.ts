import { type ProgramParser, parserOf } from "../program.ts";
import { candySettings } from "./candy-settings.ts";

/** Core Candy Machine. */
export const coreCandyMachine: ProgramParser = parserOf({
  id: "CMACYFENjoBMHzapRXyo1JZkVS6EtaDDzkjMrmQLvr4J",
  source: "core_candy_machine",
  name: "Core Candy Machine",
  kind: "minter",
  instructions: [{ tag: "54afd39c38fa6876", name: "mintAsset", does: "nft_mint", buyer: 4, mint: 5 }, ...candySettings],
});
