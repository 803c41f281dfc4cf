/** Three whole processes of `sluice serve` on stores of their own, before two chains, and ways to break all of it. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, mountSmallDisk, type SmallDisk } from "@sluice/lib/testing";
import { type FaultyChain, startQuietChain } from "./chain.ts";
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { startLedgerServer } from "./ledger-server.ts";
import { PostgresPair } from "./postgres-pair.ts";
import { RedisPair } from "./redis-pair.ts";
import { openWays, type ReplicaWays } from "./replica-ways.ts";

/** The default network of each process: two engines share a book, the third has one of its own. */
export const networkOf = ["devnet", "devnet", "testnet"] as const;
export const replicaIndexes = [0, 1, 2] as const;

export interface Customer {
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
}

export interface CustomerWish {
  readonly requestsPerSecond: number;
  readonly creditsMonthly: number;
  readonly permissions?: readonly string[];
}

const diskBytes = 64 * 2 ** 20;
const slotMs = 250;
const finalizedAfter = 12;

export class ReplicaStage implements AsyncDisposable {
  readonly postgres: PostgresPair;
  readonly redis: RedisPair;
  readonly ledger: CutProxy;
  readonly chains: Readonly<Record<"devnet" | "testnet", FaultyChain>>;
  readonly ledgerUrl: string;
  readonly #resources: AsyncDisposableStack;
  readonly #directories: readonly string[];
  readonly #disks: readonly (SmallDisk | null)[];
  readonly #ways: readonly ReplicaWays[];
  readonly #gateways: (Gateway | null)[] = [null, null, null];
  /** Starts that are under way: a place is never filled twice. */
  readonly #starts = new Map<number, Promise<void>>();
  /** Processes that ran since the log was last read. */
  readonly #unread = new Set<Gateway>();
  readonly #readLines = new Set<string>();

  private constructor(parts: {
    readonly postgres: PostgresPair;
    readonly redis: RedisPair;
    readonly ledger: CutProxy;
    readonly ledgerUrl: string;
    readonly chains: Readonly<Record<"devnet" | "testnet", FaultyChain>>;
    readonly directories: readonly string[];
    readonly disks: readonly (SmallDisk | null)[];
    readonly ways: readonly ReplicaWays[];
    readonly resources: AsyncDisposableStack;
  }) {
    this.postgres = parts.postgres;
    this.redis = parts.redis;
    this.ledger = parts.ledger;
    this.ledgerUrl = parts.ledgerUrl;
    this.chains = parts.chains;
    this.#directories = parts.directories;
    this.#disks = parts.disks;
    this.#ways = parts.ways;
    this.#resources = parts.resources;
  }

  static async start(seed: number): Promise<ReplicaStage> {
    const resources = new AsyncDisposableStack();
    const directory = mkdtempSync(join(tmpdir(), "sluice-replicas-"));
    resources.defer(() => rmSync(directory, { recursive: true, force: true }));
    // The user that PostgreSQL runs as has to reach its own directory in it.
    chmodSync(directory, 0o755);
    try {
      const startChain = (name: string): Promise<FaultyChain> =>
        startQuietChain("--no-votes", ...Object.entries(chainFlags(`${name} ${seed}`)).flat());
      const [devnet, testnet, postgres, redis, server] = await Promise.all([
        startChain("devnet").then((chain) => resources.use(chain)),
        startChain("testnet").then((chain) => resources.use(chain)),
        PostgresPair.start(directory).then((pair) => resources.use(pair)),
        RedisPair.start(directory).then((pair) => resources.use(pair)),
        startLedgerServer().then((started) => resources.use(started)),
      ]);
      const ledger = resources.use(await startCutProxy({ host: "127.0.0.1", port: Number(new URL(server.url).port) }));
      const through = new URL(server.url);
      through.port = String(ledger.port);
      const ways = await Promise.all(networkOf.map(async () => resources.use(await openWays(postgres, redis))));
      const disks = networkOf.map(() => resources.use(mountSmallDisk(diskBytes)));
      const directories = disks.map((disk, index) => join(disk?.path ?? directory, `replica-${index}`));
      const stage = new ReplicaStage({
        postgres,
        redis,
        ledger,
        ledgerUrl: through.href,
        chains: { devnet, testnet },
        directories,
        disks,
        ways,
        resources,
      });
      await Promise.all(replicaIndexes.map((index) => stage.begin(index)));
      return stage;
    } catch (error) {
      await resources.disposeAsync();
      throw error;
    }
  }

