import { programs } from "@sluice/wire/programs";
import { reservedKeys } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";
import type { AccountEntry } from "../accounts/account-entry.ts";
import { nameOf } from "../accounts/key-name.ts";

const reserved: ReadonlySet<string> = new Set(reservedKeys.map((address) => nameOf(address)));

const upgradeableLoader = nameOf(programs.bpfLoaderUpgradeable);
const loaders: ReadonlySet<string> = new Set([
  upgradeableLoader,
  nameOf(programs.loaderV4),
  nameOf(programs.bpfLoader),
]);

/**
 * For each key, whether the runtime locks it for writing: the message asks for it, it is not reserved, and it is not called
 * as a program while the upgradeable loader is not among the keys.
 */
export function writeLocks(message: Message, keys: readonly AccountEntry[]): boolean[] {
  const locks = keys.map((entry, index) => message.isWritable(index) && !reserved.has(entry.name));
  if (keys.some((entry) => entry.name === upgradeableLoader)) return locks;
  for (const { programIndex } of message.instructions) locks[programIndex] = false;
  return locks;
}

/** Whether a transaction could put a program in place or take one away: a loader is among its keys. */
export function mayDeploy(keys: readonly AccountEntry[]): boolean {
  return keys.some((entry) => loaders.has(entry.name));
}
