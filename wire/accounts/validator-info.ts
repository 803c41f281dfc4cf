import { ByteReader, orNull } from "../bytes.ts";
import type { Address } from "../identifiers.ts";
import { parseJsonExact } from "../json/index.ts";

/** What validators say of themselves, in accounts of the config program. Source: solana-config-interface. */

/** The first key of each of these accounts, by which they are found: it lies at 1, behind the number of keys. */
export const validatorInfoKey = "Va1idator1nfo111111111111111111111111111111" as Address;

/** What a validator says of itself. */
export interface ValidatorInfo {
  readonly identity: Address;
  /** As it is written there, without space around it and control characters; empty when there is none. */
  readonly name: string;
}

/** Characters of a name that are kept; nobody needs more, and the account may hold hundreds. */
const nameCharactersMax = 100;

/** Nesting of what a validator publishes. */
const depthMax = 64;

/** Null when the text is no JSON. */
function nameIn(text: string): string | null {
  const parsed = parseJsonExact(text, depthMax);
  if (!parsed.ok) return null;
  const { value } = parsed;
  const name = typeof value === "object" && value !== null && "name" in value ? value["name"] : null;
  if (typeof name !== "string") return "";
  return [...name.replaceAll(/\p{C}/gu, "").trim()].slice(0, nameCharactersMax).join("");
}

/**
 * Decodes an account of the config program: two keys (count u8 at 0, each a key and whether it signs), the first that
 * of validator infos and the second an identity that signed, then the length (u64) of a JSON object and its text.
 *
 * @returns null for another configuration, an identity that did not sign, or a text that is no JSON
 */
export function decodeValidatorInfo(data: Uint8Array): ValidatorInfo | null {
  return orNull(() => {
    const reader = new ByteReader(data, 0);
    if (reader.u8() !== 2 || reader.address() !== validatorInfoKey) return null;
    reader.flag();
    const identity = reader.address();
    if (!reader.flag()) return null;
    const name = nameIn(reader.text(reader.u64()));
    return name === null ? null : { identity, name };
  });
}
