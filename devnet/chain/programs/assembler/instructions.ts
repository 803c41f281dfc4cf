import { ByteWriter } from "@sluice/wire/bytes";

/**
 * The instructions of sBPF version 0, the one that every chain still runs: eight bytes each, opcode, destination in the
 * low and source in the high half of a byte, a signed 16-bit offset and a signed 32-bit immediate; `lddw` takes two of
 * them. Source: the sBPF specification (anza-xyz/sbpf, doc/bytecode.md).
 */

export const instructionBytes = 8;

/** r0 holds results, r1 to r5 arguments, r6 to r9 outlive calls, r10 points behind the frame and is read only. */
export type Register = "r0" | "r1" | "r2" | "r3" | "r4" | "r5" | "r6" | "r7" | "r8" | "r9" | "r10";

/** Opcodes of 64-bit arithmetic with an immediate; with a register it is one bit more. */
const arithmetic = {
  add: 0x07,
  sub: 0x17,
  mul: 0x27,
  div: 0x37,
  or: 0x47,
  and: 0x57,
  lsh: 0x67,
  rsh: 0x77,
  mod: 0x97,
  xor: 0xa7,
  mov: 0xb7,
} as const;

/**
 * Opcodes of jumps against an immediate; against a register it is one bit more. Comparisons are unsigned but for s*.
 */
const jumps = {
  eq: 0x15,
  gt: 0x25,
  ge: 0x35,
  set: 0x45,
  ne: 0x55,
  sgt: 0x65,
  sge: 0x75,
  lt: 0xa5,
  le: 0xb5,
  slt: 0xc5,
  sle: 0xd5,
} as const;

const loads = { 1: 0x71, 2: 0x69, 4: 0x61, 8: 0x79 } as const;
const stores = { 1: 0x73, 2: 0x6b, 4: 0x63, 8: 0x7b } as const;
const storesImmediate = { 1: 0x72, 2: 0x6a, 4: 0x62, 8: 0x7a } as const;
/** The bit of an opcode that makes its operand a register. */
const registerOperand = 0x08;

export type Arithmetic = keyof typeof arithmetic;
export type Condition = keyof typeof jumps;
/** Bytes that one load or store moves. */
export type Width = keyof typeof loads;

/** One instruction with everything resolved. Offsets of jumps and of calls count instructions from the next one. */
export type Instruction =
  | { readonly kind: "arithmetic"; readonly op: Arithmetic; readonly to: Register; readonly by: Register | number }
  | { readonly kind: "load"; readonly width: Width; readonly to: Register; readonly at: Register; readonly off: number }
  | {
      readonly kind: "store";
      readonly width: Width;
      readonly at: Register;
      readonly off: number;
      readonly value: Register | number;
    }
  | { readonly kind: "wide"; readonly to: Register; readonly value: bigint }
  | { readonly kind: "jump"; readonly off: number }
  | {
      readonly kind: "branch";
      readonly when: Condition;
      readonly left: Register;
      readonly right: Register | number;
      readonly off: number;
    }
  | { readonly kind: "call"; readonly off: number }
  | { readonly kind: "syscall" }
  | { readonly kind: "exit" };

function number(register: Register): number {
  return Number(register.slice(1));
}

function fits(value: number, bits: 16 | 32, what: string): number {
  const bound = 2 ** (bits - 1);
  if (Number.isInteger(value) && value >= -bound && value < bound) return value;
  throw new RangeError(`${what} ${value} does not fit in ${bits} bits`);
}

interface Fields {
  readonly to?: Register;
  readonly from?: Register;
  readonly off?: number;
  readonly immediate?: number;
}

function slot(opcode: number, fields: Fields): Uint8Array {
  const bytes = new Uint8Array(instructionBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = opcode;
  bytes[1] =
    (fields.to === undefined ? 0 : number(fields.to)) | (fields.from === undefined ? 0 : number(fields.from) << 4);
  view.setInt16(2, fits(fields.off ?? 0, 16, "the offset"), true);
  view.setInt32(4, fits(fields.immediate ?? 0, 32, "the immediate"), true);
  return bytes;
}

/** An operand is a register or an immediate; the opcode says which. */
function withOperand(opcode: number, operand: Register | number, fields: Fields): Uint8Array {
  if (typeof operand === "number") return slot(opcode, { ...fields, immediate: operand });
  return slot(opcode | registerOperand, { ...fields, from: operand });
}

/** How many instructions' room one takes. */
export function slotsOf(instruction: Pick<Instruction, "kind">): 1 | 2 {
  return instruction.kind === "wide" ? 2 : 1;
}

/** The bytes of one instruction. Throws RangeError when a number does not fit its field. */
export function encodeInstruction(instruction: Instruction): Uint8Array {
  switch (instruction.kind) {
    case "arithmetic":
      return withOperand(arithmetic[instruction.op], instruction.by, { to: instruction.to });
    case "load":
      return slot(loads[instruction.width], { to: instruction.to, from: instruction.at, off: instruction.off });
    case "store": {
      const { width, at, off, value } = instruction;
      if (typeof value === "number") return slot(storesImmediate[width], { to: at, off, immediate: value });
      return slot(stores[width], { to: at, from: value, off });
    }
    case "wide": {
      const half = (shift: bigint) => Number(BigInt.asIntN(32, instruction.value >> shift));
      const low = slot(0x18, { to: instruction.to, immediate: half(0n) });
      return new ByteWriter()
        .bytes(low)
        .bytes(slot(0, { immediate: half(32n) }))
        .finish();
    }
    case "jump":
      return slot(0x05, { off: instruction.off });
    case "branch":
      return withOperand(jumps[instruction.when], instruction.right, { to: instruction.left, off: instruction.off });
    case "call":
      // A source of 1 marks a call within the program, whose immediate is relative.
      return slot(0x85, { from: "r1", immediate: instruction.off });
    case "syscall":
      // The loader puts the syscall's number here, by the relocation of this instruction.
      return slot(0x85, { immediate: -1 });
    case "exit":
      return slot(0x95, {});
  }
}
