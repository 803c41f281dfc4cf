/**
 * config: the settings of operators as one validated value. Fed by the environment, an optional TOML file and
 * the flags of the command line; all of their faults are reported at once. It feeds compose, which hands each room what
 * it needs; `keys.ts` is the one table from which parser, reference page and `sluice config check` derive.
 */

export { type ClickhouseAddress, parseClickhouseUrl } from "./clickhouse-url.ts";
export type { Config } from "./config.ts";
export { describeConfig, renderConfigurationReference } from "./describe.ts";
export { loadConfigFromProcess, readEnvironment } from "./environment.ts";
export { renderConfigurationExample } from "./example.ts";
export { formatFaults } from "./faults.ts";
export { findHostFaults } from "./hosts.ts";
export { type Mode, type Role, roles } from "./keys.ts";
export { type ConfigOutcome, loadConfig } from "./load.ts";
export { type LogAddress, parseLogUrl } from "./log-url.ts";
export { maskUrl } from "./masking.ts";
export type { SourceEndpoint } from "./parsers.ts";
export { type PostgresAddress, type PostgresHost, type PostgresTls, parsePostgresUrl } from "./postgres-url.ts";
export { parseRedisUrl, type RedisAddress, type RedisNode } from "./redis-url.ts";
export { createReload, type Reload, type ReloadResult } from "./reload.ts";
export { isResolverAlone } from "./rules.ts";
export { managementSocketPath } from "./socket-path.ts";
export type { FlagValues } from "./sources.ts";
export type { CertificateFilePaths } from "./tls-keys.ts";
export {
  type UpstreamConfig,
  type UpstreamGroup,
  upstreamEntry,
  upstreamIn,
  upstreamOf,
  upstreamsMax,
  type YellowstoneAddress,
} from "./upstreams.ts";
export { version } from "./version.ts";
