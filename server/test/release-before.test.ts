/**
 * During an upgrade processes of two releases run on one database. The release before, as it was committed, works here
 * on stores that this version has migrated, and both on the same rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import * as ledgerRoom from "../src/ledger/index.ts";
import * as stateRoom from "../src/state/index.ts";
import { newBundle } from "../src/state/testing/conformance/bundles.ts";
import { newSchema, type Schema } from "../src/state/testing/schema.ts";
import { hasReleaseBefore, missingRelease, openReleaseBefore, type ReleaseBefore } from "./testing/release-before.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const isHere = hasReleaseBefore();
if (!isHere) console.warn(`NOT RUN: ${missingRelease}`);
if (databaseUrl === "") console.warn("NOT RUN: the release before on one PostgreSQL (DATABASE_URL is not set)");

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const shared = { clock: systemClock, random: systemRandom, log };
const month = "2026-11";

let before: ReleaseBefore;
beforeAll(() => {
  if (isHere) before = openReleaseBefore();
});
afterAll(() => before?.[Symbol.dispose]());

describe.if(isHere && databaseUrl !== "")("the release before beside this one, on one PostgreSQL", () => {
  let schema: Schema;
  let beforeRoom: typeof stateRoom;
  let earlier: stateRoom.State;
  let present: stateRoom.State;
  let accountId: string;
  beforeAll(async () => {
    schema = await newSchema(databaseUrl);
    beforeRoom = (await before.module("server/src/state/index.ts")) as typeof stateRoom;
    earlier = await openBefore();
    accountId = (await earlier.accounts.create({ name: "of both" })).id;
    present = await stateRoom.openState(options(), shared);
  }, 30_000);
  afterAll(async () => {
    await present?.[Symbol.asyncDispose]();
    await earlier?.[Symbol.asyncDispose]();
    await schema?.[Symbol.asyncDispose]();
  });

  const options = () => ({ directory: "", databaseUrl: schema.url, network: "devnet" as const });
  const openBefore = (): Promise<stateRoom.State> => beforeRoom.openState(options(), shared);
  const pairs = () =>
    [
      [earlier, present],
      [present, earlier],
    ] as const;

  test("it starts on the database that this version has migrated, and finds what was there", async () => {
    expect((await present.migrations()).filter(({ appliedAt }) => appliedAt !== null).length).toBeGreaterThan(
      (await earlier.migrations()).length,
    );
    await earlier[Symbol.asyncDispose]();
    earlier = await openBefore();
    expect(await earlier.accounts.get(accountId)).toMatchObject({ name: "of both" });
  });

  test("keys, credits and sessions that either writes are the other's too", async () => {
    for (const [index, [writer, reader]] of pairs().entries()) {
      const hash = String(index).repeat(64);
      const key: Parameters<typeof writer.keys.insert>[0] = {
        ...{ id: `key_${index}`, accountId, name: "a key", hash, hint: "sk_live_…" },
        restrictions: { networks: [], domains: [], ipRanges: [] },
        environment: "live",
        status: "active",
        permissions: ["read"],
        ...{ enhanced: false, enhancedRequestsPerSecond: null, methods: [], requestsPerSecond: null },
        ...{ expiresAt: null, createdAt: 1_790_000_000_000, lastUsedAt: null },
      };
      await writer.keys.insert(key);
      expect((await reader.keys.findByHash(hash))?.key).toEqual(key);
      await writer.change(({ keys }) => keys.setStatus(key.id, "disabled"));
      expect((await reader.keys.get(key.id))?.status).toBe("disabled");
      const used = await reader.credits.used(accountId, month);
      expect(await writer.credits.lease(accountId, month, 5n, null)).toBe(5n);
      expect(await reader.credits.used(accountId, month)).toBe(used + 5n);
      const expiresAt = systemClock.now() + 60_000;
      const { token, session } = await writer.sessions.create({ accountId, keyId: key.id, expiresAt });
      expect(await reader.sessions.find(stateRoom.hashSessionToken(token))).toEqual(session);
    }
  });

  test("a lease passes from one to the other and back, and fences who had it", async () => {
    const leasesOf = (state: stateRoom.State): stateRoom.LeaseStore =>
      // Where the release before has them.
      state.leases ?? (state.engine as unknown as { readonly leases: stateRoom.LeaseStore }).leases;
    const name = "devnet:engine-book";
    for (const [first, next] of [...pairs(), ...pairs()]) {
      const held = await leasesOf(first).take(name, "first", await leasesOf(first).find(name));
      if (held === null) throw new Error("the lease was not taken");
      const under = first.engine.of("devnet").under(held);
      expect(await under.bundles.accept(newBundle())).toEqual({ fresh: true });
      expect(await leasesOf(first).beat(held)).toBe(true);
      const taken = await leasesOf(next).take(name, "next", await leasesOf(next).find(name));
      expect(taken?.epoch).toBe(held.epoch + 1n);
      expect(await leasesOf(first).beat(held)).toBe(false);
      const refused = await under.bundles.accept(newBundle()).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "OVERLOADED" });
    }
  });

  test("bundles that either accepts the other steps, ends, reports and forgets", async () => {
    for (const [taker, ender] of pairs()) {
      const [into, from] = [taker.engine.of("devnet").bundles, ender.engine.of("devnet").bundles];
      const bundle = newBundle({ sealed: Uint8Array.of(1) });
      const { id, transactions, signatures, lastValidBlockHeight } = bundle;
      expect(await into.accept(bundle)).toEqual({ fresh: true });
      expect(await from.accept(bundle)).toMatchObject({ fresh: false, found: { id } });
      expect((await from.live(null, 1_000)).map((each) => each.id)).toContain(id);
      expect(await from.open(id, { transactions, signatures, lastValidBlockHeight })).toBe(true);
      expect((await into.get(id))?.transactions).toEqual(transactions);
      expect(await from.setFollowers(id, ["acct_follower"])).toBe(true);
      const end = { ...bundle, state: "expired", reason: "blockhash_expired", changedAt: 5 } as const;
      const step = { id, from: "accepted", to: end, isEnd: true } as const;
      expect(await from.step(step)).toEqual({ applied: true });
      expect(await into.step(step)).toMatchObject({ applied: false, found: { state: "expired", transactions: [] } });
      for (const store of [into, from]) expect((await store.unreported(1_000)).map((each) => each.id)).toContain(id);
      await into.markReported([id]);
      expect((await from.unreported(1_000)).map((each) => each.id)).not.toContain(id);
      expect(await from.forget(6)).toBe(1);
      expect(await into.get(id)).toBeNull();
    }
  });

  test("each sees the other registered, and what contracts waits until the one before has ended", async () => {
    const process = { roles: ["gateway"], version: "1", meters: true, sharesLedger: true, sharesHot: true };
    const mine = { ...process, id: "present", ledgerId: "ledger", hotId: "hot", masterKeys: [] };
    expect(await present.processes.join(mine, 60_000)).toEqual([]);
    const others = await earlier.processes.join({ ...mine, id: "earlier" }, 60_000);
    expect(others.map(({ id }) => id)).toEqual(["present"]);
    expect((await present.processes.list()).map(({ id, schema }) => [id, schema])).toEqual([
      ["present", expect.any(Number)],
      ["earlier", null],
    ]);
    expect(await present.contract().catch((error: unknown) => error)).toMatchObject({ code: "CONFLICT" });
    await earlier.processes.leave("earlier");
    await earlier[Symbol.asyncDispose]();
    const waiting = (await present.migrations()).filter(({ appliedAt }) => appliedAt === null);
    expect(await present.contract()).toEqual(waiting.map(({ number }) => number));
    const refused = await openBefore().catch((error: unknown) => error);
    if (waiting.length > 0) expect(refused).toMatchObject({ code: "SCHEMA_NEWER" });
    expect(await present.engine.of("devnet").bundles.accept(newBundle())).toEqual({ fresh: true });
  });
});

test.if(isHere)(
  "the release before goes on with a ledger that this version has migrated, and this one with its rows",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-ledger-before-"));
    using _removed = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
    const beforeRoom = (await before.module("server/src/ledger/index.ts")) as typeof ledgerRoom;
    const at = Date.UTC(2026, 10, 5);
    const question = { network: "devnet", fromMs: at, untilMs: at + 1, searcherId: null, mevType: null } as const;
    const outcome = { at, accepted_at: at, searcher_id: "acct", state: "finalized", tip: 1n, tip_seen: 2n };
    const options = { directory, clickhouseUrl: null, cluster: null, network: "devnet" } as const;
    // The embedded engine takes one process at a time, as a cluster would take both at once.
    const turns = [
      [ledgerRoom, "present"],
      [beforeRoom, "before"],
      [ledgerRoom, "present again"],
    ] as const;
    for (const [index, [room, id]] of turns.entries()) {
      await using ledger = await room.openLedger(options, shared);
      await ledger.insert("bundle_outcomes", [
        { ...outcome, id, ...(room === beforeRoom ? {} : { network: "devnet" }) },
      ]);
      expect(await ledger.bundles.figures(question)).toMatchObject({ ended: index + 1, tips: BigInt(2 * (index + 1)) });
    }
  },
  30_000,
);
