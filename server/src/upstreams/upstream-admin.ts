import type { UpstreamBody, UpstreamCreate } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { BackgroundTask, type Clock, type Log, type Random, SecretVault, Serial, type WallMs } from "@sluice/lib";
import { maskUrl, type UpstreamConfig, upstreamEntry, upstreamIn, upstreamOf, upstreamsMax } from "../config/index.ts";
import type { Hot } from "../hot/index.ts";
import { nodeSecretId, type State, type UpstreamNodeRecord } from "../state/index.ts";
import { type AddedNode, canSendTo, type NodeView, type Upstreams } from "./upstreams.ts";

const channel = "upstreams";
/** How often state is read for changes by other processes whose notice did not arrive. */
const refreshMs = 1_000;

/** A node to be added, as state stores it, and the part of it that the audit trail may show. */
export type PreparedNode =
  | {
      readonly ok: true;
      readonly node: Omit<UpstreamNodeRecord, "addedAt">;
      readonly shown: Readonly<Record<string, unknown>>;
    }
  /** This process has a node of that label on that network. */
  | { readonly ok: false; readonly reason: "taken" }
  /** `expected` says in words what the request lacks. */
  | { readonly ok: false; readonly reason: "invalid"; readonly expected: string };

export interface UpstreamAdminOptions {
  /** Seals the addresses and headers of stored nodes; null stores them plain. */
  readonly masterKey: string | null;
  /** Further keys that open what they sealed; none when absent. */
  readonly masterKeysPrevious?: readonly string[];
  /** How often state is read without a notice; once a second when absent. */
  readonly refreshMs?: number;
}

export interface UpstreamAdminDependencies {
  readonly clock: Clock;
  readonly upstreams: Upstreams;
  readonly state: Pick<State, "upstreamOrders" | "upstreamNodes">;
  readonly hot: Pick<Hot, "publish" | "subscribe">;
  readonly log: Pick<Log, "warn">;
  readonly random: Random;
}

/**
 * The nodes as operators administer them. Added nodes and orders are records in state, which every process follows: at
 * once by a notice, otherwise within a second.
 */
export class UpstreamAdmin implements AsyncDisposable {
  readonly #dependencies: UpstreamAdminDependencies;
  readonly #vault: SecretVault;
  /** One run at a time, so that a later one sees what an earlier one has written. */
  readonly #runs = new Serial();
  readonly #refresh: BackgroundTask;
  readonly #subscriptions = new AsyncDisposableStack();
  /** Nodes of which a warning was logged. */
  readonly #warned = new Set<string>();
  #isFailing = false;

