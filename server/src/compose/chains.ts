import { networks } from "@sluice/contract/tiers";
import { callNode } from "../chain/index.ts";
import type { Config } from "../config/index.ts";
import type { ChainStore } from "../state/index.ts";
import { followsNodes } from "./nodes.ts";
import { StartRefusedError } from "./start-refused.ts";

/** A node that is slower than this is asked again when the server runs; it stops no start. */
const askTimeoutMs = 2_000;

/**
 * Refuses a database of another chain: one whose genesis, as it was stored for a network, none of that network's nodes
 * tells. A node among others that tells another one is kept out when the server runs; `GENESIS_<NETWORK>` is the
 * operator's word for a new chain, and `dev` follows its own.
 * @throws {StartRefusedError} OTHER_CHAIN
 */
export async function requireSameChains(
  config: Config,
  { store, ask = callNode }: { readonly store: Pick<ChainStore, "find">; readonly ask?: typeof callNode },
): Promise<void> {
  if (config.mode === "dev" || !followsNodes(config)) return;
  for (const network of networks) {
    const nodes = config.upstreams[network];
    const stored = nodes.length === 0 || config.genesis.hashes[network] !== null ? null : await store.find(network);
    if (stored === null) continue;
    const call = { method: "getGenesisHash", params: "[]", timeoutMs: askTimeoutMs };
    const answers = await Promise.all(nodes.map((node) => ask(node, call)));
    const told = answers.flatMap((answer) => (answer.ok && typeof answer.result === "string" ? [answer.result] : []));
    if (told.length === 0 || told.includes(stored.genesis)) continue;
    const key = network.toUpperCase();
    throw new StartRefusedError(
      "OTHER_CHAIN",
      `the stores belong to another chain: the genesis of ${network} is ${stored.genesis} there, and its nodes tell ` +
        `${[...new Set(told)].join(", ")}. Set UPSTREAMS_${key} to nodes of that chain, use other stores (DATA_DIR, ` +
        `DATABASE_URL), or set GENESIS_${key} to take the other chain for ${network} from now on`,
    );
  }
}
