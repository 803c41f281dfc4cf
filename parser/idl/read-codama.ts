import { constantBytes, type Types } from "./codama-constants.ts";
import { type FileValue, idlLimits } from "./file-value.ts";
import type { CountOf, IdlInstruction, IdlMark, IdlProgram, IdlType } from "./types.ts";

/** The root node of Codama. Its types are nodes whose `kind` ends with TypeNode. */

const numbers: Readonly<Record<string, readonly [bytes: number, signed: boolean]>> = {
  ...Object.fromEntries([8, 16, 32, 64, 128].map((bits) => [`u${bits}`, [bits / 8, false] as const])),
  ...Object.fromEntries([8, 16, 32, 64, 128].map((bits) => [`i${bits}`, [bits / 8, true] as const])),
};

/** @throws {IdlFault} */
export function readCodama(file: FileValue): IdlProgram[] {
  const programs = [file.member("program"), ...listAt(file, "additionalPrograms")];
  return programs.map((program) => {
    const types = new Map(
      listAt(program, "definedTypes").map((each) => [each.member("name").text(), typeOf(each.member("type"), 0)]),
    );
    return {
      address: program.member("publicKey").text(),
      name: program.member("name").text(),
      types,
      instructions: program
        .member("instructions")
        .list()
        .map((each) => instructionOf(each, types)),
    };
  });
}

function listAt(value: FileValue, name: string): FileValue[] {
  const list = value.member(name);
  return list.isThere ? list.list() : [];
}

const kindOf = (node: FileValue): string => node.member("kind").text();

function instructionOf(instruction: FileValue, types: Types): IdlInstruction {
  const fields = listAt(instruction, "arguments").map((argument) => {
    const isShown = argument.member("defaultValueStrategy").value !== "omitted";
    return { name: argument.member("name").text(), type: typeOf(argument.member("type"), 0), isShown };
  });
  const marks = listAt(instruction, "discriminators").flatMap((each) => markOf(each, instruction, types));
  if (marks.length === 0) throw instruction.fault("must have a discriminator with a constant value");
  const accounts = listAt(instruction, "accounts").map((each) => ({
    name: each.member("name").text(),
    isOptional: each.member("isOptional").value === true,
  }));
  const dropsOptional = instruction.member("optionalAccountStrategy").value === "omitted";
  return { name: instruction.member("name").text(), marks, fields, accounts, dropsOptional };
}

/** The size of the data tells nothing where other discriminators do. */
function markOf(discriminator: FileValue, instruction: FileValue, types: Types): IdlMark[] {
  const at = discriminator.member("offset");
  const offset = at.isThere ? at.count(1_024) : 0;
  switch (kindOf(discriminator)) {
    case "constantDiscriminatorNode": {
      const constant = discriminator.member("constant");
      return [{ offset, bytes: constantBytes(constant.member("value"), typeOf(constant.member("type"), 0), types) }];
    }
    case "fieldDiscriminatorNode": {
      const name = discriminator.member("name").text();
      const argument = listAt(instruction, "arguments").find((each) => each.member("name").value === name);
      if (argument === undefined) throw discriminator.member("name").fault(`names no argument: ${name}`);
      const value = argument.member("defaultValue");
      return [{ offset, bytes: constantBytes(value, typeOf(argument.member("type"), 0), types) }];
    }
    default:
      return [];
  }
}