  /** The process in a place; null while there is none. */
  gateway(index: number): Gateway | null {
    return this.#gateways[index] ?? null;
  }

  /** The disk of a process's data directory; null where none may be mounted. */
  disk(index: number): SmallDisk | null {
    return this.#disks[index] ?? null;
  }

  /** A process's own ways to PostgreSQL and Redis. */
  ways(index: number): ReplicaWays {
    const ways = this.#ways[index];
    if (ways === undefined) throw new Error(`there is no process ${index}`);
    return ways;
  }

  /** Starts a process where there is none, and waits until it says that it lives. */
  async begin(index: number): Promise<void> {
    const start = this.#starts.get(index) ?? this.#start(index);
    this.#starts.set(index, start);
    await start.finally(() => this.#starts.delete(index));
  }

  async #start(index: number): Promise<void> {
    if (this.gateway(index) !== null) return;
    const gateway = await startGateway(this.#directories[index] ?? "", this.#environment(index), { upWithinMs });
    this.#gateways[index] = gateway;
    this.#unread.add(gateway);
  }

  async kill(index: number): Promise<void> {
    await this.#starts.get(index)?.catch(() => undefined);
    const gateway = this.gateway(index);
    this.#gateways[index] = null;
    gateway?.process.kill("SIGKILL");
    await gateway?.process.exited;
  }

  /** Ends it as planned, and reports with what status. Clients find it until it is gone. */
  async end(index: number): Promise<number | null> {
    const gateway = this.gateway(index);
    if (gateway === null) return null;
    const status = await gateway.end(endWithinMs);
    this.#gateways[index] = null;
    return status;
  }

  /** Whether every process serves, and everything behind them is whole. */
  async repair(): Promise<void> {
    for (const index of replicaIndexes) this.gateway(index)?.process.kill("SIGCONT");
    this.ledger.heal();
    for (const { postgres, redis } of this.#ways) {
      postgres.heal();
      redis.heal();
    }
    for (const disk of this.#disks) disk?.empty();
    await Promise.all([this.postgres.repair(), this.redis.repair()]);
    await Promise.all(replicaIndexes.map((index) => this.begin(index)));
    for (const index of replicaIndexes) await this.#isSound(index);
  }

  async #isSound(index: number): Promise<void> {
    const gateway = this.gateway(index);
    if (gateway === null) throw new Error(`there is no process ${index}`);
    const look = async (): Promise<true> => {
      const answer = await fetch(`${gateway.url}/ready`, { signal: AbortSignal.timeout(orderMs) });
      const { parts } = (await answer.json()) as { parts: Record<string, string> };
      const isOk = ["credits", "state", "hot", "ledger", "nodes"].every((part) => (parts[part] ?? "ok") === "ok");
      const isShared = (await gateway.metric("sluice_sharing_up")) === 1;
      // One that was killed is counted for some seconds more.
      const seen = await gateway.metric("sluice_replicas");
      if (answer.status === 200 && isOk && isShared && seen >= replicaIndexes.length) return true;
      throw new Error(`ready ${answer.status}, ${JSON.stringify(parts)}, shared ${isShared}, ${seen} processes seen`);
    };
    await eventually(`process ${index} is sound`, look, soundWithinMs);
  }

  /** Has every process anew, whatever state it is in. */
  async renew(): Promise<void> {
    for (const index of replicaIndexes) await this.kill(index);
    await this.repair();
  }

  /** A new account and its key, made through the operator's socket of the first process that does. */
  async customer(wish: CustomerWish): Promise<Customer> {
    const account = await this.administer("POST", "/accounts", {
      name: "of a schedule",
      tiers: { platform: "enterprise" },
      requests_per_second: wish.requestsPerSecond,
      credits_monthly: String(wish.creditsMonthly),
    });
    const created = await this.administer("POST", "/keys", {
      account_id: account["id"],
      name: "of a schedule",
      environment: "live",
      ...(wish.permissions === undefined ? {} : { permissions: wish.permissions }),
    });
    return { accountId: `${account["id"]}`, keyId: `${created["id"]}`, key: `${created["key"]}` };
  }

  /** An order to a process's socket. Throws where it is not carried out. */
  async administer(method: string, path: string, body: object | null, index = 0): Promise<Record<string, unknown>> {
    const unix = join(this.#directories[index] ?? "", "sluice.sock");
    const init = body === null ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const signal = AbortSignal.timeout(orderMs);
    const response = await fetch(`http://sluice/api/v1/admin${path}`, { method, unix, signal, ...init });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} is answered ${response.status}: ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }

  /** What processes have logged as errors of their own since this was last asked. */
  errors(): readonly string[] {
    const lines = [...this.#unread].flatMap((gateway) => gateway.said().split("\n"));
    const errors = lines.filter((line) => line.includes('"level":"error"') && !this.#readLines.has(line));
    for (const line of errors) this.#readLines.add(line);
    for (const gateway of this.#unread) if (!this.#gateways.includes(gateway)) this.#unread.delete(gateway);
    return errors;
  }

  /** The rows of a question to the ledger, past every process. */
  async askLedger<Row>(statement: string): Promise<readonly Row[]> {
    const { origin, username, password } = new URL(this.ledgerUrl);
    const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}` };
    const answer = await fetch(origin, { method: "POST", headers, body: `${statement} FORMAT JSONEachRow` });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line): Row => JSON.parse(line));
  }

  #environment(index: number): Record<string, string> {
    const { devnet, testnet } = this.chains;
    return {
      DATABASE_URL: this.ways(index).databaseUrl,
      REDIS_URL: this.ways(index).redisUrl,
      CLICKHOUSE_URL: this.ledgerUrl,
      MASTER_KEY: "5e".repeat(32),
      BIND: "127.0.0.1",
      ROLES: "gateway,engine",
      ENGINE_SIMULATORS: "1",
      ENGINE_BUILDER: "11111111111111111111111111111112",
      NETWORK_DEFAULT: networkOf[index] ?? "devnet",
      UPSTREAMS_DEVNET: `devnet=${devnet.rpc};ws=${devnet.ws}`,
      UPSTREAMS_TESTNET: `testnet=${testnet.rpc};ws=${testnet.ws}`,
      // One of them tells balancers first, the others close at once.
      DRAIN_DELAY_MS: index === 1 ? "500" : "0",
      LEDGER_QUEUE_BYTES: "8MiB",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of replicaIndexes) this.gateway(index)?.process.kill("SIGCONT");
    await Promise.all(replicaIndexes.map((index) => this.end(index)));
    await this.#resources.disposeAsync();
  }
}

const orderMs = 30_000;
/** What takes longer hangs: times are reported, and a machine may be busy with more than this. */
const upWithinMs = 120_000;
const endWithinMs = 60_000;
const soundWithinMs = 90_000;

const chainFlags = (seed: string): Readonly<Record<string, string>> => ({
  "--slot-ms": String(slotMs),
  "--seed": seed,
  "--finalized-after": String(finalizedAfter),
  "--retain-slots": "1000000",
  "--retain-transactions": "1000000",
});
