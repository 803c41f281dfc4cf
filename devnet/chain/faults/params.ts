import type { JsonObject, JsonValue } from "@sluice/encode";
import { invalidParams, objectValue, u64Value, wrongType } from "../rpc/index.ts";

/** A whole number within bounds. */
export function wholeNumber(value: JsonValue | undefined, name: string, lowest: number, highest: number): number {
  const number = Number(u64Value(value));
  if (number < lowest || number > highest) {
    throw invalidParams(`Invalid params: ${name} must be from ${lowest} to ${highest}.`);
  }
  return number;
}

/** The one parameter of most faults, whose members are these and no others. */
export function settings(value: JsonValue | undefined, members: readonly string[]): JsonObject {
  const object = objectValue(value, "struct");
  const unknown = Object.keys(object).find((name) => !members.includes(name));
  if (unknown !== undefined) throw invalidParams(`Invalid params: unknown field \`${unknown}\`.`);
  return object;
}

/** A share from 0 to 1; absent is 1. */
export function shareMember(object: JsonObject): number {
  const share = object["share"] ?? 1;
  if (typeof share !== "number" && typeof share !== "bigint") throw wrongType(share, "a number");
  if (share < 0 || share > 1) throw invalidParams("Invalid params: share must be from 0 to 1.");
  return Number(share);
}

/** A JSON-RPC error code, which is a negative i32. */
export function codeMember(object: JsonObject): number {
  const code = object["code"];
  if (typeof code !== "number" || !Number.isInteger(code) || code < -0x8000_0000 || code >= 0) {
    throw invalidParams("Invalid params: code must be a negative i32.");
  }
  return code;
}
