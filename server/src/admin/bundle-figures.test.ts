import { expect, test } from "bun:test";
import { acceptedBundle } from "../engine/testing/accepted-bundle.ts";
import { consoleBundleStory, newestOf } from "./bundle-figures.ts";

const id = "ab".repeat(32);
const record = acceptedBundle({ id, signatures: [], searcherId: "owner", tip: 2n ** 63n, sealed: new Uint8Array() });
const engine = { pool: { get: async (asked: string) => (asked === id ? record : null) } };
const about = { id, nowMs: 1_800_000_000_000 };

test("a bundle's story is its searcher's and the operators', and for others it is not there", async () => {
  const story = await consoleBundleStory(engine, { accountId: "owner", operates: false, signedIn: true }, about);
  expect(story).toMatchObject({
    id,
    status: "accepted",
    finalized: false,
    tip: "9223372036854775808",
    sealed: true,
    handedOver: null,
    blockhash: null,
  });
  expect(await consoleBundleStory(engine, { accountId: "other", operates: true, signedIn: true }, about)).toEqual(
    story,
  );
  expect(await consoleBundleStory(engine, { accountId: "other", operates: false, signedIn: true }, about)).toBeNull();
  const followed = { pool: { get: async () => ({ ...record, followers: ["other"] }) } };
  expect(await consoleBundleStory(followed, { accountId: "other", operates: false, signedIn: true }, about)).toEqual(
    story,
  );
  const unknown = { ...about, id: "cd".repeat(32) };
  expect(await consoleBundleStory(engine, { accountId: "owner", operates: true, signedIn: true }, unknown)).toBeNull();
});

test("the list has an account's bundles and those in flight that it follows, each once, newest first, at most fifty", () => {
  const at = (name: string, receivedAt: number) => acceptedBundle({ id: name, receivedAt });
  const own = [at("own 3", 3), at("own 1", 1)];
  const live = [at("own 1", 1), at("followed 2", 2)];
  expect(newestOf(own, live).map((each) => each.id)).toEqual(["own 3", "followed 2", "own 1"]);
  const many = Array.from({ length: 80 }, (_, index) => at(`${index}`, index));
  expect(newestOf([], many).map(({ receivedAt }) => receivedAt)).toEqual(Array.from({ length: 50 }, (_, n) => 79 - n));
});
