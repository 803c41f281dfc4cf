import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import fc from "fast-check";
import type { QueuedDelivery } from "../../state/index.ts";
import { AttemptPlaces } from "./attempt-places.ts";
import { EndpointPace, type EndpointStanding } from "./endpoint-pace.ts";
import { LiveWorkers } from "./live-workers.ts";
import { QueueRows } from "./queue-rows.ts";
import { RateBucket } from "./rate-bucket.ts";
import { retryAfterMs, retryDelayMs } from "./retry-schedule.ts";
import { signaturesOf } from "./signature.ts";

describe("the schedule of retries", () => {
  test("doubles from 5 seconds to 4 hours, within a fifth, and takes about a day for 18 attempts", () => {
    const policy = { maxAttempts: 18, backoffMultiplier: 2 };
    const middle = { next: () => 0.5, bytes: () => new Uint8Array(0) };
    const delays = Array.from({ length: 17 }, (_, at) => retryDelayMs(at + 1, policy, middle));
    expect(delays.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(delays.at(-1)).toBe(4 * 3_600_000);
    const hours = delays.reduce((sum, delay) => sum + delay, 0) / 3_600_000;
    expect([hours > 25, hours < 27]).toEqual([true, true]);
    const random = seededRandom(1);
    for (let times = 0; times < 1_000; times += 1) {
      const delay = retryDelayMs(3, policy, random);
      expect([delay >= 16_000, delay <= 24_000]).toEqual([true, true]);
    }
  });

  test("takes seconds and dates of Retry-After, up to an hour, and nothing else", () => {
    const now = Date.UTC(2026, 10, 27, 12, 0, 0);
    const cases: [string | null, number | null][] = [
      [null, null],
      ["0", 0],
      ["120", 120_000],
      ["3600", 3_600_000],
      ["86400", 3_600_000],
      ["99999999999", 3_600_000],
      ["9".repeat(64), 3_600_000],
      ["-1", null],
      ["1.5", null],
      ["soon", null],
      ["Fri, 27 Nov 2026 12:00:30 GMT", 30_000],
      ["Fri, 27 Nov 2026 11:00:00 GMT", 0],
      ["Sat, 28 Nov 2026 12:00:00 GMT", 3_600_000],
      ["Fri, 27 Foo 2026 12:00:30 GMT", null],
      ["2026-11-27T12:00:30Z", null],
    ];
    for (const [value, expected] of cases) expect([value, retryAfterMs(value, now)]).toEqual([value, expected]);
  });
});

describe("the pace of an endpoint", () => {
  const answer = (latencyMs = 10) => ({ outcome: "answered", latencyMs }) as const;
  const failure = (outcome: "failed" | "slow" = "failed") => ({ outcome, latencyMs: 5_000 });

  test("grows by answers while all places are used, and is halved by what takes too long", () => {
    const pace = new EndpointPace();
    expect(pace.limit).toBe(4);
    pace.ended(answer(), 0, 1);
    expect(pace.limit).toBe(16);
    for (let times = 0; times < 500; times += 1) pace.ended(answer(), 0, pace.limit);
    expect(pace.limit).toBe(128);
    pace.ended(answer(), 0, 1);
    expect(pace.limit).toBe(128);
    pace.ended(failure("slow"), 0, 100);
    expect([pace.limit, pace.standing]).toEqual([64, "suspect"]);
    pace.ended(answer(), 0, 1);
    expect(pace.standing).toBe("sound");
  });

  test("is unknown before anything has come back, and suspect while answers usually take over a second", () => {
    const pace = new EndpointPace();
    const standings: string[] = [pace.standing];
    for (const latencyMs of [4_900, 4_900, 100]) {
      pace.ended(answer(latencyMs), 0, 1);
      standings.push(pace.standing);
    }
    expect(standings).toEqual(["unknown", "suspect", "suspect", "suspect"]);
    for (let times = 0; times < 20; times += 1) pace.ended(answer(100), 0, 1);
    expect(pace.standing).toBe("sound");
    // One slow answer of many says little.
    pace.ended(answer(4_900), 0, 1);
    expect(pace.standing).toBe("sound");
  });

  test("lets one attempt decide at once where its owner asks, but not before the receiver wants it", () => {
    const pace = new EndpointPace();
    for (let times = 0; times < 5; times += 1) pace.ended(failure(), 0, 1);
    expect(pace.restUntilMs).toBe(1_000);
    pace.endRest();
    expect([pace.restUntilMs, pace.limit]).toEqual([0, 1]);
    pace.ended(failure(), 10, 1);
    pace.rest(5_000);
    pace.endRest();
    expect(pace.restUntilMs).toBe(5_000);
  });

  test("grows no more where answers wait at the receiver, falls where they wait long, and follows one that is slow", () => {
    const pace = new EndpointPace();
    for (let times = 0; times < 21; times += 1) pace.ended(answer(10), 0, pace.limit);
    expect(pace.limit).toBe(36);
    for (let times = 0; times < 20; times += 1) pace.ended(answer(200), 0, pace.limit);
    expect(pace.limit).toBe(36);
    for (let times = 0; times < 100; times += 1) pace.ended(answer(3_000), 0, pace.limit);
    expect(pace.limit).toBe(16);
    for (let times = 0; times < 3_000; times += 1) pace.ended(answer(300), 0, pace.limit);
    expect(pace.limit).toBe(128);
  });

  test("ends after five failures in a row; one attempt decides, at growing distances up to a minute", () => {
    const pace = new EndpointPace();
    let nowMs = 0;
    for (let times = 0; times < 4; times += 1) pace.ended(failure(), nowMs, 1);
    expect([pace.limit, pace.restUntilMs]).toEqual([16, 0]);
    const rests: number[] = [];
    for (let times = 0; times < 9; times += 1) {
      pace.ended(failure(), nowMs, 1);
      rests.push(pace.restUntilMs - nowMs);
      expect([pace.limit, pace.isOpen]).toEqual([1, true]);
      // What was begun before says nothing new.
      pace.ended(failure("slow"), nowMs, 1);
      expect(pace.restUntilMs).toBe(nowMs + (rests.at(-1) ?? 0));
      nowMs = pace.restUntilMs;
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    pace.ended(answer(), nowMs, 1);
    expect([pace.limit, pace.isOpen, pace.restUntilMs]).toEqual([16, false, 0]);
  });
});

test("a bucket gives its burst at once and its rate from then on", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
      (rate, steps) => {
        const bucket = new RateBucket({ perSecond: rate, burst: 2 * rate }, 0);
        let [nowMs, taken] = [0, 0];
        for (const step of steps) {
          nowMs += step;
          while (bucket.waitMs(nowMs) === 0) {
            bucket.take();
            taken += 1;
          }
          expect(taken).toBeLessThanOrEqual(2 * rate + (nowMs * rate) / 1_000 + 1e-6);
          const waitMs = bucket.waitMs(nowMs);
          expect(bucket.waitMs(nowMs + waitMs)).toBe(0);
          nowMs += waitMs;
        }
      },
    ),
  );
});

