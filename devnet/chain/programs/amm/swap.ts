import { eventTag, record, runtimeErrors, tagNumber } from "../runtime.ts";
import type { AmmWriter } from "./amm-writer.ts";
import { ammErrors, configOffsets, feeDenominator, poolOffsets, poolStatus } from "./layout.ts";

/** Positions of a swap's accounts. */
const accountIndexes = {
  payer: 0,
  authority: 1,
  config: 2,
  pool: 3,
  from: 4,
  to: 5,
  vaultIn: 6,
  vaultOut: 7,
  programIn: 8,
  programOut: 9,
  mintIn: 10,
  mintOut: 11,
  observation: 12,
} as const;
const eventBytes = 89;

interface SwapSlots {
  readonly amountIn: number;
  readonly amountOut: number;
  /** The amount less its fee. */
  readonly net: number;
  readonly reserveIn: number;
  readonly reserveOut: number;
  readonly rate: number;
  readonly whole: number;
  readonly divisor: number;
  readonly bound: number;
}

function slots({ writer }: AmmWriter): SwapSlots {
  const slot = () => writer.slot();
  return {
    amountIn: slot(),
    amountOut: slot(),
    net: slot(),
    reserveIn: slot(),
    reserveOut: slot(),
    rate: slot(),
    whole: slot(),
    divisor: slot(),
    bound: slot(),
  };
}

/** The accounts must be those of the pool, in one of its two directions; then reserves and the fee's rate are read. */
function begin(amm: AmmWriter, at: SwapSlots): void {
  const { writer } = amm;
  const { asm } = writer;
  writer.requireAccounts(13);
  writer.requireSigner(accountIndexes.payer);
  amm.openPool(accountIndexes.pool, poolStatus.noSwap);
  amm.requireOfPool(accountIndexes.pool, poolOffsets.config, accountIndexes.config, runtimeErrors.invalidAccountData);
  amm.requireOfPool(
    accountIndexes.pool,
    poolOffsets.observation,
    accountIndexes.observation,
    runtimeErrors.invalidAccountData,
  );
  const [opposite, checked] = [asm.label("one for zero"), asm.label("vaults checked")];
  writer.account("r1", accountIndexes.pool);
  writer.account("r2", accountIndexes.vaultIn);
  writer.requireSameKey("r1", record.data + poolOffsets.vaults[0], "r2", record.key, opposite);
  const sides = (first: 0 | 1, second: 0 | 1) => {
    for (const [side, vault, mint] of [
      [first, accountIndexes.vaultIn, accountIndexes.mintIn],
      [second, accountIndexes.vaultOut, accountIndexes.mintOut],
    ] as const) {
      amm.requireOfPool(accountIndexes.pool, poolOffsets.vaults[side], vault, ammErrors.invalidVault);
      amm.requireOfPool(accountIndexes.pool, poolOffsets.mints[side], mint, ammErrors.invalidVault);
    }
  };
  sides(0, 1);
  asm.jump(checked);
  asm.place(opposite);
  sides(1, 0);
  asm.place(checked);
  amm.requireTokenProgram(accountIndexes.vaultIn, accountIndexes.programIn);
  amm.requireTokenProgram(accountIndexes.vaultOut, accountIndexes.programOut);
  amm.reserve(accountIndexes.vaultIn, at.reserveIn);
  amm.reserve(accountIndexes.vaultOut, at.reserveOut);
  writer.account("r1", accountIndexes.config);
  asm.load(8, "r1", "r1", record.data + configOffsets.tradeFeeRate);
  asm.store(8, "r9", at.rate, "r1");
  asm.wide("r1", feeDenominator);
  asm.store(8, "r9", at.whole, "r1");
}

function requireSome(amm: AmmWriter, slot: number, otherwise: bigint): void {
  amm.writer.asm.load(8, "r1", "r9", slot);
  amm.writer.asm.branch("eq", "r1", 0, amm.writer.failure(otherwise));
}

/** Logs the swap as an event, in the log lines that indexers read. */
function logSwap(amm: AmmWriter, at: SwapSlots, baseInput: boolean): void {
  const { writer } = amm;
  const { asm } = writer;
  const event = writer.slot(eventBytes);
  const field = writer.slot(16);
  asm.wide("r1", tagNumber(eventTag("SwapEvent")));
  asm.store(8, "r9", event, "r1");
  writer.account("r1", accountIndexes.pool);
  writer.copyKey(["r1", record.key], ["r9", event + 8]);
  for (const [index, slot] of [at.reserveIn, at.reserveOut, at.amountIn, at.amountOut].entries()) {
    asm.load(8, "r1", "r9", slot);
    asm.store(8, "r9", event + 40 + index * 8, "r1");
  }
  // No mint takes a fee.
  asm.store(8, "r9", event + 72, 0);
  asm.store(8, "r9", event + 80, 0);
  asm.store(1, "r9", event + 88, baseInput ? 1 : 0);
  asm.mov("r1", "r9");
  asm.add("r1", event);
  asm.store(8, "r9", field, "r1");
  asm.store(8, "r9", field + 8, eventBytes);
  asm.mov("r1", "r9");
  asm.add("r1", field);
  asm.mov("r2", 1);
  asm.syscall("sol_log_data");
}

