/**
 * lib: pure helpers with no I/O beyond the wall clock and the system's randomness, which are values that others are
 * handed. Everything above may import it; it imports nothing of ours but contract and wire.
 */

export {
  type AddressSet,
  compileAddressSet,
  isAddressRange,
  normaliseAddress,
  parseIpv4,
  replaceableAddressSet,
} from "./addresses.ts";
export { type BackoffOptions, backoffDelayMs } from "./backoff.ts";
export { BoundedQueue } from "./bounded-queue.ts";
export { type ByteSource, through } from "./byte-source.ts";
export { type Clock, ManualClock, systemClock } from "./clock.ts";
export { Paced } from "./paced.ts";
export { type Random, seededRandom, systemRandom } from "./random.ts";
export { SecretVault } from "./secret-vault.ts";