  private constructor(options: UpstreamAdminOptions, dependencies: UpstreamAdminDependencies) {
    this.#dependencies = dependencies;
    this.#vault = new SecretVault(options.masterKey, dependencies.random, options.masterKeysPrevious);
    this.#refresh = new BackgroundTask(
      { everyMs: options.refreshMs ?? refreshMs },
      { clock: dependencies.clock, work: () => this.recall(), onError: () => undefined },
    );
  }

  /** Subscribes to the notices of other processes and brings this one up to date with state. */
  static async open(options: UpstreamAdminOptions, dependencies: UpstreamAdminDependencies): Promise<UpstreamAdmin> {
    const admin = new UpstreamAdmin(options, dependencies);
    const recall = () => void admin.recall();
    admin.#subscriptions.use(await dependencies.hot.subscribe(channel, recall, { onGap: recall }));
    await admin.recall();
    return admin;
  }

  /** Every node, without its secrets. */
  list(): readonly UpstreamBody[] {
    const nowMs = this.#dependencies.clock.now();
    return this.#dependencies.upstreams.nodes().map((node) => bodyOf(node, nowMs));
  }

  /** Checks a request for a new node and seals it for the store. Stores nothing. */
  prepare({
    network,
    requests_per_second: requestsPerSecond,
    grpc,
    grpc_token,
    ...rest
  }: UpstreamCreate): PreparedNode {
    const { upstreams } = this.#dependencies;
    if (grpc === undefined && grpc_token !== undefined) {
      return { ok: false, reason: "invalid", expected: "grpc beside grpc_token" };
    }
    const yellowstone = grpc === undefined ? undefined : { url: grpc, token: grpc_token ?? null };
    const requested = { ...rest, requestsPerSecond, yellowstone };
    const parsed = upstreamOf(requested);
    if (!parsed.ok) return { ok: false, reason: "invalid", expected: parsed.expected };
    const { label } = parsed.value;
    const nodes = upstreams.nodes().filter((node) => node.network === network);
    if (nodes.some((node) => node.options.label === label)) return { ok: false, reason: "taken" };
    if (nodes.length >= upstreamsMax) {
      return { ok: false, reason: "invalid", expected: `at most ${upstreamsMax} nodes of a network` };
    }
    if (!canSendTo(parsed.value)) {
      return { ok: false, reason: "invalid", expected: "an address and headers that can be sent" };
    }
    const options = this.#vault.wrap(nodeSecretId(network, label), Buffer.from(upstreamEntry(requested)));
    return { ok: true, node: { network, label, options }, shown: shownOptions(parsed.value) };
  }

  /** Removes a node from this process at once; its calls in flight fail. */
  async remove(network: Network, label: string): Promise<void> {
    await this.#dependencies.upstreams.pool(network)?.remove(label);
  }

  /** Brings this process up to date with state and notifies the others. Rejects when state cannot be read. */
  async follow(): Promise<void> {
    const { hot, log } = this.#dependencies;
    await this.#followState();
    await hot.publish(channel, "changed").catch((error: unknown) => {
      log.warn(
        { error: String(error) },
        "other replicas were not notified of a change to nodes; they read state later",
      );
    });
  }

  /**
   * Brings this process alone up to date with state. Never rejects: a failure is logged once for as long as it lasts.
   */
  async recall(): Promise<void> {
    try {
      await this.#followState();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) {
        this.#dependencies.log.warn({ error: String(error) }, "added nodes and orders for nodes cannot be read");
      }
      this.#isFailing = true;
    }
  }

  #followState(): Promise<void> {
    return this.#runs.run(() => this.#apply());
  }

  async #apply(): Promise<void> {
    const { state, upstreams } = this.#dependencies;
    const [records, orders] = await Promise.all([state.upstreamNodes.list(), state.upstreamOrders.list()]);
    for (const { network, options } of upstreams.reconcileAdded(records.flatMap((record) => this.#unseal(record)))) {
      this.#warnOnce(network, options.label, "an added node cannot be sent to and is left out");
    }
    for (const { network, options, order } of upstreams.nodes()) {
      const record = orders.find((each) => each.network === network && each.label === options.label);
      const ordered = record?.order ?? "open";
      if (ordered !== order) upstreams.pool(network)?.order(options.label, ordered);
    }
  }

  #unseal({ network, label, options }: UpstreamNodeRecord): AddedNode[] {
    const entry = this.#vault.unwrap(nodeSecretId(network, label), options);
    const parsed = entry === null ? null : upstreamIn(Buffer.from(entry).toString());
    if (parsed?.ok === true) return [{ network, options: parsed.value }];
    this.#warnOnce(network, label, "an added node cannot be read with this master key and is left out");
    return [];
  }

  #warnOnce(network: Network, label: string, message: string): void {
    const node = `${network}/${label}`;
    if (!this.#warned.has(node)) this.#dependencies.log.warn({ node }, message);
    this.#warned.add(node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscriptions.disposeAsync();
    await this.#refresh[Symbol.asyncDispose]();
  }
}

/** The part of a node that is no secret. */
function shownOptions({ url, ws, yellowstone, groups, weight, requestsPerSecond, headers }: UpstreamConfig) {
  return {
    url: maskUrl(url),
    ws: maskUrl(ws),
    grpc: yellowstone === undefined ? null : maskUrl(yellowstone.url),
    groups: [...groups],
    weight,
    requests_per_second: requestsPerSecond,
    headers: Object.keys(headers),
  };
}

function bodyOf({ network, options, order, health, isAdded }: NodeView, nowMs: WallMs): UpstreamBody {
  const after = (ms: number): string => new Date(nowMs + ms).toISOString();
  return {
    network,
    label: options.label,
    ...shownOptions(options),
    origin: isAdded ? "run time" : "configuration",
    order,
    serving: health.out === null,
    out: health.out,
    rests_until: health.restMs === null ? null : after(health.restMs),
    refuses: health.refuses.map(({ method, restMs }) => ({ method, until: after(restMs) })),
    // Slots stay far below 2^53 within the life of a chain (contract: count).
    slot: health.slot === null ? null : Number(health.slot),
    slot_lag: health.slotLag === null ? null : Math.max(0, Number(health.slotLag)),
    latency_ms: health.latencyMs === null ? null : Math.round(health.latencyMs * 10) / 10,
    error_rate: Math.round(health.errorRate * 1_000) / 1_000,
    in_flight: health.inFlight,
  };
}
