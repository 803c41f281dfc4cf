import type { Instruction } from "../program.ts";

/** What the machines and guards of Candy Machine have in common beside their mints: none of it moves an NFT. */
export const candySettings: readonly Instruction[] = [
  { tag: "afaf6d1f0d989bed", name: "initialize", does: "other" },
  { tag: "4399af27da102620", name: "initializeV2", does: "other" },
  { tag: "8e89a76b2f27f07c", name: "initializeCandyMachine", does: "other" },
  { tag: "df32e0e39708736a", name: "addConfigLines", does: "other" },
  { tag: "dbc858b09e3ffd7f", name: "update", does: "other" },
  { tag: "f3fb7c9cd3d376ef", name: "updateCandyMachine", does: "other" },
  { tag: "202e401c954bf358", name: "updateAuthority", does: "other" },
  { tag: "c0fece4ca8b63bdf", name: "setCollection", does: "other" },
  { tag: "e5233d5b0f0e63a0", name: "setCollectionV2", does: "other" },
  { tag: "df346ad93ddc24a0", name: "removeCollection", does: "other" },
  { tag: "437f9bbb64ae6779", name: "setMintAuthority", does: "other" },
  { tag: "b712469c946da122", name: "withdraw", does: "other" },
  { tag: "f1241d6fd01f68d9", name: "withdrawFunds", does: "other" },
  { tag: "b2280abde481ba8c", name: "wrap", does: "other" },
  { tag: "7eafc60ed445322c", name: "unwrap", does: "other" },
  { tag: "e517cb977ae3ad2a", name: "route", does: "other" },
  { tag: "93d46ac31eaad180", name: "setTokenStandard", does: "other" },
  { tag: "6711c819765f7d3d", name: "setCollectionDuringMint", does: "other" },
];
