import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { ChainIdentity, ChainLog, ChainLogListener, ChainLogs } from "../log/index.ts";
import type { Observe } from "../observe/index.ts";
import type { LeaseRecord, LeaseStore } from "../state/index.ts";
import { createLeaseEvents } from "./events.ts";
import type { LeaseJob } from "./job.ts";
import { LeaseHolder, leaseTimesOf } from "./lease-holder.ts";
import { Succession } from "./succession.ts";

export interface ChainTermsOptions {
  readonly job: LeaseJob;
  /** What runs, as faults name it before the network. */
  readonly what: string;
  /** The same in all processes. */
  readonly leaseMs: number;
}

/** The log of a network while the lease is held. */
export interface TermChain {
  readonly network: Network;
  readonly chainLog: ChainLog;
  readonly chain: ChainIdentity;
  readonly lease: LeaseRecord;
}

export interface ChainTermsDependencies<Work extends AsyncDisposable> extends Observe {
  readonly chainLogs: Pick<ChainLogs, "follow" | "followNetworks">;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  /** Of this process and no other. */
  readonly processId: string;
  /** Opens what runs over a log while the lease is held. Must not throw. */
  readonly open: (of: TermChain) => Work;
  readonly internalError: (where: string, error: unknown) => void;
}

/**
 * Has one process of several run something over the log of each network: the one with the network's lease, while its
 * log is open there. What runs ends with the lease, and begins anew with the log of another chain.
 */
export class ChainTerms<Work extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: ChainTermsOptions;
  readonly #dependencies: ChainTermsDependencies<Work>;
  readonly #successions = new Map<Network, Succession<Term<Work>>>();
  #joining: Disposable | null = null;

  constructor(options: ChainTermsOptions, dependencies: ChainTermsDependencies<Work>) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Asks for the leases; resolves when what this process has of them runs. */
  async begin(): Promise<void> {
    this.#joining = await this.#dependencies.chainLogs.followNetworks(async (network) => {
      const succession = this.#succession(network);
      this.#successions.set(network, succession);
      await succession.begin();
    });
  }

  /** What runs here for a network; null while another process has the lease, or the log is not open. */
  of(network: Network): Work | null {
    return this.#successions.get(network)?.term?.work ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#joining?.[Symbol.dispose]();
    await Promise.all([...this.#successions.values()].map((succession) => succession[Symbol.asyncDispose]()));
  }

  #succession(network: Network): Succession<Term<Work>> {
    const { job, what, leaseMs } = this.#options;
    const { clock, log, leases, processId, chainLogs, open, internalError } = this.#dependencies;
    const lease = new LeaseHolder(
      { network, job, leaseMs },
      {
        store: leases,
        clock,
        holder: processId,
        retryableError: (failed, error) => log.warn({ what: failed, error }, "an operation failed and is tried again"),
        events: createLeaseEvents(this.#dependencies, { network, job, nowMs: () => clock.monotonic() }),
      },
    );
    return new Succession(
      { ...leaseTimesOf(leaseMs), what: `${what} ${network}`, retryRenewals: 0 },
      {
        clock,
        lease,
        open: async (record) => {
          const term = new Term(network, (chainLog, chain) => open({ network, chainLog, chain, lease: record }));
          await term.begin(chainLogs);
          return term;
        },
        roleChanged: () => undefined,
        internalError,
      },
    );
  }
}

/** While this process has the lease: what runs over the log that is open. */
class Term<Work extends AsyncDisposable> implements AsyncDisposable {
  readonly #network: Network;
  readonly #open: (log: ChainLog, chain: ChainIdentity) => Work;
  #following: Disposable | null = null;
  #work: Work | null = null;
  #isClosed = false;

  constructor(network: Network, open: (log: ChainLog, chain: ChainIdentity) => Work) {
    this.#network = network;
    this.#open = open;
  }

  get work(): Work | null {
    return this.#work;
  }

  async begin(chainLogs: Pick<ChainLogs, "follow">): Promise<void> {
    const listener: ChainLogListener = async (network, log, chain) => {
      if (network !== this.#network) return;
      await this.#end();
      if (log !== null && !this.#isClosed) this.#work = this.#open(log, chain);
    };
    this.#following = await chainLogs.follow(listener);
  }

  async #end(): Promise<void> {
    const present = this.#work;
    this.#work = null;
    await present?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following?.[Symbol.dispose]();
    await this.#end();
  }
}
