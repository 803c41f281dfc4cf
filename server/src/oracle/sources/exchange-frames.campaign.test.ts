import { expect, test } from "bun:test";
import { run } from "./exchange-frames.campaign.ts";
import { readExchangeFixtures } from "./testing/fixtures.ts";

test.skipIf(readExchangeFixtures("okx").length === 0)(
  "changed and random frames never throw nor become a false price",
  async () => {
    expect(await run({ n: 3_000, seed: 20261121 })).toMatchObject({ passed: true });
  },
);
