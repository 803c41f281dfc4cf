import type { JsonValue } from "@sluice/encode";

/** The required shape of a value; a check gives the first place that differs, or null. */
export type Shape = (value: JsonValue | undefined, path: string) => string | null;

const shown = (value: JsonValue | undefined): string =>
  JSON.stringify(value, (_name, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner))?.slice(0, 80) ??
  "nothing";

function being(name: string, holds: (value: JsonValue | undefined) => boolean): Shape {
  return (value, path) => (holds(value) ? null : `${path} is ${shown(value)}, not ${name}`);
}

const isWhole = (value: JsonValue | undefined): value is bigint | number =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));

const within = (name: string, least: bigint, most: bigint): Shape =>
  being(name, (value) => isWhole(value) && BigInt(value) >= least && BigInt(value) <= most);

export const u64 = within("a u64", 0n, 0xffff_ffff_ffff_ffffn);
export const i64 = within("an i64", -0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn);
export const u32 = within("a u32", 0n, 0xffff_ffffn);
export const u16 = within("a u16", 0n, 0xffffn);
export const u8 = within("a u8", 0n, 255n);
export const float = being("a number", (value) => typeof value === "number" || typeof value === "bigint");
export const text = being("a string", (value) => typeof value === "string");
export const boolean = being("a boolean", (value) => typeof value === "boolean");
export const nothing = being("null", (value) => value === null);
export const anything: Shape = (value, path) => (value === undefined ? `${path} is missing` : null);

const base58Pattern = /^[1-9A-HJ-NP-Za-km-z]+$/;
const base58 = (least: number, most: number, name: string): Shape =>
  being(
    name,
    (value) => typeof value === "string" && value.length >= least && value.length <= most && base58Pattern.test(value),
  );
export const address = base58(32, 44, "an address");
export const signature = base58(64, 88, "a signature");
export const decimalText = being("a whole number as text", (value) => typeof value === "string" && /^\d+$/.test(value));

export const literal = (expected: string | boolean | number): Shape =>
  being(JSON.stringify(expected), (value) =>
    typeof expected === "number" ? isWhole(value) && Number(value) === expected : value === expected,
  );

export const nullable =
  (shape: Shape): Shape =>
  (value, path) =>
    value === null ? null : shape(value, path);

export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value, path) => {
    const faults = shapes.map((shape) => shape(value, path));
    return faults.includes(null) ? null : faults.join("; nor: ");
  };

export const list =
  (shape: Shape, least = 0, most = Number.POSITIVE_INFINITY): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) return `${path} is ${shown(value)}, not a list`;
    if (value.length < least || value.length > most) return `${path} has ${value.length} entries`;
    for (const [index, entry] of value.entries()) {
      const fault = shape(entry, `${path}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };

export const tuple =
  (...shapes: readonly Shape[]): Shape =>
  (value, path) => {
    if (!Array.isArray(value) || value.length !== shapes.length) return `${path} is ${shown(value)}, not a tuple`;
    for (const [index, shape] of shapes.entries()) {
      const fault = shape(value[index], `${path}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };

/** An object with these members and no others; a name that ends in `?` may be absent. */
export const object =
  (members: Readonly<Record<string, Shape>>): Shape =>
  (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return `${path} is ${shown(value)}, not an object`;
    }
    const given = new Map(Object.entries(value));
    for (const [name, shape] of Object.entries(members)) {
      const plain = name.replace(/\?$/, "");
      if (!given.has(plain) && name.endsWith("?")) continue;
      const fault = shape(given.get(plain), `${path}.${plain}`);
      if (fault !== null) return fault;
      given.delete(plain);
    }
    const [extra] = given.keys();
    return extra === undefined ? null : `${path}.${extra} does not belong there`;
  };

/** An object whose members have any names of one shape. */
export const record =
  (name: Shape, shape: Shape): Shape =>
  (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return `${path} is ${shown(value)}, not an object`;
    }
    for (const [member, inner] of Object.entries(value)) {
      const fault = name(member, `${path} member`) ?? shape(inner, `${path}.${member}`);
      if (fault !== null) return fault;
    }
    return null;
  };

export const withContext = (shape: Shape): Shape =>
  object({ context: object({ slot: u64, "apiVersion?": text }), value: shape });
