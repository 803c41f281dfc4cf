import type { Asset } from "../assets/asset.ts";

/** Assets as text that the index keeps: JSON, in which whole numbers and bytes are objects of one member. */

const numberMember = "$whole";
const bytesMember = "$bytes";

function isTagged<Name extends string>(value: unknown, name: Name): value is Readonly<Record<Name, string>> {
  return typeof value === "object" && value !== null && Object.keys(value).length === 1 && name in value;
}

export function assetText(asset: Asset): string {
  return JSON.stringify(asset, (_name, value: unknown) => {
    if (typeof value === "bigint") return { [numberMember]: value.toString() };
    if (value instanceof Uint8Array) return { [bytesMember]: value.toBase64() };
    return value;
  });
}

/** The asset of a text that `assetText` wrote. */
export function assetOfText(text: string): Asset {
  return JSON.parse(text, (_name, value: unknown) => {
    if (isTagged(value, numberMember)) return BigInt(value[numberMember]);
    if (isTagged(value, bytesMember)) return Uint8Array.fromBase64(value[bytesMember]);
    return value;
  });
}
