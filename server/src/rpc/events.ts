import { counter, type Observe } from "../observe/index.ts";

export const rpcMetrics = {
  sentSettled: counter("sluice_sent_transactions_total", "Transactions sent, by their end", ["network", "state"]),
} as const;

export interface RpcEvents {
  /** The end of a sent transaction is known: finalized, failed or expired. */
  transactionSettled(network: string, state: string): void;
}

export function createRpcEvents({ metrics }: Observe): RpcEvents {
  const { sentSettled } = metrics.register(rpcMetrics);
  return { transactionSettled: (network, state) => sentSettled.with(network, state).add() };
}
