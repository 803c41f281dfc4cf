/** A file does not say what it has to; `path` names the place, such as `instructions[3].args[0].type`. */
export class IdlFault extends Error {
  override readonly name = "IdlFault";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path === "" ? "the file" : path} ${problem}`);
    this.path = path;
  }
}

/** Bounds of a file, so that reading and decoding end soon whatever it says. */
export const idlLimits = { bytes: 4 * 1024 * 1024, items: 5_000, depth: 24, nameLength: 128 } as const;

/** A value of a file with its place in it. */
export class FileValue {
  readonly value: unknown;
  readonly path: string;

  constructor(value: unknown, path: string) {
    this.value = value;
    this.path = path;
  }

  fault(problem: string): IdlFault {
    return new IdlFault(this.path, problem);
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  get isText(): boolean {
    return typeof this.value === "string";
  }

  get isObject(): boolean {
    return typeof this.value === "object" && this.value !== null && !Array.isArray(this.value);
  }

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  /** A member; one that is inherited is not there. */
  member(name: string): FileValue {
    const path = this.path === "" ? name : `${this.path}.${name}`;
    if (typeof this.value !== "object" || this.value === null) throw this.fault("must be an object");
    return new FileValue(Object.getOwnPropertyDescriptor(this.value, name)?.value, path);
  }

  /** @throws {IdlFault} where it is no text of 1 to 128 characters */
  text(): string {
    if (typeof this.value !== "string") throw this.fault("must be a text");
    if (this.value === "" || this.value.length > idlLimits.nameLength) {
      throw this.fault(`must have 1 to ${idlLimits.nameLength} characters`);
    }
    return this.value;
  }

  /** @throws {IdlFault} where it is no whole number from 0 up to a bound */
  count(max: number): number {
    if (typeof this.value !== "number" || !Number.isInteger(this.value) || this.value < 0 || this.value > max) {
      throw this.fault(`must be a whole number from 0 to ${max}`);
    }
    return this.value;
  }

  /** @throws {IdlFault} where it is no list, or a longer one than files may have */
  list(): FileValue[] {
    if (!Array.isArray(this.value)) throw this.fault("must be a list");
    if (this.value.length > idlLimits.items) throw this.fault(`must have at most ${idlLimits.items} items`);
    return this.value.map((item: unknown, at) => new FileValue(item, `${this.path}[${at}]`));
  }
}
