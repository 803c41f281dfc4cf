import { expect, test } from "bun:test";
import { engineLimits } from "@sluice/contract/engine";
import type { BundleChange } from "../model/bundle.ts";
import { addressOf, bundleNamed, signatureOf, slotOf } from "./testing/bundles.ts";
import { Gate, PoolStand } from "./testing/pool-stand.ts";

const included: BundleChange = { to: "included", slot: slotOf(11), blockhash: "hash", index: 0, tip: 6_000n };
const expired: BundleChange = { to: "expired", reason: "blockhash_expired" };
const lost: BundleChange = { to: "dropped", reason: "fork" };
const content = { transactions: [Uint8Array.of(5)], signatures: [signatureOf("opened")], lastValidBlockHeight: 9n };

test("a searcher who submits a bundle while it is being accepted follows it, unless it has ended", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  let gate = new Gate();
  await using pool = await stand.pool({
    accept: async (bundle) => {
      await gate.wait();
      return store.accept(bundle);
    },
  });
  const bundle = bundleNamed("submitted twice", { searcherId: "acct_first" });
  const submitTwice = () => {
    gate = new Gate();
    const both = [pool.accept(bundle), pool.accept({ ...bundle, searcherId: "acct_second" })];
    gate.open();
    return Promise.all(both);
  };
  expect(await submitTwice()).toMatchObject([
    { fresh: true, record: { followers: [] } },
    { fresh: false, record: { searcherId: "acct_first", followers: ["acct_second"] } },
  ]);
  expect(["acct_first", "acct_second", "acct_nobody"].map((id) => pool.liveCountOf(id))).toEqual([1, 1, 0]);
  await pool.change(bundle.id, expired);
  const ended = { fresh: false, record: { state: "expired" } } as const;
  expect(await submitTwice()).toMatchObject([ended, ended]);
  expect(pool.liveCountOf("acct_second")).toBe(0);
});

test("who asks to follow twice at once does so once, and a bundle that ends before their turn is left as it is", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  const gate = new Gate();
  let writes = 0;
  await using pool = await stand.pool({
    step: async (step) => {
      await gate.wait();
      return store.step(step);
    },
    setFollowers: (id, followers) => {
      writes += 1;
      return store.setFollowers(id, followers);
    },
  });
  const [followed, ended] = [bundleNamed("followed"), bundleNamed("ended before")];
  await pool.accept(followed);
  await pool.accept(ended);
  const twice = [pool.addFollower(followed.id, "acct_2"), pool.addFollower(followed.id, "acct_2")];
  for (const record of await Promise.all(twice)) expect(record?.followers).toEqual(["acct_2"]);
  const ending = pool.change(ended.id, expired);
  const following = pool.addFollower(ended.id, "acct_2");
  const opening = pool.opened(ended.id, content);
  gate.open();
  await ending;
  expect([(await following)?.followers, await opening, writes]).toEqual([[], null, 1]);
});

test("who cannot follow on disk, since the bundle has ended there, follows nowhere", async () => {
  await using stand = await PoolStand.open();
  await using pool = await stand.pool({ setFollowers: async () => false });
  const bundle = bundleNamed("ended on disk");
  await pool.accept(bundle);
  expect(await pool.addFollower(bundle.id, "acct_2")).toMatchObject({ followers: [] });
  expect(pool.liveOf("acct_2")).toEqual([]);
});

test("an opening whose answer was lost stands, and one of a bundle that ended on disk is none", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  let losesAnswers = true;
  await using pool = await stand.pool({
    open: async (id, opened) => {
      if (id === ended.id) return false;
      const isOpened = await store.open(id, opened);
      if (losesAnswers) throw new Error("the answer is lost");
      return isOpened;
    },
  });
  const sealedNamed = (name: string) =>
    bundleNamed(name, { sealed: Uint8Array.of(1), transactions: [], signatures: [] });
  const [sealed, ended] = [sealedNamed("sealed"), sealedNamed("sealed and ended")];
  await pool.accept(sealed);
  await pool.accept(ended);
  await expect(pool.opened(sealed.id, content)).rejects.toThrow("lost");
  losesAnswers = false;
  expect(pool.live(sealed.id)?.sealed).not.toBeNull();
  expect(await pool.opened(sealed.id, content)).toMatchObject({ ...content, sealed: null });
  expect(await pool.opened(ended.id, content)).toBeNull();
  expect(pool.live(ended.id)?.sealed).not.toBeNull();
});

