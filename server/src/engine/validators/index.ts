/**
 * validators: Jito's service for leaders. A validator whose identity is in the leader schedule signs in, subscribes,
 * and is handed the bundles that are meant for its own slots. Fed by the auction, which sees it as `Validators`.
 *
 * `BlockEngineRelayer` is not served, so its methods are UNIMPLEMENTED: no relayer feeds this engine packets, and one
 * that were sent accounts of interest would send it transactions without a taker.
 */
export { createValidators, EpochChange, type ValidatorRegistry } from "./validator-registry.ts";
