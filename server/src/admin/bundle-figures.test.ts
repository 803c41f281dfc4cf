import { expect, test } from "bun:test";
import { acceptedBundle } from "../engine/testing/accepted-bundle.ts";
import { consoleBundleStory } from "./bundle-figures.ts";

const id = "ab".repeat(32);
const record = acceptedBundle({ id, signatures: [], searcherId: "owner", tip: 2n ** 63n, sealed: new Uint8Array() });
const engine = { pool: { get: async (asked: string) => (asked === id ? record : null) } };
const about = { id, nowMs: 1_800_000_000_000 };

test("a bundle's story is its searcher's and the operators', and for others it is not there", async () => {
  const story = await consoleBundleStory(engine, { accountId: "owner", operates: false }, about);
  expect(story).toMatchObject({
    id,
    status: "accepted",
    finalized: false,
    tip: "9223372036854775808",
    sealed: true,
    handedOver: null,
    blockhash: null,
  });
  expect(await consoleBundleStory(engine, { accountId: "other", operates: true }, about)).toEqual(story);
  expect(await consoleBundleStory(engine, { accountId: "other", operates: false }, about)).toBeNull();
  const unknown = { ...about, id: "cd".repeat(32) };
  expect(await consoleBundleStory(engine, { accountId: "owner", operates: true }, unknown)).toBeNull();
});
