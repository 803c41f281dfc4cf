import { parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import type { JsonObject, JsonValue } from "../encode/index.ts";
import type { SeededRandom } from "./random.ts";

export const CORRUPTIONS = ["truncate", "bitflip", "garbage", "wrong-id"] as const;
export type Corruption = (typeof CORRUPTIONS)[number];

function otherId(id: JsonValue | undefined): JsonValue {
  if (typeof id === "string") return `${id}x`;
  return typeof id === "number" || typeof id === "bigint" ? BigInt(id) + 1n : 0;
}

function withOtherId(answer: JsonValue): JsonValue {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return answer;
  const object = answer as JsonObject;
  return { ...object, id: otherId(object["id"]) };
}

/**
 * What a broken node, disk or wire makes of an answer. `truncate` ends it early (it is no JSON any more), `bitflip` turns
 * one bit over (it may still be JSON, and wrong), `garbage` is as many random bytes, `wrong-id` answers another call.
 */
export function corrupted(answer: Uint8Array, kind: Corruption, random: SeededRandom): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(answer);
  if (bytes.length < 3) return bytes;
  if (kind === "truncate") return bytes.slice(0, random.below(bytes.length - 2));
  if (kind === "garbage") return bytes.map(() => random.below(256));
  if (kind === "bitflip") {
    const position = random.below(bytes.length);
    bytes[position] = (bytes[position] ?? 0) ^ (1 << random.below(8));
    return bytes;
  }
  const parsed = parseJsonExact(new TextDecoder().decode(bytes));
  if (!parsed.ok) return bytes;
  const { value } = parsed;
  const wrong = Array.isArray(value) ? value.map((one: JsonValue) => withOtherId(one)) : withOtherId(value);
  return new Uint8Array(new TextEncoder().encode(`${stringifyJsonExact(wrong)}\n`));
}
