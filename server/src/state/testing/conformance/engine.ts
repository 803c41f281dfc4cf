import { describe, expect, test } from "bun:test";
import type { State } from "../../records.ts";
import { int64Max } from "../../values.ts";
import { addressOf, newBundle, slotOf } from "./bundles.ts";
import type { ConformanceSubject } from "./subject.ts";

const newAccount = async (state: State): Promise<string> => (await state.accounts.create({ name: "searcher" })).id;

export function engineConformance(subject: ConformanceSubject): void {
  describe("the engine's memory", () => {
    searchers(subject);
    settings(subject);
    reputations(subject);
    keys(subject);
    replays(subject);
    networks(subject);
    twins(subject);
  });
}

function networks({ state, clock }: ConformanceSubject): void {
  test("what speaks of a chain is one network's: another network's engine reads and changes none of it", async () => {
    const [mine, theirs] = [state().engine.of("testnet"), state().engine.of("mainnet")];
    const bundle = newBundle({ receivedAt: 1, changedAt: 1 });
    await mine.bundles.accept(bundle);
    await mine.cursors.set("tracker", "mine");
    await mine.reputations.put([{ searcherId: "shared", version: 1, value: "mine" }]);
    await theirs.reputations.put([{ searcherId: "shared", version: 1, value: "theirs" }]);
    const key = {
      createdAt: 5,
      validFrom: 0n,
      validUntil: 10n,
      publicKey: Uint8Array.of(1),
      privateKey: Uint8Array.of(2),
    };
    await mine.encryptionKeys.insert({ id: "key-of-testnet", ...key });

    expect(await theirs.bundles.get(bundle.id)).toBeNull();
    const others = [
      ...(await theirs.bundles.live(null, 1_000)),
      ...(await theirs.bundles.list({ limit: 1_000, cursor: null })).items,
    ];
    expect(others.filter(({ id }) => id === bundle.id)).toEqual([]);
    const end = { ...bundle, state: "expired", reason: "blockhash_expired", changedAt: clock.now() } as const;
    const step = { id: bundle.id, from: "accepted", to: end, isEnd: true } as const;
    expect(await theirs.bundles.step(step)).toEqual({ applied: false, found: null });
    expect(await theirs.bundles.setFollowers(bundle.id, ["acct_other"])).toBe(false);
    expect(await theirs.cursors.get("tracker")).not.toBe("mine");
    expect((await theirs.encryptionKeys.since(0n)).map(({ id }) => id)).not.toContain("key-of-testnet");
    await theirs.encryptionKeys.forget(int64Max);

    expect(await mine.bundles.get(bundle.id)).toEqual(bundle);
    expect((await mine.encryptionKeys.since(0n)).map(({ id }) => id)).toEqual(["key-of-testnet"]);
    expect((await mine.reputations.get("shared"))?.value).toBe("mine");
    expect(await mine.bundles.step(step)).toEqual({ applied: true });
    expect((await theirs.bundles.unreported(1_000)).map(({ id }) => id)).not.toContain(bundle.id);
    expect(await theirs.bundles.forget(Number.MAX_SAFE_INTEGER)).toBeGreaterThanOrEqual(0);
    expect((await mine.bundles.unreported(1_000)).map(({ id }) => id)).toEqual([bundle.id]);
    await mine.bundles.markReported([bundle.id]);
    await theirs.bundles.forget(Number.MAX_SAFE_INTEGER);
    expect(await mine.bundles.get(bundle.id)).not.toBeNull();
  });
}

function twins({ state }: ConformanceSubject): void {
  test("a bundle that two networks have is two: each has its content, its steps, its outcome and its end", async () => {
    const [mine, theirs] = [state().engine.of("testnet").bundles, state().engine.of("mainnet").bundles];
    const sealed = Uint8Array.of(9);
    const [one, other] = [newBundle({ sealed }), newBundle({ sealed, tip: 7n })];
    const twin = { ...other, id: one.id };
    expect(await Promise.all([mine.accept(one, "genesis-a"), theirs.accept(twin, "genesis-b")])).toEqual([
      { fresh: true },
      { fresh: true },
    ]);
    const { transactions, signatures, lastValidBlockHeight } = one;
    expect(await mine.open(one.id, { transactions, signatures, lastValidBlockHeight })).toBe(true);
    await mine.noteForwarded([{ id: one.id, forwarded: { times: 3, slot: slotOf(4), leader: addressOf("a") } }]);
    expect(await theirs.get(one.id)).toEqual({ ...twin, chain: "genesis-b" });
    const end = { ...one, state: "expired", reason: "blockhash_expired", changedAt: 1 } as const;
    const step = { id: one.id, from: "accepted", to: end, isEnd: true } as const;
    expect(await mine.step(step)).toEqual({ applied: true });
    expect(await theirs.get(one.id)).toEqual({ ...twin, chain: "genesis-b" });
    expect((await theirs.unreported(1_000)).map(({ id }) => id)).not.toContain(one.id);
    expect(await theirs.step(step)).toEqual({ applied: true });
    await theirs.markReported([one.id]);
    expect(await theirs.forget(2)).toBe(1);
    expect((await mine.unreported(1_000)).filter(({ id }) => id === one.id)).toMatchObject([{ chain: "genesis-a" }]);
    await mine.markReported([one.id]);
    expect([await mine.forget(2), await mine.get(one.id)]).toEqual([1, null]);
  });
}

