import { defaultMaxDepth, isJson, sliceEnvelope } from "./json/scan.ts";
import { canonicalJson, parseJsonExact, stringifyJsonExact } from "./json/values.ts";
import { CampaignRandom, mutate } from "./testing/campaign-random.ts";

/** Bytes that mean something to JSON, to UTF-8 and to the scanner's words of four. */
const alphabet = new TextEncoder().encode('{}[]",:\\/ \n\t0159.-+eEutrfnaldb2é\u{1f600}\u007f\u0000\u001f');

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const scalars = [
  "null",
  "true",
  "18446744073709551615",
  "9007199254740993",
  "-0",
  "1.50",
  "1e3",
  '""',
  '"\\u00e9\\n"',
  '"é😀"',
];
const ids = ["1", '"a,b"', "null", "18446744073709551615", '"\\""', "0"];

/** JSON text of a random value, with white space of all kinds. */
function randomJson(random: CampaignRandom, depth: number): string {
  const space = random.pick(["", "", "", " ", "\n\t", " \r "]);
  const kind = random.below(depth > 4 ? 2 : 5);
  if (kind < 2) return random.pick(scalars);
  if (kind === 2) return `"${"7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK".repeat(1 + random.below(9))}"`;
  const items = Array.from({ length: random.below(5) }, (_, index) => {
    const value = randomJson(random, depth + 1);
    return kind === 3
      ? `${space}${value}`
      : `${space}"k${index}${random.pick(["", "id", "\\t"])}"${space}:${value}${space}`;
  });
  return kind === 3 ? `[${items.join(",")}${space}]` : `{${items.join(",")}${space}}`;
}

function randomEnvelope(random: CampaignRandom): { text: string; id: string; idAt: number } {
  const id = random.pick(ids);
  const error = random.below(4) === 0;
  const members = [
    '"jsonrpc":"2.0"',
    error ? `"error":{"code":-32000,"data":${randomJson(random, 0)}}` : `"result":${randomJson(random, 0)}`,
    `"id":${id}`,
  ];
  if (random.below(3) === 0) members.push(`"more":${randomJson(random, 1)}`);
  members.sort(() => random.below(3) - 1);
  const before = members.slice(0, members.indexOf(`"id":${id}`));
  const idAt = utf8.encode(`{${before.map((member) => `${member},`).join("")}"id":`).length;
  return { text: `{${members.join(",")}}${random.pick(["", "\n"])}`, id, idAt };
}

/** The names of a valid object's top-level members, duplicates included, by a walk that shares nothing with ours. */
function memberNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (start >= 0) {
      if (character === "\\") at++;
      else if (character === '"') {
        if (depth === 1 && /^\s*:/.test(text.slice(at + 1, at + 64))) names.push(JSON.parse(text.slice(start, at + 1)));
        start = -1;
      }
    } else if (character === '"') start = at;
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
  }
  return names;
}

/** What JSON.parse and a naive walk say about bytes: no JSON, JSON, or an answer to hand on. */
function nativeVerdict(bytes: Uint8Array): { readonly json: boolean; readonly envelope: boolean } {
  let text: string;
  let value: unknown;
  try {
    text = strictUtf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return { json: false, envelope: false };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { json: true, envelope: false };
  const names = memberNames(text);
  const times = (name: string): number => names.filter((other) => other === name).length;
  const members = Object.fromEntries(Object.entries(value));
  const error: unknown = members["error"];
  const errorIsObject = typeof error === "object" && error !== null && !Array.isArray(error);
  const isResult = times("result") === 1 && (times("error") === 0 || (times("error") === 1 && error === null));
  const isError = times("result") === 0 && times("error") === 1 && errorIsObject;
  const once = times("jsonrpc") === 1 && times("id") === 1 && (isResult || isError);
  return { json: true, envelope: once && members["jsonrpc"] === "2.0" };
}

/** Numbers that our lossless reader refuses on purpose may make it refuse what JSON.parse takes. */
const overflowing = /[0-9][eE]\+?[0-9]{3,}|[0-9]{300,}/;

function disagreementOn(bytes: Uint8Array): string | null {
  const native = nativeVerdict(bytes);
  if (isJson(bytes) !== native.json) return `isJson differs from JSON.parse, which says ${native.json}`;
  const slice = sliceEnvelope(bytes);
  if ((slice.kind !== "malformed") !== native.envelope) return `sliceEnvelope says ${JSON.stringify(slice)}`;
  const exact = parseJsonExact(bytes);
  if (exact.ok !== native.json && !(native.json && overflowing.test(strictUtf8.decode(bytes)))) {
    return "parseJsonExact differs from JSON.parse";
  }
  if (!exact.ok) return null;
  const text = stringifyJsonExact(exact.value);
  const again = parseJsonExact(text);
  if (!again.ok || stringifyJsonExact(again.value) !== text) return "the round trip is not stable";
  const canonical = canonicalJson(bytes);
  if (canonical !== null && canonicalJson(utf8.encode(canonical)) !== canonical)
    return "canonicalJson is not idempotent";
  return null;
}

function disagreementOnId({ text, id, idAt }: ReturnType<typeof randomEnvelope>): string | null {
  const bytes = utf8.encode(text);
  const slice = sliceEnvelope(bytes);
  if (slice.kind === "malformed") return `an envelope is refused: ${slice.fault}`;
  if (slice.idStart !== idAt || slice.idEnd !== idAt + utf8.encode(id).length) return "the id's range is wrong";
  return null;
}

/**
 * Fidelity of JSON: `n` random answers, as they are and mutated, must be cut where a naive reading cuts them, be
 * accepted exactly when JSON.parse accepts them, and keep every byte but the id's.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = new CampaignRandom(seed);
  let accepted = 0;
  for (let i = 0; i < n; i++) {
    const envelope = randomEnvelope(random);
    const mutated = mutate(utf8.encode(envelope.text), random, alphabet);
    if (isJson(mutated)) accepted++;
    const difference =
      disagreementOnId(envelope) ?? disagreementOn(utf8.encode(envelope.text)) ?? disagreementOn(mutated);
    if (difference !== null) {
      return { passed: false, summary: `seed ${seed}, case ${i}: ${difference}; bytes ${mutated.toHex()}` };
    }
  }
  const deep = utf8.encode("[".repeat(defaultMaxDepth + 1) + "]".repeat(defaultMaxDepth + 1));
  const passed = !isJson(deep) && (n < 100 || (accepted > n / 50 && accepted < n));
  return { passed, summary: `${n} answers, ${accepted} still JSON after mutation, no disagreement with JSON.parse` };
}
