import { beforeEach, expect, test } from "bun:test";
import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { Keypair, TransactionInstruction } from "@solana/web3.js";
import { programAccounts } from "../../../../../devnet/chain/genesis/elf-accounts.ts";
import { ProgramWriter } from "../../../../../devnet/chain/programs/program-writer.ts";
import { signed } from "../../../../../devnet/chain/testing/chain.ts";
import { keyOf } from "../accounts/key-name.ts";
import { SUCCEEDED } from "../protocol/messages.ts";
import { BundleMachine } from "./bundle-machine.ts";
import { type WrittenAccount, writtenAccount } from "./native-machine.ts";

const payer = Keypair.generate();
const program = Keypair.generate().publicKey;
const [PAYER, CODE, PROGRAM, OTHER] = [0, 1, 2, 3];
const blockhash = Keypair.generate().publicKey.toBase58();
let machine: BundleMachine;

/** A program that succeeds; one that is `picky` only with eight bytes of data. */
function deployed(picky: boolean): { code: WrittenAccount; program: WrittenAccount; keys: readonly Uint8Array[] } {
  const writer = new ProgramWriter();
  if (picky) writer.requireData(8);
  writer.succeed();
  const written = programAccounts(program.toBase58(), writer.finish());
  const [code, pointer] = written.map(({ account }) => {
    if (account === null) throw new Error("no account");
    const { lamports, data, executable } = account;
    return writtenAccount(lamports, keyOf(account.owner as Address), data, executable);
  });
  if (code === undefined || pointer === undefined) throw new Error("no program");
  return { code, program: pointer, keys: written.map(({ address }) => keyOf(address as Address)) };
}

function put(picky: boolean): void {
  const { code, program: pointer, keys } = deployed(picky);
  machine.write(CODE, keys[0] ?? new Uint8Array(), code);
  machine.write(PROGRAM, keys[1] ?? new Uint8Array(), pointer);
}

const system = (lamports: bigint) => writtenAccount(lamports, keyOf(programs.system), new Uint8Array(), false);

function call(deploys = false): string {
  const instruction = new TransactionInstruction({ programId: program, keys: [], data: Buffer.alloc(0) });
  const { bytes } = signed(payer, blockhash, instruction);
  const outcome = machine.run({
    ...{ block: 0, verify: true, deploys, keep: false, tipMask: 0, writes: [PAYER], reads: [PROGRAM] },
    transactions: [{ bytes, isLegacy: true, nonce: -1, lifetimeStart: 0 }],
  });
  if (outcome.kind === SUCCEEDED) return "ok";
  return "error" in outcome ? outcome.error : "nonce";
}

beforeEach(() => {
  machine = new BundleMachine();
  machine.write(PAYER, payer.publicKey.toBytes(), system(1_000_000_000n));
});

test("a program runs as it was deployed last, and is gone when its code is", () => {
  expect(call()).toMatch(/ProgramAccountNotFound|InvalidProgramForExecution/);
  put(false);
  expect(call()).toBe("ok");
  put(true);
  expect(call()).toContain("InstructionError");
  put(false);
  expect(call()).toBe("ok");
  machine.write(CODE, deployed(false).keys[0] ?? new Uint8Array(), null);
  expect(call()).toContain("UnsupportedProgramId");
});

test("a machine that begins anew after a deployment has the same state", () => {
  put(false);
  machine.write(OTHER, Keypair.generate().publicKey.toBytes(), system(7n));
  expect([call(true), call(true), call()]).toEqual(["ok", "ok", "ok"]);
});

test("what makes LiteSVM end the process is not written: built-in programs and sysvars that do not exist stay", () => {
  for (const [index, address] of [programs.system, programs.computeBudget].entries()) {
    machine.write(OTHER + index, keyOf(address), null);
  }
  put(false);
  expect(call()).toBe("ok");
  machine.forget(PROGRAM);
  machine.forget(CODE);
  expect(call()).toMatch(/ProgramAccountNotFound|InvalidProgramForExecution/);
});