function typeOf(node: FileValue, depth: number): IdlType {
  if (depth > idlLimits.depth) throw node.fault("is nested too deeply");
  const of = (name: string): IdlType => typeOf(node.member(name), depth + 1);
  switch (kindOf(node)) {
    case "numberTypeNode":
      return numberOf(node);
    case "booleanTypeNode":
      return { kind: "bool", bytes: widthOf(node.member("size")) };
    case "publicKeyTypeNode":
      return { kind: "address" };
    case "stringTypeNode":
      return { kind: "text", size: { kind: "rest" } };
    case "bytesTypeNode":
      return { kind: "bytes", size: { kind: "rest" } };
    case "fixedSizeTypeNode":
      return sized(of("type"), { kind: "fixed", count: node.member("size").count(65_535) });
    case "sizePrefixTypeNode":
      return sized(of("type"), prefixOf(node.member("prefix")));
    case "arrayTypeNode":
    case "setTypeNode":
      return { kind: "list", item: of("item"), count: countOf(node.member("count")) };
    case "mapTypeNode":
      return { kind: "map", key: of("key"), value: of("value"), count: countOf(node.member("count")) };
    case "optionTypeNode": {
      const isFixed = node.member("fixed").value === true;
      return { kind: "option", item: of("item"), bytes: widthOf(node.member("prefix")), isFixed };
    }
    case "structTypeNode":
      return { kind: "fields", fields: listAt(node, "fields").map((each) => fieldOf(each, depth)) };
    case "tupleTypeNode":
      return { kind: "tuple", items: listAt(node, "items").map((each) => typeOf(each, depth + 1)) };
    case "enumTypeNode":
      return enumOf(node, depth);
    case "definedTypeLinkNode":
      return { kind: "named", name: node.member("name").text() };
    case "amountTypeNode":
    case "solAmountTypeNode":
    case "dateTimeTypeNode":
      return of("number");
    default:
      return { kind: "unread" };
  }
}

const fieldOf = (field: FileValue, depth: number) => ({
  name: field.member("name").text(),
  type: typeOf(field.member("type"), depth + 1),
});

function numberOf(node: FileValue): IdlType {
  const format = node.member("format").text();
  const bigEndian = node.member("endian").value === "be";
  if (format === "shortU16") return { kind: "short" };
  if (format === "f32" || format === "f64") return { kind: "float", bytes: format === "f32" ? 4 : 8, bigEndian };
  const [bytes, signed] = (Object.hasOwn(numbers, format) ? numbers[format] : undefined) ?? [0, false];
  if (bytes === 0) throw node.member("format").fault(`names no number: ${format}`);
  return { kind: "number", bytes, signed, bigEndian };
}

/** Bytes of the number before something; one where the node does not say it. */
function widthOf(node: FileValue): number {
  if (!node.isThere) return 1;
  const number = numberOf(node);
  if (number.kind !== "number") throw node.fault("must be a whole number");
  return number.bytes;
}

function prefixOf(node: FileValue): CountOf {
  const number = numberOf(node);
  if (number.kind === "short") return { kind: "short" };
  if (number.kind !== "number") throw node.fault("must be a whole number");
  return { kind: "prefix", bytes: number.bytes, bigEndian: number.bigEndian };
}

function countOf(node: FileValue): CountOf {
  switch (kindOf(node)) {
    case "fixedCountNode":
      return { kind: "fixed", count: node.member("value").count(65_535) };
    case "prefixedCountNode":
      return prefixOf(node.member("prefix"));
    default:
      return { kind: "rest" };
  }
}

/** A size of bytes is theirs; other types of a stated size are not read. */
function sized(type: IdlType, size: CountOf): IdlType {
  return type.kind === "text" || type.kind === "bytes" ? { kind: type.kind, size } : { kind: "unread" };
}

function enumOf(node: FileValue, depth: number): IdlType {
  const variants = listAt(node, "variants").map((each, at) => {
    const stated = each.member("discriminator");
    const known = { name: each.member("name").text(), number: stated.isThere ? stated.count(0xffff_ffff) : at };
    switch (kindOf(each)) {
      case "enumStructVariantTypeNode":
        return { ...known, value: typeOf(each.member("struct"), depth + 1) };
      case "enumTupleVariantTypeNode":
        return { ...known, value: typeOf(each.member("tuple"), depth + 1) };
      default:
        return { ...known, value: null };
    }
  });
  return { kind: "choice", bytes: widthOf(node.member("size")), variants };
}
