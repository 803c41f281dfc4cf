import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { EngineStores } from "../../engine-records.ts";
import { stateErrorCodeOf } from "../../errors.ts";
import type { LeaseRecord, LeaseStore } from "../../lease-records.ts";
import { addressOf, newBundle, slotOf } from "./bundles.ts";
import type { ConformanceSubject } from "./subject.ts";

async function taken(store: LeaseStore, name: string, holder: string): Promise<LeaseRecord> {
  const lease = await store.take(name, holder, await store.find(name));
  if (lease === null) throw new Error("the lease was not taken");
  return lease;
}

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "written",
    (error: unknown) => stateErrorCodeOf(error),
  );

export function leaseConformance(subject: ConformanceSubject): void {
  describe("leases", () => {
    passing(subject);
    fences(subject);
    races(subject);
  });
}

function passing({ state, replicas }: ConformanceSubject): void {
  test("a lease is taken as it was seen, beats while its epoch lasts, and is given up by its holder alone", async () => {
    const store = state().leases;
    const other = replicas().at(-1)?.leases ?? store;
    const name = randomUUID();
    expect(await store.find(name)).toBeNull();
    expect(await store.beat({ name, epoch: 1n })).toBe(false);
    expect(await store.take(randomUUID(), "one", { name, epoch: 1n, beats: 0n, holder: "gone" })).toBeNull();
    const first = await taken(store, name, "one");
    expect(first).toEqual({ name, epoch: 1n, beats: 0n, holder: "one" });
    expect(await other.take(name, "two", null)).toBeNull();
    const seen = await other.find(name);
    expect(await store.beat(first)).toBe(true);
    expect(await other.take(name, "two", seen)).toBeNull();
    const second = await taken(other, name, "two");
    expect(second).toMatchObject({ epoch: 2n, beats: 0n, holder: "two" });
    expect(await store.beat(first)).toBe(false);
    await store.release(first);
    expect(await store.find(name)).toEqual(second);
    await other.release(second);
    expect(await store.find(name)).toEqual({ ...second, holder: "" });
  });

  test("of many that take one lease at once, from every replica, one has it", async () => {
    const name = randomUUID();
    for (const epoch of [1n, 2n]) {
      const seen = await state().leases.find(name);
      const takers = Array.from({ length: 8 }, (_, index) =>
        replicas()[index % replicas().length]?.leases.take(name, `holder ${index}`, seen),
      );
      const held = (await Promise.all(takers)).filter((lease) => lease !== null);
      expect(held).toEqual([expect.objectContaining({ epoch })]);
      expect(await state().leases.find(name)).toEqual(held[0] ?? null);
    }
  });
}

/** Every write that is under a lease. */
const writes: Readonly<Record<string, (engine: EngineStores, known: string) => Promise<unknown>>> = {
  accept: (engine) => engine.bundles.accept(newBundle()),
  "set followers": (engine, id) => engine.bundles.setFollowers(id, ["acct_2"]),
  step: (engine, id) => engine.bundles.step({ id, from: "accepted", to: ended, isEnd: true }),
  open: (engine, id) => engine.bundles.open(id, { transactions: [], signatures: [], lastValidBlockHeight: null }),
  "note what was forwarded": (engine, id) =>
    engine.bundles.noteForwarded([{ id, forwarded: { times: 3, slot: slotOf(5), leader: addressOf("leader") } }]),
  "note what was reported": (engine, id) => engine.bundles.markReported([id]),
  forget: (engine) => engine.bundles.forget(1),
  "set a cursor": (engine, id) => engine.cursors.set(id, "9"),
  "put reputations": (engine, id) => engine.reputations.put([{ searcherId: id, version: 1, value: {} }]),
  "insert a key": (engine, id) =>
    engine.encryptionKeys.insert({
      id,
      createdAt: 1,
      validFrom: 1n,
      validUntil: 2n,
      publicKey: new Uint8Array(1),
      privateKey: new Uint8Array(1),
    }),
  "forget keys": (engine) => engine.encryptionKeys.forget(0n),
  "claim an encapsulated key": (engine) =>
    engine.replays.claim({ enc: crypto.getRandomValues(new Uint8Array(32)), holder: "h", expiresAt: 1e15 }),
  "forget claims": (engine) => engine.replays.forgetExpired(),
};

const ended = {
  state: "expired",
  reason: "target_slot_past",
  detail: null,
  landed: null,
  forwarded: null,
  tipSeen: null,
  computeUnits: null,
  changedAt: 7,
} as const;

function fences({ state, replicas }: ConformanceSubject): void {
  for (const [what, write] of Object.entries(writes)) {
    test(`to ${what} is the holder's, and refused once another has taken over`, async () => {
      const name = randomUUID();
      const other = replicas().at(-1) ?? state();
      const first = state()
        .engine.of("mainnet")
        .under(await taken(state().leases, name, "one"));
      const [own, late] = [newBundle(), newBundle()];
      await first.bundles.accept(own);
      await first.bundles.accept(late);
      expect(await faultOf(write(first, own.id))).toBe("written");
      const second = other.engine.of("mainnet").under(await taken(other.leases, name, "two"));
      const before = await state().engine.of("mainnet").bundles.get(late.id);
      expect(await faultOf(write(first, late.id))).toBe("FENCED");
      await expect(write(first, late.id)).rejects.toMatchObject({ code: "OVERLOADED" });
      expect(await state().engine.of("mainnet").bundles.get(late.id)).toEqual(before);
      expect(await state().engine.of("mainnet").cursors.get(late.id)).toBeNull();
      expect(await faultOf(write(second, late.id))).toBe("written");
    });
  }

  test("a fenced write does no harm to those that share its commit", async () => {
    const name = randomUUID();
    const old = state()
      .engine.of("mainnet")
      .under(await taken(state().leases, name, "one"));
    const now = state()
      .engine.of("mainnet")
      .under(await taken(state().leases, name, "two"));
    const [lost, kept] = [newBundle(), newBundle()];
    const [refused, accepted] = await Promise.all([faultOf(old.bundles.accept(lost)), now.bundles.accept(kept)]);
    expect([refused, accepted]).toEqual(["FENCED", { fresh: true }]);
    expect(await state().engine.of("mainnet").bundles.get(lost.id)).toBeNull();
  });
}

function races({ state, replicas }: ConformanceSubject): void {
  test("what a successor reads after its taking is all that its predecessor ever writes", async () => {
    const name = randomUUID();
    for (let term = 0; term < 40; term += 1) {
      const here = replicas()[term % replicas().length] ?? state();
      const there = replicas()[(term + 1) % replicas().length] ?? state();
      const mine = here.engine.of("mainnet").under(await taken(here.leases, name, `holder ${term}`));
      const bundles = Array.from({ length: 40 }, () => newBundle());
      // Some are under way when the other takes over.
      const accepting = bundles.map(async (bundle, index) => {
        for (let turn = 0; turn < index; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return await faultOf(mine.bundles.accept(bundle));
      });
      await accepting[term];
      await taken(there.leases, name, `successor ${term}`);
      const read = await Promise.all(bundles.map(({ id }) => there.engine.of("mainnet").bundles.get(id)));
      const outcomes = await Promise.all(accepting);
      expect(outcomes.map((outcome) => outcome === "written")).toEqual(read.map((found) => found !== null));
      expect(new Set(outcomes).difference(new Set(["written", "FENCED"])).size).toBe(0);
    }
  }, 30_000);
}
