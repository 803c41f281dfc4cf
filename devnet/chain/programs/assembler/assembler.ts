import { ByteWriter } from "@sluice/wire/bytes";
import { elfTextOffset, programMemory, type Relocation, writeElf } from "./elf.ts";
import {
  type Arithmetic,
  type Condition,
  encodeInstruction,
  type Instruction,
  instructionBytes,
  type Register,
  slotsOf,
  type Width,
} from "./instructions.ts";

/** A place in the program, known when the program is whole. */
export interface Label {
  readonly name: string;
}

/** Bytes that the program can read, known by where they stand after its text. */
export interface Constant {
  readonly offset: number;
  readonly length: number;
}

type Unresolved =
  | { readonly kind: "ready"; readonly instruction: Instruction; readonly syscall?: string }
  | { readonly kind: "jump"; readonly label: Label; readonly when?: Comparison }
  | { readonly kind: "call"; readonly label: Label }
  | { readonly kind: "address"; readonly to: Register; readonly constant: Constant };

interface Comparison {
  readonly when: Condition;
  readonly left: Register;
  readonly right: Register | number;
}

/**
 * Takes a program instruction by instruction and gives the ELF file that a loader accepts. Labels may be used before
 * they are placed. Execution begins at the first instruction.
 */
export class Assembler {
  readonly #items: Unresolved[] = [];
  readonly #places = new Map<Label, number>();
  readonly #constants = new ByteWriter();
  #constantBytes = 0;
  #position = 0;

  /** A new label; `name` is what a fault calls it. */
  label(name: string): Label {
    return { name };
  }

  /** Several at once, in the order of their names. */
  labels<const Names extends readonly string[]>(...names: Names): { readonly [K in keyof Names]: Label } {
    return names.map((name) => this.label(name)) as { readonly [K in keyof Names]: Label };
  }

  place(label: Label): void {
    if (this.#places.has(label)) throw new Error(`the label ${label.name} is placed twice`);
    this.#places.set(label, this.#position);
  }

  arithmetic(op: Arithmetic, to: Register, by: Register | number): void {
    this.#ready({ kind: "arithmetic", op, to, by });
  }

  mov(to: Register, from: Register | number): void {
    this.arithmetic("mov", to, from);
  }

  add(to: Register, by: Register | number): void {
    this.arithmetic("add", to, by);
  }

  /** Loads a value of up to 64 bits. */
  wide(to: Register, value: bigint): void {
    this.#ready({ kind: "wide", to, value });
  }

  load(width: Width, to: Register, at: Register, off = 0): void {
    this.#ready({ kind: "load", width, to, at, off });
  }

  store(width: Width, at: Register, off: number, value: Register | number): void {
    this.#ready({ kind: "store", width, at, off, value });
  }

  jump(label: Label): void {
    this.#push({ kind: "jump", label });
  }

  branch(when: Condition, left: Register, right: Register | number, label: Label): void {
    this.#push({ kind: "jump", label, when: { when, left, right } });
  }

  call(label: Label): void {
    this.#push({ kind: "call", label });
  }

  /** Calls a function of the runtime by its name, such as `sol_log_`. */
  syscall(name: string): void {
    this.#push({ kind: "ready", instruction: { kind: "syscall" }, syscall: name });
  }

  exit(): void {
    this.#ready({ kind: "exit" });
  }

  /** Keeps bytes with the program, on an eight-byte boundary. */
  constant(bytes: Uint8Array): Constant {
    const offset = this.#constantBytes;
    const room = Math.ceil(bytes.length / 8) * 8;
    this.#constants.bytes(bytes).bytes(new Uint8Array(room - bytes.length));
    this.#constantBytes += room;
    return { offset, length: bytes.length };
  }

  /** Loads where a constant lies in memory. */
  address(to: Register, constant: Constant): void {
    this.#push({ kind: "address", to, constant });
  }

  /** The whole program as an ELF file. Throws when a label was used and never placed, or a jump is too far. */
  finish(): Uint8Array {
    const text = new ByteWriter();
    const relocations: Relocation[] = [];
    let position = 0;
    for (const item of this.#items) {
      if (item.kind === "ready" && item.syscall !== undefined) {
        relocations.push({ offset: position * instructionBytes, symbol: item.syscall });
      }
      const instruction = this.#resolve(item, position);
      text.bytes(encodeInstruction(instruction));
      position += slotsOf(instruction);
    }
    return writeElf({ text: text.finish(), constants: this.#constants.finish(), relocations });
  }

  #resolve(item: Unresolved, position: number): Instruction {
    switch (item.kind) {
      case "ready":
        return item.instruction;
      case "jump": {
        const off = this.#placeOf(item.label) - position - 1;
        return item.when === undefined ? { kind: "jump", off } : { kind: "branch", ...item.when, off };
      }
      case "call":
        return { kind: "call", off: this.#placeOf(item.label) - position - 1 };
      case "address": {
        const start = elfTextOffset + this.#position * instructionBytes;
        return { kind: "wide", to: item.to, value: programMemory + BigInt(start + item.constant.offset) };
      }
    }
  }

  #placeOf(label: Label): number {
    const place = this.#places.get(label);
    if (place === undefined) throw new Error(`the label ${label.name} is nowhere`);
    return place;
  }

  #ready(instruction: Instruction): void {
    this.#push({ kind: "ready", instruction });
  }

  #push(item: Unresolved): void {
    this.#items.push(item);
    this.#position += item.kind === "ready" ? slotsOf(item.instruction) : item.kind === "address" ? 2 : 1;
  }
}
