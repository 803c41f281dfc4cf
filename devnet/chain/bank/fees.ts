import type { Message } from "@sluice/wire";
import { programs } from "@sluice/wire";
import { BUILTIN_PROGRAMS, PRECOMPILES } from "./programs.ts";

export const LAMPORTS_PER_SIGNATURE = 5_000n;
const COMPUTE_UNITS_MAX = 1_400_000n;
const DEFAULT_UNITS_BUILTIN = 3_000n;
const DEFAULT_UNITS_PROGRAM = 200_000n;
const MICRO_LAMPORTS = 1_000_000n;

/** Costs of the block's cost model, in cost units. Source: solana-cost-model, block_cost_limits. */
const SIGNATURE_COST = 720n;
const WRITE_LOCK_COST = 300n;
const INSTRUCTION_BYTES_PER_UNIT = 4n;
const LOADED_PAGE_BYTES = 32_768n;
const LOADED_PAGE_COST = 8n;

export interface TransactionFees {
  readonly base: bigint;
  readonly priority: bigint;
  /** Micro-lamports for one compute unit. */
  readonly unitPrice: bigint;
  readonly unitLimit: bigint;
  readonly signatures: bigint;
}

interface BudgetRequest {
  unitLimit: bigint | null;
  unitPrice: bigint;
}

function readBudgetInstruction(data: Uint8Array, request: BudgetRequest): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data[0] === 2 && data.length >= 5) request.unitLimit = BigInt(view.getUint32(1, true));
  if (data[0] === 3 && data.length >= 9) request.unitPrice = view.getBigUint64(1, true);
}

/**
 * What a message pays: 5,000 lamports for each signature, those checked by precompiles included, and the compute unit
 * limit times the price, rounded up; a v1 message names its priority fee itself. Malformed budget instructions count as
 * none here; running them is what fails.
 */
export function messageFees(message: Message): TransactionFees {
  const request: BudgetRequest = { unitLimit: null, unitPrice: 0n };
  let signatures = BigInt(message.numRequiredSignatures);
  let defaultUnits = 0n;
  for (const instruction of message.instructions) {
    const program = message.address(instruction.programIndex);
    if (program === programs.computeBudget) readBudgetInstruction(instruction.data, request);
    if (PRECOMPILES.has(program)) signatures += BigInt(instruction.data[0] ?? 0);
    defaultUnits += BUILTIN_PROGRAMS.has(program) ? DEFAULT_UNITS_BUILTIN : DEFAULT_UNITS_PROGRAM;
  }
  const base = signatures * LAMPORTS_PER_SIGNATURE;
  if (message.version === 1) return v1Fees(message, base, signatures);
  const asked = request.unitLimit ?? defaultUnits;
  const unitLimit = asked < COMPUTE_UNITS_MAX ? asked : COMPUTE_UNITS_MAX;
  const priority = (unitLimit * request.unitPrice + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return { base, priority, unitPrice: request.unitPrice, unitLimit, signatures };
}

function v1Fees(message: Message, base: bigint, signatures: bigint): TransactionFees {
  const { priorityFeeLamports, computeUnitLimit } = message.config;
  const unitLimit = BigInt(computeUnitLimit ?? 0);
  const priority = priorityFeeLamports ?? 0n;
  const unitPrice = unitLimit === 0n ? 0n : (priority * MICRO_LAMPORTS) / unitLimit;
  return { base, priority, unitPrice, unitLimit, signatures };
}

/** The transaction's share of a block's cost limit, after it ran. */
export function costUnits(
  message: Message,
  fees: TransactionFees,
  writableKeys: number,
  unitsConsumed: bigint,
  loadedBytes: bigint,
): bigint {
  let instructionBytes = 0n;
  for (const instruction of message.instructions) instructionBytes += BigInt(instruction.data.length);
  const pages = (loadedBytes + LOADED_PAGE_BYTES - 1n) / LOADED_PAGE_BYTES;
  return (
    fees.signatures * SIGNATURE_COST +
    BigInt(writableKeys) * WRITE_LOCK_COST +
    instructionBytes / INSTRUCTION_BYTES_PER_UNIT +
    unitsConsumed +
    pages * LOADED_PAGE_COST
  );
}
