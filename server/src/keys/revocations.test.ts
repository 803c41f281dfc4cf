import { expect, test } from "bun:test";
import { run } from "./revocations.campaign.ts";

test("a replica that was notified of a change grants nothing by what was before; one that was not stops when it reads of it", async () => {
  for (const seed of [1, 2]) expect(await run({ n: 15_000, seed })).toMatchObject({ passed: true });
});
