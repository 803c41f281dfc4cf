import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { builtInPrograms, costModel, feeRules, precompiles } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";
import type { AccountEntry } from "./account-cache.ts";
import { nameOf } from "./account-cache.ts";

const MICRO_LAMPORTS = 1_000_000n;

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
 * What a message pays: 5,000 lamports for each signature, those that precompiles check included, and the compute unit limit
 * times the price, rounded up; a v1 message names its priority fee itself. A malformed budget instruction counts as none
 * here; running it is what fails.
 */
export function messageFees(message: Message, keys: readonly AccountEntry[]): TransactionFees {
  let [asked, price] = [-1, 0n];
  let signatures = message.numRequiredSignatures;
  let units = 0;
  for (const { programIndex, data } of message.instructions) {
    const program = keys[programIndex]?.name ?? "";
    if (program === computeBudget) {
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
      if (data[0] === 2 && data.length >= 5) asked = view.getUint32(1, true);
      if (data[0] === 3 && data.length >= 9) price = view.getBigUint64(1, true);
    } else if (precompileNames.has(program)) signatures += data[0] ?? 0;
    units += builtIns.has(program) ? feeRules.unitsBuiltIn : feeRules.unitsProgram;
  }
  const base = BigInt(signatures) * feeRules.lamportsPerSignature;
  if (message.version === 1) {
    const { priorityFeeLamports, computeUnitLimit } = message.config;
    return { lamports: base + (priorityFeeLamports ?? 0n), unitLimit: computeUnitLimit ?? 0, signatures };
  }
  const unitLimit = Math.min(asked < 0 ? units : asked, feeRules.unitsMax);
  const priority = price === 0n ? 0n : (BigInt(unitLimit) * price + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return { lamports: base + priority, unitLimit, signatures };
}

/** A transaction's share of a block's cost limit, but for the compute units that it will consume. */
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
