/** Three whole processes whose stores and selves are broken: the verdict of the campaign, and its first schedules. */
import { describe, expect, test } from "bun:test";
import { redisBinary } from "../src/hot/testing/redis-process.ts";
import { postgresPrograms } from "../src/state/testing/postgres-process.ts";
import type { CallRecord, CustomerName, FaultRecord, ProbeRecord, ScheduleRecord } from "./testing/replica-record.ts";
import { runReplicas } from "./testing/replica-run.ts";
import { describeSchedule, drawSchedule, faultKinds } from "./testing/replica-schedule.ts";
import { allowances, judge, rateBound, rates } from "./testing/replica-verdict.ts";

const isRun = postgresPrograms !== null && redisBinary !== null;
if (!isRun) console.warn("NOT RUN: three processes under schedules of faults (no initdb or no redis-server)");

const sound: ScheduleRecord = {
  startMs: 0,
  endMs: 4_000,
  calls: [],
  probes: [],
  faults: [],
  restarts: [],
  streams: [],
  stalls: [],
  lagMs: 0,
  revokedMs: 1_000,
  sharingLosses: 0,
  used: { steady: 0, rated: 0, small: 0, revoked: 0 },
};
const call = (customer: CustomerName, atMs: number, rest: Partial<CallRecord> = {}): CallRecord => {
  return { customer, replica: 0, sentMs: atMs, doneMs: atMs + 5, kind: "answered", status: 200, ...rest };
};
const calls = (customer: CustomerName, count: number): CallRecord[] =>
  Array.from({ length: count }, (_, at) => call(customer, at));
const probe = (atMs: number, ready: number, rest: Partial<ProbeRecord> = {}): ProbeRecord => {
  return {
    replica: 0,
    sentMs: atMs,
    doneMs: atMs + 1,
    ready,
    health: 200,
    reasons: ready === 503 ? ["credits"] : [],
    ...rest,
  };
};
const fault = (kind: FaultRecord["kind"], fromMs: number, toMs: number, replica: number | null = null): FaultRecord => {
  return { kind, replica, fromMs, toMs };
};
const used = (customer: CustomerName, count: number) => ({ ...sound.used, [customer]: count });
const restart = { replica: 0, fromMs: 1_000, toMs: 2_000, status: 0 };
const every = (ms: number, stepMs: number): number[] => Array.from({ length: ms / stepMs }, (_, at) => at * stepMs);

