/**
 * A development chain and a whole server with its block engine, each in a process of its own, and ways to kill them.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { type FaultyChain, startQuietChain } from "./chain.ts";
import { ChaosSearcher } from "./chaos-endpoints.ts";
import type { BundleStatus } from "./chaos-status.ts";
import { noStories, type ReportedStories } from "./chaos-streams.ts";
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";
import { type LedgerOutcome, ledgerOutcomes } from "./ledger-outcomes.ts";
import { descendants, freePortOffset, type Network, startNetwork } from "./network.ts";

/** The leaders are in the chain's process, which is the chain itself: their connections are cut. */
export const victims = ["server", "simulator", "ledger", "machine", "leaders"] as const;
export type Victim = (typeof victims)[number];

/** What a victim's command line holds. */
const marks: Readonly<Record<Exclude<Victim, "server" | "leaders">, string>> = {
  simulator: "svm/bundles/main.ts",
  ledger: "ledger/child/main.ts",
  machine: "svm/bank/main.ts",
};

const searcherNames = ["free", "developer", "business", "professional", "enterprise"] as const;
const outcomeAttempts = 4;

export interface StageOptions {
  readonly slotMs: number;
  readonly seed: number;
}

/** Slots from freezing to each commitment: a fork takes at most those that are not confirmed. */
const confirmedAfter = 6;
const finalizedAfter = 20;
/** Blocks a campaign may make before the first of them are forgotten. */
const slotsKept = 1_000_000;
/** How long leaders find no engine when their connections are cut: shorter and longer than a leader's four slots. */
const awayMs = [0, 150, 500] as const;
/** Bundles a second over gRPC, so that a searcher's tier does not slow the campaign down. */
const searcherRate = 1_000;

export class ChaosStage implements AsyncDisposable {
  readonly chain: FaultyChain;
  readonly kills: Record<Victim, number> = { server: 0, simulator: 0, ledger: 0, machine: 0, leaders: 0 };
  readonly reported: readonly ReportedStories[] = searcherNames.map(noStories);
  readonly #directory: string;
  readonly #portOffset: number;
  readonly #proxy: CutProxy;
  #network: Network;
  #searchers: readonly ChaosSearcher[];
  #starting: Promise<void> | null = null;

  private constructor({ chain, proxy }: Outside, network: Network) {
    this.chain = chain;
    this.#proxy = proxy;
    this.#network = network;
    this.#directory = network.directory;
    this.#portOffset = network.portOffset;
    this.#searchers = this.#searchersOf(network);
  }