test("endpoints that fail or are slow have half of the places, those not known a part, and who waits is woken in turn", () => {
  const places = new AttemptPlaces({ max: 8 });
  const woken: string[] = [];
  const wakes = (name: string, standing: EndpointStanding) => (): void => {
    woken.push(`${name} ${places.take(standing, () => undefined)}`);
  };
  const takes = (standing: EndpointStanding, wake: () => void, times: number) =>
    Array.from({ length: times }, () => places.take(standing, wake)).filter((isTaken) => isTaken).length;
  const [failing, fresh] = [wakes("failing", "suspect"), wakes("fresh", "unknown")];
  expect([takes("suspect", failing, 5), takes("unknown", fresh, 3)]).toEqual([4, 2]);
  const [one, two] = [wakes("one", "sound"), wakes("two", "sound")];
  expect([takes("sound", one, 3), places.take("sound", two)]).toEqual([2, false]);
  places.give("sound");
  expect([woken, places.taken]).toEqual([["one true"], 8]);
  places.forget(two);
  places.give("sound");
  // The rest is for those that are sound.
  expect([woken, places.taken]).toEqual([["one true"], 7]);
  places.give("suspect");
  expect([woken, places.taken]).toEqual([["one true", "fresh true"], 7]);
  places.give("unknown");
  expect([woken, places.taken]).toEqual([["one true", "fresh true", "failing true"], 7]);
  places.give("sound");
  expect([woken.length, places.taken]).toEqual([3, 6]);
});

test("a worker is dead when its beats stand still for the time of a lease that was watched", () => {
  let nowMs = 0;
  const live = new LiveWorkers({ worker: "own", leaseMs: 1_000 }, { clock: { monotonic: () => nowMs as never } });
  const look = (afterMs: number, beats: bigint) => {
    nowMs += afterMs;
    return live.seen(
      [
        { worker: "own", beats: 1n },
        { worker: "other", beats },
      ],
      true,
    );
  };
  expect([look(0, 1n), live.count]).toEqual([[], 2]);
  for (let step = 0; step < 9; step += 1) expect(look(100, 1n)).toEqual([]);
  expect(look(100, 2n)).toEqual([]);
  for (let step = 0; step < 9; step += 1) expect(look(100, 2n)).toEqual([]);
  // This process itself did not look for a while: that says nothing of the other.
  expect(look(5_000, 2n)).toEqual([]);
  for (let step = 0; step < 9; step += 1) expect(look(100, 2n)).toEqual([]);
  expect([look(100, 2n), live.count]).toEqual([["other"], 1]);
  expect(live.seen([{ worker: "left", beats: 9n }], false)).toEqual(["left"]);
});

