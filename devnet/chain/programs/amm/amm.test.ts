import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Keypair, TransactionInstruction } from "@solana/web3.js";
import { TextRandom } from "../../../random.ts";
import type { GenesisPool } from "../../genesis/pools.ts";
import type { ExecutedTransaction } from "../../model/records.ts";
import { tokenAmount } from "../../model/token-state.ts";
import { type ManualChain, signed, startManualChain } from "../../testing/chain.ts";
import { walletKeypair } from "../../testing/wallets.ts";
import { holding, liquidityInstruction, poolNamed, swapInstruction } from "../testing/pool-instructions.ts";
import { poolOffsets } from "./layout.ts";

const alice = walletKeypair("alice");
const issuer = walletKeypair("issuer");
const feeRate = 3_000n;
const million = 1_000_000n;
const up = (value: bigint, by: bigint) => (value + by - 1n) / by;

let manual: ManualChain;
let pool: GenesisPool;
let sent = 0;

beforeAll(async () => {
  manual = await startManualChain();
  pool = poolNamed(manual.chain.genesis.description.pools, "dev-usdc");
});
afterAll(() => manual[Symbol.asyncDispose]());

const accountNow = (address: string) => {
  const account = manual.chain.accounts.newest(address);
  if (account === null) throw new Error(`no account ${address}`);
  return account;
};
const unitsAt = (address: string) => tokenAmount(accountNow(address));
const reserves = () => [unitsAt(pool.sides[0].vault), unitsAt(pool.sides[1].vault)] as const;
const lpSupply = () => Buffer.from(accountNow(pool.address).data).readBigUInt64LE(poolOffsets.lpSupply);

async function run(payer: Keypair, instruction: TransactionInstruction): Promise<ExecutedTransaction> {
  // A transfer of a distinct amount makes each transaction unique.
  sent += 1;
  const transaction = signed(payer, manual.chain.at("processed").blockhash, unique(instruction, sent));
  manual.chain.submit(transaction);
  await manual.closeSlots(1);
  const executed = manual.chain.history.transaction(transaction.id)?.executed;
  if (executed === undefined) throw new Error("it did not land");
  return executed;
}

/** Data behind what an instruction reads makes its transaction one of its kind. */
function unique(instruction: TransactionInstruction, number: number): TransactionInstruction {
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(number);
  instruction.data = Buffer.concat([instruction.data, tail]);
  return instruction;
}

const custom = (code: number) => ({ InstructionError: [0, { Custom: code }] });
const swap = (from: 0 | 1, by: "input" | "output", amounts: readonly [bigint, bigint]) =>
  run(alice, swapInstruction({ owner: alice.publicKey, pool, from, by, amounts }));

describe("swaps", () => {
  test("random ones in both directions pay what the formula says, to the unit, and the product never falls", async () => {
    const draw = new TextRandom("swaps");
    for (let count = 0; count < 120; count += 1) {
      const from = draw.next() < 0.5 ? 0 : 1;
      const before = reserves();
      const [into, out] = from === 0 ? before : [before[1], before[0]];
      const held = unitsAt(holding(alice.publicKey, pool.sides[from]));
      const amount = (BigInt(draw.magnitude(3, 10)) % (held / 10n)) + 1n;
      const fee = up(amount * feeRate, million);
      const given = fee >= amount ? 0n : (out * (amount - fee)) / (into + amount - fee);
      const executed = await swap(from, "input", [amount, given]);
      const after = reserves();
      if (given === 0n) {
        expect(executed.error).toEqual(custom(6_006));
        expect(after).toEqual(before);
        continue;
      }
      expect(executed.error).toBeNull();
      const changed = from === 0 ? [into + amount, out - given] : [out - given, into + amount];
      expect<readonly bigint[]>(after).toEqual(changed);
      expect(after[0] * after[1]).toBeGreaterThanOrEqual(before[0] * before[1]);
    }
  }, 60_000);

  test("those by what comes out take what the formula says, rounded up twice", async () => {
    const draw = new TextRandom("outputs");
    for (let count = 0; count < 40; count += 1) {
      const from = draw.next() < 0.5 ? 0 : 1;
      const before = reserves();
      const [into, out] = from === 0 ? before : [before[1], before[0]];
      const wanted = BigInt(draw.magnitude(0, 7));
      const net = up(into * wanted, out - wanted);
      const amount = up(net * million, million - feeRate);
      const refused = await swap(from, "output", [amount - 1n, wanted]);
      expect(refused.error).toEqual(custom(6_005));
      const executed = await swap(from, "output", [amount, wanted]);
      expect(executed.error).toBeNull();
      const after = reserves();
      expect<readonly bigint[]>(after).toEqual(
        from === 0 ? [into + amount, out - wanted] : [out - wanted, into + amount],
      );
      expect(after[0] * after[1]).toBeGreaterThanOrEqual(before[0] * before[1]);
    }
  }, 60_000);

  test("one that would give less than the least asked for fails, and moves nothing", async () => {
    const before = reserves();
    const executed = await swap(0, "input", [1_000_000_000n, 10n ** 15n]);
    expect(executed.error).toEqual(custom(6_005));
    expect(reserves()).toEqual(before);
  });

  test("amounts at the edge of 64 bits are errors, never a wrap", async () => {
    const most = 0xffff_ffff_ffff_ffffn;
    const before = reserves();
    // More than any account has: the token program refuses it.
    expect((await swap(0, "input", [most, 0n])).error).toEqual(custom(1));
    expect((await swap(0, "input", [0n, 0n])).error).toEqual(custom(6_003));
    expect((await swap(0, "output", [most, most])).error).toEqual(custom(6_003));
    expect((await swap(0, "output", [most, before[1]])).error).toEqual(custom(6_003));
    expect((await swap(0, "output", [most, before[1] - 1n])).error).not.toBeNull();
    expect(reserves()).toEqual(before);
  });

  test("vaults, mints, configuration, token programs and authority of something else are refused", async () => {
    const other = poolNamed(manual.chain.genesis.description.pools, "xnt-usdc");
    const before = reserves();
    const own = swapInstruction({ owner: alice.publicKey, pool, from: 0, by: "input", amounts: [1_000n, 0n] });
    const foreign = [alice.publicKey.toBase58(), other.sides[0].vault, other.observation, other.sides[0].mint.address];
    for (let index = 1; index < own.keys.length; index += 1) {
      for (const address of foreign) {
        const instruction = swapInstruction({
          owner: alice.publicKey,
          pool,
          from: 0,
          by: "input",
          amounts: [1_000_000n, 0n],
        });
        const key = instruction.keys[index];
        if (key === undefined) throw new Error("no such account");
        if (key.pubkey.toBase58() === address) continue;
        const { PublicKey } = await import("@solana/web3.js");
        instruction.keys[index] = { ...key, pubkey: new PublicKey(address) };
        expect((await run(alice, instruction)).error).not.toBeNull();
      }
    }
    const unsigned = swapInstruction({ owner: alice.publicKey, pool, from: 0, by: "input", amounts: [1_000n, 0n] });
    const first = unsigned.keys[0];
    if (first !== undefined) unsigned.keys[0] = { ...first, isSigner: false };
    expect((await run(issuer, unsigned)).error).toEqual({ InstructionError: [0, "MissingRequiredSignature"] });
    expect(reserves()).toEqual(before);
  }, 60_000);

  test("a swap logs its event and makes two real transfers", async () => {
    const before = reserves();
    const executed = await swap(0, "input", [5_000_000_000n, 1n]);
    const event = executed.logs.find((line) => line.startsWith("Program data: "));
    const data = Buffer.from(event?.slice("Program data: ".length) ?? "", "base64");
    expect(data.length).toBe(89);
    expect(data.readBigUInt64LE(40)).toBe(before[0]);
    expect(data.readBigUInt64LE(48)).toBe(before[1]);
    expect(data.readBigUInt64LE(56)).toBe(5_000_000_000n);
    expect(data.readBigUInt64LE(64)).toBe(before[1] - reserves()[1]);
    expect(executed.innerInstructions[0]?.instructions.length).toBe(2);
    expect(executed.logs).toContain("Program log: Instruction: SwapBaseInput");
  });
});

