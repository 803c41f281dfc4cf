import { createHash } from "node:crypto";
import { formatApiKey } from "@sluice/contract/api-key";
import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import type { GrantChange, KeyChangeStore } from "../../state/index.ts";
import type { Grant, KeyRefusal } from "../grant.ts";
import { createKeys, type Keys } from "../keys.ts";
import { type RevocationFeed, subscribeToRevocations } from "../revocation-feed.ts";
import { farMs, type KeyRow, rowOf, type StoredAccount, type StoredKey } from "./simulated-keys.ts";
import { SimulatedNotices } from "./simulated-notices.ts";

/** One play: what goes wrong how often. */
export interface Course {
  readonly name: string;
  readonly steps: number;
  readonly seed: number;
  readonly lossChance: number;
  readonly killChance: number;
  /** Of a look-up. */
  readonly failureChance: number;
}

interface Replica {
  readonly number: number;
  readonly keys: Keys;
  revocations: RevocationFeed | null;
  resources: AsyncDisposableStack | null;
  /** The revisions of which it has been notified: nothing older may be granted from then on. */
  readonly reported: Map<string, number>;
}

/** A look-up or a change under way: carried out at one step, answered at a later one. */
interface StoreCall {
  readonly replica: number;
  readonly carryOut: () => () => void;
  readonly fail: () => void;
  answer: (() => void) | null;
  sinceMs: number;
  /** When it was asked. */
  readonly askedAtMs: number;
}

const replicasMax = 3;
const lifetimeMs = 5 * 60_000;
const graceMs = 15 * 60_000;
/** How often a replica looks at the revision. */
const lookMs = 1_000;

export class Revocations {
  readonly #course: Course;
  readonly #random: Random;
  readonly #clock = new ManualClock(1_800_000_000_000);
  readonly #notices: SimulatedNotices;
  readonly #stored: StoredKey[];
  readonly #replicas: Replica[] = [];
  readonly #calls: StoreCall[] = [];
  #booted = 0;
  #slowestReadMs = 0;
  #slowestCallMs = 0;
  /** What the store counts: revision 1 is the first. */
  readonly #recorded: GrantChange[] = [];
  #fault: string | null = null;
  #granted = 0;
  #refused = 0;
  #outdated = 0;
  #oldestMs = 0;
  #changes = 0;

  constructor(course: Course) {
    this.#course = course;
    this.#random = seededRandom(course.seed);
    this.#notices = new SimulatedNotices(this.#random);
    const account = (id: string): StoredAccount => ({ id, revision: 0, writtenAtMs: [0] });
    this.#stored = [account("acct_1"), account("acct_2")].flatMap((owner) =>
      Array.from({ length: 3 }, (): StoredKey => {
        const presented = formatApiKey("live", (length) => this.#random.bytes(length));
        const hash = createHash("sha256").update(presented).digest("hex");
        return { presented, hash, account: owner, revision: 0, isActive: true, writtenAtMs: [0] };
      }),
    );
  }