test("a list is answered after the steps that it shows were reported", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  const gate = new Gate();
  await using pool = await stand.pool({
    step: async (step) => {
      const result = await store.step(step);
      await gate.wait();
      return result;
    },
  });
  const bundle = bundleNamed("listed", { searcherId: "acct_lists" });
  await pool.accept(bundle);
  await pool.accept(bundleNamed("listed too", { searcherId: "acct_lists" }));
  const order: string[] = [];
  using _ = pool.onChange(({ state }) => order.push(state));
  const stepping = pool.change(bundle.id, included);
  await gate.reached;
  const listing = pool.list({ searcherId: "acct_lists", limit: 9, cursor: null }).then(({ items }) => {
    order.push("listed");
    return items;
  });
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  gate.open();
  const items = await listing;
  expect(items.map(({ state }) => state).toSorted()).toEqual(["accepted", "included"]);
  expect(order).toEqual(["included", "listed"]);
  await stepping;
});

test("what is noted while a step is written is kept with it, unless the step is the end", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  const at = { slot: slotOf(11), leader: addressOf("leader") };
  let gate = new Gate();
  await using pool = await stand.pool({
    step: async (step) => {
      await gate.wait();
      return store.step(step);
    },
  });
  const bundle = bundleNamed("noted");
  await pool.accept(bundle);
  const noteDuring = async (change: BundleChange) => {
    gate = new Gate();
    const stepping = pool.change(bundle.id, change);
    await gate.reached;
    pool.forwarded([bundle.id], at);
    gate.open();
    return stepping;
  };
  expect(await noteDuring(included)).toMatchObject({ state: "included", forwarded: { times: 1, ...at } });
  const ended = await noteDuring(lost);
  expect(ended?.forwarded?.times).toBe(1);
  expect(await store.get(bundle.id)).toMatchObject({ state: "dropped", forwarded: ended?.forwarded ?? {} });
});

test("a bundle that is gone from the disk is gone from memory at its next step", async () => {
  await using stand = await PoolStand.open();
  await using pool = await stand.pool({ step: async () => ({ applied: false, found: null }) });
  const bundle = bundleNamed("gone");
  await pool.accept(bundle);
  expect(await pool.change(bundle.id, included)).toBeNull();
  expect([pool.live(bundle.id), pool.holding(bundle.signatures[0] ?? signatureOf(""))]).toEqual([null, []]);
});

test("a store that refuses a step from the state that it shows is not believed", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  await using pool = await stand.pool({
    step: async ({ id }) => {
      const found = await store.get(id);
      return { applied: false, found };
    },
  });
  const bundle = bundleNamed("contradicted");
  await pool.accept(bundle);
  await expect(pool.change(bundle.id, included)).rejects.toMatchObject({ code: "CORRUPT" });
  expect(pool.live(bundle.id)).toMatchObject({ state: "accepted" });
});

test("of an end whose answer was lost another reason is none", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  await using pool = await stand.pool({
    step: async (step) => {
      const result = await store.step(step);
      expect(result.applied).toBe(true);
      const stored = await store.get(step.id);
      return { applied: false, found: stored === null ? null : { ...stored, reason: "fork" } };
    },
  });
  const bundle = bundleNamed("ended for another reason");
  await pool.accept(bundle);
  expect(await pool.change(bundle.id, { to: "dropped", reason: "tip_not_paid" })).toBeNull();
  expect(pool.live(bundle.id)).toBeNull();
});

test("a bundle that waits for its acceptance counts against the bound, and one that can still change is never old", async () => {
  await using stand = await PoolStand.open();
  const { store } = stand;
  const gate = new Gate();
  await using pool = await stand.pool(
    {
      accept: async (bundle) => {
        if (bundle.id === waiting.id) await gate.wait();
        return store.accept(bundle);
      },
    },
    { liveMax: 2 },
  );
  const [live, waiting, refused] = [bundleNamed("counted"), bundleNamed("counted too"), bundleNamed("refused")];
  await pool.accept(live);
  const accepting = pool.accept(waiting);
  await expect(pool.accept(refused)).rejects.toMatchObject({ code: "OVERLOADED" });
  gate.open();
  await accepting;
  await expect(pool.accept(refused)).rejects.toMatchObject({ code: "OVERLOADED" });
  await using other = await stand.pool({ live: async () => [] });
  stand.clock.advance(engineLimits.keptMs + 1);
  expect(await other.get(live.id)).toMatchObject({ state: "accepted" });
});
