import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type Address, addressOfBytes, type Signature, type Slot, signatureOfBytes } from "@sluice/wire/identifiers";
import fc from "fast-check";
import type { BundleRecord, BundleStatus, BundleStep, BundleStore } from "../../bundle-records.ts";
import { int64Max } from "../../values.ts";
import type { ConformanceSubject } from "./subject.ts";

let created = 0;
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const signatureOf = (text: string): Signature =>
  signatureOfBytes(new Uint8Array(createHash("sha512").update(text).digest()));
export const addressOf = (text: string): Address =>
  addressOfBytes(new Uint8Array(createHash("sha256").update(text).digest()));
export const slotOf = (slot: number | bigint): Slot => BigInt(slot) as Slot;
const start = 1_790_000_000_000;

export function newBundle(changes: Partial<BundleRecord> = {}): BundleRecord {
  created += 1;
  return {
    id: hashOf(`bundle ${process.pid} ${created}`),
    searcherId: "acct_searcher",
    ingress: "rest",
    transactions: [Uint8Array.of(1, 2, 3), new Uint8Array(1_232).fill(7), new Uint8Array()],
    signatures: ["sig1", "sig2", "sig3"].map(signatureOf),
    sealed: null,
    tip: 1_000n,
    mevType: "arbitrage",
    targetSlot: slotOf(12),
    receivedAt: start + created,
    acceptedSlot: slotOf(11),
    lastValidBlockHeight: 150n,
    expiresAt: start + 300_000,
    ...accepted(start + created),
    followers: [],
    chain: null,
    ...changes,
  };
}

function accepted(changedAt: number): BundleStatus {
  return {
    state: "accepted",
    reason: null,
    detail: null,
    landed: null,
    forwarded: null,
    tipSeen: null,
    computeUnits: null,
    changedAt,
  };
}

const landed = { slot: slotOf(12), blockhash: "hash", index: 2 };
const toIncluded = (id: string): BundleStep => ({
  id,
  from: "accepted",
  to: { ...accepted(start + 5_000), state: "included", landed, tipSeen: 5n, computeUnits: 300 },
  isEnd: false,
});
const toEnd = (id: string, from: BundleStep["from"] = "accepted", at = start + 9_000): BundleStep => ({
  id,
  from,
  to:
    from === "included"
      ? { ...accepted(at), state: "finalized", landed }
      : { ...accepted(at), state: "dropped", reason: "tip_not_paid", detail: "paid 0" },
  isEnd: true,
});

