import { programs } from "@sluice/wire/programs";
import { builtInPrograms, costModel, feeRules, precompiles } from "@sluice/wire/runtime-rules";
import type { Message } from "@sluice/wire/transaction";

const microLamports = 1_000_000n;
const builtIn: ReadonlySet<string> = new Set(builtInPrograms);
const precompilePrograms: ReadonlySet<string> = new Set(precompiles);

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
 * The fee of a message: 5,000 lamports for each signature, those checked by precompiles included, and the compute unit
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
    else if (precompilePrograms.has(program)) signatures += data[0] ?? 0;
    defaultUnits += builtIn.has(program) ? feeRules.unitsBuiltIn : feeRules.unitsProgram;
  }
  const base = BigInt(signatures) * feeRules.lamportsPerSignature;
  if (message.version === 1) return v1Fees(message, base, signatures);
  const unitLimit = Math.min(request.unitLimit ?? defaultUnits, feeRules.unitsMax);
  const { unitPrice } = request;
  const priority = unitPrice === 0n ? 0n : (BigInt(unitLimit) * unitPrice + microLamports - 1n) / microLamports;
  return { base, priority, unitPrice, unitLimit, signatures };
}

function v1Fees(message: Message, base: bigint, signatures: number): TransactionFees {
  const { priorityFeeLamports, computeUnitLimit } = message.config;
  const unitLimit = computeUnitLimit ?? 0;
  const priority = priorityFeeLamports ?? 0n;
  const unitPrice = unitLimit === 0 ? 0n : (priority * microLamports) / BigInt(unitLimit);
  return { base, priority, unitPrice, unitLimit, signatures };
}

/**
 * The transaction's share of a block's cost limit: of units and bytes that it used, or before it ran of what it asks
 * for. Both are far below what a number holds exactly.
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

/** Cost units of one block, and in it of all that write one account. Source: SIMD-0256; an account has two fifths. */
const blockUnitsMax = 60_000_000;
const accountUnitsMax = 24_000_000;

interface Entry {
  readonly units: number;
  readonly writable: readonly string[];
}

/**
 * What a block still takes. A transaction is counted with what it asks for until it has run, then with what it used. No
 * account can be full while the whole block holds no more than one may, so that most blocks never count by account.
 */
export class BlockLimits {
  #units = 0;
  /** Everything that was counted, until accounts are. */
  #entries: Entry[] = [];
  #byAccount: Map<string, number> | null = null;

  /** Counts a transaction in, unless the block or an account that it writes has no room for it. */
  reserve(units: number, writable: readonly string[]): "reserved" | "block full" | "account full" {
    if (this.#units + units > blockUnitsMax) return "block full";
    if (this.#units + units > accountUnitsMax) {
      const byAccount = this.#accounts();
      if (writable.some((address) => (byAccount.get(address) ?? 0) + units > accountUnitsMax)) return "account full";
    }
    this.add(units, writable);
    return "reserved";
  }

  /** Corrects a count: what was used less what was reserved. */
  add(units: number, writable: readonly string[]): void {
    this.#units += units;
    if (this.#byAccount === null) this.#entries.push({ units, writable });
    else count(this.#byAccount, { units, writable });
  }

  #accounts(): Map<string, number> {
    if (this.#byAccount !== null) return this.#byAccount;
    const byAccount = new Map<string, number>();
    for (const entry of this.#entries) count(byAccount, entry);
    this.#entries = [];
    this.#byAccount = byAccount;
    return byAccount;
  }
}

function count(byAccount: Map<string, number>, { units, writable }: Entry): void {
  for (const address of writable) byAccount.set(address, (byAccount.get(address) ?? 0) + units);
}
