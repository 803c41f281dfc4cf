import { programs } from "@sluice/wire/programs";
import { builtInPrograms, costModel, feeRules, precompiles } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";

const MICRO_LAMPORTS = 1_000_000n;
const BUILT_IN: ReadonlySet<string> = new Set(builtInPrograms);
const PRECOMPILES: ReadonlySet<string> = new Set(precompiles);

export interface TransactionFees {
  readonly base: bigint;
  readonly priority: bigint;
  /** Micro-lamports for one compute unit. */
  readonly unitPrice: bigint;
  /** Compute units, at most a u32. */
  readonly unitLimit: number;
  readonly signatures: number;
}

interface BudgetRequest {
  unitLimit: number | null;
  unitPrice: bigint;
}

function readBudgetInstruction(data: Uint8Array, request: BudgetRequest): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data[0] === 2 && data.length >= 5) request.unitLimit = view.getUint32(1, true);
  if (data[0] === 3 && data.length >= 9) request.unitPrice = view.getBigUint64(1, true);
}

/**
 * What a message pays: 5,000 lamports for each signature, those checked by precompiles included, and the compute unit
 * limit times the price, rounded up; a v1 message names its priority fee itself. Malformed budget instructions count as
 * none here; running them is what fails.
 */
export function messageFees(message: Message, keys: readonly string[] = message.staticAddresses): TransactionFees {
  const request: BudgetRequest = { unitLimit: null, unitPrice: 0n };
  let signatures = message.numRequiredSignatures;
  let defaultUnits = 0;
  for (const { programIndex, data } of message.instructions) {
    const program = keys[programIndex] ?? "";
    if (program === programs.computeBudget) readBudgetInstruction(data, request);
    else if (PRECOMPILES.has(program)) signatures += data[0] ?? 0;
    defaultUnits += BUILT_IN.has(program) ? feeRules.unitsBuiltIn : feeRules.unitsProgram;
  }
  const base = BigInt(signatures) * feeRules.lamportsPerSignature;
  if (message.version === 1) return v1Fees(message, base, signatures);
  const unitLimit = Math.min(request.unitLimit ?? defaultUnits, feeRules.unitsMax);
  const { unitPrice } = request;
  const priority = unitPrice === 0n ? 0n : (BigInt(unitLimit) * unitPrice + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return { base, priority, unitPrice, unitLimit, signatures };
}

function v1Fees(message: Message, base: bigint, signatures: number): TransactionFees {
  const { priorityFeeLamports, computeUnitLimit } = message.config;
  const unitLimit = computeUnitLimit ?? 0;
  const priority = priorityFeeLamports ?? 0n;
  const unitPrice = unitLimit === 0 ? 0n : (priority * MICRO_LAMPORTS) / BigInt(unitLimit);
  return { base, priority, unitPrice, unitLimit, signatures };
}

/**
 * The transaction's share of a block's cost limit: of units and bytes that it used, or before it ran of what it asks for.
 * Both are far below what a number holds exactly.
 */
export function costUnits(
  message: Message,
  fees: TransactionFees,
  writableKeys: number,
  unitsConsumed: number,
  loadedBytes: number,
): number {
  let instructionBytes = 0;
  for (const instruction of message.instructions) instructionBytes += instruction.data.length;
  return (
    fees.signatures * costModel.signature +
    writableKeys * costModel.writeLock +
    Math.floor(instructionBytes / costModel.instructionBytesPerUnit) +
    unitsConsumed +
    Math.ceil(loadedBytes / costModel.pageBytes) * costModel.page
  );
}