async function allOf(read: (cursor: string | null) => ReturnType<BundleStore["list"]>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await read(cursor);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

/** What is in flight belongs to the test that put it there: the rest is ended and reported first. */
async function emptied(store: BundleStore): Promise<void> {
  for (const { id, state } of await store.live(null, 1_000)) await store.step(toEnd(id, state));
  await store.markReported((await store.unreported(1_000)).map(({ id }) => id));
}

export function bundleConformance(subject: ConformanceSubject): void {
  const store = (): BundleStore => subject.state().engine.of("mainnet").bundles;
  describe("bundles", () => {
    acceptance(subject, store);
    manyAtOnce(store);
    steps(subject, store);
    reading(store);
    outcomes(store);
    against(subject, store);
  });
}

/** However many share a commit, each is written as it is: groups go to the disk in runs of several lengths. */
function manyAtOnce(store: () => BundleStore): void {
  test.each([1, 3, 64, 65, 200, 497])(
    "%p bundles at once are accepted, stepped, ended and reported, each as its own",
    async (count) => {
      await emptied(store());
      const bundles = Array.from({ length: count }, (_, index) =>
        newBundle({
          signatures: [signatureOf(`${index}`)],
          transactions: [Uint8Array.of(index % 256, index >> 8)],
          sealed: index % 3 === 0 ? Uint8Array.of(index % 256) : null,
          tip: BigInt(index),
          targetSlot: index % 2 === 0 ? null : slotOf(index),
        }),
      );
      const taken = await Promise.all(bundles.map((bundle) => store().accept(bundle)));
      expect(taken).toEqual(bundles.map(() => ({ fresh: true })));
      await store().noteForwarded(
        bundles.map(({ id }, index) => ({
          id,
          forwarded: { times: index + 1, slot: slotOf(index), leader: addressOf(`of ${index}`) },
        })),
      );
      const live = new Map((await store().live(null, 1_000)).map((bundle) => [bundle.id, bundle]));
      for (const [index, bundle] of bundles.entries()) {
        const forwarded = { times: index + 1, slot: slotOf(index), leader: addressOf(`of ${index}`) };
        expect(live.get(bundle.id)).toEqual({ ...bundle, forwarded });
      }
      const landedAt = (index: number) => ({ slot: slotOf(index), blockhash: `hash ${index}`, index });
      const created = await Promise.all(
        bundles.map(({ id, receivedAt }, index) => {
          const to = {
            ...accepted(receivedAt),
            state: "included",
            landed: landedAt(index),
            computeUnits: index,
          } as const;
          // Every fourth ends in the same commit in which others are included.
          return store().step(index % 4 === 0 ? toEnd(id) : { id, from: "accepted", to, isEnd: false });
        }),
      );
      expect(created).toEqual(bundles.map(() => ({ applied: true })));
      for (const [index, { id }] of bundles.entries()) {
        const stands = await store().get(id);
        expect(stands?.state).toBe(index % 4 === 0 ? "dropped" : "included");
        expect(stands?.landed ?? null).toEqual(index % 4 === 0 ? null : landedAt(index));
        expect(stands?.transactions).toHaveLength(index % 4 === 0 ? 0 : 1);
      }
      const ended = bundles.filter((_, index) => index % 4 === 0).map(({ id }) => id);
      expect(new Set((await store().unreported(1_000)).map(({ id }) => id))).toEqual(new Set(ended));
      await store().markReported(ended);
      expect(await store().unreported(1_000)).toEqual([]);
    },
  );
}

function acceptance({ replicas }: ConformanceSubject, store: () => BundleStore): void {
  test("a bundle is read back as it was accepted, with the largest amounts there are", async () => {
    const plain = newBundle();
    const slot = slotOf(int64Max);
    const large = { tip: int64Max, targetSlot: slot, acceptedSlot: slot, lastValidBlockHeight: int64Max };
    const odd = newBundle({ ...large, sealed: new Uint8Array(8_300).fill(255), transactions: [], signatures: [] });
    const bare = newBundle({ targetSlot: null, lastValidBlockHeight: null, transactions: [Uint8Array.of(0)] });
    for (const bundle of [plain, odd, bare]) {
      expect(await store().accept(bundle)).toEqual({ fresh: true });
      expect(await store().get(bundle.id)).toEqual({ ...bundle, ...accepted(bundle.receivedAt) });
    }
  });

  test("the same id again is the record as it stands, and changes nothing", async () => {
    const bundle = newBundle();
    await store().accept(bundle);
    await store().step(toIncluded(bundle.id));
    const stands = await store().get(bundle.id);
    const again = await store().accept({ ...bundle, tip: 9n, searcherId: "acct_other" });
    expect(again).toEqual({ fresh: false, found: stands as BundleRecord });
    expect(await store().get(bundle.id)).toEqual(stands as BundleRecord);
  });

  test("of many acceptances of one id at once, from every replica, one is fresh", async () => {
    const bundles = Array.from({ length: 40 }, () => newBundle());
    const tries = bundles.flatMap((bundle) => Array.from({ length: 5 }, () => bundle));
    const results = await Promise.all(
      tries.map(async (bundle, index) => {
        const replica = replicas()[index % replicas().length];
        return { id: bundle.id, fresh: (await replica?.engine.of("mainnet").bundles.accept(bundle))?.fresh };
      }),
    );
    for (const { id } of bundles) {
      expect(results.filter((result) => result.id === id && result.fresh === true)).toHaveLength(1);
      expect(results.filter((result) => result.id === id && result.fresh === false)).toHaveLength(4);
    }
  });

  test("what no column takes is refused and leaves nothing", async () => {
    const wrong: Partial<BundleRecord>[] = [
      { id: "short" },
      { tip: int64Max + 1n },
      { tip: -1n },
      { signatures: ["a,b" as Signature] },
      { searcherId: "" },
      { transactions: [new Uint8Array(65_536)] },
      { transactions: Array.from({ length: 9 }, () => new Uint8Array()) },
      { sealed: new Uint8Array(65_537) },
    ];
    for (const changes of wrong) {
      const bundle = newBundle(changes);
      await expect(store().accept(bundle)).rejects.toMatchObject({ code: "INVALID_INPUT" });
      expect(await store().get(bundle.id)).toBeNull();
    }
    expect(await store().get("a\0b")).toBeNull();
  });
}

function steps({ replicas }: ConformanceSubject, store: () => BundleStore): void {
  test("a step is made from the state it names, once, and one that is too late receives the current state", async () => {
    const bundle = newBundle();
    await store().accept(bundle);
    expect(await store().step(toEnd(bundle.id, "included"))).toMatchObject({
      applied: false,
      found: { state: "accepted" },
    });
    expect(await store().step(toIncluded(bundle.id))).toEqual({ applied: true });
    expect(await store().get(bundle.id)).toEqual({ ...bundle, ...toIncluded(bundle.id).to });
    expect(await store().step(toEnd(bundle.id))).toMatchObject({
      applied: false,
      found: { state: "included", landed },
    });
    expect(await store().step(toEnd(bundle.id, "included"))).toEqual({ applied: true });
    const ended = await store().get(bundle.id);
    expect(ended).toEqual({ ...bundle, ...toEnd(bundle.id, "included").to, transactions: [] });
    for (const from of ["accepted", "included", "finalized"] as const) {
      expect(await store().step({ ...toEnd(bundle.id), from })).toEqual({ applied: false, found: ended });
    }
    expect(await store().step(toEnd(hashOf("none")))).toEqual({ applied: false, found: null });
  });

  test("of two ends that are written at once, from any replica, one is made", async () => {
    const bundles = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const bundle = newBundle();
        await store().accept(bundle);
        return bundle;
      }),
    );
    const results = await Promise.all(
      bundles.flatMap(({ id }) =>
        [1, 2, 3].map((nth) =>
          replicas()
            [nth % replicas().length]?.engine.of("mainnet")
            .bundles.step(toEnd(id, "accepted", start + nth)),
        ),
      ),
    );
    expect(results.filter((result) => result?.applied === true)).toHaveLength(30);
  });

  test("two steps of one bundle that share a commit are made one after the other", async () => {
    const bundle = newBundle();
    await store().accept(bundle);
    const [first, second] = await Promise.all([
      store().step(toIncluded(bundle.id)),
      store().step(toEnd(bundle.id, "included")),
    ]);
    expect([first, second]).toEqual([{ applied: true }, { applied: true }]);
    expect(await store().get(bundle.id)).toMatchObject({ state: "finalized" });
  });

  test("an envelope gives way to what it held, once, and not after the end", async () => {
    const sealed = Uint8Array.of(1, 9);
    const [opened, ended] = [newBundle({ sealed, transactions: [] }), newBundle({ sealed, transactions: [] })];
    await store().accept(opened);
    await store().accept(ended);
    await store().step(toEnd(ended.id));
    const content = { transactions: [Uint8Array.of(4)], signatures: [signatureOf("sig9")], lastValidBlockHeight: 77n };
    expect(await store().open(opened.id, content)).toBe(true);
    expect(await store().get(opened.id)).toEqual({ ...opened, ...content, sealed: null });
    expect(await store().open(opened.id, { ...content, signatures: [signatureOf("sig8")] })).toBe(false);
    expect(await store().open(ended.id, content)).toBe(false);
    expect(await store().open(hashOf("none"), content)).toBe(false);
    expect((await store().get(opened.id))?.signatures).toEqual([signatureOf("sig9")]);
    expect(await store().get(ended.id)).toMatchObject({ state: "dropped", sealed: null, transactions: [] });
  });

  test("who follows a bundle is kept for what is in flight, through its steps and its end", async () => {
    const [live, ended] = [newBundle(), newBundle()];
    await store().accept(live);
    await store().accept(ended);
    await store().step(toEnd(ended.id));
    const followers = ["acct_2", "pubkey:4Nd1mYQfjbDRjHTQP5UFLbW8zVaUGSn2ZXPkfdv7iNSW"];
    expect(await store().setFollowers(live.id, followers)).toBe(true);
    expect(await store().setFollowers(ended.id, followers)).toBe(false);
    expect(await store().setFollowers(hashOf("none"), followers)).toBe(false);
    await store().step(toIncluded(live.id));
    expect((await store().live(null, 1_000)).find(({ id }) => id === live.id)).toMatchObject({ followers, landed });
    await store().step(toEnd(live.id, "included"));
    expect(await store().get(live.id)).toMatchObject({ state: "finalized", followers, landed });
    expect(await store().get(ended.id)).toMatchObject({ followers: [] });
    const many = Array.from({ length: 65 }, (_, index) => `acct_${index}`);
    await expect(store().setFollowers(live.id, many)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("forwarded counts are noted for what is in flight alone", async () => {
    const [live, ended] = [newBundle(), newBundle()];
    await store().accept(live);
    await store().accept(ended);
    await store().step(toEnd(ended.id));
    const forwarded = { times: 3, slot: slotOf(12), leader: addressOf("leader") };
    const ids = [live.id, ended.id, hashOf("none")];
    await store().noteForwarded(ids.map((id) => ({ id, forwarded })));
    await store().noteForwarded([]);
    expect((await store().get(live.id))?.forwarded).toEqual(forwarded);
    expect((await store().get(ended.id))?.forwarded).toBeNull();
  });
}

function reading(store: () => BundleStore): void {
  test("what is in flight is read in pages, oldest first, and nothing that has ended", async () => {
    await emptied(store());
    const sameTime = start + 500_000;
    const bundles = Array.from({ length: 7 }, (_, index) => newBundle({ receivedAt: sameTime + (index >> 1) }));
    await Promise.all(bundles.map((bundle) => store().accept(bundle)));
    await store().step(toIncluded(bundles[0]?.id ?? ""));
    await store().step(toEnd(bundles[3]?.id ?? ""));
    const expected = bundles
      .filter((_, index) => index !== 3)
      .toSorted((left, right) => left.receivedAt - right.receivedAt || (left.id < right.id ? -1 : 1));
    const read: BundleRecord[] = [];
    for (;;) {
      const page = await store().live(read.at(-1) ?? null, 2);
      read.push(...page);
      if (page.length < 2) break;
    }
    expect(read.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(read.find(({ id }) => id === expected[2]?.id)?.transactions).toEqual(expected[2]?.transactions ?? []);
  });

  test("lists are newest first, by searcher and state, in pages that neither miss nor repeat", async () => {
    const searcherId = `acct_list_${created}`;
    const bundles = Array.from({ length: 9 }, (_, index) =>
      newBundle({ searcherId, receivedAt: start + 600_000 + (index >> 1) }),
    );
    await Promise.all(bundles.map((bundle) => store().accept(bundle)));
    const newest = bundles
      .toSorted((left, right) => right.receivedAt - left.receivedAt || (left.id < right.id ? 1 : -1))
      .map(({ id }) => id);
    await store().step(toEnd(newest[2] ?? ""));
    expect(await allOf((cursor) => store().list({ searcherId, limit: 2, cursor }))).toEqual(newest);
    const ofState = (state: "accepted" | "dropped") =>
      allOf((cursor) => store().list({ searcherId, state, limit: 3, cursor }));
    expect(await ofState("accepted")).toEqual(newest.filter((_, index) => index !== 2));
    expect(await ofState("dropped")).toEqual([newest[2] ?? ""]);
    expect(await allOf((cursor) => store().list({ searcherId: "nobody", limit: 3, cursor }))).toEqual([]);
    expect((await store().list({ limit: 1, cursor: null })).items).toHaveLength(1);
    await expect(store().list({ limit: 1_001, cursor: null })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(store().list({ limit: 1, cursor: "x" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
}

function outcomes(store: () => BundleStore): void {
  test("an end waits to be reported until it has been, and is not forgotten before", async () => {
    await emptied(store());
    const bundles = Array.from({ length: 4 }, () => newBundle());
    for (const bundle of bundles) await store().accept(bundle);
    const [one = "", two = "", three = "", four = ""] = bundles.map(({ id }) => id);
    await store().step(toEnd(two, "accepted", start + 1));
    await store().step(toEnd(one, "accepted", start + 2));
    await store().step(toEnd(three, "accepted", start + 3));
    expect((await store().unreported(2)).map(({ id }) => id)).toEqual([two, one]);
    expect((await store().unreported(100)).map(({ id }) => id)).toEqual([two, one, three]);
    await store().markReported([two, hashOf("none")]);
    expect((await store().unreported(100)).map(({ id }) => id)).toEqual([one, three]);
    while ((await store().forget(start + 3)) > 0);
    expect(await store().get(two)).toBeNull();
    expect(await store().get(one)).toMatchObject({ state: "dropped" });
    await store().markReported([one, three]);
    expect(await store().forget(start + 3)).toBe(1);
    expect([await store().get(one), (await store().get(three))?.state]).toEqual([null, "dropped"]);
    expect((await store().get(four))?.state).toBe("accepted");
  });
}

/** Any mixture of acceptances and steps, at once, does what a map does. */
function against({ replicas }: ConformanceSubject, store: () => BundleStore): void {
  test("any mixture of acceptances and steps gives each bundle one end and reports it once", async () => {
    const action = fc.record({
      bundle: fc.nat(5),
      what: fc.constantFrom("accept", "include", "finalize", "drop"),
      replica: fc.nat(1),
    });
    const property = fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      await emptied(store());
      const bundles = Array.from({ length: 6 }, () => newBundle());
      const results = await Promise.all(
        actions.map(async ({ bundle, what, replica }) => {
          const chosen = bundles[bundle] ?? newBundle();
          const to =
            (replicas()[replica % replicas().length] ?? replicas()[0])?.engine.of("mainnet").bundles ?? store();
          if (what === "accept") return { id: chosen.id, what, done: (await to.accept(chosen)).fresh };
          const step = { include: toIncluded, finalize: (id: string) => toEnd(id, "included"), drop: toEnd }[what];
          return { id: chosen.id, what, done: (await to.step(step(chosen.id))).applied };
        }),
      );
      for (const { id } of bundles) {
        const done = results.filter((result) => result.id === id && result.done).map(({ what }) => what);
        const stands = (await store().get(id))?.state ?? null;
        expect(new Set(done).size).toBe(done.length);
        expect(done.filter((what) => what === "finalize" || what === "drop").length).toBeLessThanOrEqual(1);
        const last = { finalize: "finalized", drop: "dropped", include: "included", accept: "accepted" } as const;
        const furthest = (["finalize", "drop", "include", "accept"] as const).find((what) => done.includes(what));
        expect(stands).toBe(furthest === undefined ? null : last[furthest]);
      }
      const ended = results.filter(({ what, done }) => done && (what === "finalize" || what === "drop"));
      const unreported = (await store().unreported(1_000)).map(({ id }) => id);
      expect(unreported.toSorted()).toEqual(ended.map(({ id }) => id).toSorted());
    });
    await fc.assert(property, { numRuns: 15, seed: 11 });
  });
}
