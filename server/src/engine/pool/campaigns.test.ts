import { expect, test } from "bun:test";
import { run as bundleFaults } from "./bundle-faults.campaign.ts";
import { run as bundlePool } from "./bundle-pool.campaign.ts";

test("after kill -9 what was acknowledged is there in exactly its state, and nothing else", async () => {
  const { passed, summary } = await bundlePool({ n: 2, seed: 1 });
  expect([passed, summary]).toEqual([true, summary]);
});

test("memory, disk, client and ledger agree through failing writes, lost answers and restarts", async () => {
  const { passed, summary } = await bundleFaults({ n: 40, seed: 1 });
  expect([passed, summary]).toEqual([true, summary]);
});
