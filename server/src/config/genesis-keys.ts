import { optional } from "./key-definition.ts";
import { genesisHash, labelList } from "./parsers.ts";

const genesisOf = (network: string) =>
  optional(
    "Nodes",
    `upstreams.genesis_${network}`,
    genesisHash,
    `The genesis hash of ${network}. A node of another chain gets no calls. Without it what the state store holds counts, else what most nodes say.`,
  );

/** Which chain each network is, by the names that operators set. */
export const genesisKeys = {
  GENESIS_MAINNET: genesisOf("mainnet"),
  GENESIS_DEVNET: genesisOf("devnet"),
  GENESIS_TESTNET: genesisOf("testnet"),
  GENESIS_ALLOW_UNKNOWN: optional(
    "Nodes",
    "upstreams.genesis_allow_unknown",
    labelList,
    "Labels of nodes that get calls although they do not answer `getGenesisHash`.",
  ),
} as const;
