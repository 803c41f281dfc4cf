import { beforeEach, expect, test } from "bun:test";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { Keypair, TransactionInstruction } from "@solana/web3.js";
import { programAccounts } from "../../devnet/chain/genesis/elf-accounts.ts";
import { ProgramWriter } from "../../devnet/chain/programs/program-writer.ts";
import { signed } from "../../devnet/chain/testing/chain.ts";
import type { AccountBytes } from "../account.ts";
import { BundleMachine } from "./bundle-machine.ts";

const payer = Keypair.generate();
const program = Keypair.generate().publicKey;
const [PAYER, CODE, PROGRAM, OTHER] = [0, 1, 2, 3];
const blockhash = Keypair.generate().publicKey.toBase58();
let machine: BundleMachine;

/** A program that succeeds; one that is `picky` only with eight bytes of data. */
function deployed(picky: boolean): { code: AccountBytes; program: AccountBytes; keys: readonly Uint8Array[] } {
  const writer = new ProgramWriter();
  if (picky) writer.requireData(8);
  writer.succeed();
  const written = programAccounts(program.toBase58(), writer.finish());
  const [code, pointer] = written.map(({ account }) => {
    if (account === null) throw new Error("no account");
    return { ...account, owner: addressBytes(account.owner) };
  });
  if (code === undefined || pointer === undefined) throw new Error("no program");
  return { code, program: pointer, keys: written.map(({ address }) => addressBytes(address)) };
}

function put(picky: boolean): void {
  const { code, program: pointer, keys } = deployed(picky);
  write(CODE, keys[0], code);
  write(PROGRAM, keys[1], pointer);
}

function write(handle: number, key: Uint8Array = new Uint8Array(), account: AccountBytes | null = null): void {
  machine.write({ handle, key, account, isBuiltIn: false });
}

const system = (lamports: bigint): AccountBytes => ({
  ...{ lamports, owner: addressBytes(programs.system), data: new Uint8Array(), executable: false },
});

function call(deploys = false): string {
  const instruction = new TransactionInstruction({ programId: program, keys: [], data: Buffer.alloc(0) });
  const { bytes } = signed(payer, blockhash, instruction);
  const outcome = machine.run({
    ...{ block: null, verify: true, deploys, keep: false, tipMask: 0, writes: [PAYER], reads: [PROGRAM] },
    transactions: [{ bytes, isLegacy: true, nonce: null, lifetimeStart: 0 }],
  });
  if (outcome.kind === "succeeded") return "ok";
  return "error" in outcome ? outcome.error : "nonce";
}

beforeEach(() => {
  machine = new BundleMachine();
  write(PAYER, payer.publicKey.toBytes(), system(1_000_000_000n));
});

test("a program runs as it was deployed last, and is gone when its code is", () => {
  expect(call()).toMatch(/ProgramAccountNotFound|InvalidProgramForExecution/);
  put(false);
  expect(call()).toBe("ok");
  put(true);
  expect(call()).toContain("InstructionError");
  put(false);
  expect(call()).toBe("ok");
  write(CODE, deployed(false).keys[0]);
  expect(call()).toContain("UnsupportedProgramId");
});

test("a machine that begins anew after a deployment has the same state", () => {
  put(false);
  write(OTHER, Keypair.generate().publicKey.toBytes(), system(7n));
  expect([call(true), call(true), call()]).toEqual(["ok", "ok", "ok"]);
});

test("what makes LiteSVM end the process is not written: built-in programs and sysvars that do not exist stay", () => {
  for (const [index, address] of [programs.system, programs.computeBudget].entries()) {
    write(OTHER + index, addressBytes(address));
  }
  put(false);
  expect(call()).toBe("ok");
  machine.forget(PROGRAM);
  machine.forget(CODE);
  expect(call()).toMatch(/ProgramAccountNotFound|InvalidProgramForExecution/);
});
