import { type ProgramParser, parserOf } from "../program.ts";

/** Vertigo. */
export const vertigo: ProgramParser = parserOf({
  id: "vrTGoBuy5rYSxAfV3jaRJWHH6nN9WK4NRExGxsk1bCJ",
  source: "vertigo",
  name: "Vertigo",
  kind: "dex",
  instructions: [
    { tag: "66063d1201daebea", name: "buy", does: "swap", user: 1, pool: 0 },
    { tag: "33e685a4017f83ad", name: "sell", does: "swap", user: 1, pool: 0 },
    { tag: "181ec828051c0777", name: "create", does: "other" },
    { tag: "3ec6d6c1d59f6cd2", name: "claim", does: "other" },
  ],
});
