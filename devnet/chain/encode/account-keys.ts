import { type Message, programs, sysvars } from "@sluice/wire";
import type { JsonObject } from "./json.ts";

/** A transaction's key with the rights that it gives, as `jsonParsed` and `accounts` list it. */
export interface AccountKey {
  readonly pubkey: string;
  readonly writable: boolean;
  readonly signer: boolean;
  readonly source: "transaction" | "lookupTable";
}

/** Keys that the runtime never locks for writing, whatever a message asks. */
const RESERVED_KEYS: ReadonlySet<string> = new Set<string>([
  programs.system,
  programs.addressLookupTable,
  programs.bpfLoaderDeprecated,
  programs.bpfLoader,
  programs.bpfLoaderUpgradeable,
  programs.computeBudget,
  programs.config,
  programs.ed25519,
  programs.featureGate,
  programs.secp256k1,
  programs.loaderV4,
  programs.nativeLoader,
  programs.secp256r1,
  programs.stake,
  programs.stakeConfig,
  programs.vote,
  programs.zkElGamalProof,
  "ZkTokenProof1111111111111111111111111111111",
  ...Object.values(sysvars),
  "SysvarFees111111111111111111111111111111111",
  "SysvarRewards111111111111111111111111111111",
]);

type Loaded = { readonly writable: readonly string[]; readonly readonly: readonly string[] };

/** All keys by name, in the order that indexes count: static, then loaded writable, then loaded readonly. */
export function keyNames(message: Message, loaded: Loaded): string[] {
  return [...message.staticAddresses, ...loaded.writable, ...loaded.readonly];
}

/**
 * Lists all keys with their rights. A key counts as writable when the message asks for it, unless it is reserved, or is
 * called as a program while the upgradeable loader is not among the keys.
 */
export function accountKeys(message: Message, loaded: Loaded): AccountKey[] {
  const names = keyNames(message, loaded);
  const called = names.includes(programs.bpfLoaderUpgradeable)
    ? new Set<number>()
    : new Set(message.instructions.map((instruction) => instruction.programIndex));
  return names.map((pubkey, index) => ({
    pubkey,
    writable: message.isWritable(index) && !RESERVED_KEYS.has(pubkey) && !called.has(index),
    signer: message.isSigner(index),
    source: index < message.staticKeyCount ? "transaction" : "lookupTable",
  }));
}

export function accountKeyJson(key: AccountKey): JsonObject {
  return { pubkey: key.pubkey, writable: key.writable, signer: key.signer, source: key.source };
}
