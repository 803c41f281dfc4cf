import type { UpstreamBody } from "@sluice/contract";
import type { UpstreamBoard } from "../admin/index.ts";
import { maskUrl, upstreamOf } from "../config/index.ts";
import type { Hot } from "../hot/index.ts";
import type { Log } from "../observe/index.ts";
import type { State } from "../state/index.ts";
import type { NodeView, Upstreams } from "../upstreams/index.ts";

const channel = "upstreams";

export interface WiredUpstreamBoard extends UpstreamBoard {
  /** Has this process alone follow the orders in state; never throws. */
  recall(): Promise<void>;
}

/** The nodes for operators, under the orders that state keeps; notices of other replicas are followed. */
export async function wireUpstreamBoard(parts: {
  readonly upstreams: Upstreams;
  readonly state: Pick<State, "upstreamOrders">;
  readonly hot: Hot;
  readonly log: Log;
  readonly resources: AsyncDisposableStack;
}): Promise<WiredUpstreamBoard> {
  const { upstreams, state, hot, log, resources } = parts;
  const follow = async (): Promise<void> => {
    const orders = await state.upstreamOrders.list();
    for (const { network, options, order } of upstreams.nodes()) {
      const { label } = options;
      const found = orders.find((each) => each.network === network && each.label === label);
      const wanted = found?.order ?? "open";
      if (wanted !== order) upstreams.pool(network)?.order(label, wanted);
    }
  };
  const recall = async (): Promise<void> => {
    await follow().catch((fault: unknown) =>
      log.warn({ fault: String(fault) }, "operators' orders for nodes could not be read; nodes stand as they did"),
    );
  };
  resources.use(await hot.subscribe(channel, () => void recall(), { onGap: () => void recall() }));
  await recall();
  return {
    list: () => upstreams.nodes().map(bodyOf),
    add: ({ network, requests_per_second: requestsPerSecond, ...wish }) => {
      const parsed = upstreamOf({ ...wish, requestsPerSecond });
      if (!parsed.ok) return { expected: parsed.expected };
      if (upstreams.nodes().some((node) => node.network === network && node.options.label === parsed.value.label)) {
        return { taken: true };
      }
      try {
        upstreams.add(network, parsed.value);
        return { added: true };
      } catch {
        return { expected: "an address and headers that can be sent" };
      }
    },
    remove: async (network, label) => {
      await upstreams.pool(network)?.remove(label);
    },
    followOrders: async () => {
      await follow();
      await hot.publish(channel, "orders").catch((fault: unknown) => {
        log.warn({ fault: String(fault) }, "other replicas could not be told of an order for a node");
      });
    },
    recall,
  };
}

function bodyOf({ network, options, order, health, isAdded }: NodeView): UpstreamBody {
  return {
    network,
    label: options.label,
    url: maskUrl(options.url),
    ws: maskUrl(options.ws),
    groups: [...options.groups],
    weight: options.weight,
    requests_per_second: options.requestsPerSecond,
    headers: Object.keys(options.headers),
    origin: isAdded ? "run time" : "configuration",
    order,
    serving: health.out === null,
    out: health.out,
    // Slots stay far below 2^53 within the life of a chain (contract: count).
    slot: health.slot === null ? null : Number(health.slot),
    slot_lag: health.slotLag === null ? null : Math.max(0, Number(health.slotLag)),
    latency_ms: health.latencyMs === null ? null : Math.round(health.latencyMs * 10) / 10,
    error_rate: Math.round(health.errorRate * 1_000) / 1_000,
    in_flight: health.inFlight,
  };
}