function searchers({ state, replicas }: ConformanceSubject): void {
  test("a public key is linked to one account, regardless of who tries first", async () => {
    const store = state().engine.searchers;
    const [one, other] = [await newAccount(state()), await newAccount(state())];
    const link = await store.link("pubkey-a", one);
    expect(await store.link("pubkey-a", one)).toEqual(link);
    await expect(store.link("pubkey-a", other)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.link("pubkey-b", "acct_none")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const raced = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) =>
        replicas()[index % replicas().length]?.engine.searchers.link("pubkey-c", index < 3 ? one : other),
      ),
    );
    expect(raced.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect((await store.list({ accountId: one, limit: 1 })).items).toEqual([link]);
    expect(await store.find("pubkey-a")).toEqual(link);
    expect(await store.find("a\0b")).toBeNull();
    expect([await store.unlink("pubkey-a"), await store.unlink("pubkey-a")]).toEqual([true, false]);
    expect((await store.link("pubkey-a", other)).accountId).toBe(other);
  });

  test("links and limits are listed in pages by their keys", async () => {
    const store = state().engine.searchers;
    const accountId = await newAccount(state());
    for (const key of ["k3", "k1", "k2"]) await store.link(key, accountId);
    const first = await store.list({ accountId, limit: 2 });
    const rest = await store.list({ accountId, limit: 2, cursor: first.nextCursor });
    expect([...first.items, ...rest.items].map(({ pubkey }) => pubkey)).toEqual(["k1", "k2", "k3"]);
    expect(rest.nextCursor).toBeNull();
    for (const id of ["s2", "s1"]) await store.setLimit(id, { bundlesPerSecond: 7, burst: 9 });
    const limits = await store.limits({ limit: 1 });
    expect(limits.items.map(({ searcherId }) => searcherId)).toEqual(["s1"]);
    expect((await store.limits({ limit: 5, cursor: limits.nextCursor })).items).toHaveLength(1);
  });

  test("the last limit that was set stands until it is cleared, and may be 0", async () => {
    const store = state().engine.searchers;
    await store.setLimit("s1", { bundlesPerSecond: 7, burst: 9 });
    const set = await store.setLimit("s1", { bundlesPerSecond: 70, burst: 90 });
    expect(await store.limitOf("s1")).toEqual(set);
    expect(set).toMatchObject({ bundlesPerSecond: 70, burst: 90 });
    expect(await store.setLimit("s1", { bundlesPerSecond: 0, burst: 0 })).toMatchObject({
      bundlesPerSecond: 0,
      burst: 0,
    });
    expect(await store.limitOf("s1")).toMatchObject({ bundlesPerSecond: 0, burst: 0 });
    for (const wrong of [1.5, -1]) {
      const setting = store.setLimit("s1", { bundlesPerSecond: wrong, burst: 1 });
      await expect(setting).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
    expect([await store.clearLimit("s1"), await store.clearLimit("s1")]).toEqual([true, false]);
    expect(await store.limitOf("s1")).toBeNull();
  });

  test("an operator's change of links and switches is written with its trail, or not at all", async () => {
    const accountId = await newAccount(state());
    const failing = state().change(async ({ searchers: within, engineSwitches, audit }) => {
      await within.link("pubkey-undone", accountId);
      await engineSwitches.set("halted", true);
      await audit.append({ actor: "operator", action: "searcher.linked", subject: "pubkey-undone" });
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow();
    expect(await state().engine.searchers.find("pubkey-undone")).toBeNull();
    expect((await state().engine.switches.all()).some(({ isOn }) => isOn)).toBe(false);
  });
}

function settings({ state, clock }: ConformanceSubject): void {
  test("switches are off until they are set, and keep what was set last", async () => {
    const store = state().engine.switches;
    expect(await store.all()).toEqual([
      { name: "maintenance", isOn: false, setAt: 0 },
      { name: "halted", isOn: false, setAt: 0 },
    ]);
    await store.set("maintenance", true);
    const [maintenance, halted] = await store.all();
    expect([maintenance, halted?.isOn]).toEqual([{ name: "maintenance", isOn: true, setAt: clock.now() }, false]);
    await store.set("maintenance", false);
    expect((await store.all()).map(({ isOn }) => isOn)).toEqual([false, false]);
  });

  test("a cursor is where its reader left it", async () => {
    const store = state().engine.of("mainnet").cursors;
    expect(await store.get("tracker")).toBeNull();
    await store.set("tracker", "17 hash");
    await store.set("tracker", "18 hash");
    await store.set("other", "1");
    expect([await store.get("tracker"), await store.get("other")]).toEqual(["18 hash", "1"]);
    await expect(store.set("tracker", "x".repeat(1_001))).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
}

function reputations({ state }: ConformanceSubject): void {
  test("reputations are put many at once, the later of two for one searcher stands", async () => {
    const store = state().engine.of("mainnet").reputations;
    const many = Array.from({ length: 1_200 }, (_, index) => ({
      searcherId: `rep_${String(index).padStart(5, "0")}`,
      version: 1,
      value: { landed: `${index}`, weights: [0.5, index] },
    }));
    await store.put(many);
    const changed = { searcherId: "rep_00001", version: 2, value: { landed: "no" } };
    await store.put([{ ...changed, version: 1 }, changed]);
    await store.put([]);
    expect(await store.get("rep_00001")).toEqual(changed);
    expect(await store.get("rep_01199")).toEqual(many[1_199] ?? null);
    expect(await store.get("nobody")).toBeNull();
    const page = await store.list("rep_00998", 3);
    expect(page.map(({ searcherId }) => searcherId)).toEqual(["rep_00999", "rep_01000", "rep_01001"]);
    expect(await store.list(null, 1_000)).toHaveLength(1_000);
  });

  test("one reputation that cannot be kept keeps all of its batch out", async () => {
    const store = state().engine.of("mainnet").reputations;
    const records = [
      { searcherId: "rep_sound", version: 1, value: 1 },
      { searcherId: "rep_large", version: 1, value: "x".repeat(20_000) },
    ];
    await expect(store.put(records)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await store.get("rep_sound")).toBeNull();
  });
}

function keys({ state }: ConformanceSubject): void {
  test("encryption keys are read back to the byte while they are valid, and forgotten after", async () => {
    const store = state().engine.of("mainnet").encryptionKeys;
    const key = (id: string, validFrom: bigint, validUntil: bigint) => ({
      id,
      createdAt: 5,
      validFrom,
      validUntil,
      publicKey: Uint8Array.from({ length: 32 }, (_, index) => index),
      privateKey: Uint8Array.of(0, 255, 128),
    });
    const [second, first] = [key("b", 100n, int64Max), key("a", 0n, 150n)];
    await store.insert(second);
    await store.insert(first);
    await expect(store.insert({ ...first, validFrom: 9n })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.since(150n)).toEqual([first, second]);
    expect(await store.since(151n)).toEqual([second]);
    expect([await store.forget(150n), await store.forget(151n), await store.forget(151n)]).toEqual([0, 1, 0]);
    expect(await store.since(0n)).toEqual([second]);
  });
}

function replays({ state, replicas, clock }: ConformanceSubject): void {
  test("an encapsulated key belongs to the first that claims it, from any replica, until it expires", async () => {
    const enc = new Uint8Array(32).fill(9);
    const expiresAt = clock.now() + 10;
    const holders = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        replicas()
          [index % replicas().length]?.engine.of("mainnet")
          .replays.claim({ enc, holder: `bundle ${index}`, expiresAt }),
      ),
    );
    expect(new Set(holders).size).toBe(1);
    const store = state().engine.of("mainnet").replays;
    const other = new Uint8Array(32).fill(8);
    expect(await store.claim({ enc: other, holder: "one", expiresAt: clock.now() + 1_000 })).toBe("one");
    expect(await store.claim({ enc: other, holder: "two", expiresAt: clock.now() + 1_000 })).toBe("one");
    await expect(store.claim({ enc: new Uint8Array(31), holder: "x", expiresAt })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    clock.advance(10);
    expect([await store.forgetExpired(), await store.forgetExpired()]).toEqual([1, 0]);
    expect(await store.claim({ enc, holder: "later", expiresAt })).toBe("later");
  });
}
