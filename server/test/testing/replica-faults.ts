/** Carries out the steps of a schedule on a stage. */
import type { FaultRecord, RestartRecord } from "./replica-record.ts";
import { isOfWay, type Step, type WayKind } from "./replica-schedule.ts";
import { type ReplicaStage, replicaIndexes } from "./replica-stage.ts";

const terminations = 3;
/** Writes between these two are what a failover of Redis loses. */
const unfollowedMs = 300;

export class FaultRunner {
  readonly faults: FaultRecord[] = [];
  readonly restarts: RestartRecord[] = [];
  readonly #stage: ReplicaStage;

  constructor(stage: ReplicaStage) {
    this.#stage = stage;
  }

  /** The processes that a step itself froze. */
  get frozen(): ReadonlySet<number> {
    return new Set(
      this.faults.flatMap(({ kind, replica }) => (kind === "freeze" && replica !== null ? [replica] : [])),
    );
  }

  /** Waits for its moment, breaks what it breaks, and mends it. */
  async run(step: Step): Promise<void> {
    await Bun.sleep(step.atMs);
    const isOfReplica = step.kind === "kill" || step.kind === "freeze" || step.kind === "restart" || isOfWay(step.kind);
    const replica = isOfReplica ? step.replica : null;
    const fault: FaultRecord = { kind: step.kind, replica, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
    this.faults.push(fault);
    await this.#happen(step);
    fault.toMs = performance.now();
  }

  async #happen({ kind, forMs, replica, table }: Step): Promise<void> {
    const { postgres, redis, ledger } = this.#stage;
    switch (kind) {
      case "kill":
        await this.#stage.kill(replica);
        return await this.#begin(replica);
      case "freeze":
        this.#stage.gateway(replica)?.process.kill("SIGSTOP");
        await Bun.sleep(forMs);
        this.#stage.gateway(replica)?.process.kill("SIGCONT");
        return;
      case "restart":
        return await this.#replace(replica);
      case "rolling":
        for (const index of replicaIndexes) await this.#replace(index);
        return;
      case "terminate":
        for (let count = 0; count < terminations; count += 1) {
          await postgres.terminate();
          await Bun.sleep(forMs / terminations);
        }
        return;
      case "lock":
        return await this.#lock(table, forMs);
      case "postgres-restart":
        await postgres.stop();
        await Bun.sleep(forMs);
        return await postgres.start();
      case "postgres-failover":
        await postgres.stop();
        await Bun.sleep(forMs);
        return await postgres.failOver();
      case "redis-pause":
        await redis.command("CLIENT", "PAUSE", String(forMs), "ALL");
        return await Bun.sleep(forMs);
      case "redis-flush":
        return void (await redis.command("FLUSHALL"));
      case "redis-restart":
        return await redis.restart();
      case "redis-failover":
        await redis.stopFollowing();
        await Bun.sleep(unfollowedMs);
        return await redis.failOver();
      case "ledger-away":
        ledger.cut();
        await Bun.sleep(forMs);
        return ledger.heal();
      case "disk-full":
        this.#stage.disk(replica)?.fill();
        await Bun.sleep(forMs);
        return this.#stage.disk(replica)?.empty();
      case "postgres-cut":
      case "postgres-silent":
      case "redis-cut":
      case "redis-silent":
        return await this.#loseWay(kind, replica, forMs);
    }
  }

  async #loseWay(kind: WayKind, replica: number, forMs: number): Promise<void> {
    const ways = this.#stage.ways(replica);
    const way = kind === "postgres-cut" || kind === "postgres-silent" ? ways.postgres : ways.redis;
    if (kind === "postgres-cut" || kind === "redis-cut") way.cut();
    else way.silence();
    await Bun.sleep(forMs);
    way.heal();
  }

  async #lock(table: string, forMs: number): Promise<void> {
    const client = await this.#stage.postgres.connect();
    await client.query(`begin; lock table ${table} in access exclusive mode`);
    await Bun.sleep(forMs);
    await client.end();
  }

  /** Ends a process as planned and starts another one in its place. */
  async #replace(replica: number): Promise<void> {
    const fromMs = performance.now();
    const status = await this.#stage.end(replica);
    this.restarts.push({ replica, fromMs, toMs: performance.now(), status });
    await this.#begin(replica);
  }

  /** A process that finds its database away does not start; it is started again once all is whole. */
  async #begin(replica: number): Promise<void> {
    await this.#stage.begin(replica).catch(() => undefined);
  }
}
