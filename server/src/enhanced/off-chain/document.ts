import { type JsonValue, parseJsonExact } from "@sluice/wire/json";

/** What a document says that is told on. Texts are cut nowhere: one that is too long is left out. */
export interface OffChainDocument {
  readonly description: string | null;
  readonly image: string | null;
  readonly animationUrl: string | null;
  readonly externalUrl: string | null;
  readonly category: string | null;
  readonly attributes: readonly { readonly traitType: string; readonly value: string }[];
  readonly files: readonly { readonly uri: string; readonly mime: string | null }[];
}

/** Characters and entries that are kept of one document. */
const bounds = { description: 8_192, url: 2_048, name: 256, value: 1_024, attributes: 128, files: 32 } as const;

type Members = { readonly [name: string]: JsonValue | undefined };

/**
 * Reads a document of the form that Token Metadata describes: an object with `description`, `image`, `attributes` and
 * `properties.files`. Members of other types are left out.
 *
 * @returns null for what is no JSON object
 */
export function readDocument(bytes: Uint8Array): OffChainDocument | null {
  const parsed = parseJsonExact(new TextDecoder().decode(bytes));
  const members = parsed.ok ? membersOf(parsed.value) : null;
  if (members === null) return null;
  const properties = membersOf(members["properties"]) ?? {};
  return {
    description: textOf(members["description"], bounds.description),
    image: textOf(members["image"], bounds.url),
    animationUrl: textOf(members["animation_url"], bounds.url),
    externalUrl: textOf(members["external_url"], bounds.url),
    category: textOf(properties["category"], bounds.name),
    attributes: listOf(members["attributes"], bounds.attributes).flatMap(attributeOf),
    files: listOf(properties["files"], bounds.files).flatMap(fileOf),
  };
}

function membersOf(value: JsonValue | undefined): Members | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null;
}

const textOf = (value: JsonValue | undefined, lengthMax: number): string | null =>
  typeof value === "string" && value.length <= lengthMax ? value : null;

const listOf = (value: JsonValue | undefined, max: number): readonly JsonValue[] =>
  Array.isArray(value) ? value.slice(0, max) : [];

/** A value may be a number or a flag as well; it is told as text. */
function attributeOf(entry: JsonValue): OffChainDocument["attributes"] {
  const members = membersOf(entry);
  const traitType = textOf(members?.["trait_type"], bounds.name);
  const value = members?.["value"];
  const text = typeof value === "string" ? value : isScalar(value) ? String(value) : null;
  return traitType === null || text === null || text.length > bounds.value ? [] : [{ traitType, value: text }];
}

const isScalar = (value: JsonValue | undefined): boolean =>
  typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";

function fileOf(entry: JsonValue): OffChainDocument["files"] {
  const members = membersOf(entry);
  const uri = textOf(members?.["uri"], bounds.url);
  return uri === null ? [] : [{ uri, mime: textOf(members?.["type"], bounds.name) }];
}
