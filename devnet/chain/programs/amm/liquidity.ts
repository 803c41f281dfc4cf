import { record, runtimeErrors } from "../runtime.ts";
import type { AmmWriter } from "./amm-writer.ts";
import { ammErrors, poolOffsets, poolStatus } from "./layout.ts";

/** Positions of the accounts of deposits and withdrawals. */
const accountIndexes = {
  owner: 0,
  authority: 1,
  pool: 2,
  ownerLp: 3,
  accounts: [4, 5],
  vaults: [6, 7],
  tokenProgram: 8,
  tokenProgram2022: 9,
  mints: [10, 11],
  lpMint: 12,
} as const;
const sides = [0, 1] as const;

interface LiquiditySlots {
  readonly lp: number;
  readonly supply: number;
  readonly bounds: readonly [number, number];
  readonly reserves: readonly [number, number];
  readonly amounts: readonly [number, number];
  /** Which of the two token programs keeps each side. */
  readonly programs: readonly [number, number];
}

function begin(amm: AmmWriter, forbidden: number): LiquiditySlots {
  const { writer } = amm;
  const { asm } = writer;
  const pair = () => [writer.slot(), writer.slot()] as const;
  const at = {
    lp: writer.slot(),
    supply: writer.slot(),
    bounds: pair(),
    reserves: pair(),
    amounts: pair(),
    programs: pair(),
  };
  writer.requireAccounts(13);
  writer.requireData(32);
  writer.requireSigner(accountIndexes.owner);
  amm.openPool(accountIndexes.pool, forbidden);
  amm.requireOfPool(accountIndexes.pool, poolOffsets.lpMint, accountIndexes.lpMint, ammErrors.incorrectLpMint);
  amm.requireTokenProgram(accountIndexes.lpMint, accountIndexes.tokenProgram);
  for (const side of sides) {
    amm.requireOfPool(
      accountIndexes.pool,
      poolOffsets.vaults[side],
      accountIndexes.vaults[side],
      ammErrors.invalidVault,
    );
    amm.requireOfPool(accountIndexes.pool, poolOffsets.mints[side], accountIndexes.mints[side], ammErrors.invalidVault);
    amm.reserve(accountIndexes.vaults[side], at.reserves[side]);
    writer.argument(8, 16 + side * 8, at.bounds[side]);
    const [other, chosen] = [asm.label("other token program"), asm.label("token program chosen")];
    writer.account("r1", accountIndexes.vaults[side]);
    writer.account("r2", accountIndexes.tokenProgram);
    writer.requireSameKey("r1", record.owner, "r2", record.key, other);
    asm.jump(chosen);
    asm.place(other);
    amm.requireTokenProgram(accountIndexes.vaults[side], accountIndexes.tokenProgram2022);
    asm.place(chosen);
    asm.store(8, "r9", at.programs[side], "r2");
  }
  writer.argument(8, 8, at.lp);
  asm.load(8, "r1", "r9", at.lp);
  asm.branch("eq", "r1", 0, writer.failure(ammErrors.invalidInput));
  writer.account("r1", accountIndexes.pool);
  asm.load(8, "r1", "r1", record.data + poolOffsets.lpSupply);
  asm.branch("eq", "r1", 0, writer.failure(ammErrors.emptySupply));
  asm.store(8, "r9", at.supply, "r1");
  return at;
}

/** The share of each reserve that the pool's units stand for; none may be nothing. */
function amounts(amm: AmmWriter, at: LiquiditySlots, round: "down" | "up"): void {
  const { asm } = amm.writer;
  for (const side of sides) {
    amm.arithmetic.quotient(at.lp, at.reserves[side], at.supply, at.amounts[side], round);
    asm.load(8, "r1", "r9", at.amounts[side]);
    asm.branch("eq", "r1", 0, amm.writer.failure(ammErrors.zeroTradingTokens));
    asm.load(8, "r2", "r9", at.bounds[side]);
    const beyond = amm.writer.failure(ammErrors.exceededSlippage);
    asm.branch(round === "up" ? "gt" : "lt", "r1", "r2", beyond);
  }
}

function storeSupply(amm: AmmWriter): void {
  amm.writer.account("r2", accountIndexes.pool);
  amm.writer.asm.store(8, "r2", record.data + poolOffsets.lpSupply, "r1");
}

/** deposit {lp_token_amount u64 @8, maximum_token_0_amount u64 @16, maximum_token_1_amount u64 @24} */
export function deposit(amm: AmmWriter): void {
  const { writer } = amm;
  const { asm } = writer;
  writer.log("Instruction: Deposit");
  const at = begin(amm, poolStatus.noDeposit);
  amounts(amm, at, "up");
  asm.load(8, "r1", "r9", at.supply);
  asm.load(8, "r2", "r9", at.lp);
  asm.add("r1", "r2");
  asm.branch("lt", "r1", "r2", writer.failure(runtimeErrors.arithmeticOverflow));
  storeSupply(amm);
  for (const side of sides) {
    amm.transfer({
      program: { slot: at.programs[side] },
      from: accountIndexes.accounts[side],
      mint: accountIndexes.mints[side],
      to: accountIndexes.vaults[side],
      authority: accountIndexes.owner,
      amount: at.amounts[side],
      byPool: false,
    });
  }
  const accounts = [accountIndexes.lpMint, accountIndexes.ownerLp, accountIndexes.authority] as const;
  amm.changeSupply({ tag: 7, program: accountIndexes.tokenProgram, accounts, amount: at.lp, byPool: true });
}

/** withdraw {lp_token_amount u64 @8, minimum_token_0_amount u64 @16, minimum_token_1_amount u64 @24} */
export function withdraw(amm: AmmWriter): void {
  const { writer } = amm;
  const { asm } = writer;
  writer.log("Instruction: Withdraw");
  const at = begin(amm, poolStatus.noWithdraw);
  amounts(amm, at, "down");
  asm.load(8, "r1", "r9", at.supply);
  asm.load(8, "r2", "r9", at.lp);
  // The last units stay, so that a pool is never without a price.
  asm.branch("le", "r1", "r2", writer.failure(ammErrors.emptySupply));
  asm.arithmetic("sub", "r1", "r2");
  storeSupply(amm);
  const accounts = [accountIndexes.ownerLp, accountIndexes.lpMint, accountIndexes.owner] as const;
  amm.changeSupply({ tag: 8, program: accountIndexes.tokenProgram, accounts, amount: at.lp, byPool: false });
  for (const side of sides) {
    amm.transfer({
      program: { slot: at.programs[side] },
      from: accountIndexes.vaults[side],
      mint: accountIndexes.mints[side],
      to: accountIndexes.accounts[side],
      authority: accountIndexes.authority,
      amount: at.amounts[side],
      byPool: true,
    });
  }
}
