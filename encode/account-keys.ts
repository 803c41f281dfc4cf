import { programs } from "@sluice/wire/programs";
import { reservedKeys } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";
import type { JsonObject } from "./json.ts";
import type { LoadedAddresses } from "./model.ts";

/** A transaction's key with the rights that it gives, as `jsonParsed` and `accounts` list it. */
interface AccountKey {
  readonly pubkey: string;
  readonly writable: boolean;
  readonly signer: boolean;
  readonly source: "transaction" | "lookupTable";
}

const reserved: ReadonlySet<string> = new Set(reservedKeys);

/** All keys by name, in the order that indexes count: static, then loaded writable, then loaded readonly. */
export function keyNames(message: Message, loaded: LoadedAddresses): string[] {
  return [...message.staticAddresses, ...loaded.writable, ...loaded.readonly];
}

/**
 * For each key, whether the runtime locks it for writing: the message asks for it, it is not reserved, and it is not
 * called as a program while the upgradeable loader is not among the keys.
 */
export function writableKeys(message: Message, names: readonly string[]): boolean[] {
  const writable = names.map((pubkey, index) => message.isWritable(index) && !reserved.has(pubkey));
  if (names.includes(programs.bpfLoaderUpgradeable)) return writable;
  for (const { programIndex } of message.instructions) writable[programIndex] = false;
  return writable;
}

/** Lists all keys with their rights. */
export function accountKeys(message: Message, loaded: LoadedAddresses): AccountKey[] {
  const names = keyNames(message, loaded);
  const writable = writableKeys(message, names);
  return names.map((pubkey, index) => ({
    pubkey,
    writable: writable[index] ?? false,
    signer: message.isSigner(index),
    source: index < message.staticKeyCount ? "transaction" : "lookupTable",
  }));
}

export function accountKeyJson(key: AccountKey): JsonObject {
  return { pubkey: key.pubkey, writable: key.writable, signer: key.signer, source: key.source };
}
