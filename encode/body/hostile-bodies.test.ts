import { expect, test } from "bun:test";
import { run } from "./hostile-bodies.campaign.ts";

test("no change of bytes or values makes a reader hang, crash or take what cannot be presented", async () => {
  expect(await run({ n: 600, seed: 20_261_124 })).toMatchObject({ passed: true });
});