  static async start({ slotMs, seed }: StageOptions): Promise<ChaosStage> {
    const portOffset = await freePortOffset();
    const proxy = await startCutProxy({ host: "127.0.0.1", port: 7440 + portOffset });
    const flags = {
      "slot-ms": slotMs,
      seed: `chaos ${seed}`,
      "confirmed-after": confirmedAfter,
      "finalized-after": finalizedAfter,
      "retain-slots": slotsKept,
      "retain-transactions": 2 * slotsKept,
      "block-engine": `http://127.0.0.1:${proxy.port}`,
      "block-engine-retry-ms": 200,
    };
    const options = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    // Votes would be most of what the machine runs, and nothing depends on them here.
    const chain = await startQuietChain("--no-votes", ...options);
    const directory = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
    const outside = { chain, proxy };
    try {
      const stage = new ChaosStage(outside, await startServer(outside, { directory, portOffset }));
      await stage.#raiseLimits();
      return stage;
    } catch (error) {
      await chain[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** One for each key; they are others after the server was killed. */
  get searchers(): readonly ChaosSearcher[] {
    return this.#searchers;
  }

  /** What the server of this life has printed. */
  said(): string {
    return this.#network.said();
  }

  /** Resolves when there is a server, which may have been killed again by then. */
  async up(): Promise<void> {
    await this.#starting;
  }

  /** Kills one such process, and waits for a new server where it was the server; false where there is none. */
  async kill(victim: Victim, nth: number): Promise<boolean> {
    if (victim === "server") {
      this.kills.server += 1;
      await this.restart("SIGKILL");
      return true;
    }
    if (victim === "leaders") {
      this.kills.leaders += 1;
      this.#proxy.cut();
      await Bun.sleep(awayMs[nth % awayMs.length] ?? 0);
      this.#proxy.heal();
      return true;
    }
    const below = descendants(victim === "machine" ? this.chain.pid : this.#network.process.pid);
    const found = below.filter((pid) => commandOf(pid).includes(marks[victim]));
    const pid = found[nth % Math.max(1, found.length)];
    if (pid === undefined) return false;
    process.kill(pid, "SIGKILL");
    this.kills[victim] += 1;
    return true;
  }

  /** Ends the server and starts another one. */
  async restart(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.#starting = (async () => {
      await this.#network.end(signal);
      for (const searcher of this.#searchers) searcher[Symbol.dispose]();
      const outside = { chain: this.chain, proxy: this.#proxy };
      this.#network = await startServer(outside, { directory: this.#directory, portOffset: this.#portOffset });
      this.#searchers = this.#searchersOf(this.#network);
    })();
    await this.#starting;
  }

  /** What an operator sees of a bundle in the console; null where the id is unknown. Throws as `fetch` does. */
  async operatorsView(id: string): Promise<BundleStatus | null> {
    const headers = { "x-api-key": this.#network.dev.key };
    const response = await fetch(new URL(`/api/v1/console/bundles/${id}`, this.#network.rpcUrl), { headers });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`the console's view of ${id} is answered ${response.status}`);
    const { status, slot, signatures, reason } = (await response.json()) as BundleStatus;
    return { status, slot, reason, signatures: status === "included" ? signatures : [] };
  }

  /** What the ledger says became of bundles, once it has so many. Ends the server. */
  async outcomes(count: number): Promise<readonly LedgerOutcome[]> {
    let reported: readonly LedgerOutcome[] = [];
    for (let attempt = 0; attempt < outcomeAttempts && reported.length < count; attempt += 1) {
      // What was not reported before the end is reported by the next server.
      if (attempt > 0) await this.restart("SIGTERM");
      await this.#network.end("SIGTERM");
      reported = await ledgerOutcomes(this.#directory);
    }
    return reported;
  }

  /** Waits until the engine follows the chain and leaders take bundles. */
  async sound(): Promise<void> {
    await eventually("the engine's leaders", async () => {
      const info = await this.chain.admin("devnet_info");
      const { links } = info["blockEngine"] as { links: readonly { connected: boolean }[] };
      return links.every(({ connected }) => connected);
    });
  }

  #searchersOf(network: Network): readonly ChaosSearcher[] {
    return searcherNames.map((name, index) => {
      const reported = this.reported[index] ?? noStories();
      return new ChaosSearcher(network, { key: network.dev.keys[name], reported, signsIn: index === 0 });
    });
  }

  async #raiseLimits(): Promise<void> {
    const unix = join(this.#directory, "sluice.sock");
    const ask = async (method: string, path: string, body: object | null): Promise<unknown> => {
      const init = body === null ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const response = await fetch(`http://sluice${path}`, { method, unix, ...init });
      if (!response.ok) throw new Error(`${method} ${path} is answered ${response.status}`);
      return await response.json();
    };
    const { items } = (await ask("GET", "/api/v1/admin/accounts", null)) as { items: readonly { id: string }[] };
    const limit = { bundles_per_second: searcherRate, burst: 2 * searcherRate };
    for (const { id } of items) await ask("PUT", `/api/v1/admin/searchers/limits/${encodeURIComponent(id)}`, limit);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const searcher of this.#searchers) searcher[Symbol.dispose]();
    await this.#network[Symbol.asyncDispose]();
    await this.chain[Symbol.asyncDispose]();
    await this.#proxy[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** What is around the server: the chain, and the way on which its leaders come to the engine. */
interface Outside {
  readonly chain: FaultyChain;
  readonly proxy: CutProxy;
}

function startServer(
  { chain: { rpc, ws }, proxy }: Outside,
  { directory, portOffset }: { directory: string; portOffset: number },
): Promise<Network> {
  const env = {
    UPSTREAMS_DEVNET: `chain=${rpc};ws=${ws}`,
    ROLES: "gateway,engine",
    ORACLE: "off",
    TRUSTED_PROXIES: "127.0.0.1",
    ENGINE_TICK_MS: "20",
    ENGINE_URL: `http://127.0.0.1:${proxy.port}`,
  };
  return startNetwork({ directory, portOffset, env, keep: true });
}

/** Empty for one that has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
