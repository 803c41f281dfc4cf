/** Schedules of faults on one stage: each runs its load, is mended, and is held against the promises. */
import { eventually } from "@sluice/lib/testing";
import { ReplicaBundles } from "./replica-bundles.ts";
import { FaultRunner } from "./replica-faults.ts";
import { ReplicaLoad } from "./replica-load.ts";
import { type CustomerName, customerNames, type ScheduleRecord, type Span, stalledMs } from "./replica-record.ts";
import { describeSchedule, drawSchedule, type FaultKind, type Schedule } from "./replica-schedule.ts";
import { type Customer, ReplicaStage, replicaIndexes } from "./replica-stage.ts";
import { ReplicaStreams } from "./replica-streams.ts";
import { allowances, judge, rates } from "./replica-verdict.ts";

export interface ReplicaOptions {
  readonly seed: number;
  /** The numbers of the schedules. */
  readonly numbers: readonly number[];
  /** Told of each schedule as it ends. */
  readonly told?: (line: string) => void;
}

export interface ReplicaFigures {
  readonly schedules: number;
  readonly kinds: Readonly<Partial<Record<FaultKind, number>>>;
  readonly calls: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Calls on connections that were refused or cut while no restart was planned. */
  readonly broken: Readonly<Record<string, number>>;
  /** Milliseconds until the last process refused a key that was disabled, by schedule, rising. */
  readonly revocations: readonly number[];
  /** Milliseconds from SIGTERM to the end of a process, rising. */
  readonly endings: readonly number[];
  readonly stallMsMax: number;
  /** Accepted bundles by network and last state, and submissions that were refused, by code. */
  readonly bundles: Readonly<Record<string, number>>;
  readonly refusedBundles: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** The load outlasts the last step by this. */
const afterMs = 400;
const leastMs = 1_800;
const tickMs = 20;
const shownFaults = 20;
const chargedWithinMs = 15_000;

/**
 * How long records may wait in the memory of a process before the ledger's server has them, beside the time in which
 * neither that server nor the disk takes any.
 */
const unwrittenMs = 6_000;

/** For how long up to a moment records could not leave the memory of a process, at most. */
function heldMs(record: ScheduleRecord, toMs: number): number {
  const spans = record.faults.filter(({ kind }) => kind === "ledger-away" || kind === "disk-full");
  const faultMs = spans.reduce((sum, span) => sum + Math.max(0, Math.min(span.toMs, toMs) - span.fromMs), 0);
  return faultMs + stalledMs(record, { fromMs: record.startMs, toMs });
}

/** What a customer of a schedule was answered, and whether a kill may have taken records of it. */
interface Served {
  readonly endMs: number;
  readonly number: number;
  readonly customer: CustomerName;
  readonly accountId: string;
  readonly answered: number;
  /** Those that were answered, and those whose answer was lost. */
  readonly sent: number;
  isKilled: boolean;
}

type Customers = Readonly<Record<CustomerName, Customer>>;

/** When the checker itself stood still. */
class StallWatch implements Disposable {
  readonly stalls: Span[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #lastMs = performance.now();

  constructor() {
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      const lateMs = nowMs - this.#lastMs - tickMs;
      if (lateMs > tickMs) this.stalls.push({ fromMs: nowMs - lateMs, toMs: nowMs });
      this.#lastMs = nowMs;
    }, tickMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

export class ReplicaRun {
  readonly #stage: ReplicaStage;
  readonly #bundles: ReplicaBundles;
  readonly #kinds: Partial<Record<FaultKind, number>> = {};
  readonly #statuses: Record<string, number> = {};
  readonly #broken: Record<string, number> = {};
  readonly #revocations: number[] = [];
  readonly #endings: number[] = [];
  readonly #served: Served[] = [];
  readonly #faults: string[] = [];
  #calls = 0;
  #schedules = 0;
  #stallMsMax = 0;

  constructor(stage: ReplicaStage, bundles: ReplicaBundles) {
    this.#stage = stage;
    this.#bundles = bundles;
  }

  /** Runs one schedule to its verdict. Where what it breaks cannot be mended that is a fault, and all is begun anew. */
  async run(schedule: Schedule): Promise<readonly string[]> {
    try {
      return await this.#judged(schedule);
    } catch (error) {
      const faults = [`run: ${error instanceof Error ? error.message : error}`, ...this.#stage.errors()];
      this.#schedules += 1;
      this.#faults.push([describeSchedule(schedule), ...faults].join("\n  "));
      await this.#stage.renew();
      return faults;
    }
  }

  async #judged(schedule: Schedule): Promise<readonly string[]> {
    await this.#stage.repair();
    const customers = await this.#customers();
    const record = await this.#play(schedule, customers);
    const kills = record.faults.filter(({ kind }) => kind === "kill");
    for (const each of this.#served) {
      each.isKilled ||= kills.some(({ fromMs }) => fromMs < each.endMs + unwrittenMs + heldMs(record, fromMs));
    }
    for (const name of customerNames) {
      const own = record.calls.filter(({ customer }) => customer === name);
      this.#served.push({
        endMs: record.endMs,
        number: schedule.number,
        customer: name,
        accountId: customers[name].accountId,
        answered: own.filter(({ status }) => status === 200).length,
        sent: own.filter(({ kind, status, isWritten }) => {
          return status === 200 || kind === "lost" || kind === "late" || isWritten === true;
        }).length,
        isKilled: kills.length > 0,
      });
    }
    const errors = this.#stage.errors().map((line) => `log: ${line}`);
    const faults = [...judge(record), ...(await this.#bundles.check()), ...errors];
    this.#count(record);
    if (faults.length > 0) this.#faults.push([describeSchedule(schedule), ...faults].join("\n  "));
    return faults;
  }

  figures(): ReplicaFigures {
    return {
      schedules: this.#schedules,
      kinds: this.#kinds,
      calls: this.#calls,
      statuses: this.#statuses,
      broken: this.#broken,
      revocations: this.#revocations.toSorted((left, right) => left - right),
      endings: this.#endings.toSorted((left, right) => left - right),
      stallMsMax: Math.round(this.#stallMsMax),
      bundles: this.#bundleCounts(),
      refusedBundles: this.#bundles.refused,
      faults: this.#faults,
    };
  }

  /** Waits for the ends of what is under way, and holds them against the chains and the ledger. */
  async end(): Promise<void> {
    await this.#stage.repair();
    const faults = [...(await this.#bundles.end()), ...(await this.#recordFaults())];
    for (const index of replicaIndexes) await this.#stage.end(index);
    faults.push(...(await this.#chargeFaults()));
    if (faults.length > 0) this.#faults.push(["at the end:", ...faults.slice(0, shownFaults)].join("\n  "));
  }

  /** Each answered call has one record in the ledger, also if that was away; a kill takes those of its last seconds. */
  async #recordFaults(): Promise<readonly string[]> {
    const statement = "SELECT account_id, count() AS n FROM sluice.requests WHERE status = 200 GROUP BY account_id";
    let faults: string[] = [];
    const areThere = async (): Promise<boolean> => {
      const rows = await this.#stage.askLedger<{ account_id: string; n: string }>(statement);
      const found = new Map(rows.map((row) => [row.account_id, Number(row.n)]));
      faults = this.#served.flatMap(({ number, customer, accountId, answered, sent, isKilled }) => {
        const records = found.get(accountId) ?? 0;
        if (records <= sent && (isKilled || records >= answered)) return [];
        return [
          `ledger: ${records} records of ${customer} in schedule ${number} for ${answered} answers to ${sent} calls`,
        ];
      });
      return faults.length === 0;
    };
    await eventually("every record in the ledger", areThere, 30_000).catch(() => null);
    return faults;
  }

  /** With the planned end of every process each lease is settled: charged is what was answered, and nothing else. */
  async #chargeFaults(): Promise<readonly string[]> {
    const statement = "select account_id, sum(used)::text as used from credits group by account_id";
    const rows = await this.#stage.postgres.query<{ account_id: string; used: string }>(statement, []);
    const charged = new Map(rows.map((row) => [row.account_id, Number(row.used)]));
    return this.#served.flatMap(({ number, customer, accountId, answered, sent }) => {
      const used = charged.get(accountId) ?? 0;
      if (used >= answered && used <= sent) return [];
      return [`credits: ${used} of ${customer} in schedule ${number} for ${answered} answers to ${sent} calls`];
    });
  }

  #bundleCounts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { network, state } of this.#bundles.accepted.values()) {
      const name = `${state} on ${network}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  async #play(schedule: Schedule, customers: Customers): Promise<ScheduleRecord> {
    const stage = this.#stage;
    const before = await this.#losses();
    using stalls = new StallWatch();
    using load = new ReplicaLoad(stage, customers);
    const runner = new FaultRunner(stage);
    using streams = await ReplicaStreams.open(stage, this.#bundles.customer);
    const startMs = performance.now();
    load.begin();
    let isOver = false;
    using submissions = new DisposableStack();
    submissions.defer(() => {
      isOver = true;
    });
    const submitting = this.#bundles.submit(() => isOver);
    const revoked = this.#revoke(customers.revoked, schedule);
    await Promise.all([...schedule.steps.map((step) => runner.run(step)), Bun.sleep(leastMs)]);
    await Bun.sleep(afterMs);
    load.stop("steady", "rated", "small");
    submissions.dispose();
    const endMs = performance.now();
    const lagMs = await this.#lagMs(runner.frozen);
    await stage.repair();
    const revokedMs = await revoked;
    await eventually("the refusal of a key that is disabled", () => load.isRefusedSince(revokedMs)).catch(() => null);
    load.stop("revoked", "probes");
    await Promise.all([load.ended(), submitting]);
    const after = await this.#losses();
    return {
      startMs,
      endMs,
      calls: load.calls,
      probes: load.probes,
      faults: runner.faults,
      restarts: runner.restarts,
      streams: streams.ended,
      stalls: stalls.stalls,
      lagMs,
      revokedMs,
      sharingLosses: Math.max(
        ...after.map((losses, at) => (losses >= (before[at] ?? 0) ? losses - (before[at] ?? 0) : losses)),
      ),
      used: await this.#used(customers, load),
    };
  }

  async #customers(): Promise<Customers> {
    const made = await Promise.all(
      customerNames.map(async (name): Promise<[CustomerName, Customer]> => {
        const wish = { requestsPerSecond: rates[name], creditsMonthly: allowances[name] };
        return [name, await this.#stage.customer(wish)];
      }),
    );
    return Object.fromEntries(made) as Record<CustomerName, Customer>;
  }

  /** Has the first process that can disable the key, and gives the moment of its acknowledgement. */
  async #revoke({ keyId }: Customer, { revokeAtMs, revokeFrom }: Schedule): Promise<number> {
    await Bun.sleep(revokeAtMs);
    let attempt = revokeFrom;
    return await eventually(
      "a process disables the key",
      async () => {
        attempt += 1;
        await this.#stage.administer(
          "PATCH",
          `/keys/${keyId}`,
          { status: "disabled" },
          attempt % replicaIndexes.length,
        );
        return performance.now();
      },
      60_000,
    );
  }

  /** How often each process has lost what it shares. */
  #losses(): Promise<number[]> {
    return Promise.all(replicaIndexes.map((index) => this.#metric(index, "sluice_sharing_lost_total")));
  }

  /** The longest time in which the event loop of a process stood still that no step froze. */
  async #lagMs(frozen: ReadonlySet<number>): Promise<number> {
    const others = replicaIndexes.filter((index) => !frozen.has(index));
    const lags = await Promise.all(others.map((index) => this.#metric(index, "process_event_loop_lag_seconds")));
    return Math.max(0, ...lags) * 1_000;
  }

  async #metric(index: number, name: string): Promise<number> {
    return (
      (await this.#stage
        .gateway(index)
        ?.metric(name)
        .catch(() => 0)) ?? 0
    );
  }

  /** What is charged once it is at least what was answered, or after the time in which it has to be. */
  async #used(customers: Customers, load: ReplicaLoad): Promise<Record<CustomerName, number>> {
    const used = Object.fromEntries(customerNames.map((name) => [name, 0])) as Record<CustomerName, number>;
    const served = (name: CustomerName): number =>
      load.calls.filter(({ customer, status }) => customer === name && status === 200).length;
    const read = async (): Promise<boolean> => {
      for (const name of customerNames) {
        const statement = "select coalesce(sum(used), 0)::text as used from credits where account_id = $1";
        const rows = await this.#stage.postgres.query<{ used: string }>(statement, [customers[name].accountId]);
        used[name] = Number(rows[0]?.used);
      }
      return customerNames.every((name) => used[name] >= served(name));
    };
    await eventually("all is charged", read, chargedWithinMs).catch(() => null);
    return used;
  }

  #count(record: ScheduleRecord): void {
    const { calls, faults, restarts, revokedMs } = record;
    this.#schedules += 1;
    this.#calls += calls.length;
    this.#stallMsMax = Math.max(this.#stallMsMax, stalledMs(record, { fromMs: 0, toMs: Number.POSITIVE_INFINITY }));
    this.#endings.push(...restarts.map(({ fromMs, toMs }) => Math.round(toMs - fromMs)));
    for (const { kind } of faults) this.#kinds[kind] = (this.#kinds[kind] ?? 0) + 1;
    for (const { kind, status, replica, doneMs } of calls) {
      const isPlanned = restarts.some(
        (each) => each.replica === replica && doneMs >= each.fromMs && doneMs <= each.toMs,
      );
      const name = kind === "answered" ? String(status) : isPlanned ? `${kind} in a restart` : kind;
      const counts = kind === "answered" ? this.#statuses : this.#broken;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    const served = calls.filter(({ customer, status }) => customer === "revoked" && status === 200);
    this.#revocations.push(Math.max(0, Math.round(Math.max(...served.map(({ doneMs }) => doneMs)) - revokedMs)));
  }
}

export async function runReplicas({ seed, numbers, told }: ReplicaOptions): Promise<ReplicaFigures> {
  await using stage = await ReplicaStage.start(seed);
  const run = new ReplicaRun(stage, await ReplicaBundles.start(stage));
  for (const number of numbers) {
    const schedule = drawSchedule(seed, number);
    const beganMs = performance.now();
    const faults = await run.run(schedule);
    const tookS = ((performance.now() - beganMs) / 1_000).toFixed(1);
    const kinds = schedule.steps.map(({ kind }) => kind).join(", ");
    told?.(`${number}: ${kinds} (${tookS} s)${faults.length === 0 ? "" : `\n  ${faults.join("\n  ")}`}`);
  }
  await run.end();
  return run.figures();
}
