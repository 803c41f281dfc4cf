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
const [payerHandle, codeHandle, programHandle, otherHandle] = [0, 1, 2, 3];
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
  write(codeHandle, keys[0], code);
  write(programHandle, keys[1], pointer);
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
    ...{ block: null, verify: true, deploys, keep: false, tipMask: 0, writes: [payerHandle], reads: [programHandle] },
    transactions: [{ bytes, isLegacy: true, nonce: null, lifetimeStart: 0 }],
  });
  if (outcome.kind === "succeeded") return "ok";
  return "error" in outcome ? outcome.error : "nonce";
}

beforeEach(() => {
  machine = new BundleMachine();
  write(payerHandle, payer.publicKey.toBytes(), system(1_000_000_000n));
});

test("a program runs as it was deployed last, and not at all without its code", () => {
  expect(call()).toMatch(/ProgramAccountNotFound|InvalidProgramForExecution/);
  put(false);
  expect(call()).toBe("ok");
  put(true);
  expect(call()).toContain("InstructionError");
  put(false);
  expect(call()).toBe("ok");
  write(codeHandle, deployed(false).keys[0]);
  expect(call()).toContain("UnsupportedProgramId");
});

test("a machine that is replaced after a deployment has the same state", () => {
  put(false);
  write(otherHandle, Keypair.generate().publicKey.toBytes(), system(7n));
  expect([call(true), call(true), call()]).toEqual(["ok", "ok", "ok"]);
});

test("built-in programs and sysvars are never closed, which would make LiteSVM end the process", () => {
  for (const [index, address] of [programs.system, programs.computeBudget].entries()) {
    write(otherHandle + index, addressBytes(address));
  }
  put(false);
  expect(call()).toBe("ok");
  machine.forget(programHandle);
  machine.forget(codeHandle);
  expect(call()).toMatch(/ProgramAccountNotFound|InvalidProgramForExecution/);
});
