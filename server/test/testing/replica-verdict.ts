/** Holds what a schedule recorded against what is promised of several processes. */
import {
  type CallRecord,
  type CustomerName,
  customerNames,
  type FaultRecord,
  type ProbeRecord,
  type ScheduleRecord,
  stalledHereMs,
  stalledMs,
} from "./replica-record.ts";
import { type FaultKind, faultKinds, isOfWay } from "./replica-schedule.ts";
import { replicaIndexes } from "./replica-stage.ts";

/** What the customers of a schedule may take. */
export const allowances = { steady: 100_000, rated: 100_000, small: 400, revoked: 100_000 } as const;
export const rates = { steady: 10_000, rated: 40, small: 10_000, revoked: 10_000 } as const;
const burstFactor = 2;
/** Decision 0038: a hundredth of what is left, of all processes together where they know of each other. */
const advancedShare = 0.01;
/** Key changes reach every process that reaches a store within this time. */
const revokedWithinMs = 2_000;
/** A store is asked once a second, and who waits for it gives up after two. */
const readyWithinMs = 3_000;

/** A connection on which nothing comes is closed so long after SIGTERM, in the middle of what its client then sends. */
const partingMs = 500;

/** How a stream learns that its process is to end. */
const plannedEnds = { pubsub: "1001", grpc: "UNAVAILABLE" } as const;

const isOf = (kinds: readonly FaultKind[], { kind }: FaultRecord): boolean => kinds.includes(kind);
const isOfPostgres = (fault: FaultRecord): boolean => isOf(faultKinds.postgres, fault);
const isOfRedis = (fault: FaultRecord): boolean => isOf(faultKinds.redis, fault);

const answeredWith = (record: ScheduleRecord, customer: CustomerName, status: number): readonly CallRecord[] =>
  record.calls.filter((call) => call.customer === customer && call.status === status);

/** Everything that breaks a promise; nothing of it may be. */
export function judge(record: ScheduleRecord): readonly string[] {
  return [
    ...judgeCredits(record),
    ...judgeRate(record),
    ...judgeRevocation(record),
    ...judgeRestarts(record),
    ...judgeProbes(record),
  ];
}

/** Whatever was answered is charged, and no month is exceeded by more than what may be advanced. */
function judgeCredits(record: ScheduleRecord): string[] {
  const faults: string[] = [];
  for (const customer of customerNames) {
    const served = answeredWith(record, customer, 200).length;
    const used = record.used[customer];
    if (used < served) faults.push(`${customer}: ${served} calls were answered and ${used} credits are charged`);
  }
  const served = answeredWith(record, "small", 200).length;
  // A process that began while Redis was away knows of no others.
  const shares = record.faults.some(isOfRedis) ? replicaIndexes.length : 1;
  const advanced = record.faults.some(isOfPostgres) ? Math.ceil(allowances.small * advancedShare * shares) : 0;
  if (served > allowances.small + advanced) {
    faults.push(`small: ${served} calls were answered of ${allowances.small} credits and ${advanced} advanced`);
  }
  return faults;
}

/**
 * One bucket's burst and rate; for each time that Redis was lost the second's rate and the burst more that its return
 * may allow, and the whole rate beside for each process that began in the meantime. A process that alone lost its way
 * to Redis serves its share beside the bucket (decision 0013) until it notices that the way is whole.
 */
export function rateBound({ startMs, endMs, faults, sharingLosses }: ScheduleRecord): number {
  const { rated: rate } = rates;
  const burst = rate * burstFactor;
  const ofRedis = faults.filter(isOfRedis);
  const losses = Math.max(ofRedis.length, sharingLosses);
  const awayS = ofRedis.reduce((sum, { fromMs, toMs }) => sum + (Math.min(toMs, endMs) - fromMs) / 1_000, 0);
  const begun = faults.filter(({ kind }) => kind === "kill" || kind === "restart" || kind === "rolling").length;
  const alone = ofRedis.length === 0 ? 0 : begun * (burst + rate * awayS);
  const apart = ofRedis.filter(({ kind }) => isOfWay(kind));
  const besideS = apart.reduce((sum, { fromMs }) => sum + (endMs - fromMs) / 1_000, 0) / replicaIndexes.length;
  return burst + rate * ((endMs - startMs) / 1_000 + besideS) + losses * (rate + burst) + alone;
}

function judgeRate(record: ScheduleRecord): string[] {
  const answered = answeredWith(record, "rated", 200).length;
  const bound = rateBound(record);
  return answered <= bound + 1
    ? []
    : [`rated: ${answered} calls were answered, and at most ${Math.floor(bound)} may be`];
}

const meet = (one: FaultRecord, other: FaultRecord): boolean =>
  one.fromMs <= other.toMs + revokedWithinMs && other.fromMs <= one.toMs + revokedWithinMs;

/**
 * When a process can have known of the change: it ran, and the database answered. One that alone lost its way to the
 * database hears of it through Redis, unless that is not whole either.
 */