describe("signatures", () => {
  const content = { eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };

  const alone = (present: string) => ({ present, next: [], untilMs: null });

  test("of Standard Webhooks are those of its published example", () => {
    const { standard } = signaturesOf(alone("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), content);
    expect(standard).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  test("change with every byte of what is signed, and are not those of another secret", () => {
    const secrets = {
      present: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      next: ["whsec_AAAA", "whsec_BBBB"],
      untilMs: 1,
    };
    const made = signaturesOf(secrets, content);
    const altered = [
      { ...content, body: '{"test": 2432232315}' },
      { ...content, timestamp: 1 },
      { ...content, eventId: "msg" },
    ].map((other) => signaturesOf(secrets, other).standard);
    expect(new Set([made.standard, ...altered]).size).toBe(4);
    expect(signaturesOf(secrets, { ...content, body: "" }).service).not.toBe(made.service);
    expect(made.standard.split(" ")).toEqual([
      signaturesOf(alone(secrets.present), content).standard,
      ...secrets.next.map((secret) => signaturesOf(alone(secret), content).standard),
    ]);
    expect(made.serviceNext?.split(", ")).toEqual(
      secrets.next.map((secret) => signaturesOf(alone(secret), content).service),
    );
    expect(signaturesOf(alone(secrets.present), content).serviceNext).toBeNull();
  });
});

describe("the rows of a queue", () => {
  const row = (id: number, more: Partial<QueuedDelivery> = {}): QueuedDelivery => ({
    deliveryId: `dl-${id}`,
    webhookId: "wh",
    eventId: `event-${id}`,
    event: "transaction.confirmed",
    slot: BigInt(id),
    blockhash: "hash",
    ordinal: 0,
    txIndex: null,
    account: null,
    undecided: null,
    attempts: 0,
    createdAt: 0,
    dueAt: 0,
    lastAttemptAt: null,
    lastStatusCode: null,
    lastError: null,
    detail: null,
    ...more,
  });

  test("that end while the store is read do not come back with what was read", () => {
    const rows = new QueueRows();
    const reading = rows.beginRead();
    const read = [row(1), row(2)];
    rows.loadFresh([row(1)], 10, reading);
    const first = rows.nextFresh;
    if (first === null) throw new Error("one was loaded");
    rows.take(first);
    rows.settle(first.deliveryId);
    rows.loadFresh(read, 10, reading);
    rows.endRead();
    expect([rows.nextFresh?.deliveryId, rows.size]).toEqual(["dl-2", 1]);
  });

  test("that were read before they are handed over are not given again, though they have ended by then", () => {
    const rows = new QueueRows();
    rows.loadFresh([row(1), row(2)], 10, rows.beginRead());
    rows.endRead();
    const first = rows.nextFresh;
    if (first === null) throw new Error("two were loaded");
    rows.take(first);
    rows.settle(first.deliveryId);
    rows.offer([row(1), row(2), row(3)]);
    expect([rows.size, rows.nextFresh?.deliveryId]).toEqual([2, "dl-2"]);
    rows.age(10_000);
    rows.offer([row(1)]);
    expect(rows.size).toBe(2);
  });

  test("are each given once, in the order of the chain, whatever is read, handed over and put back", () => {
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom("add", "hand", "read", "take", "back", "end"),
        count: fc.integer({ min: 1, max: 700 }),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (taken) => {
        const rows = new QueueRows();
        const stored: QueuedDelivery[] = [];
        const under: QueuedDelivery[] = [];
        const given: string[] = [];
        let next = 0;
        const add = (count: number) => {
          const added = Array.from({ length: count }, (_, at) => row(next + at + 1));
          next += count;
          stored.push(...added);
          return added;
        };
        const read = () => {
          if (!rows.wantsFresh) return;
          const limit = rows.freshLimit;
          rows.loadFresh(stored.slice(0, limit), limit, rows.beginRead());
          rows.endRead();
        };
        const take = () => {
          const found = rows.nextFresh;
          if (found === null) return false;
          rows.take(found);
          under.push(found);
          given.push(found.deliveryId);
          return true;
        };
        const end = () => {
          const ended = under.shift();
          if (ended === undefined) return;
          stored.splice(stored.indexOf(ended), 1);
          rows.settle(ended.deliveryId);
        };
        for (const { kind, count } of taken) {
          if (kind === "add") {
            add(count);
            rows.doubt();
          } else if (kind === "hand") rows.offer(add(count));
          else if (kind === "read") read();
          else if (kind === "back" && under.length > 0) {
            const back = under.pop();
            given.pop();
            if (back !== undefined) rows.putBack(back);
          } else
            for (let times = 0; times < count; times += 1)
              if (kind === "take") take();
              else end();
        }
        for (let rounds = 0; stored.length > 0 && rounds < 100; rounds += 1) {
          rows.doubt();
          read();
          while (take());
          while (under.length > 0) end();
        }
        expect(given).toEqual(Array.from({ length: next }, (_, at) => `dl-${at + 1}`));
      }),
      { numRuns: 200 },
    );
  });

  test("that are tried again come by their time, and a page of those that are due does not hide the rest", () => {
    const rows = new QueueRows();
    const due = Array.from({ length: 1_200 }, (_, at) => row(at, { dueAt: 1_000 + (at % 7), attempts: 1 }));
    const ordered = due.toSorted((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0));
    let left = ordered;
    const given: number[] = [];
    for (let rounds = 0; left.length > 0 && rounds < 20; rounds += 1) {
      if (rows.wantsRetries(2_000)) {
        const limit = rows.retryLimit;
        rows.loadRetries(left.slice(0, limit), { until: 62_000, limit, reading: rows.beginRead() });
        rows.endRead();
      }
      for (let next = rows.dueRetry(2_000); next !== null; next = rows.dueRetry(2_000)) {
        rows.take(next);
        given.push(next.dueAt ?? 0);
        const { deliveryId } = next;
        left = left.filter((other) => other.deliveryId !== deliveryId);
        rows.settle(deliveryId);
      }
    }
    expect([given.length, left.length]).toEqual([1_200, 0]);
    expect(given).toEqual(given.toSorted((one, other) => one - other));
  });

  const retriesOf = (rows: QueueRows, read: readonly QueuedDelivery[], reading = rows.beginRead()): void => {
    rows.loadRetries(read, { until: 100_000, limit: 10, reading });
    rows.endRead();
  };

  test("that their owner makes due are due at once, though they are here with a later time, and by what is known last", () => {
    const rows = new QueueRows();
    const [one, two] = [row(1, { attempts: 1, dueAt: 90_000 }), row(2, { attempts: 2, dueAt: 80_000 })];
    retriesOf(rows, [one, two]);
    const stale = [row(1, { attempts: 1, dueAt: 5 }), row(2, { attempts: 1, dueAt: 5 })];
    retriesOf(rows, stale);
    expect(rows.dueRetry(10)).toBeNull();
    const before = rows.beginRead();
    rows.ask();
    expect(rows.wantsRetries(10)).toBe(true);
    // This read began before.
    retriesOf(rows, stale, before);
    expect([rows.dueRetry(10), rows.wantsRetries(10)]).toEqual([null, true]);
    retriesOf(rows, stale);
    expect([rows.dueRetry(10)?.deliveryId, rows.wantsRetries(10), rows.size]).toEqual(["dl-1", false, 2]);
    rows.take(rows.dueRetry(10) ?? one);
    expect(rows.nextRetryAt).toBe(80_000);
  });

  test("of an event that is set aside are neither here nor read, nor handed over, until it is brought back", () => {
    const rows = new QueueRows();
    const block = { event: "block.confirmed" };
    rows.begin([row(1), row(2, block), row(3)]);
    rows.later(row(4, { attempts: 1, dueAt: 5 }));
    const reading = rows.beginRead();
    rows.setAside("transaction.confirmed");
    expect([rows.aside, rows.size, rows.nextFresh?.deliveryId, rows.dueRetry(10)]).toEqual([
      ["transaction.confirmed"],
      1,
      "dl-2",
      null,
    ]);
    // What was read before that.
    rows.loadFresh([row(1), row(5)], 10, reading);
    rows.endRead();
    rows.offer([row(6), row(7, block)]);
    rows.later(row(8, { attempts: 1, dueAt: 5 }));
    expect([rows.size, rows.isEmpty(10)]).toEqual([2, false]);
    for (let times = 0; times < 2; times += 1) rows.take(rows.nextFresh ?? row(0));
    expect([rows.nextFresh, rows.isEmpty(10)]).toEqual([null, true]);
    const other = rows.beginRead();
    rows.bringBack("transaction.confirmed");
    // This one left them out.
    rows.loadFresh([], 10, other);
    rows.endRead();
    expect([rows.aside, rows.wantsFresh, rows.wantsRetries(10), rows.isEmpty(10)]).toEqual([[], true, true, false]);
  });
});
