import { BackwardWriter, FieldReader } from "../body/protobuf.ts";

/** Of geyser.SubscribeRequest: the maps from the name of a filter to the filter. */
const maps: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 8, 10]);
const entry = { key: 1, value: 2 } as const;

const empty = new Uint8Array(0);

/**
 * Writes out the filters that a client has left away because they are empty, as some encoders of protobuf do with the
 * value of a map; readers that know no default for it would take the filter for null.
 *
 * @throws {MalformedBytes} when the bytes are no request
 */
export function completeRequest(bytes: Uint8Array): Uint8Array {
  const reader = new FieldReader(bytes);
  /** Entries without a value, unless one with a value has come after them. */
  const bare = new Map<string, { readonly field: number; readonly key: Uint8Array }>();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (!maps.has(field)) {
      reader.skip();
      continue;
    }
    const outer = reader.enter();
    let key: Uint8Array = empty;
    let hasValue = false;
    for (let inner = reader.next(); inner !== 0; inner = reader.next()) {
      if (inner === entry.key) key = reader.bytes();
      else reader.skip();
      hasValue ||= inner === entry.value;
    }
    reader.leave(outer);
    const name = `${field}:${Buffer.from(key).toString("hex")}`;
    if (hasValue) bare.delete(name);
    else bare.set(name, { field, key });
  }
  if (bare.size === 0) return bytes;
  const writer = new BackwardWriter(bytes.length * 2);
  for (const { field, key } of bare.values()) {
    const end = writer.length;
    writer.explicitBytes(entry.value, empty);
    writer.bytes(entry.key, key);
    writer.close(field, end);
  }
  writer.raw(bytes);
  return writer.finish();
}