describe("the verdict on a schedule", () => {
  test("has nothing against what is promised to its last credit, token and moment", () => {
    const small = calls("small", allowances.small);
    expect(judge({ ...sound, calls: small, used: used("small", small.length) })).toEqual([]);
    const rated = calls("rated", Math.floor(rateBound(sound)));
    expect(judge({ ...sound, calls: rated, used: used("rated", rated.length) })).toEqual([]);
    const revoked = [call("revoked", 3_000), call("revoked", 3_001, { status: 401 })];
    expect(judge({ ...sound, calls: revoked, used: used("revoked", 1) })).toEqual([]);
    // The checker stood still until its connection was given up.
    const still = { calls: [call("steady", 1_700, { kind: "lost", status: 0 })], restarts: [restart] };
    expect(judge({ ...sound, ...still, stalls: [{ fromMs: 1_250, toMs: 1_690 }] })).toEqual([]);
    expect(judge({ ...sound, ...still, stalls: [{ fromMs: 700, toMs: 1_190 }] }).join()).toContain("was lost");
    const apart = [
      call("steady", 900, { kind: "lost", status: 0 }),
      call("steady", 1_500, { kind: "refused", status: 0 }),
    ];
    expect(judge({ ...sound, calls: apart, restarts: [restart] })).toEqual([]);
    expect(rateBound(sound)).toBe(rates.rated * 2 + rates.rated * 4);
  });

  test("gives the second's rate and a burst for a loss of Redis, an advance for one of PostgreSQL, and time for both", () => {
    const lost = { ...sound, faults: [fault("redis-flush", 100, 110)] };
    expect(rateBound(lost) - rateBound(sound)).toBe(rates.rated * 3);
    const away = { ...sound, faults: [fault("postgres-restart", 900, 3_000)] };
    const small = calls("small", allowances.small + 4);
    expect(judge({ ...away, calls: small, used: used("small", small.length) })).toEqual([]);
    expect(judge({ ...away, calls: [call("revoked", 4_999)], used: used("revoked", 1) })).toEqual([]);
    expect(judge({ ...away, calls: [call("revoked", 5_001)], used: used("revoked", 1) }).join()).toContain("revoked");
    const frozen = { ...sound, faults: [fault("freeze", 500, 2_500, 0)] };
    expect(judge({ ...frozen, calls: [call("revoked", 4_400)], used: used("revoked", 1) })).toEqual([]);
    const other = call("revoked", 4_400, { replica: 1 });
    expect(judge({ ...frozen, calls: [other], used: used("revoked", 1) }).join()).toContain("revoked: process 1");
  });

  test("counts no time in which the checker stood still, and only where it did", () => {
    const late = { ...sound, calls: [call("revoked", 3_400)], used: used("revoked", 1) };
    expect(judge(late).join()).toContain("revoked: process 0");
    expect(judge({ ...late, stalls: [{ fromMs: 1_200, toMs: 1_700 }] })).toEqual([]);
    expect(judge({ ...late, lagMs: 500 })).toEqual([]);
    for (const stalls of [[{ fromMs: 0, toMs: 1_000 }], [{ fromMs: 3_400, toMs: 9_000 }]]) {
      expect(judge({ ...late, stalls }).join()).toContain("revoked: process 0");
    }
  });

  test("takes a process whose own way to a store is lost for one that the other store still tells of a key", () => {
    const late = [call("revoked", 3_100)];
    const alone = { ...sound, faults: [fault("postgres-cut", 900, 3_000, 0)] };
    expect(judge({ ...alone, calls: late, used: used("revoked", 1) }).join()).toContain("revoked: process 0");
    const both = { ...alone, faults: [...alone.faults, fault("redis-silent", 900, 3_000, 1)] };
    expect(judge({ ...both, calls: late, used: used("revoked", 1) })).toEqual([]);
    expect(judge({ ...both, calls: [call("revoked", 5_001)], used: used("revoked", 1) }).join()).toContain("revoked");
    const other = [call("revoked", 3_100, { replica: 2 })];
    expect(judge({ ...both, calls: other, used: used("revoked", 1) }).join()).toContain("revoked: process 2");
    const away = { ...sound, faults: [fault("redis-cut", 1_000, 2_000, 0)] };
    // A loss as of Redis itself, and a share beside the bucket to the schedule's end.
    expect(rateBound(away) - rateBound(sound)).toBe(rates.rated * 3 + rates.rated);
  });

  const steady = every(4_000, 50);
  const planted: Readonly<Record<string, Partial<ScheduleRecord>>> = {
    "steady: 3 calls were answered and 2 credits are charged": { calls: calls("steady", 3), used: used("steady", 2) },
    "small: 401 calls were answered": { calls: calls("small", 401), used: used("small", 401) },
    "rated: 242 calls were answered, and at most 240": { calls: calls("rated", 242), used: used("rated", 242) },
    "revoked: process 0 answered 2001 ms after": { calls: [call("revoked", 3_001)], used: used("revoked", 1) },
    "restart: process 0 ended with 1": { restarts: [{ ...restart, status: 1 }] },
    "restart: a call of steady 10 ms after SIGTERM was lost": {
      restarts: [restart],
      calls: [call("steady", 1_010, { kind: "lost", status: 0 })],
    },
    "restart: a stream of pubsub ended with 1006": {
      restarts: [restart],
      streams: [{ replica: 0, kind: "pubsub", end: "1006", atMs: 1_500 }],
    },
    "was not ready, without a reason": { probes: [probe(1, 503, { reasons: [] })] },
    "/health of process 0 was 503": { probes: [probe(1, 200, { health: 503 })] },
    "was ready for 3905 ms and answered nobody": {
      calls: steady.map((at) => call("steady", at + 10, { status: 503 })).slice(0, -1),
      probes: [...steady.map((at) => probe(at, 200))],
    },
    "was not ready for 3905 ms and answered": {
      calls: steady.map((at) => call("steady", at + 10)).slice(0, -1),
      probes: steady.map((at) => probe(at, 503)),
      used: used("steady", steady.length),
    },
  };
  for (const [text, parts] of Object.entries(planted)) {
    test(`sees: ${text}`, () => expect(judge({ ...sound, ...parts }).join("\n")).toContain(text));
  }
});

test("a schedule is drawn from its seed and number alone, has one step of a group at most, and each kind comes first once", () => {
  const kinds = Object.values(faultKinds).flat();
  const drawn = kinds.map((_, number) => drawSchedule(5, number));
  expect(drawn.map(({ steps }, number) => steps.some(({ kind }) => kind === kinds[number]))).not.toContain(false);
  for (const { steps } of [...drawn, drawSchedule(5, 400)]) {
    for (const group of Object.values(faultKinds)) {
      expect(steps.filter(({ kind }) => (group as readonly string[]).includes(kind)).length).toBeLessThanOrEqual(1);
    }
  }
  expect(drawSchedule(5, 9)).toEqual(drawSchedule(5, 9));
  expect(describeSchedule(drawSchedule(5, 9))).toContain("--n 1 --seed 5 --only 9");
});

if (isRun) {
  test("three processes are killed, replaced and cut from stores that fail over, and keep what is promised", async () => {
    const { faults, kinds, statuses, bundles } = await runReplicas({ seed: 6, numbers: [0, 2] });
    expect(faults).toEqual([]);
    expect(Object.keys(kinds)).toEqual(expect.arrayContaining(["kill", "restart"]));
    expect(bundles["finalized on devnet"]).toBeGreaterThan(0);
    // A slow machine may not get to the end of a month or above a rate.
    for (const status of ["200", "401"]) expect(statuses[status]).toBeGreaterThan(0);
  }, 240_000);
}
