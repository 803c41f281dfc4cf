import type { PackageDefinition } from "@grpc/proto-loader";
import { type Clock, type Log, sleep } from "@sluice/lib";
import type { BundlePacket } from "../bank/index.ts";
import type { BlockBuilder } from "../consensus/index.ts";
import type { GenesisKeypair } from "../model/index.ts";
import { holdConnection } from "./connection.ts";
import { findEndpoints } from "./endpoints.ts";
import { EngineChannel, isDenied } from "./grpc.ts";

export interface LinkOptions {
  /** Whether the nearest of the engine's regions is looked for; otherwise its global endpoint is taken. */
  readonly nearest: boolean;
  /** How long a validator waits after a connection was lost or not made. */
  readonly retryMs: number;
  /** Between looks at tokens and fees. */
  readonly tickMs: number;
}

interface LinkDependencies {
  readonly services: PackageDefinition;
  readonly keypair: GenesisKeypair;
  /** Its wall time is the world's, by which tokens expire. */
  readonly clock: Clock;
  readonly log: Log;
  readonly bundle: (packets: readonly BundlePacket[], identity: string) => void;
  readonly packet: (packet: BundlePacket) => void;
}

/** An engine that was begun with the chain may take so long to answer. */
const startingMs = 15_000;

/** How a validator stands with its block engine. */
export interface LinkFacts {
  readonly identity: string;
  readonly connected: boolean;
  /** Connections that were made so far. */
  readonly connections: number;
  readonly bundles: number;
  readonly packets: number;
  /** Why the last connection was lost or not made. */
  readonly fault: string | null;
}

/**
 * One validator's link with its block engine: connects, and connects again after a wait whenever a connection is lost,
 * for as long as it is not disposed of. An engine that is not there is no fault of the chain's.
 */
export class BlockEngineLink implements AsyncDisposable {
  readonly #url: string;
  readonly #options: LinkOptions;
  readonly #dependencies: LinkDependencies;
  readonly #stop = new AbortController();
  readonly #over: Promise<void>;
  #connected = false;
  #connections = 0;
  #bundles = 0;
  #packets = 0;
  #fault: string | null = null;
  /** Monotonic time since when there is no connection; null while there is one, and before the first attempt ended. */
  #awaySince: number | null = null;
  /** The last logged reason for which the engine is away. */
  #lastLogged: string | null = null;
  /** The builder of this leader's blocks, by the engine's last answer; null before it. */
  builder: BlockBuilder | null = null;

  constructor(url: string, options: LinkOptions, dependencies: LinkDependencies) {
    this.#url = url;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#over = this.#run();
  }

  get facts(): LinkFacts {
    return {
      identity: this.#dependencies.keypair.address,
      connected: this.#connected,
      connections: this.#connections,
      bundles: this.#bundles,
      packets: this.#packets,
      fault: this.#fault,
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#connect();
      } catch (error) {
        if (!signal.aborted) this.#lost(error);
      }
      this.#connected = false;
      if (!signal.aborted) await sleep(this.#dependencies.clock, this.#options.retryMs, signal);
    }
  }

  /** Tries the engine's endpoints one after another; rejects with the fault of the last. */
  async #connect(): Promise<void> {
    const { nearest } = this.#options;
    const { clock } = this.#dependencies;
    const open = (at: string) => new EngineChannel(at, this.#dependencies, this.#stop.signal);
    const endpoints = await findEndpoints(this.#url, nearest, { open, monotonic: () => clock.monotonic() });
    let fault: unknown = null;
    for (const endpoint of endpoints) {
      const before = this.#connections;
      try {
        await this.#hold(endpoint);
      } catch (error) {
        // One that was good and is lost is looked for anew: regions may have moved.
        if (this.#connections > before || this.#stop.signal.aborted) throw error;
        fault = error;
      }
    }
    throw fault;
  }

  async #hold(endpoint: string): Promise<void> {
    const { keypair, clock } = this.#dependencies;
    using channel = new EngineChannel(endpoint, this.#dependencies, this.#stop.signal);
    await holdConnection(
      this.#options,
      {
        channel,
        keypair,
        clock,
        bundle: (packets) => {
          this.#bundles += 1;
          this.#dependencies.bundle(packets, keypair.address);
        },
        packet: (packet) => {
          this.#packets += 1;
          this.#dependencies.packet(packet);
        },
        builder: (builder) => {
          this.builder = builder;
        },
        connected: () => {
          this.#connections += 1;
          this.#connected = true;
          this.#fault = null;
          this.#awaySince = null;
          this.#lastLogged = null;
        },
      },
      this.#stop.signal,
    );
  }

  /**
   * Called once for each reason, when the engine has been away for longer than it takes to start, and not at all when
   * it just wants no others: so hot spares are answered.
   */
  #lost(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#fault = reason;
    const { clock, keypair, log } = this.#dependencies;
    this.#awaySince ??= clock.monotonic();
    if (clock.monotonic() - this.#awaySince < startingMs || reason === this.#lastLogged || isDenied(error)) return;
    this.#lastLogged = reason;
    log.warn({ identity: keypair.address, url: this.#url, reason }, "a validator has no block engine");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#over;
  }
}
