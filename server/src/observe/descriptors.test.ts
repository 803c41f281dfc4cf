import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { ManualClock } from "@sluice/lib";
import { processDescriptors, watchDescriptors } from "./descriptors.ts";

test("descriptors that run out are reported once, and once when enough are free again", () => {
  const clock = new ManualClock(0);
  const said: string[] = [];
  let open = 89;
  watchDescriptors(
    { limit: 100, open: () => open },
    {
      clock,
      events: {
        descriptorsScarce: ({ open: count }) => void said.push(`scarce ${count}`),
        descriptorsSufficient: ({ open: count }) => void said.push(`sufficient ${count}`),
      },
    },
  );
  for (open of [89, 90, 100, 85, 80, 79, 50, 95]) clock.advance(10_000);
  expect(said).toEqual(["scarce 90", "sufficient 79", "scarce 95"]);
});

test.skipIf(process.platform !== "linux")("the process's own descriptors are counted, against its limit", () => {
  const { limit, open } = processDescriptors();
  const before = open() ?? 0;
  const files = Array.from({ length: 20 }, () => openSync("/dev/null", "r"));
  const during = open() ?? 0;
  for (const file of files) closeSync(file);
  expect(during - before).toBeGreaterThanOrEqual(20);
  expect(limit ?? 0).toBeGreaterThan(during);
});
