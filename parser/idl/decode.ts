import { encodeBase58 } from "@sluice/wire/base58";
import type { JsonValue } from "@sluice/wire/json";
import type { CountOf, IdlInstruction, IdlProgram, IdlType } from "./types.ts";

/** The data do not have the form that the file states, or more in it than one record shows. */
class UnreadableData extends Error {
  override readonly name = "UnreadableData";
}

/** Values of one instruction, so that a list of empty items ends, and levels of them. */
const limits = { values: 4_096, depth: 32 } as const;
const utf8 = new TextDecoder();

/**
 * The arguments of an instruction by name: integers of up to 32 bits as numbers, larger ones as decimal text, bytes in
 * hex. What follows the last argument is left out, as programs leave it. Null where the data are not of the form.
 */
export function decodeArguments(
  program: IdlProgram,
  instruction: IdlInstruction,
  data: Uint8Array,
): { readonly [name: string]: JsonValue } | null {
  const reader = new Reader(program, data);
  try {
    const shown: [string, JsonValue][] = [];
    for (const { name, type, isShown } of instruction.fields) {
      const value = reader.value(type, 0);
      if (isShown) shown.push([name, value]);
    }
    return Object.fromEntries(shown);
  } catch (error) {
    if (error instanceof UnreadableData) return null;
    throw error;
  }
}

class Reader {
  readonly #program: IdlProgram;
  readonly #data: Uint8Array;
  readonly #view: DataView;
  #offset = 0;
  #values = 0;

  constructor(program: IdlProgram, data: Uint8Array) {
    this.#program = program;
    this.#data = data;
    this.#view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  value(type: IdlType, depth: number): JsonValue {
    this.#values += 1;
    if (depth > limits.depth || this.#values > limits.values) throw new UnreadableData("too much");
    switch (type.kind) {
      case "number":
        return shownNumber(this.#whole(type), type.bytes);
      case "short":
        return this.#short();
      case "float":
        return this.#float(type);
      case "bool":
        return this.#whole({ ...type, signed: false, bigEndian: false }) !== 0n;
      case "address":
        return encodeBase58(this.#take(32));
      case "text":
        return utf8.decode(this.#take(this.#sizeOf(type.size)));
      case "bytes":
        return this.#take(this.#sizeOf(type.size)).toHex();
      default:
        return this.#compound(type, depth);
    }
  }

  #compound(type: IdlType, depth: number): JsonValue {
    const inner = (of: IdlType): JsonValue => this.value(of, depth + 1);
    switch (type.kind) {
      case "list":
        return this.#list(type.count, () => inner(type.item));
      case "map":
        return this.#list(type.count, () => ({ key: inner(type.key), value: inner(type.value) }));
      case "option":
        return this.#option(type, depth);
      case "fields":
        return Object.fromEntries(type.fields.map((field) => [field.name, inner(field.type)]));
      case "tuple":
        return type.items.map(inner);
      case "choice": {
        const number = Number(this.#whole({ bytes: type.bytes, signed: false, bigEndian: false }));
        const variant = type.variants.find((each) => each.number === number);
        if (variant === undefined) throw new UnreadableData("no such variant");
        return variant.value === null ? variant.name : { [variant.name]: inner(variant.value) };
      }
      case "named": {
        const named = this.#program.types.get(type.name);
        if (named === undefined) throw new UnreadableData("no such type");
        return inner(named);
      }
      default:
        throw new UnreadableData("a type that is not read");
    }
  }

  #option({ item, bytes, isFixed }: Extract<IdlType, { kind: "option" }>, depth: number): JsonValue {
    const isSome = this.#whole({ bytes, signed: false, bigEndian: false });
    if (isSome > 1n) throw new UnreadableData("no option");
    if (isSome === 1n) return this.value(item, depth + 1);
    if (isFixed) this.value(item, depth + 1);
    return null;
  }

  #list(count: CountOf, item: () => JsonValue): JsonValue[] {
    const items: JsonValue[] = [];
    if (count.kind === "rest") {
      while (this.#offset < this.#data.length) items.push(item());
      return items;
    }
    const length = this.#countOf(count);
    if (length > limits.values) throw new UnreadableData("too long");
    for (let at = 0; at < length; at += 1) items.push(item());
    return items;
  }

  #sizeOf(size: CountOf): number {
    return size.kind === "rest" ? this.#data.length - this.#offset : this.#countOf(size);
  }

  #countOf(count: Exclude<CountOf, { kind: "rest" }>): number {
    if (count.kind === "fixed") return count.count;
    if (count.kind === "short") return this.#short();
    const stated = this.#whole({ ...count, signed: false });
    // What is longer than the data does not fit in them, unless its items are empty.
    return stated > 0xffff_ffffn ? Number.MAX_SAFE_INTEGER : Number(stated);
  }

  #whole({ bytes, signed, bigEndian }: { bytes: number; signed: boolean; bigEndian: boolean }): bigint {
    const taken = this.#take(bytes);
    let value = 0n;
    for (let at = 0; at < bytes; at += 1) {
      value = (value << 8n) | BigInt(taken[bigEndian ? at : bytes - 1 - at] ?? 0);
    }
    return signed ? BigInt.asIntN(bytes * 8, value) : value;
  }

  /** Up to three bytes of seven bits each. */
  #short(): number {
    let value = 0;
    for (let at = 0; at < 3; at += 1) {
      const byte = this.#take(1)[0] ?? 0;
      value |= (byte & 127) << (at * 7);
      if (byte < 128) return value;
    }
    throw new UnreadableData("no short number");
  }

  #float({ bytes, bigEndian }: { bytes: 4 | 8; bigEndian: boolean }): JsonValue {
    const at = this.#offset;
    this.#take(bytes);
    const value = bytes === 4 ? this.#view.getFloat32(at, !bigEndian) : this.#view.getFloat64(at, !bigEndian);
    // JSON has no other numbers.
    return Number.isFinite(value) ? value : String(value);
  }

  #take(count: number): Uint8Array {
    const end = this.#offset + count;
    if (end > this.#data.length) throw new UnreadableData("too short");
    const taken = this.#data.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}

const shownNumber = (value: bigint, bytes: number): JsonValue => (bytes <= 4 ? Number(value) : value.toString());
