import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { builtInPrograms, costModel, feeRules, precompiles } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";
import { type AccountEntry, nameOf } from "./account-cache.ts";

const microLamports = 1_000_000n;

const named = (addresses: readonly Address[]): ReadonlySet<string> =>
  new Set(addresses.map((address) => nameOf(address)));
const builtIns = named(builtInPrograms);
const precompileNames = named(precompiles);
const computeBudget = nameOf(programs.computeBudget);

export interface TransactionFees {
  /** Base and priority fee, lamports. */
  readonly lamports: bigint;
  /** Compute units that it may consume. */
  readonly unitLimit: number;
  readonly signatures: number;
}

/**
 * The fees of a message: 5,000 lamports for each signature, those that precompiles check included, and the compute unit
 * limit times the price, rounded up; a v1 message carries its priority fee. A malformed budget instruction is ignored
 * here; it fails when it runs.
 */
export function messageFees(message: Message, keys: readonly AccountEntry[]): TransactionFees {
  let [requested, price] = [-1, 0n];
  let signatures = message.numRequiredSignatures;
  let units = 0;
  for (const { programIndex, data } of message.instructions) {
    const program = keys[programIndex]?.name ?? "";
    if (program === computeBudget) {
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
      if (data[0] === 2 && data.length >= 5) requested = view.getUint32(1, true);
      if (data[0] === 3 && data.length >= 9) price = view.getBigUint64(1, true);
    } else if (precompileNames.has(program)) signatures += data[0] ?? 0;
    units += builtIns.has(program) ? feeRules.unitsBuiltIn : feeRules.unitsProgram;
  }
  const base = BigInt(signatures) * feeRules.lamportsPerSignature;
  if (message.version === 1) {
    const { priorityFeeLamports, computeUnitLimit } = message.config;
    return { lamports: base + (priorityFeeLamports ?? 0n), unitLimit: computeUnitLimit ?? 0, signatures };
  }
  const unitLimit = Math.min(requested < 0 ? units : requested, feeRules.unitsMax);
  const priority = price === 0n ? 0n : (BigInt(unitLimit) * price + microLamports - 1n) / microLamports;
  return { lamports: base + priority, unitLimit, signatures };
}

/** A transaction's share of a block's cost limit, without the compute units that it consumes. */
export function fixedCostUnits(
  message: Message,
  fees: TransactionFees,
  loaded: { readonly writeLocks: number; readonly accounts: Iterable<AccountEntry> },
): number {
  let instructionBytes = 0;
  for (const { data } of message.instructions) instructionBytes += data.length;
  let bytes = 0;
  for (const { account } of loaded.accounts)
    if (account !== null) bytes += account.space + costModel.accountOverheadBytes;
  return (
    fees.signatures * costModel.signature +
    loaded.writeLocks * costModel.writeLock +
    Math.floor(instructionBytes / costModel.instructionBytesPerUnit) +
    Math.ceil(bytes / costModel.pageBytes) * costModel.page
  );
}
