import { isAddress, parseU64 } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";

/**
 * Shapes of a JSON document that are read with all their faults at once: an invalid member is reported with its path,
 * and reading goes on beside it. Names that entries declare and references to them are checked when everything is read.
 */

export interface Fault {
  /** Such as `pools[0].amounts.usdc`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

interface Reference {
  readonly path: string;
  readonly name: string;
  readonly kinds: readonly string[];
}

/** The results of one reading of a document. */
export class Reading {
  readonly faults: Fault[] = [];
  readonly #declared = new Map<string, string>();
  readonly #references: Reference[] = [];

  /** Always gives undefined, which stands for what could not be read. */
  fault(path: string, message: string): undefined {
    this.faults.push({ path, message });
    return undefined;
  }

  declare(name: string, kind: string, path: string): void {
    if (this.#declared.has(name)) this.fault(path, `${name} is declared twice`);
    this.#declared.set(name, kind);
  }

  refer(reference: Reference): void {
    this.#references.push(reference);
  }

  /** Reports references without a target. */
  checkReferences(builtIn: ReadonlyMap<string, string>): void {
    for (const { path, name, kinds } of this.#references) {
      const kind = this.#declared.get(name) ?? builtIn.get(name);
      if (kind === undefined || !kinds.includes(kind)) this.fault(path, `no ${kinds.join(" or ")} is named ${name}`);
    }
  }
}

export interface Shape<T> {
  readonly read: (value: JsonValue | undefined, path: string, reading: Reading) => T | undefined;
  /** The value of an absent member. */
  readonly absent?: { readonly value: T };
}

export type Of<S> = S extends Shape<infer T> ? T : never;

/** A member that may be missing. */
export function optional<T, U>(shape: Shape<T>, value: U): Shape<T | U> {
  return { read: shape.read, absent: { value } };
}

const namePattern = /^[a-z][a-z0-9-]{0,30}$/;

/** A name that other entries refer to: too short to be taken for an address. */
export function declares(kind: string): Shape<string> {
  return {
    read(value, path, reading) {
      if (typeof value !== "string" || !namePattern.test(value)) {
        return reading.fault(
          path,
          "expected a name: a to z, 0 to 9 and hyphens, at most 31 characters, a letter first",
        );
      }
      reading.declare(value, kind, path);
      return value;
    },
  };
}

/** An address, or the name of an entry of one of these kinds. */
export function refersTo(...kinds: readonly string[]): Shape<string> {
  return {
    read(value, path, reading) {
      if (isAddress(value)) return value;
      if (typeof value !== "string" || !namePattern.test(value)) {
        return reading.fault(path, `expected an address or the name of a ${kinds.join(" or ")}`);
      }
      reading.refer({ path, name: value, kinds });
      return value;
    },
  };
}

/** The name of an entry of this kind, and no address. */
export function named(kind: string): Shape<string> {
  return {
    read(value, path, reading) {
      if (typeof value !== "string" || !namePattern.test(value))
        return reading.fault(path, `expected the name of a ${kind}`);
      reading.refer({ path, name: value, kinds: [kind] });
      return value;
    },
  };
}

export const address: Shape<string> = {
  read: (value, path, reading) => (isAddress(value) ? value : reading.fault(path, "expected an address")),
};

/** A whole number as JSON number or text; both are exact. */
export function u64(least = 0n, most = 0xffff_ffff_ffff_ffffn): Shape<bigint> {
  return {
    read(value, path, reading) {
      const parsed = parseU64(value);
      if (parsed !== null && parsed >= least && parsed <= most) return parsed;
      return reading.fault(path, `expected a whole number from ${least} to ${most}`);
    },
  };
}

export function whole(least: number, most: number): Shape<number> {
  const inner = u64(BigInt(least), BigInt(most));
  return {
    read(value, path, reading) {
      const parsed = inner.read(value, path, reading);
      return parsed === undefined ? undefined : Number(parsed);
    },
  };
}

/** Text of at most so many bytes of UTF-8. */
export function text(most: number): Shape<string> {
  return {
    read(value, path, reading) {
      if (typeof value === "string" && new TextEncoder().encode(value).length <= most) return value;
      return reading.fault(path, `expected text of at most ${most} bytes`);
    },
  };
}

export const flag: Shape<boolean> = {
  read: (value, path, reading) => (typeof value === "boolean" ? value : reading.fault(path, "expected true or false")),
};

export function oneOf<const T extends string>(...values: readonly T[]): Shape<T> {
  return {
    read(value, path, reading) {
      return values.find((each) => each === value) ?? reading.fault(path, `expected one of ${values.join(", ")}`);
    },
  };
}

export const base64: Shape<Uint8Array> = {
  read(value, path, reading) {
    // Groups of four would say the same in one expression, which gives up on a text of some megabytes.
    const valid = typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
    return valid ? new Uint8Array(Buffer.from(value, "base64")) : reading.fault(path, "expected base64");
  },
};

/** At most `most` entries; those that cannot be read are left out. */
export function list<T>(entry: Shape<T>, most: number): Shape<readonly T[]> {
  return {
    read(value, path, reading) {
      if (!Array.isArray(value)) return reading.fault(path, "expected a list");
      if (value.length > most) return reading.fault(path, `expected at most ${most} entries`);
      return value.flatMap((each: JsonValue, index) => {
        const item = entry.read(each, `${path}[${index}]`, reading);
        return item === undefined ? [] : [item];
      });
    },
  };
}

function members(value: JsonValue | undefined): { readonly [key: string]: JsonValue | undefined } | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: JsonValue | undefined })
    : null;
}

/** An object with any keys, at most `most`, each of which `key` reads. */
export function mapOf<T>(key: Shape<string>, entry: Shape<T>, most: number): Shape<ReadonlyMap<string, T>> {
  return {
    read(value, path, reading) {
      const object = members(value);
      if (object === null) return reading.fault(path, "expected an object");
      const entries = Object.entries(object);
      if (entries.length > most) return reading.fault(path, `expected at most ${most} members`);
      return new Map(
        entries.flatMap(([name, each]) => {
          const at = `${path}.${name}`;
          const read = [key.read(name, at, reading), entry.read(each, at, reading)] as const;
          return read[0] === undefined || read[1] === undefined ? [] : [[read[0], read[1]] as const];
        }),
      );
    },
  };
}

/** An object with these members and no others. */
export function record<S extends { readonly [name: string]: Shape<unknown> }>(
  shapes: S,
): Shape<{ readonly [K in keyof S]: Of<S[K]> }> {
  return {
    read(value, path, reading) {
      const object = members(value);
      if (object === null) return reading.fault(path, "expected an object");
      const at = (name: string) => (path === "" ? name : `${path}.${name}`);
      for (const name of Object.keys(object)) {
        if (!Object.hasOwn(shapes, name)) reading.fault(at(name), "there is no such member");
      }
      const read: Record<string, unknown> = {};
      let sound = true;
      for (const [name, shape] of Object.entries(shapes)) {
        const member = object[name];
        if (member === undefined && shape.absent !== undefined) {
          read[name] = shape.absent.value;
          continue;
        }
        const found =
          member === undefined ? reading.fault(at(name), "is missing") : shape.read(member, at(name), reading);
        if (found === undefined) sound = false;
        read[name] = found;
      }
      return sound ? (read as { readonly [K in keyof S]: Of<S[K]> }) : undefined;
    },
  };
}
