import { createHash } from "node:crypto";
import { type FileValue, idlLimits } from "./file-value.ts";
import type { CountOf, IdlAccount, IdlField, IdlInstruction, IdlProgram, IdlType } from "./types.ts";

/** Anchor's two forms: before version 0.30 (camel case, no discriminators), and since then. */

const counted: CountOf = { kind: "prefix", bytes: 4, bigEndian: false };
const whole = (bytes: number, signed: boolean): IdlType => ({ kind: "number", bytes, signed, bigEndian: false });

const plain: Readonly<Record<string, IdlType>> = {
  bool: { kind: "bool", bytes: 1 },
  ...Object.fromEntries([8, 16, 32, 64, 128, 256].map((bits) => [`u${bits}`, whole(bits / 8, false)])),
  ...Object.fromEntries([8, 16, 32, 64, 128, 256].map((bits) => [`i${bits}`, whole(bits / 8, true)])),
  f32: { kind: "float", bytes: 4, bigEndian: false },
  f64: { kind: "float", bytes: 8, bigEndian: false },
  string: { kind: "text", size: counted },
  bytes: { kind: "bytes", size: counted },
  pubkey: { kind: "address" },
  publicKey: { kind: "address" },
};

/** @throws {IdlFault} */
export function readAnchor(file: FileValue, address: string): IdlProgram {
  const name = (file.member("name").isThere ? file.member("name") : file.member("metadata").member("name")).text();
  const types = new Map<string, IdlType>();
  for (const part of ["types", "accounts"]) {
    const list = file.member(part);
    for (const each of list.isThere ? list.list() : []) {
      // Since 0.30 accounts name a type, and have none of their own.
      if (each.member("type").isThere) types.set(each.member("name").text(), definitionOf(each.member("type")));
    }
  }
  return { address, name, types, instructions: file.member("instructions").list().map(instructionOf) };
}

function instructionOf(instruction: FileValue): IdlInstruction {
  const name = instruction.member("name").text();
  const bytes = discriminatorOf(instruction, name);
  const mark = {
    name: "discriminator",
    type: { kind: "bytes", size: { kind: "fixed", count: bytes.length } },
  } as const;
  const fields = instruction
    .member("args")
    .list()
    .map((each) => ({ ...fieldOf(each, 0), isShown: true }));
  return {
    name,
    marks: [{ offset: 0, bytes }],
    fields: [{ ...mark, isShown: false }, ...fields],
    accounts: accountsOf(instruction.member("accounts"), 0),
    dropsOptional: false,
  };
}

function discriminatorOf(instruction: FileValue, name: string): Uint8Array {
  const stated = instruction.member("discriminator");
  if (!stated.isThere)
    return createHash("sha256")
      .update(`global:${snakeCase(name)}`)
      .digest()
      .subarray(0, 8);
  const bytes = stated.list().map((byte) => byte.count(255));
  if (bytes.length === 0 || bytes.length > 32) throw stated.fault("must have 1 to 32 bytes");
  return Uint8Array.from(bytes);
}

/**
 * The name of an instruction in its program: a word begins at a capital after a small letter or a digit, and at the
 * last of several capitals that a small letter follows, so that `swapAToB` is `swap_a_to_b`. Source: Anchor's client.
 */
const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();

/** Groups of accounts count as their accounts, each under the name of its group. */
function accountsOf(list: FileValue, depth: number): IdlAccount[] {
  if (depth > idlLimits.depth) throw list.fault("is nested too deeply");
  const accounts = list.list().flatMap((each) => {
    const name = each.member("name").text();
    const group = each.member("accounts");
    if (group.isThere)
      return accountsOf(group, depth + 1).map((inner) => ({ ...inner, name: `${name}.${inner.name}` }));
    // `isOptional` before version 0.30, `optional` since.
    return [{ name, isOptional: each.member("isOptional").value === true || each.member("optional").value === true }];
  });
  if (accounts.length > idlLimits.items) throw list.fault(`must have at most ${idlLimits.items} accounts`);
  return accounts;
}

function fieldOf(field: FileValue, depth: number): IdlField {
  return { name: field.member("name").text(), type: typeOf(field.member("type"), depth) };
}

function definitionOf(definition: FileValue): IdlType {
  const kind = definition.member("kind");
  switch (kind.text()) {
    case "struct":
      return fieldsOf(definition.member("fields"));
    case "enum": {
      const variants = definition.member("variants").list();
      if (variants.length > 256) throw definition.member("variants").fault("must have at most 256 items");
      return {
        kind: "choice",
        bytes: 1,
        variants: variants.map((each, number) => {
          const fields = each.member("fields");
          return { name: each.member("name").text(), number, value: fields.isThere ? fieldsOf(fields) : null };
        }),
      };
    }
    case "type":
    case "alias":
      return typeOf(definition.member(kind.value === "type" ? "alias" : "value"), 0);
    default:
      return { kind: "unread" };
  }
}

/** Named fields, or values without names. */
function fieldsOf(fields: FileValue): IdlType {
  if (!fields.isThere) return { kind: "fields", fields: [] };
  const list = fields.list();
  const isNamed = list.every((each) => each.isObject && each.member("name").isThere);
  if (isNamed) return { kind: "fields", fields: list.map((each) => fieldOf(each, 0)) };
  return { kind: "tuple", items: list.map((each) => typeOf(each, 0)) };
}

function typeOf(type: FileValue, depth: number): IdlType {
  if (depth > idlLimits.depth) throw type.fault("is nested too deeply");
  if (type.isText) {
    const known = Object.hasOwn(plain, type.text()) ? plain[type.text()] : undefined;
    if (known === undefined) throw type.fault(`names no type: ${type.text()}`);
    return known;
  }
  const of = (name: string): IdlType => typeOf(type.member(name), depth + 1);
  if (type.member("vec").isThere) return { kind: "list", item: of("vec"), count: counted };
  if (type.member("option").isThere) return { kind: "option", item: of("option"), bytes: 1, isFixed: false };
  if (type.member("coption").isThere) return { kind: "option", item: of("coption"), bytes: 4, isFixed: true };
  const array = type.member("array");
  if (array.isThere) {
    const [item, length] = array.list();
    if (item === undefined || length === undefined) throw array.fault("must have a type and a length");
    // A length that is a parameter of a generic type.
    if (length.isObject) return { kind: "unread" };
    return { kind: "list", item: typeOf(item, depth + 1), count: { kind: "fixed", count: length.count(65_535) } };
  }
  const defined = type.member("defined");
  if (defined.isThere) {
    const name = (defined.isText ? defined : defined.member("name")).text();
    const isGeneric = defined.isObject && defined.member("generics").isThere;
    return isGeneric ? { kind: "unread" } : { kind: "named", name };
  }
  if (type.member("generic").isThere) return { kind: "unread" };
  throw type.fault("names no type");
}
