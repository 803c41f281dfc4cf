import { expect, test } from "bun:test";
import { run } from "./streams.campaign.ts";

test("clients that move between hosts are told the chain in schedules of faults", async () => {
  expect(await run({ n: 12, seed: 3 })).toMatchObject({ passed: true });
}, 60_000);
