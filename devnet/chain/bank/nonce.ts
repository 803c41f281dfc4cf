import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { Message } from "@sluice/wire/transaction";
import type { ChainAccount } from "../model/index.ts";

const ADVANCE_NONCE = 4;
const NONCE_BYTES = 80;
const STATE_INITIALIZED = 1;

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** Whether a message begins as a durable transaction does, so that it may carry a nonce in place of a blockhash. */
export function advancesNonce(message: Message): boolean {
  const first = message.instructions[0];
  if (first === undefined || first.programIndex >= message.staticKeyCount) return false;
  const { data } = first;
  if (data.length < 4 || new DataView(data.buffer, data.byteOffset).getUint32(0, true) !== ADVANCE_NONCE) return false;
  return message.address(first.programIndex) === programs.system;
}

/**
 * The nonce account whose value the transaction carries in place of a blockhash, or null when it is no durable
 * transaction that could run now: its first instruction advances a writable nonce account that holds the carried value,
 * signed by the account's authority, and the nonce was not advanced by this very bank.
 */
export function durableNonceAccount(
  message: Message,
  keys: readonly string[],
  isWritable: (index: number) => boolean,
  read: (address: string) => ChainAccount | null,
  nextNonce: Uint8Array,
): string | null {
  const first = message.instructions[0];
  if (first === undefined || !advancesNonce(message)) return null;
  const index = first.accountIndexes[0];
  if (index === undefined || !isWritable(index) || sameBytes(message.blockhashBytes, nextNonce)) return null;
  const address = keys[index];
  const account = address === undefined ? null : read(address);
  if (address === undefined || account === null || account.owner !== programs.system) return null;
  const state = account.data;
  if (state.length !== NONCE_BYTES || state[0] !== 1 || state[4] !== STATE_INITIALIZED) return null;
  if (!sameBytes(state.subarray(40, 72), message.blockhashBytes)) return null;
  const authority = encodeBase58(state.subarray(8, 40));
  const signed = first.accountIndexes.some((account) => message.isSigner(account) && keys[account] === authority);
  return signed ? address : null;
}
