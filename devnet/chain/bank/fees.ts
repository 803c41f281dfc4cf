import type { Message } from "@sluice/wire";
import { programs } from "@sluice/wire";
import { BUILTIN_PROGRAMS, PRECOMPILES } from "./programs.ts";

export const LAMPORTS_PER_SIGNATURE = 5_000n;
const COMPUTE_UNITS_MAX = 1_400_000;
const DEFAULT_UNITS_BUILTIN = 3_000;
const DEFAULT_UNITS_PROGRAM = 200_000;
const MICRO_LAMPORTS = 1_000_000n;

/** Costs of the block's cost model, in cost units. Source: solana-cost-model, block_cost_limits. */
const SIGNATURE_COST = 720;
const WRITE_LOCK_COST = 300;
const INSTRUCTION_BYTES_PER_UNIT = 4;
const LOADED_PAGE_BYTES = 32_768;
const LOADED_PAGE_COST = 8;

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
    defaultUnits += BUILTIN_PROGRAMS.has(program) ? DEFAULT_UNITS_BUILTIN : DEFAULT_UNITS_PROGRAM;
  }
  const base = BigInt(signatures) * LAMPORTS_PER_SIGNATURE;
  if (message.version === 1) return v1Fees(message, base, signatures);
  const unitLimit = Math.min(request.unitLimit ?? defaultUnits, COMPUTE_UNITS_MAX);
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
    fees.signatures * SIGNATURE_COST +
    writableKeys * WRITE_LOCK_COST +
    Math.floor(instructionBytes / INSTRUCTION_BYTES_PER_UNIT) +
    unitsConsumed +
    Math.ceil(loadedBytes / LOADED_PAGE_BYTES) * LOADED_PAGE_COST
  );
}
