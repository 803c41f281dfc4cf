import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A number that JSON text may hold as an integer beyond 2^53 is kept as bigint, as the encoders give it. */
type Json = null | boolean | number | bigint | string | Json[] | { [member: string]: Json };
export type JsonRecord = { [member: string]: Json };

interface Fixture {
  readonly name: string;
  readonly result: JsonRecord;
}

const directory = join(import.meta.dir, "../../../shared/fixtures/transactions");

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function record(value: unknown): JsonRecord {
  if (!isRecord(value)) throw new TypeError(`not an object: ${JSON.stringify(value)}`);
  return value;
}

export function records(value: unknown): JsonRecord[] {
  if (!Array.isArray(value)) return [];
  return value.map(record);
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Real transactions as clients have received them; none, with a loud word, where the data are not at hand. */
export function readFixtures(): Fixture[] {
  if (!existsSync(directory)) {
    console.warn(`NOT RUN: no real transactions at ${directory}`);
    return [];
  }
  return readdirSync(directory)
    .filter((name) => name.endsWith(".json") && name !== "manifest.json")
    .map((name) => ({
      name,
      result: record(record(JSON.parse(readFileSync(join(directory, name), "utf8")))["result"]),
    }));
}

/** Integers as bigint and members that are undefined left out, so that both sides of a comparison are alike. */
export function normal(value: unknown): unknown {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(normal);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, normal(member)]));
}
