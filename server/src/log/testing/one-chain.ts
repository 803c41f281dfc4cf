import type { Network } from "@sluice/contract/tiers";
import type { ChainLogs } from "../chain-logs.ts";
import type { ChainIdentity, ChainLog } from "../records.ts";

/** What a process with one network has whose log is open, and stays so. */
export function oneChain(
  network: Network,
  log: ChainLog,
  chain: ChainIdentity,
): Pick<ChainLogs, "networks" | "follow" | "followNetworks"> {
  const following = { [Symbol.dispose]: () => undefined };
  return {
    networks: [network],
    follow: async (listener) => {
      await listener(network, log, chain);
      return following;
    },
    followNetworks: async (listener) => {
      await listener(network);
      return following;
    },
  };
}