function knowableMs(replica: number, { revokedMs, faults }: ScheduleRecord): number {
  let fromMs = revokedMs;
  // The faults in the order of their begin: one that begins within the time that is left begins it anew.
  for (const fault of [...faults].toSorted((left, right) => left.fromMs - right.fromMs)) {
    const isInTheWay = isOfWay(fault.kind)
      ? isOfPostgres(fault) &&
        fault.replica === replica &&
        faults.some((other) => isOfRedis(other) && meet(fault, other))
      : isOfPostgres(fault) || fault.replica === replica || fault.kind === "rolling";
    const isMeanwhile = fault.fromMs <= fromMs + revokedWithinMs && fault.toMs >= fromMs;
    if (isInTheWay && isMeanwhile) fromMs = Math.max(fromMs, fault.toMs);
  }
  return fromMs;
}

function judgeRevocation(record: ScheduleRecord): string[] {
  return replicaIndexes.flatMap((replica) => {
    const fromMs = knowableMs(replica, record);
    const late = answeredWith(record, "revoked", 200).filter(({ replica: asked, sentMs }) => {
      return asked === replica && sentMs > fromMs + revokedWithinMs + stalledMs(record, { fromMs, toMs: sentMs });
    });
    const last = late.at(-1);
    if (last === undefined) return [];
    const afterMs = Math.round(last.sentMs - record.revokedMs);
    return [`revoked: process ${replica} answered ${afterMs} ms after the key was disabled`];
  });
}

/** A call that was written on a connection that a process had taken is answered, though the process is to end. */
function judgeRestarts(record: ScheduleRecord): string[] {
  const { calls, restarts, streams } = record;
  const wasStill = ({ sentMs, doneMs }: CallRecord): boolean =>
    stalledHereMs(record, { fromMs: sentMs - partingMs, toMs: doneMs }) > partingMs / 2;
  return restarts.flatMap(({ replica, fromMs, toMs, status }) => {
    const isMeanwhile = (call: CallRecord): boolean =>
      call.replica === replica && call.doneMs >= fromMs && call.sentMs <= toMs;
    const lost = calls.filter((call) => {
      return isMeanwhile(call) && ((call.kind === "lost" && !wasStill(call)) || call.kind === "late");
    });
    return [
      ...(status === 0 ? [] : [`restart: process ${replica} ended with ${status}`]),
      ...lost.map(({ customer, kind, sentMs }) => {
        return `restart: a call of ${customer} ${Math.round(sentMs - fromMs)} ms after SIGTERM was ${kind}`;
      }),
      ...streams
        .filter((stream) => stream.replica === replica && stream.atMs >= fromMs && stream.atMs <= toMs)
        .filter(({ kind, end }) => end !== plannedEnds[kind])
        .map(({ kind, end }) => `restart: a stream of ${kind} ended with ${end}`),
    ];
  });
}

/** What a probe said, and what a call at the same time got. */
function judgeProbes(record: ScheduleRecord): string[] {
  const faults = record.probes
    .filter(({ ready, reasons }) => ready === 503 && reasons.length === 0)
    .map(({ replica }) => `probes: process ${replica} was not ready, without a reason`);
  const ill = record.probes.filter(({ health }) => health !== 200 && health !== 0);
  faults.push(...ill.map(({ replica, health }) => `probes: /health of process ${replica} was ${health}`));
  for (const replica of replicaIndexes) {
    const { readyMs, unreadyMs } = contradictions(replica, record);
    if (readyMs > readyWithinMs) {
      const refused = record.calls.filter((call) => call.replica === replica && call.code !== undefined);
      const why = [...new Set(refused.map(({ code }) => code))].join(", ");
      faults.push(`probes: process ${replica} was ready for ${readyMs} ms and answered nobody (${why})`);
    }
    if (unreadyMs > readyWithinMs) {
      const own = record.probes.filter((probe) => probe.replica === replica);
      const parts = [...new Set(own.flatMap(({ reasons }) => reasons))].join(", ");
      faults.push(`probes: process ${replica} was not ready for ${unreadyMs} ms and answered (${parts})`);
    }
  }
  return faults;
}

/**
 * The longest times in which a process said that it is ready and answered no call, and the other way round, without
 * those in which it, or the checker, stood still.
 */
export function contradictions(replica: number, record: ScheduleRecord) {
  const { calls, probes } = record;
  const own = probes.filter((probe) => probe.replica === replica && probe.ready !== 0);
  const longest = { readyMs: 0, unreadyMs: 0 };
  let [name, fromMs]: [keyof typeof longest | null, number] = [null, 0];
  for (const call of calls) {
    if (call.replica !== replica || call.customer !== "steady" || call.kind !== "answered") continue;
    const found = contradictionOf(call, own);
    if (found !== name) [name, fromMs] = [found, call.sentMs];
    if (name === null) continue;
    const lastedMs = call.doneMs - fromMs - stalledMs(record, { fromMs, toMs: call.doneMs });
    longest[name] = Math.max(longest[name], Math.round(lastedMs));
  }
  return longest;
}

function contradictionOf(call: CallRecord, probes: readonly ProbeRecord[]): "readyMs" | "unreadyMs" | null {
  const before = probes.findLast(({ doneMs }) => doneMs <= call.sentMs);
  const after = probes.find(({ sentMs }) => sentMs >= call.doneMs);
  if (before === undefined || after === undefined || before.ready !== after.ready) return null;
  if (call.status === 503 && before.ready === 200) return "readyMs";
  // Who is about to end says so to balancers and takes calls.
  const isEnding = before.reasons.includes("server") || after.reasons.includes("server");
  return call.status === 200 && before.ready === 503 && !isEnding ? "unreadyMs" : null;
}