function settle(amm: AmmWriter, at: SwapSlots, baseInput: boolean): void {
  logSwap(amm, at, baseInput);
  amm.transfer({
    program: accountIndexes.programIn,
    from: accountIndexes.from,
    mint: accountIndexes.mintIn,
    to: accountIndexes.vaultIn,
    authority: accountIndexes.payer,
    amount: at.amountIn,
    byPool: false,
  });
  amm.transfer({
    program: accountIndexes.programOut,
    from: accountIndexes.vaultOut,
    mint: accountIndexes.mintOut,
    to: accountIndexes.to,
    authority: accountIndexes.authority,
    amount: at.amountOut,
    byPool: true,
  });
}

/** swap_base_input {amount_in u64 @8, minimum_amount_out u64 @16}: all of it goes in, less the fee it counts. */
export function swapBaseInput(amm: AmmWriter): void {
  const { writer, arithmetic } = amm;
  const { asm } = writer;
  const at = slots(amm);
  writer.log("Instruction: SwapBaseInput");
  begin(amm, at);
  writer.argument(8, 8, at.amountIn);
  writer.argument(8, 16, at.bound);
  requireSome(amm, at.amountIn, ammErrors.invalidInput);
  // The fee is rounded up, so that no swap is free of it.
  arithmetic.quotient(at.amountIn, at.rate, at.whole, at.net, "up");
  asm.load(8, "r1", "r9", at.amountIn);
  asm.load(8, "r2", "r9", at.net);
  asm.branch("le", "r1", "r2", writer.failure(ammErrors.zeroTradingTokens));
  asm.arithmetic("sub", "r1", "r2");
  asm.store(8, "r9", at.net, "r1");
  asm.load(8, "r2", "r9", at.reserveIn);
  asm.add("r2", "r1");
  asm.branch("lt", "r2", "r1", writer.failure(runtimeErrors.arithmeticOverflow));
  asm.store(8, "r9", at.divisor, "r2");
  arithmetic.quotient(at.reserveOut, at.net, at.divisor, at.amountOut, "down");
  requireSome(amm, at.amountOut, ammErrors.zeroTradingTokens);
  asm.load(8, "r1", "r9", at.amountOut);
  asm.load(8, "r2", "r9", at.bound);
  asm.branch("lt", "r1", "r2", writer.failure(ammErrors.exceededSlippage));
  settle(amm, at, true);
}

/** swap_base_output {max_amount_in u64 @8, amount_out u64 @16}: what goes in follows, rounded up twice. */
export function swapBaseOutput(amm: AmmWriter): void {
  const { writer, arithmetic } = amm;
  const { asm } = writer;
  const at = slots(amm);
  writer.log("Instruction: SwapBaseOutput");
  begin(amm, at);
  writer.argument(8, 8, at.bound);
  writer.argument(8, 16, at.amountOut);
  requireSome(amm, at.amountOut, ammErrors.invalidInput);
  asm.load(8, "r1", "r9", at.reserveOut);
  asm.load(8, "r2", "r9", at.amountOut);
  asm.branch("le", "r1", "r2", writer.failure(ammErrors.invalidInput));
  asm.arithmetic("sub", "r1", "r2");
  asm.store(8, "r9", at.divisor, "r1");
  arithmetic.quotient(at.reserveIn, at.amountOut, at.divisor, at.net, "up");
  asm.load(8, "r1", "r9", at.whole);
  asm.load(8, "r2", "r9", at.rate);
  asm.branch("le", "r1", "r2", writer.failure(ammErrors.invalidInput));
  asm.arithmetic("sub", "r1", "r2");
  asm.store(8, "r9", at.divisor, "r1");
  arithmetic.quotient(at.net, at.whole, at.divisor, at.amountIn, "up");
  asm.load(8, "r1", "r9", at.amountIn);
  asm.load(8, "r2", "r9", at.bound);
  asm.branch("gt", "r1", "r2", writer.failure(ammErrors.exceededSlippage));
  settle(amm, at, false);
}
