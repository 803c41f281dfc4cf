import { type Network, networks } from "@sluice/contract/tiers";
import { BackgroundTask, type Clock, type Log } from "@sluice/lib";
import { LogError } from "./errors.ts";
import { type ChainIdentity, type ChainLog, isSameChain } from "./records.ts";

export interface ChainLogsOptions {
  /** The networks whose logs are opened, whether they have nodes yet or not. */
  readonly networks: readonly Network[];
}

export interface ChainLogsDependencies {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  /** Whether a network has got nodes since the start, so that its log is to be opened too. */
  readonly joins: (network: Network) => boolean;
  /** Which chain a network is now; null before it is known. */
  readonly chainOf: (network: Network) => ChainIdentity | null;
  /** @throws {LogError} while the log cannot be opened */
  readonly open: (network: Network, chain: ChainIdentity) => Promise<ChainLog>;
}

/** Takes the log of a network from the moment at which it is open; null when it is about to close. */
export type ChainLogListener = (network: Network, log: ChainLog | null, chain: ChainIdentity) => void | Promise<void>;

/** Takes a network whose log is opened, whether it is open now or not. */
export type NetworkListener = (network: Network) => void | Promise<void>;

interface OpenLog {
  readonly chain: ChainIdentity;
  readonly log: ChainLog;
}

const lookEveryMs = 250;
/** A log that could not be opened is tried again after this. */
const retryMs = 5_000;
/** Nodes that do not tell the chain's first block at all are waited for this long. */
const firstBlockWaitMs = 30_000;

/**
 * The logs that this process has open, one for each network whose chain is known. A development chain that is started
 * anew is another chain: its log is opened in place of the one before, and followers begin anew. A network whose first
 * node comes later joins then, and stays.
 */
export class ChainLogs implements AsyncDisposable {
  readonly #dependencies: ChainLogsDependencies;
  readonly #joined: Set<Network>;
  readonly #open = new Map<Network, OpenLog>();
  readonly #listeners = new Set<ChainLogListener>();
  readonly #networkListeners = new Set<NetworkListener>();
  readonly #faults = new Map<Network, { readonly message: string; readonly atMs: number }>();
  readonly #startedMs: number;
  readonly #looks: BackgroundTask;

  constructor(options: ChainLogsOptions, dependencies: ChainLogsDependencies) {
    const { clock, log } = dependencies;
    this.#dependencies = dependencies;
    this.#joined = new Set(options.networks);
    this.#startedMs = clock.monotonic();
    const onError = (error: unknown): void => log.warn({ error: String(error) }, "a chain's log could not be opened");
    this.#looks = new BackgroundTask({ everyMs: lookEveryMs }, { clock, work: () => this.#look(), onError });
  }

  /** Those whose logs are opened, whether they are open now or not. */
  get networks(): readonly Network[] {
    return networks.filter((network) => this.#joined.has(network));
  }

  current(network: Network): ChainLog | null {
    return this.#open.get(network)?.log ?? null;
  }

  /** Why a network's log is not open; null while it is, and before it was tried. */
  faultOf(network: Network): string | null {
    return this.#faults.get(network)?.message ?? null;
  }

  /** Calls the listener for each log that is open now, and for each that opens or closes later. */
  async follow(listener: ChainLogListener): Promise<Disposable> {
    this.#listeners.add(listener);
    for (const [network, { log, chain }] of this.#open) await listener(network, log, chain);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Calls the listener for each network whose log is opened, and for each that joins later. */
  async followNetworks(listener: NetworkListener): Promise<Disposable> {
    this.#networkListeners.add(listener);
    for (const network of this.networks) await listener(network);
    return { [Symbol.dispose]: () => this.#networkListeners.delete(listener) };
  }

  async #look(): Promise<void> {
    for (const network of networks) {
      if (!this.#joined.has(network) && this.#dependencies.joins(network)) await this.#join(network);
    }
    for (const network of this.networks) await this.#lookAt(network);
  }

  async #join(network: Network): Promise<void> {
    this.#joined.add(network);
    this.#dependencies.log.info({ network }, "a network has its first node, its chain's log is opened");
    // Each has the network, whatever becomes of another one.
    for (const listener of [...this.#networkListeners]) {
      try {
        await listener(network);
      } catch (error) {
        this.#dependencies.log.warn({ network, error: String(error) }, "what follows a network could not begin");
      }
    }
  }

  async #lookAt(network: Network): Promise<void> {
    const { clock, chainOf } = this.#dependencies;
    const chain = chainOf(network);
    if (chain === null) return;
    const known = this.#open.get(network);
    if (known !== undefined && isSameChain(known.chain, chain)) return;
    const nowMs = clock.monotonic();
    if (chain.firstBlockhash === null && nowMs - this.#startedMs < firstBlockWaitMs) return;
    const fault = this.#faults.get(network);
    if (fault !== undefined && nowMs - fault.atMs < retryMs) return;
    if (known !== undefined) await this.#close(network, known);
    await this.#openOne(network, chain);
  }

  async #openOne(network: Network, chain: ChainIdentity): Promise<void> {
    const { clock, log, open } = this.#dependencies;
    try {
      const opened = await open(network, chain);
      // What the log knows of its chain's name stays, also where nodes do not tell it now.
      const { chain: named } = opened;
      this.#faults.delete(network);
      this.#open.set(network, { chain: named, log: opened });
      log.info({ network, driver: opened.driver }, "the chain's log is open");
      for (const listener of this.#listeners) await listener(network, opened, named);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      const before = this.#faults.get(network);
      const { message } = error;
      if (before?.message !== message) log.warn({ network, reason: message }, "a chain's log could not be opened");
      this.#faults.set(network, { message, atMs: clock.monotonic() });
    }
  }

  async #close(network: Network, { log, chain }: OpenLog): Promise<void> {
    this.#open.delete(network);
    for (const listener of this.#listeners) await listener(network, null, chain);
    await log[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#looks[Symbol.asyncDispose]();
    for (const [network, open] of [...this.#open]) await this.#close(network, open);
  }
}
