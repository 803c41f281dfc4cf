/**
 * contract: what outsiders rely on. Error table, tiers, limits, credit costs, method tables, REST schemas, event
 * shapes, .proto files. Imports nothing of ours; the server, the SDK, the console and the documents derive from it.
 */
export { type ErrorCode, type ErrorDefinition, errorDocsPath, errorTable, SluiceError } from "./errors.ts";
export { limits } from "./limits.ts";
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
