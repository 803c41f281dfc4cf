import { beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { advanceUntil } from "@sluice/lib/testing";
import type { NewProcess, ProcessRecord } from "../state/index.ts";
import { Registration, type Registrations, rivalOf } from "./registration.ts";

const process = (id: string, changes: Partial<NewProcess> = {}): NewProcess => ({
  id,
  roles: ["gateway"],
  version: "1.2.3",
  meters: true,
  sharesLedger: true,
  sharesHot: true,
  ledgerId: null,
  hotId: null,
  masterKeys: null,
  ...changes,
});

/** The store of one database, by the clock of the test. */
class Registered implements Registrations {
  readonly #clock: ManualClock;
  readonly #rows = new Map<string, ProcessRecord & { readonly endsAtMs: number }>();
  isAway = false;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async join(joining: NewProcess, ttlMs: number): Promise<readonly ProcessRecord[]> {
    const others = await this.list();
    const endsAtMs = this.#clock.monotonic() + ttlMs;
    this.#rows.set(joining.id, { ...joining, schema: 19, startedAt: this.#clock.now(), beats: 0, endsAtMs });
    return others.filter(({ id }) => id !== joining.id);
  }

  async beat(id: string, ttlMs: number): Promise<boolean> {
    const row = this.#rows.get(id);
    if (this.isAway) throw new Error("the database is away");
    if (row === undefined || row.endsAtMs <= this.#clock.monotonic()) return false;
    this.#rows.set(id, { ...row, beats: row.beats + 1, endsAtMs: this.#clock.monotonic() + ttlMs });
    return true;
  }

  async identify(id: string, { ledgerId, hotId }: Pick<NewProcess, "ledgerId" | "hotId">): Promise<void> {
    const row = this.#rows.get(id);
    if (row !== undefined) this.#rows.set(id, { ...row, ledgerId, hotId });
  }

  async leave(id: string): Promise<void> {
    this.#rows.delete(id);
  }

  async list(): Promise<readonly ProcessRecord[]> {
    return [...this.#rows.values()].filter(({ endsAtMs }) => endsAtMs > this.#clock.monotonic());
  }
}

let clock: ManualClock;
let store: Registered;
beforeEach(() => {
  clock = new ManualClock();
  store = new Registered(clock);
});

const log = { info: () => undefined, warn: () => undefined };
type Ids = Pick<NewProcess, "ledgerId" | "hotId">;
const noIds = async (): Promise<Ids> => ({ ledgerId: null, hotId: null });
const open = (own: NewProcess, readIds = noIds): Promise<Registration> =>
  Registration.open(own, { clock, store, log, readIds });

/** How opening ends, while time passes. */
const ending = (opening: Promise<Registration>): Promise<unknown> =>
  advanceUntil(
    clock,
    opening.catch((error: unknown) => error),
    500,
  );

/** Lets time pass, a quarter of a beat at a time. */
async function pass(ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 500) {
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("processes that count calls share a ledger and a hot store, and others may be beside any", () => {
  const shared = process("shared");
  for (const apart of [{ sharesLedger: false }, { sharesHot: false }]) {
    expect(rivalOf(shared, [process("other", apart)])?.id).toBe("other");
    expect(rivalOf(process("own", apart), [shared])?.id).toBe("shared");
    expect(rivalOf(process("own", { ...apart, meters: false }), [shared])).toBeNull();
    expect(rivalOf(shared, [process("resolver", { ...apart, meters: false })])).toBeNull();
  }
  expect(rivalOf(shared, [process("other")])).toBeNull();
});

test("a second process that counts calls by itself is refused with the keys that it lacks, and leaves no trace", async () => {
  await using _first = await open(process("first", { sharesLedger: false }));
  const refused = await ending(open(process("second", { sharesHot: false })));
  expect(refused).toMatchObject({ code: "NOT_SHARED" });
  expect(String(refused)).toContain("this process has no REDIS_URL; that one has no CLICKHOUSE_URL");
  expect((await store.list()).map(({ id }) => id)).toEqual(["first"]);
});

test("a second process that ingests into a log of its own is refused, and one beside it that does not is not", async () => {
  const roles = ["gateway", "ingest"];
  await using _first = await open(process("first", { roles }));
  const refused = await ending(open(Object.assign(process("second", { roles }), { keepsOwnLog: true })));
  expect(String(refused)).toContain("this one has no LOG_URL");
  expect((await store.list()).map(({ id }) => id)).toEqual(["first"]);
  const own = { keepsOwnLog: true, ...process("third") };
  expect(rivalOf(own, [process("first", { roles })])).toBeNull();
  expect(rivalOf({ ...own, roles, keepsOwnLog: false }, [process("first", { roles })])).toBeNull();
});

test("a process that was killed is succeeded as soon as its registration has ended", async () => {
  await store.join(process("killed", { sharesHot: false }), 6_000);
  // What it did while it lived does not count as a sign of life.
  for (let beat = 0; beat < 5; beat++) await store.beat("killed", 6_000);
  const registration = await ending(open(process("next", { sharesHot: false })));
  expect(registration).toBeInstanceOf(Registration);
  expect((await store.list()).map(({ id }) => id)).toEqual(["next"]);
  await (registration as Registration)[Symbol.asyncDispose]();
  expect(await store.list()).toEqual([]);
});

test("who ends gives its registration back, so that its successor does not wait", async () => {
  const first = await open(process("first", { sharesHot: false }));
  await first[Symbol.asyncDispose]();
  await using second = await open(process("second", { sharesHot: false }));
  expect(second.conflict).toBeNull();
});

test("a process that was stopped finds that another one counts calls, until that one has ended", async () => {
  await using first = await open(process("first", { sharesHot: false }));
  store.isAway = true;
  await pass(8_000);
  expect(await store.list()).toEqual([]);
  store.isAway = false;
  await store.join(process("second", { sharesHot: false }), 30_000);
  await pass(3_000);
  expect(first.conflict).toContain("REDIS_URL");
  await store.leave("second");
  await pass(3_000);
  expect(first.conflict).toBeNull();
});

test("a process whose stores are others than those of one that runs is refused, with the key and both ids", async () => {
  for (const [name, key] of [
    ["ledgerId", "CLICKHOUSE_URL"],
    ["hotId", "REDIS_URL"],
  ] as const) {
    const shared = { ledgerId: "ledger", hotId: "hot" };
    const first = await open(process("first"), async () => shared);
    await using _beside = await open(process("beside"), async () => shared);
    const refused = await ending(open(process("second"), async () => ({ ...shared, [name]: "another" })));
    expect(refused).toMatchObject({ code: "NOT_SHARED" });
    for (const part of [key, `id another here`, `id ${name === "hotId" ? "hot" : "ledger"} there`])
      expect(String(refused)).toContain(part);
    await first[Symbol.asyncDispose]();
  }
});

test("a store that could not be reached at the start is compared once it answers", async () => {
  const reached = { ledgerId: "ledger", hotId: "hot" };
  let found: Ids = { ledgerId: "ledger", hotId: null };
  await using _first = await open(process("first"), async () => reached);
  await using second = await open(process("second"), async () => found);
  await pass(3_000);
  expect(second.conflict).toBeNull();
  found = { ledgerId: "ledger", hotId: "another" };
  await pass(8_000);
  expect(second.conflict).toContain("REDIS_URL leads to a store with the id another here and with the id hot there");
  expect((await store.list()).map(({ hotId }) => hotId)).toEqual(["hot", "another"]);
  found = reached;
  await pass(3_000);
  expect(second.conflict).toBeNull();
});

test("a store that gets another id is no conflict while each process learns that with its own beat", async () => {
  let [firstFinds, secondFinds]: [Ids, Ids] = [
    { ledgerId: "ledger", hotId: "before" },
    { ledgerId: "ledger", hotId: "before" },
  ];
  await using first = await open(process("first"), async () => firstFinds);
  await pass(1_000);
  await using second = await open(process("second"), async () => secondFinds);
  const conflicts = (): (string | null)[] => [first.conflict, second.conflict];
  firstFinds = { ledgerId: "ledger", hotId: "after" };
  for (let beat = 0; beat < 4; beat += 1) {
    await pass(500);
    expect(conflicts()).toEqual([null, null]);
  }
  secondFinds = firstFinds;
  for (let beat = 0; beat < 40; beat += 1) {
    await pass(500);
    expect(conflicts()).toEqual([null, null]);
  }
});

test("a process that begins after a store has lost its id waits until those that run have learnt the next one", async () => {
  let found: Ids = { ledgerId: "ledger", hotId: "before" };
  await using _first = await open(process("first"), async () => found);
  const opening = open(process("second"), async () => ({ ledgerId: "ledger", hotId: "after" }));
  await pass(2_500);
  found = { ledgerId: "ledger", hotId: "after" };
  const second = await ending(opening);
  expect(second).toBeInstanceOf(Registration);
  await (second as Registration)[Symbol.asyncDispose]();
});
