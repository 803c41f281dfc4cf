/**
 * contract: what outsiders rely on. Error table, tiers, limits, credit costs, method tables, REST schemas, event
 * shapes, .proto files. Imports nothing of ours; the server, the SDK, the console and the documents derive from it.
 */
export { apiKeyHint, formatApiKey, type KeyEnvironment, keyEnvironments, parseApiKey } from "./api-key.ts";
export { creditClasses, creditCost, methodCredits, serviceCredits } from "./credits.ts";
export { type ErrorCode, type ErrorDefinition, errorDocsPath, errorTable, SluiceError } from "./errors.ts";
export { type ErrorGuide, errorGuide } from "./errors-guide.ts";
export { limits } from "./limits.ts";
export {
  type OracleInterval,
  type OraclePath,
  type OraclePeriod,
  type OracleSourceId,
  type OracleSourceInfo,
  type OracleSourceStatus,
  type OracleSymbol,
  type OracleTierTerms,
  oracleBounds,
  oracleDeprecatedSince,
  oracleIntervalDefault,
  oracleIntervals,
  oracleLabel,
  oracleMajors,
  oraclePair,
  oraclePaths,
  oraclePeriodDefault,
  oraclePeriods,
  oraclePoolSymbols,
  oracleQuote,
  oracleSourceStatuses,
  oracleSources,
  oracleSymbols,
  oracleTierTerms,
  oracleV2TierTerms,
} from "./oracle.ts";
export {
  type OracleErrorCode,
  type OracleErrorDefinition,
  oracleErrorCodes,
  oracleErrorTable,
} from "./oracle-errors.ts";
export {
  type CacheClass,
  type CommitmentName,
  type ConfigSpec,
  commitments,
  type ParameterKind,
  type ParameterSpec,
  type RpcMethodSpec,
} from "./rpc-method-spec.ts";
export { rpcMethods } from "./rpc-methods.ts";
export type {
  AccountBody,
  AccountCreate,
  AccountCredits,
  AccountLimits,
  AccountTierChange,
  ConsoleDoor,
  ConsoleName,
  ConsoleOverview,
  ConsolePrice,
  ConsolePrices,
  ConsoleSession,
  ConsoleSessionCreate,
  ConsoleSource,
  ConsoleUpstream,
  ConsoleUsage,
  FieldError,
  GatewayErrorData,
  HealthRecord,
  JsonRpcRequest,
  JsonRpcResponse,
  KeyBody,
  KeyCreate,
  KeyCreated,
  KeyStatusChange,
  Page,
  PageQuery,
  ProblemDetails,
  SentTransactionBody,
  UsageFigures,
  UsageItem,
  UsageMonth,
  UsageQuery,
  UsageReport,
} from "./schemas/index.ts";
export * as schemas from "./schemas/index.ts";
export {
  burstFactor,
  type Network,
  networks,
  type OracleTier,
  type OracleV2Tier,
  oracleTiers,
  oracleV2Tiers,
  type Permission,
  type PlatformTier,
  type PlatformTierLimits,
  type Product,
  permissions,
  platformTierLimits,
  platformTiers,
  type SubscriptionTiers,
} from "./tiers.ts";
