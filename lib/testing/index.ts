/**
 * lib/testing: what tests of every workspace share. Tests and benchmarks import it; what ships does not.
 */

export { advanceUntil } from "./advance-until.ts";
export { eventually, until } from "./eventually.ts";
export { withRealTimers } from "./real-timers.ts";
export { asUser, freePort, type ServerProcess, startServerProcess } from "./server-process.ts";
export { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
