import { decodeAddress } from "@sluice/wire/base58";
import { FilterFault, requireCount } from "./filter-fault.ts";
import type { CuckooRequest } from "./requests.ts";
import { SipHash } from "./siphash.ts";

/** The layout that clients of the protocol write: buckets of four fingerprints of 16 bits, the lower byte first. */
const entriesPerBucket = 4;
const fingerprintBits = 16;
const bucketBytes = (entriesPerBucket * fingerprintBits) / 8;

/** A set of addresses that may hold some that were never added, and none that was is missing. */
export type CuckooFilter = (address: string) => boolean;

/**
 * A cuckoo filter as yellowstone-grpc's clients make it: SipHash-2-4 with the keys seed and seed turned by half; the
 * fingerprint is bits 32 to 47 of an address's hash, 1 in place of 0; its buckets are the hash's lower bits, and those
 * XORed with the lower bits of the fingerprint's own hash. An address is hashed as a slice of Rust: its length as a
 * u64, then its bytes. Source: yellowstone-grpc-proto, cuckoo.
 *
 * @throws {FilterFault} for another layout
 */
export function cuckooFilter(request: CuckooRequest | null | undefined, bytesMax: number): CuckooFilter | null {
  if (request === null || request === undefined) return null;
  const { data, bucket_count: buckets, hash_algorithm: algorithm } = request;
  requireCount(data.length, bytesMax, "filters/data_slices");
  if (algorithm !== "SIP_HASH") throw new FilterFault(`cuckoo filter with unknown hash algorithm ${algorithm}`);
  if (request.entries_per_bucket !== entriesPerBucket || request.fingerprint_bits !== fingerprintBits) {
    throw new FilterFault("cuckoo filter must have 4 entries per bucket and fingerprints of 16 bits");
  }
  const isPowerOfTwo = buckets > 0 && 2 ** Math.round(Math.log2(buckets)) === buckets;
  if (!isPowerOfTwo || data.length !== buckets * bucketBytes) {
    throw new FilterFault("cuckoo filter must have a power of two of buckets, and the bytes of all of them");
  }
  const seed = BigInt(request.hash_seed);
  const hash = new SipHash(seed, BigInt.asUintN(64, (seed << 32n) | (seed >> 32n)));
  const entries = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const input = Uint8Array.of(32, 0, 0, 0, 0, 0, 0, 0, ...new Uint8Array(32));
  const holds = (bucket: number, fingerprint: number): boolean => {
    for (let entry = bucket * bucketBytes; entry < (bucket + 1) * bucketBytes; entry += 2) {
      if (entries.getUint16(entry, true) === fingerprint) return true;
    }
    return false;
  };
  const mask = buckets - 1;
  return (address) => {
    const key = decodeAddress(address);
    if (key === null) return false;
    input.set(key, 8);
    hash.hash(input);
    const fingerprint = hash.high & 0xffff || 1;
    const first = (hash.low & mask) >>> 0;
    if (holds(first, fingerprint)) return true;
    hash.hash(Uint8Array.of(fingerprint & 0xff, fingerprint >>> 8));
    return holds((first ^ (hash.low & mask)) >>> 0, fingerprint);
  };
}
