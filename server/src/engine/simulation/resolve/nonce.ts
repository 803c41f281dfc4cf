import { programs } from "@sluice/wire/programs";
import type { Message } from "@sluice/wire/transaction";
import type { AccountEntry } from "../accounts/account-entry.ts";
import { nameOf } from "../accounts/key-name.ts";

const ADVANCE_NONCE = 4;
const system = nameOf(programs.system);

/**
 * The nonce account that a message's first instruction advances and locks for writing, so that it may carry the nonce in
 * place of a blockhash; null when it does not begin so. Whether the nonce is right is seen where the account is.
 */
export function nonceAccount(
  message: Message,
  keys: readonly AccountEntry[],
  locks: readonly boolean[],
): AccountEntry | null {
  const first = message.instructions[0];
  if (first === undefined || keys[first.programIndex]?.name !== system || first.data.length < 4) return null;
  const view = new DataView(first.data.buffer, first.data.byteOffset);
  if (view.getUint32(0, true) !== ADVANCE_NONCE) return null;
  const index = first.accountIndexes[0] ?? -1;
  return locks[index] === true ? (keys[index] ?? null) : null;
}
