import { SluiceError } from "@sluice/contract/errors";
import type { Log } from "@sluice/lib";
import { BackupError } from "./manifest.ts";
import { type BackupResult, type WriteDependencies, type WriteOptions, writeBackup } from "./write.ts";

export interface BackupRequest {
  /** An absolute path. */
  readonly directory: string;
  readonly passphrase: string | null;
}

export type BackupProgress =
  | { readonly status: "none" | "running" }
  | ({ readonly status: "done" } & BackupResult)
  | { readonly status: "failed"; readonly error: string };

/** Backups of a process, one at a time, in the background. */
export interface BackupJob {
  /** @throws {SluiceError} CONFLICT while one is being written */
  start(request: BackupRequest): void;
  /** Of the last one. */
  progress(): BackupProgress;
}

export function createBackupJob(
  options: Omit<WriteOptions, "to" | "passphrase">,
  dependencies: WriteDependencies & { readonly log: Pick<Log, "info" | "error"> },
): BackupJob {
  let progress: BackupProgress = { status: "none" };
  const write = async ({ directory, passphrase }: BackupRequest): Promise<BackupProgress> => {
    const { log } = dependencies;
    try {
      const result = await writeBackup({ ...options, to: directory, passphrase }, dependencies);
      log.info({ ...result }, "a backup was written");
      return { status: "done", ...result };
    } catch (error) {
      if (!(error instanceof BackupError)) log.error({ error }, "a backup failed");
      return { status: "failed", error: error instanceof Error ? error.message : String(error) };
    }
  };
  return {
    progress: () => progress,
    start: (request) => {
      if (progress.status === "running") {
        throw new SluiceError("CONFLICT", {
          message: "A backup is being written; another one can be written after it",
        });
      }
      progress = { status: "running" };
      // Never rejects.
      void write(request).then((ended) => {
        progress = ended;
      });
    },
  };
}
