/**
 * lib: what every other part builds on: time and timers, randomness, bounds, addresses, invariants. It has no I/O
 * beyond the system's clock and randomness, which are values that others are handed, and imports nothing of Sluice.
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
export { BoundedMap, type BoundedMapOptions } from "./bounded-map.ts";
export { BoundedQueue } from "./bounded-queue.ts";
export { type ByteSource, through } from "./byte-source.ts";
export {
  type Clock,
  ManualClock,
  type MonotonicMs,
  monotonicMs,
  systemClock,
  type Timer,
  type TimerOptions,
  type Timers,
  type WallMs,
  wallMs,
} from "./clock.ts";
export { parseDuration, showDuration } from "./duration.ts";
export { Emitter, KeyedEmitter, type Listener } from "./emitter.ts";
export { type FileFault, fileFaultIn, fileFaultOf } from "./file-faults.ts";
export { InvariantError, invariant } from "./invariant.ts";
export type { Log } from "./log.ts";
export { type Random, seededRandom, systemRandom } from "./random.ts";
export {
  BackgroundTask,
  type BackgroundTaskDependencies,
  type BackgroundTaskOptions,
  Debounce,
  Serial,
  SingleFlight,
  sleep,
  type Timed,
  within,
} from "./schedule.ts";
export { masterKeyId, SecretVault, sealedUnder } from "./secret-vault.ts";