  async play(): Promise<string | null> {
    for (let index = 0; index < replicasMax; index += 1) await this.#boot();
    for (let step = 0; step < this.#course.steps && this.#fault === null; step += 1) await this.#step();
    for (const call of this.#calls.splice(0)) call.fail();
    if (this.#fault !== null) return this.#fault;
    return this.#granted > 0 && this.#refused > 0 && this.#notices.delivered > 0 ? null : "decided one way only";
  }

  get summary(): string {
    const { name } = this.#course;
    const counts = `${this.#changes} changes, ${this.#granted} granted, ${this.#refused} refused`;
    const late = `${this.#outdated} by what had changed, ${Math.round(this.#oldestMs / 1_000)} s old at most`;
    return `${name}: ${counts}; ${this.#notices.delivered} notices, ${this.#notices.gaps} gaps; ${late}`;
  }

  async #boot(): Promise<void> {
    this.#booted += 1;
    const number = this.#booted;
    const log = { info: () => undefined, warn: () => undefined };
    const keys = createKeys(
      { developmentKeys: "accept", flushIntervalMs: null, lifetimeMs, graceMs, lookupTimeoutMs: 60_000 },
      { clock: this.#clock, log, findByHash: (hash) => this.#find(number, hash), touch: async () => undefined },
    );
    const replica: Replica = { number, keys, revocations: null, resources: null, reported: new Map() };
    const resources = new AsyncDisposableStack();
    // What the replica is notified of is noted at that moment, before it does anything.
    const watched = {
      invalidate: (hash: string) => {
        for (const key of this.#stored) if (key.hash === hash) replica.reported.set(key.hash, key.revision);
        keys.invalidate(hash);
      },
      invalidateAccount: (id: string) => {
        for (const { account } of this.#stored) if (account.id === id) replica.reported.set(id, account.revision);
        keys.invalidateAccount(id);
      },
      invalidateAll: () => {
        for (const { hash, revision, account } of this.#stored) {
          replica.reported.set(hash, revision).set(account.id, account.revision);
        }
        keys.invalidateAll();
      },
    };
    replica.revocations = await subscribeToRevocations({
      clock: this.#clock,
      hot: this.#notices.facet(number),
      changes: this.#changesFor(number),
      keys: watched,
      log,
      resources,
    });
    replica.resources = resources;
    this.#replicas.push(replica);
  }

  /** The counted changes, as a replica reads them; its first look at the revision is not delayed. */
  #changesFor(replica: number): KeyChangeStore {
    return {
      revision: async () => BigInt(this.#recorded.length),
      since: (seen) => {
        const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<KeyChangeStore["since"]>>>();
        const carryOut = () => {
          const missed = this.#recorded.slice(Number(seen));
          const changes = missed.length > 20 ? null : missed;
          const revision = BigInt(this.#recorded.length);
          return () => resolve({ revision, changes });
        };
        this.#enqueue({ replica, carryOut, fail: () => reject(new Error("store failed")) });
        return promise;
      },
    };
  }

  #enqueue(call: Pick<StoreCall, "replica" | "carryOut" | "fail">): void {
    this.#calls.push({ ...call, answer: null, sinceMs: 0, askedAtMs: this.#clock.monotonic() });
  }

  async #step(): Promise<void> {
    const { lossChance, killChance } = this.#course;
    const replica = this.#replicas[this.#upTo(this.#replicas.length)];
    const key = this.#stored[this.#upTo(this.#stored.length)];
    if (replica === undefined || key === undefined) throw new Error("no replica or key");
    const chance = this.#random.next();
    if (chance < lossChance) this.#lose();
    else if (chance < lossChance + killChance) await this.#kill(replica);
    else if (chance < 0.03) this.#change(replica, key);
    else if (chance < 0.031) this.#clock.jump(1_700_000_000_000 + this.#upTo(200_000_000_000));
    else if (chance < 0.5) this.#authenticate(replica, key);
    else if (chance < 0.7) this.#notices.step();
    else this.#stepStore();
    await drainMicrotasks();
    this.#clock.advance(this.#upTo(20) === 0 ? this.#upTo(20_000) : this.#upTo(100));
  }

  #lose(): void {
    if (this.#notices.isLost) this.#notices.isLost = false;
    else this.#notices.lose(this.#random.next() < 0.5);
  }

  /** Ends a replica in the middle of whatever it does: also between a change and the notice of it. */
  async #kill(replica: Replica): Promise<void> {
    this.#replicas.splice(this.#replicas.indexOf(replica), 1);
    this.#notices.remove(replica.number);
    for (const call of this.#calls.filter((each) => each.replica === replica.number)) {
      this.#calls.splice(this.#calls.indexOf(call), 1);
      if (call.answer === null && this.#random.next() < 0.5) call.carryOut();
      // The answer of a dead replica is not used; without one its look-up would wait out its time.
      call.fail();
    }
    // A look that waits behind the failed one still has to be answered by a later step.
    void replica.resources?.disposeAsync();
    await this.#boot();
  }

  /** A key or its account changes through one replica, which notifies the others when that is written. */
  #change(replica: Replica, key: StoredKey): void {
    const isAccount = this.#random.next() < 0.3;
    const isActive = this.#random.next() < 0.5;
    const carryOut = () => {
      const changed = isAccount ? key.account : key;
      changed.revision += 1;
      changed.writtenAtMs.push(this.#clock.monotonic());
      this.#changes += 1;
      if (!isAccount) key.isActive = isActive;
      this.#recorded.push(isAccount ? { kind: "account", accountId: key.account.id } : { kind: "key", hash: key.hash });
      return () => {
        if (isAccount) replica.revocations?.invalidateAccount(key.account.id);
        else replica.revocations?.invalidateKey(key.hash);
      };
    };
    this.#enqueue({ replica: replica.number, carryOut, fail: () => undefined });
  }

  #find(replica: number, hash: string): Promise<KeyRow | null> {
    const { promise, resolve, reject } = Promise.withResolvers<KeyRow | null>();
    const key = this.#stored.find((each) => each.hash === hash);
    const carryOut = () => {
      const row = key === undefined ? null : rowOf(key);
      return () => resolve(row);
    };
    const fail = () => reject(new Error("store failed"));
    this.#enqueue({ replica, carryOut, fail });
    return promise;
  }

  #stepStore(): void {
    const call = this.#calls[this.#upTo(this.#calls.length)];
    if (call === undefined) return;
    if (call.answer === null) {
      call.sinceMs = this.#clock.monotonic();
      if (this.#random.next() >= this.#course.failureChance) {
        call.answer = call.carryOut();
        return;
      }
    }
    this.#calls.splice(this.#calls.indexOf(call), 1);
    this.#slowestReadMs = Math.max(this.#slowestReadMs, this.#clock.monotonic() - call.sinceMs);
    this.#slowestCallMs = Math.max(this.#slowestCallMs, this.#clock.monotonic() - call.askedAtMs);
    if (call.answer === null) call.fail();
    else call.answer();
  }

  #authenticate(replica: Replica, key: StoredKey): void {
    const reportedKey = replica.reported.get(key.hash) ?? 0;
    const reportedAccount = replica.reported.get(key.account.id) ?? 0;
    const isTaken = (): boolean => this.#replicas.includes(replica);
    const evaluate = (outcome: Grant | KeyRefusal): void => {
      if (!isTaken()) return;
      if (!outcome.ok) {
        this.#refused += 1;
        return;
      }
      this.#granted += 1;
      this.#evaluate("key", (outcome.expiresAt ?? 0) - farMs, reportedKey, key.writtenAtMs);
      this.#evaluate("account", Number(outcome.creditsMonthly), reportedAccount, key.account.writtenAtMs);
    };
    const outcome = replica.keys.authenticate(key.presented);
    if (outcome instanceof Promise) void outcome.then(evaluate);
    else evaluate(outcome);
  }

  /**
   * What is granted is of no revision before that of which the replica had been notified, and of none that is long
   * past.
   */
  #evaluate(what: string, revision: number, reported: number, writtenAtMs: readonly number[]): void {
    if (revision < reported) this.#fault ??= `${what}: revision ${revision} granted after revision ${reported}`;
    const changedAtMs = writtenAtMs[revision + 1];
    if (changedAtMs === undefined) return;
    this.#outdated += 1;
    const ageMs = this.#clock.monotonic() - changedAtMs;
    this.#oldestMs = Math.max(this.#oldestMs, ageMs);
    // A look that was under way is followed by one that sees the change; without answers a key is kept for its time.
    const nowMs = this.#clock.monotonic();
    const slowestMs = this.#calls.reduce(
      (most, { askedAtMs }) => Math.max(most, nowMs - askedAtMs),
      this.#slowestCallMs,
    );
    const seenMs = lookMs + 2 * slowestMs;
    const keptMs = this.#course.failureChance > 0 ? lifetimeMs + graceMs : Math.min(seenMs, lifetimeMs);
    // An answer may have been on its way for a while before it was kept, and again while a caller waited for it.
    if (ageMs > keptMs + 2 * this.#slowestReadMs) this.#fault ??= `${what}: granted ${ageMs} ms after it had changed`;
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }
}

/** Lets everything run that waits for nothing but its turn. */
async function drainMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 16; turn += 1) await Promise.resolve();
}
