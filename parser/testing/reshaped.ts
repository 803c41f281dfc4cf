import type { ConfirmedTransaction, ExecutedInstruction, TransactionMeta } from "@sluice/encode";
import { encodeTransaction } from "@sluice/wire/transaction";
import { TransactionView } from "../transaction-view.ts";
import { key } from "./built.ts";

/**
 * The same transaction as version 0, whose accounts that neither sign nor are programs that it calls come from a table.
 * Its keys stand in another order then. Null where it has loaded keys already, or none that could be loaded.
 */
export function withLookupTable(executed: ConfirmedTransaction): ConfirmedTransaction | null {
  const view = new TransactionView(executed);
  const { message, keys, meta } = view;
  if (meta === null || message.version !== "legacy") return null;
  const called = new Set(message.instructions.map(({ programIndex }) => programIndex));
  const all = keys.map((_key, index) => index);
  const isLoaded = (index: number): boolean => !message.isSigner(index) && !called.has(index);
  const fixed = all.filter((index) => !isLoaded(index));
  const writable = all.filter((index) => isLoaded(index) && message.isWritable(index));
  const readonly = all.filter((index) => isLoaded(index) && !message.isWritable(index));
  if (writable.length + readonly.length === 0) return null;
  // The other static keys are the programs that it calls, which it never writes.
  const signing = fixed.filter((index) => message.isSigner(index));
  const programs = fixed.filter((index) => !message.isSigner(index));
  const order = [...signing, ...programs, ...writable, ...readonly];
  const place = new Map(order.map((before, now) => [before, now]));
  const moved = (index: number): number => place.get(index) ?? index;
  const bytes = encodeTransaction({
    message: {
      version: 0,
      numRequiredSignatures: signing.length,
      numReadonlySignedAccounts: signing.filter((index) => !message.isWritable(index)).length,
      numReadonlyUnsignedAccounts: programs.length,
      staticKeys: [...signing, ...programs].map((index) => message.keyBytes(index)),
      blockhash: new Uint8Array(32).fill(9),
      instructions: message.instructions.map(({ programIndex, accountIndexes, data }) => ({
        programIndex: moved(programIndex),
        accountIndexes: Uint8Array.from(accountIndexes, moved),
        data,
      })),
      lookups: [
        {
          tableBytes: new Uint8Array(32).fill(8),
          writableIndexes: Uint8Array.from(writable, (_index, at) => at),
          readonlyIndexes: Uint8Array.from(readonly, (_index, at) => writable.length + at),
        },
      ],
    },
    signatures: signing.map(() => new Uint8Array(64)),
  });
  return { ...executed, bytes, meta: movedMeta(meta, { keys, order, writable, readonly, moved }) };
}

interface Order {
  readonly keys: readonly string[];
  readonly order: readonly number[];
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
  readonly moved: (index: number) => number;
}

function movedMeta(meta: TransactionMeta, { keys, order, writable, readonly, moved }: Order): TransactionMeta {
  const named = (indexes: readonly number[]): string[] => indexes.map((index) => keys[index] ?? key(1));
  const balances = (of: TransactionMeta["preTokenBalances"]) =>
    of?.map((each) => ({ ...each, accountIndex: moved(each.accountIndex) })) ?? null;
  const call = (each: ExecutedInstruction): ExecutedInstruction => ({
    ...each,
    programIdIndex: moved(each.programIdIndex),
    accounts: Uint8Array.from(each.accounts, moved),
  });
  return {
    ...meta,
    preBalances: order.map((index) => meta.preBalances[index] ?? 0n),
    postBalances: order.map((index) => meta.postBalances[index] ?? 0n),
    preTokenBalances: balances(meta.preTokenBalances),
    postTokenBalances: balances(meta.postTokenBalances),
    innerInstructions:
      meta.innerInstructions?.map((group) => ({ ...group, instructions: group.instructions.map(call) })) ?? null,
    loadedAddresses: { writable: named(writable), readonly: named(readonly) },
  };
}
