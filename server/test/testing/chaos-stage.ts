/** A development chain and a whole server with its block engine, each in a process of its own, and ways to kill them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FaultyChain, startQuietChain } from "./chain.ts";
import { ChaosSearcher } from "./chaos-doors.ts";
import { descendants, eventually, freePortOffset, type Network, startNetwork } from "./network.ts";

export const victims = ["server", "simulator", "ledger", "machine"] as const;
export type Victim = (typeof victims)[number];

/** What a victim's command line holds. */
const marks: Readonly<Record<Exclude<Victim, "server">, string>> = {
  simulator: "engine/simulation/child/main.ts",
  ledger: "ledger/child/main.ts",
  machine: "svm/process/main.ts",
};

export interface StageOptions {
  readonly slotMs: number;
  readonly seed: number;
}

/** Slots from freezing to each commitment: a fork takes at most those that are not confirmed. */
const confirmedAfter = 6;
const finalizedAfter = 20;
/** Blocks a campaign may make before the first of them are forgotten. */
const slotsKept = 1_000_000;

export class ChaosStage implements AsyncDisposable {
  readonly chain: FaultyChain;
  readonly kills: Record<Victim, number> = { server: 0, simulator: 0, ledger: 0, machine: 0 };
  readonly #directory: string;
  readonly #portOffset: number;
  #network: Network;
  #searchers: readonly ChaosSearcher[];

  private constructor(chain: FaultyChain, network: Network) {
    this.chain = chain;
    this.#network = network;
    this.#directory = network.directory;
    this.#portOffset = network.portOffset;
    this.#searchers = searchersOf(network);
  }

  static async start({ slotMs, seed }: StageOptions): Promise<ChaosStage> {
    const portOffset = await freePortOffset();
    const flags = {
      "slot-ms": slotMs,
      seed: `chaos ${seed}`,
      "confirmed-after": confirmedAfter,
      "finalized-after": finalizedAfter,
      "retain-slots": slotsKept,
      "retain-transactions": 2 * slotsKept,
      "block-engine": `http://127.0.0.1:${7440 + portOffset}`,
      "block-engine-retry-ms": 200,
    };
    const chain = await startQuietChain(
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]),
    );
    const directory = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
    try {
      return new ChaosStage(chain, await startServer(chain, { directory, portOffset }));
    } catch (fault) {
      await chain[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      throw fault;
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

  /** Kills one such process where there is one, and waits for a new server where it was the server. */
  async kill(victim: Victim, nth: number): Promise<void> {
    if (victim === "server") {
      this.kills.server += 1;
      await this.#network.end("SIGKILL");
      for (const searcher of this.#searchers) searcher[Symbol.dispose]();
      this.#network = await startServer(this.chain, { directory: this.#directory, portOffset: this.#portOffset });
      this.#searchers = searchersOf(this.#network);
      return;
    }
    const below = descendants(victim === "machine" ? this.chain.pid : this.#network.process.pid);
    const found = below.filter((pid) => commandOf(pid).includes(marks[victim]));
    const pid = found[nth % Math.max(1, found.length)];
    if (pid === undefined) return;
    process.kill(pid, "SIGKILL");
    this.kills[victim] += 1;
  }

  /** Waits until the engine follows the chain and leaders take bundles. */
  async sound(): Promise<void> {
    await eventually("the engine's leaders", async () => {
      const info = await this.chain.admin("devnet_info");
      const { links } = info["blockEngine"] as { links: readonly { connected: boolean }[] };
      return links.every(({ connected }) => connected);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const searcher of this.#searchers) searcher[Symbol.dispose]();
    await this.#network[Symbol.asyncDispose]();
    await this.chain[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function startServer(
  { rpc, ws }: FaultyChain,
  { directory, portOffset }: { directory: string; portOffset: number },
): Promise<Network> {
  const env = {
    UPSTREAMS_DEVNET: `chain=${rpc};ws=${ws}`,
    ROLES: "engine",
    ORACLE: "off",
    TRUSTED_PROXIES: "127.0.0.1",
    ENGINE_TICK_MS: "20",
  };
  return startNetwork({ directory, portOffset, env, keep: true });
}

function searchersOf(network: Network): readonly ChaosSearcher[] {
  return Object.values(network.dev.keys).map((key) => new ChaosSearcher(network, key));
}

/** Empty for one that has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
