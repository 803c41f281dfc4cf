import type { JsonObject, JsonValue } from "@sluice/encode";
import { parseJsonExact } from "@sluice/wire/json";
import type { TransactionEncoding } from "../lookups/transaction-record.ts";

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The encodings of nodes; `binary` is the older name of a form of base58. */
export type NodeEncoding = TransactionEncoding | "binary";
const encodings: readonly NodeEncoding[] = ["json", "jsonParsed", "base58", "base64", "binary"];

/** The parameters of a call that was checked against its method's row. */
export class CallConfig {
  readonly #positional: readonly JsonValue[];
  readonly #config: JsonObject;

  constructor(params: string | null) {
    const parsed = parseJsonExact(params ?? "[]");
    const list: readonly JsonValue[] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
    this.#positional = list;
    const bare = list[1];
    const config = list.findLast((value) => isObject(value));
    this.#config = isObject(config) ? config : typeof bare === "string" ? { encoding: bare } : {};
  }

  /** The integer at a position; null for what is none. */
  integerAt(position: number): bigint | null {
    return integerOf(this.#positional[position]);
  }

  textAt(position: number): string {
    const value = this.#positional[position];
    return typeof value === "string" ? value : "";
  }

  member(name: string): JsonValue | undefined {
    return this.#config[name];
  }

  text(name: string): string | null {
    const value = this.#config[name];
    return typeof value === "string" ? value : null;
  }

  integer(name: string): bigint | null {
    return integerOf(this.#config[name]);
  }

  /** Null where it is given and is no object. */
  object(name: string): JsonObject | null {
    const value = this.#config[name] ?? null;
    return value === null ? {} : isObject(value) ? value : null;
  }

  get encoding(): NodeEncoding {
    return encodings.find((name) => name === this.#config["encoding"]) ?? "json";
  }

  get details(): "full" | "accounts" | "signatures" | "none" {
    const value = this.#config["transactionDetails"];
    return value === "accounts" || value === "signatures" || value === "none" ? value : "full";
  }

  get rewards(): boolean {
    return this.#config["rewards"] !== false;
  }

  /** Undefined takes transactions without a version alone. */
  get versionMax(): number | undefined {
    const value = integerOf(this.#config["maxSupportedTransactionVersion"]);
    return value === null ? undefined : Number(value);
  }
}

export function integerOf(value: JsonValue | undefined): bigint | null {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : null;
}
