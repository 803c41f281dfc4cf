import { describe, expect, test } from "bun:test";
import { Keypair } from "@solana/web3.js";
import { ProgramRun } from "../testing/run-program.ts";
import { Assembler } from "./assembler.ts";
import { encodeInstruction, type Instruction } from "./instructions.ts";

const hex = (instruction: Instruction) => Buffer.from(encodeInstruction(instruction)).toString("hex");

describe("encodings", () => {
  /** Written by hand from the opcode tables of the sBPF specification. */
  const known: readonly (readonly [string, Instruction])[] = [
    ["b701000005000000", { kind: "arithmetic", op: "mov", to: "r1", by: 5 }],
    ["bf91000000000000", { kind: "arithmetic", op: "mov", to: "r1", by: "r9" }],
    ["07060000ffffffff", { kind: "arithmetic", op: "add", to: "r6", by: -1 }],
    ["1f21000000000000", { kind: "arithmetic", op: "sub", to: "r1", by: "r2" }],
    ["2f21000000000000", { kind: "arithmetic", op: "mul", to: "r1", by: "r2" }],
    ["3f21000000000000", { kind: "arithmetic", op: "div", to: "r1", by: "r2" }],
    ["4f21000000000000", { kind: "arithmetic", op: "or", to: "r1", by: "r2" }],
    ["57060000f8ffffff", { kind: "arithmetic", op: "and", to: "r6", by: -8 }],
    ["6703000003000000", { kind: "arithmetic", op: "lsh", to: "r3", by: 3 }],
    ["7704000020000000", { kind: "arithmetic", op: "rsh", to: "r4", by: 32 }],
    ["9f21000000000000", { kind: "arithmetic", op: "mod", to: "r1", by: "r2" }],
    ["af21000000000000", { kind: "arithmetic", op: "xor", to: "r1", by: "r2" }],
    ["7161580000000000", { kind: "load", width: 1, to: "r1", at: "r6", off: 88 }],
    ["6961020000000000", { kind: "load", width: 2, to: "r1", at: "r6", off: 2 }],
    ["6161040000000000", { kind: "load", width: 4, to: "r1", at: "r6", off: 4 }],
    ["7961f8ff00000000", { kind: "load", width: 8, to: "r1", at: "r6", off: -8 }],
    ["7b1af8ff00000000", { kind: "store", width: 8, at: "r10", off: -8, value: "r1" }],
    ["7309100000000000", { kind: "store", width: 1, at: "r9", off: 16, value: "r0" }],
    ["720910000c000000", { kind: "store", width: 1, at: "r9", off: 16, value: 12 }],
    ["7a09100059000000", { kind: "store", width: 8, at: "r9", off: 16, value: 89 }],
    ["18090000000000000000000003000000", { kind: "wide", to: "r9", value: 0x3_0000_0000n }],
    ["18020000887766550000000044332211", { kind: "wide", to: "r2", value: 0x1122_3344_5566_7788n }],
    ["0500feff00000000", { kind: "jump", off: -2 }],
    ["1502030000000000", { kind: "branch", when: "eq", left: "r2", right: 0, off: 3 }],
    ["1d12030000000000", { kind: "branch", when: "eq", left: "r2", right: "r1", off: 3 }],
    ["2501020018000000", { kind: "branch", when: "gt", left: "r1", right: 24, off: 2 }],
    ["ad21020000000000", { kind: "branch", when: "lt", left: "r1", right: "r2", off: 2 }],
    ["8510000004000000", { kind: "call", off: 4 }],
    ["85000000ffffffff", { kind: "syscall" }],
    ["9500000000000000", { kind: "exit" }],
  ];
  for (const [bytes, instruction] of known) {
    test(`${instruction.kind} ${bytes}`, () => expect(hex(instruction)).toBe(bytes));
  }

  test("a value that does not fit its field is refused", () => {
    const far: Instruction = { kind: "jump", off: 40_000 };
    expect(() => encodeInstruction(far)).toThrow(RangeError);
    expect(() => hex({ kind: "arithmetic", op: "mov", to: "r1", by: 2 ** 31 })).toThrow(RangeError);
    expect(() => hex({ kind: "load", width: 8, to: "r1", at: "r2", off: 0.5 })).toThrow(RangeError);
  });

  test("an error names a label that is not placed, and one that is placed twice", () => {
    const asm = new Assembler();
    const label = asm.label("lost");
    asm.jump(label);
    expect(() => asm.finish()).toThrow("lost");
    asm.place(label);
    expect(() => asm.place(label)).toThrow("lost");
  });
});

describe("programs that the machine runs", () => {
  test("one that logs, calls its own function and succeeds", async () => {
    const asm = new Assembler();
    const [constant, routine] = [asm.constant(new TextEncoder().encode("hello, chain")), asm.label("routine")];
    asm.mov("r6", 7);
    asm.call(routine);
    asm.address("r1", constant);
    asm.mov("r2", constant.length);
    asm.syscall("sol_log_");
    asm.mov("r0", 0);
    asm.exit();
    asm.place(routine);
    asm.mov("r1", "r6");
    for (const register of ["r2", "r3", "r4", "r5"] as const) asm.mov(register, 0);
    asm.mov("r6", 0);
    asm.syscall("sol_log_64_");
    asm.exit();
    const outcome = await (await ProgramRun.of(asm.finish())).call(new Uint8Array());
    expect(outcome.error).toBeNull();
    expect(outcome.logs.filter((line) => line.startsWith("Program log"))).toEqual([
      "Program log: 0x7, 0x0, 0x0, 0x0, 0x0",
      "Program log: hello, chain",
    ]);
  });

  test("one that fails with its own error", async () => {
    const asm = new Assembler();
    asm.wide("r0", 6_005n);
    asm.exit();
    const outcome = await (await ProgramRun.of(asm.finish())).call(new Uint8Array());
    expect(outcome.error).toEqual({ InstructionError: [0, { Custom: 6_005 }] });
  });

  test("one without any call of the runtime, one that loops for ever, and one that reads where nothing is", async () => {
    const still = new Assembler();
    still.mov("r0", 0);
    still.exit();
    expect((await (await ProgramRun.of(still.finish())).call(new Uint8Array())).error).toBeNull();
    const loop = new Assembler();
    const again = loop.label("again");
    loop.place(again);
    loop.jump(again);
    loop.exit();
    expect((await (await ProgramRun.of(loop.finish())).call(new Uint8Array())).error).toEqual({
      InstructionError: [0, "ProgramFailedToComplete"],
    });
    const stray = new Assembler();
    stray.wide("r1", 0x5_0000_0000n);
    stray.load(8, "r0", "r1");
    stray.exit();
    expect((await (await ProgramRun.of(stray.finish())).call(new Uint8Array())).error).toEqual({
      InstructionError: [0, "ProgramFailedToComplete"],
    });
  });

  test("a call of the runtime that does not exist is refused when the program is loaded", async () => {
    const asm = new Assembler();
    asm.syscall("sol_make_coffee");
    asm.exit();
    const loaded = await ProgramRun.of(asm.finish()).then(
      (run) =>
        run.call(new Uint8Array(), [{ pubkey: Keypair.generate().publicKey, isSigner: false, isWritable: false }]),
      (error: unknown) => ({ error: String(error) }),
    );
    expect(loaded.error).not.toBeNull();
  });
});
