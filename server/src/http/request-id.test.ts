import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { createRequestIds } from "./request-id.ts";

test("ids of one server never repeat and two servers do not share a prefix", () => {
  const first = createRequestIds({ random: seededRandom(1) });
  const second = createRequestIds({ random: seededRandom(2) });
  const seen = new Set<string>();
  for (let index = 0; index < 5_000; index += 1) seen.add(first()).add(second());
  expect(seen.size).toBe(10_000);
  expect(first()).toMatch(/^req_[0-9a-f]{16}-[0-9a-z]+$/);
});