describe("liquidity", () => {
  test("what is put in and taken out is the share that the units stand for, never to the pool's loss", async () => {
    const draw = new TextRandom("liquidity");
    for (let count = 0; count < 20; count += 1) {
      const before = reserves();
      const supply = lpSupply();
      const lp = BigInt(draw.magnitude(5, 9));
      const change = count % 2 === 0 ? "deposit" : "withdraw";
      const share = (reserve: bigint) => (change === "deposit" ? up(lp * reserve, supply) : (lp * reserve) / supply);
      const [zero, one] = [share(before[0]), share(before[1])];
      const request = { owner: issuer.publicKey, pool, change, lp } as const;
      const worse = change === "deposit" ? zero - 1n : zero + 1n;
      const instruction = (first: bigint) => liquidityInstruction({ ...request, bounds: [first, one] });
      if (count === 0) await fundIssuer();
      if (zero > 0n && one > 0n) expect((await run(issuer, instruction(worse))).error).toEqual(custom(6_005));
      const executed = await run(issuer, instruction(zero));
      expect(executed.error).toEqual(zero === 0n || one === 0n ? custom(6_006) : null);
      if (executed.error !== null) continue;
      const sign = change === "deposit" ? 1n : -1n;
      expect<readonly bigint[]>(reserves()).toEqual([before[0] + sign * zero, before[1] + sign * one]);
      expect(lpSupply()).toBe(supply + sign * lp);
      const after = reserves();
      expect(after[0] * after[1] * supply * supply).toBeGreaterThanOrEqual(
        before[0] * before[1] * lpSupply() * lpSupply(),
      );
    }
  }, 60_000);

  test("the last units cannot be taken out", async () => {
    const request = { owner: issuer.publicKey, pool, change: "withdraw", lp: lpSupply(), bounds: [0n, 0n] } as const;
    expect((await run(issuer, liquidityInstruction(request))).error).toEqual(custom(6_002));
  });
});

/** The issuer mints himself units of both sides. */
async function fundIssuer(): Promise<void> {
  const { createAssociatedTokenAccountIdempotentInstruction, createMintToInstruction } = await import(
    "@solana/spl-token"
  );
  const { PublicKey } = await import("@solana/web3.js");
  for (const side of pool.sides) {
    const [mint, at] = [new PublicKey(side.mint.address), new PublicKey(holding(issuer.publicKey, side))];
    const open = createAssociatedTokenAccountIdempotentInstruction(issuer.publicKey, at, issuer.publicKey, mint);
    const mintTo = createMintToInstruction(mint, at, issuer.publicKey, 10n ** 15n);
    const transaction = signed(issuer, manual.chain.at("processed").blockhash, open, mintTo);
    manual.chain.submit(transaction);
    await manual.closeSlots(1);
    expect(manual.chain.history.transaction(transaction.id)?.executed.error).toBeNull();
  }
}
