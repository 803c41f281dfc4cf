/**
 * lib/testing: what tests of every workspace share. Tests and benchmarks import it; what ships does not.
 */
export { eventually, until } from "./eventually.ts";
