import { FieldReader } from "../body/protobuf.ts";

/** Of geyser.SubscribeRequest: what does not belong to the filters. */
const apart: ReadonlySet<number> = new Set([9, 11]);

/**
 * A text that requests for the same filters share, in whatever order their maps were written: what a stream asks for
 * and from where on, and its pings, are left out.
 *
 * @throws {MalformedBytes} when the bytes are no request
 */
export function requestIdentity(bytes: Uint8Array): string {
  const reader = new FieldReader(bytes);
  const parts: Uint8Array[] = [];
  for (let start = 0, field = reader.next(); field !== 0; start = reader.position, field = reader.next()) {
    reader.skip();
    if (!apart.has(field)) parts.push(bytes.subarray(start, reader.position));
  }
  const digests = parts.map((part) => new Bun.CryptoHasher("sha256").update(part).digest("base64"));
  // Slices stand in an order of their own, which another order of the request would not keep.
  return new Bun.CryptoHasher("sha256").update(digests.toSorted().join()).digest("base64");
}
