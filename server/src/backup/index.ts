/**
 * backup: copies of what an installation remembers (state, embedded ledger, advances of credits and records of requests
 * that wait on disk), written while it serves, and their restore as a whole. Fed by compose with the open stores and by
 * the `sluice` command; feeds the data directory and the database (docs/decisions/0046).
 */
export { type BackupJob, type BackupProgress, createBackupJob } from "./job.ts";
export { BackupError } from "./manifest.ts";
export { type RestoreResult, restoreBackup } from "./restore.ts";
export { settleInterrupted } from "./swap.ts";
