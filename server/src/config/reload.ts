import { type Log, Serial } from "@sluice/lib";
import { changedKeys } from "./changes.ts";
import type { Config } from "./config.ts";
import { formatFault } from "./faults.ts";
import type { KeyName } from "./keys.ts";
import type { ConfigOutcome } from "./load.ts";

/** The outcome of reading the configuration again. */
export type ReloadResult =
  | { readonly kind: "reloaded"; readonly applied: readonly string[]; readonly needsRestart: readonly string[] }
  /** Nothing has changed. Faults hold no secrets. */
  | { readonly kind: "invalid"; readonly faults: readonly string[] }
  /** The server was started without a way to read its configuration again. */
  | { readonly kind: "unavailable" };

export type Reload = () => Promise<ReloadResult>;

/** Keys that are applied while connections and calls continue; all others take effect at the next start. */
const appliedKeys: ReadonlySet<KeyName> = new Set<KeyName>([
  "UPSTREAMS_MAINNET",
  "UPSTREAMS_DEVNET",
  "UPSTREAMS_TESTNET",
  "CORDON_SLOTS",
  "CACHE_BYTES",
  "TRUSTED_PROXIES",
  "LOG_LEVEL",
]);

/** The values of the applied keys. */
export type AppliedConfig = Pick<Config, "upstreams" | "cordonSlots" | "cacheBytes" | "trustedProxies" | "logLevel">;

/**
 * Reads the configuration again and applies the keys that need no restart, without dropping a connection. The whole
 * configuration is validated before any of it is applied. Reloads run one after another.
 */
export function createReload(
  started: Config,
  dependencies: {
    readonly read: (() => ConfigOutcome) | null;
    /** Applies all values or, when it throws, none. */
    readonly apply: (config: AppliedConfig) => void;
    /** Called after the values were applied. */
    readonly onApplied: () => Promise<void>;
    readonly log: Pick<Log, "info" | "warn">;
  },
): Reload {
  const { read, apply, onApplied, log } = dependencies;
  let present = started;
  const reload: Reload = async () => {
    if (read === null) return { kind: "unavailable" };
    const outcome = read();
    if (!outcome.ok) {
      const faults = outcome.faults.map(formatFault);
      log.warn({ faults }, "the configuration is invalid; nothing was changed");
      return { kind: "invalid", faults };
    }
    const changed = changedKeys(present, outcome.config);
    const applied = changed.filter((key) => appliedKeys.has(key));
    const { upstreams, cordonSlots, cacheBytes, trustedProxies, logLevel } = outcome.config;
    const values = { upstreams, cordonSlots, cacheBytes, trustedProxies, logLevel };
    apply(values);
    present = { ...present, ...values };
    await onApplied();
    const needsRestart = changed.filter((key) => !appliedKeys.has(key));
    log.info({ applied, needsRestart }, "the configuration was reloaded");
    return { kind: "reloaded", applied, needsRestart };
  };
  const reloads = new Serial();
  return () => reloads.run(reload);
}
