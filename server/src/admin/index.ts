/**
 * admin: REST for operators and for the console. Fed by the gateway (HTTP on the gateway's port for the console, the
 * Unix socket in the data directory for the `sluice` command) and by compose, which hands in the stores. Feeds state
 * (accounts, keys, audit) and keys (invalidations).
 */

export {
  administrationPaths,
  createAdministration,
} from "./administration.ts";
export { ApiDocs } from "./api-docs.ts";
export { consoleBundleStory, consoleBundles } from "./bundle-figures.ts";
export { createConsole } from "./console.ts";
export { chainPosition, consolePrices, consoleUpstreams, consoleUsage } from "./console-figures.ts";
export { ConsolePages, pagePaths } from "./console-pages.ts";
export { ConsoleStream } from "./console-stream.ts";

export { administrationMethods } from "./count-requests.ts";
export type { HeldCredits } from "./credit-holders.ts";
export { type EngineControl, engineControl } from "./engine-control.ts";
export { issueKey } from "./issue-key.ts";
export { createManagement, type OracleProduct, type RunningServer } from "./management.ts";
export { listMigrations } from "./migrations.ts";
export { type RotationOutcome, type SecretSurvey, surveySecrets, unreadableSecrets } from "./stored-secrets.ts";
