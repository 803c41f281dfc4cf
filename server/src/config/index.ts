/**
 * config: the settings of operators as one validated value. Fed by the environment, an optional TOML file and
 * the flags of the command line; all of their faults are reported at once. It feeds compose, which hands each room what
 * it needs; `keys.ts` is the one table from which parser, reference page and `sluice config check` derive.
 */

export { changedKeys } from "./changes.ts";
export { type Config, type EndpointName, type Setting, standardPorts } from "./config.ts";
export { describeConfig, renderConfigurationReference } from "./describe.ts";
export { loadConfigFromProcess, readEnvironment } from "./environment.ts";
export { type ConfigFault, formatFault, formatFaults } from "./faults.ts";
export { type KeyName, type LogLevel, logLevels, type Mode, modes, type Role, roles } from "./keys.ts";
export { type ConfigInput, type ConfigOutcome, loadConfig } from "./load.ts";
export { maskUrl } from "./masking.ts";
export type { SocketAddress, SourceEndpoint } from "./parsers.ts";
export { type AppliedConfig, createReload, type Reload, type ReloadResult } from "./reload.ts";
export { isResolverAlone } from "./rules.ts";
export type { FlagValues } from "./sources.ts";
export {
  type UpstreamConfig,
  type UpstreamGroup,
  upstreamEntry,
  upstreamGroups,
  upstreamIn,
  upstreamOf,
  upstreamsMax,
} from "./upstreams.ts";
