import { counter, type Observe } from "../observe/index.ts";

export const rpcMetrics = {
  sentSettled: counter("sluice_sent_transactions_total", "Transactions sent, by their end", ["network", "state"]),
} as const;

export interface RpcEvents {
  /** The end of a sent transaction is known: finalized, failed or expired. */
  transactionSettled(network: string, state: string): void;
  /** What was sent to a network cannot be followed by blocks; its nodes are asked every two seconds meanwhile. */
  sentFollowFailed(network: string, error: unknown): void;
}

export function createRpcEvents({ log, metrics }: Observe): RpcEvents {
  const { sentSettled } = metrics.register(rpcMetrics);
  return {
    transactionSettled: (network, state) => sentSettled.with(network, state).add(),
    sentFollowFailed: (network, error) =>
      log.warn({ network, error }, "blocks cannot be followed for what was sent; nodes are asked instead"),
  };
}
