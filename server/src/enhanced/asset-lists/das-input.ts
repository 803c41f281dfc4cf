import type { JsonObject, JsonValue } from "@sluice/encode";
import { isAddress } from "@sluice/wire/identifiers";
import type { AssetEdge, AssetPage, AssetSort } from "../../ledger/index.ts";

/** Parameters of methods over lists of assets, which stand by name. Source: the types of helius-sdk 3.2 and DAS. */

/** A parameter that the caller has to mend; its text names it. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput";
}

/** The parameters of one call. Null is as absent. */
export class DasInput {
  readonly #members: JsonObject;
  readonly #path: string;

  constructor(members: JsonObject, path = "") {
    this.#members = members;
    this.#path = path;
  }

  #value(name: string): JsonValue | null {
    return Object.hasOwn(this.#members, name) ? (this.#members[name] ?? null) : null;
  }

  #fault(name: string, problem: string): InvalidInput {
    return new InvalidInput(`${this.#path}${name} ${problem}`);
  }

  /** @throws {InvalidInput} for a member that is not among the names, so that no filter is silently left out */
  allow(names: readonly string[]): void {
    const unknown = Object.keys(this.#members).find((name) => !names.includes(name) && this.#value(name) !== null);
    if (unknown !== undefined) throw this.#fault(unknown.slice(0, 40), "is no parameter of this method");
  }

  has(name: string): boolean {
    return this.#value(name) !== null;
  }

  address(name: string): string | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (!isAddress(value)) throw this.#fault(name, "must be an address: 32 bytes in base58");
    return value;
  }

  requiredAddress(name: string): string {
    const address = this.address(name);
    if (address === null) throw this.#fault(name, "is missing");
    return address;
  }

  text(name: string): string | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== "string" || value.length > 1_000)
      throw this.#fault(name, "must be a text of at most 1000 characters");
    return value === "" ? null : value;
  }

  choice<T extends string>(name: string, values: readonly T[]): T | null {
    const value = this.#value(name);
    if (value === null) return null;
    const found = values.find((each) => each === value);
    if (found === undefined) throw this.#fault(name, `must be one of ${values.join(", ")}`);
    return found;
  }

  flag(name: string): boolean | null {
    const value = this.#value(name);
    if (value !== null && typeof value !== "boolean") throw this.#fault(name, "must be true or false");
    return value;
  }

  whole(name: string, min: number, max: number): number | null {
    const value = this.#value(name);
    if (value === null) return null;
    const isWhole = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
    if (!isWhole || value < min || value > max) throw this.#fault(name, `must be a whole number from ${min} to ${max}`);
    return Number(value);
  }

  /** An object; empty when it is absent. */
  object(name: string): DasInput {
    const value = this.#value(name) ?? {};
    if (typeof value !== "object" || Array.isArray(value)) throw this.#fault(name, "must be an object");
    return new DasInput(value as JsonObject, `${this.#path}${name}.`);
  }

  /** A list of two texts, such as a group's key and value. */
  pair(name: string): readonly [string, string] | null {
    const value = this.#value(name);
    if (value === null) return null;
    const [first, second] = Array.isArray(value) && value.length === 2 ? value : [];
    if (typeof first !== "string" || typeof second !== "string") throw this.#fault(name, "must be two texts");
    return [first, second];
  }

  addresses(name: string, max: number): readonly string[] {
    const value = this.#value(name);
    if (!Array.isArray(value) || value.length > max || value.length === 0 || !value.every((each) => isAddress(each))) {
      throw this.#fault(name, `must be a list of 1 to ${max} addresses`);
    }
    return value as readonly string[];
  }
}

/** Members by which every list is paged and sorted. */
export const pageMembers = ["page", "limit", "before", "after", "cursor", "sortBy"] as const;

const limitMax = 1_000;
/** Assets that a page may pass over; beyond them a cursor costs less. */
const skippedMax = 100_000;

/** Where a page begins or ends, as a caller says it: an asset alone, or what a cursor of an answer has. */
export interface WrittenEdge {
  readonly asset: string;
  /** Null where the caller named an asset alone. */
  readonly slot: bigint | null;
}

/** A page as a caller asks for it. */
export interface WantedPage extends Pick<AssetPage, "sort" | "order" | "limit"> {
  /** Null where an edge says where the page begins. */
  readonly page: number | null;
  readonly after: WrittenEdge | null;
  readonly before: WrittenEdge | null;
}

const sorts: Readonly<Record<string, AssetSort>> = {
  id: "id",
  none: "id",
  created: "created",
  updated: "updated",
  recent_action: "updated",
};

/** @throws {InvalidInput} */
export function pageOf(input: DasInput): WantedPage {
  const limit = input.whole("limit", 1, limitMax) ?? limitMax;
  const page = input.whole("page", 1, skippedMax + 1);
  const [cursor, after, before] = [edgeOf(input, "cursor"), edgeOf(input, "after"), edgeOf(input, "before")];
  if (cursor !== null && after !== null) throw new InvalidInput("cursor does not go with after");
  const edge = cursor ?? after ?? before;
  if (page !== null && edge !== null) throw new InvalidInput("page does not go with cursor, before or after");
  if (((page ?? 1) - 1) * limit > skippedMax) {
    throw new InvalidInput(`page must not pass over more than ${skippedMax} assets: use cursor`);
  }
  const sorting = input.object("sortBy");
  sorting.allow(["sortBy", "sortDirection"]);
  const by = sorting.choice("sortBy", ["created", "updated", "recent_action", "id", "none"]);
  const order = sorting.choice("sortDirection", ["asc", "desc"]);
  // Source: DAS, whose lists are the newest first unless a call says otherwise.
  const sort = by === null ? "created" : (sorts[by] ?? "id");
  const pages = { page: edge === null ? (page ?? 1) : null, after: cursor ?? after, before };
  return { ...pages, limit, sort, order: order ?? (sort === "id" ? "asc" : "desc") };
}

function edgeOf(input: DasInput, name: string): WrittenEdge | null {
  const written = input.text(name);
  if (written === null) return null;
  if (isAddress(written)) return { asset: written, slot: null };
  const [, slot = "", asset = ""] = /^(0|[1-9]\d{0,19})\.([1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(written) ?? [];
  if (!isAddress(asset) || BigInt(slot) > 2n ** 64n - 1n) {
    throw new InvalidInput(`${name} must be an asset, or a cursor of an answer of this method`);
  }
  return { asset, slot: BigInt(slot) };
}

/** The cursor of a page that ends at an asset. */
export const cursorOf = ({ slot, asset }: AssetEdge): string => `${slot}.${asset}`;
