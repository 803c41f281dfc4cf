import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { sleep, systemClock } from "@sluice/lib";
import type { Command } from "commander";
import type { BackupProgress } from "../backup/index.ts";
import { managementSocketPath } from "../config/index.ts";
import type { CommandContext } from "./context.ts";
import { openManagement, serverIsAt } from "./management-client.ts";
import { CommandFailure } from "./terminal.ts";

const pollMs = 200;

/** Copies of the stores, and their restore. */
export function addBackupCommands(program: Command, context: CommandContext): void {
  context
    .command(program, "backup", "write a copy of the stores into a directory, while the server serves")
    .argument("<directory>", "empty, or not there yet; on the server's machine")
    .option("--passphrase-file <file>", "puts the master key into the backup, encrypted with this file's first line")
    .action(async (directory, options) => {
      const passphrase = readPassphrase(options.passphraseFile);
      await using client = await openManagement(context.config(options));
      await client.call("POST", "/backup", { directory: resolve(directory), passphrase });
      let progress: BackupProgress = { status: "running" };
      while (progress.status === "running") {
        await sleep(systemClock, pollMs);
        progress = (await client.call("GET", "/backup")) as BackupProgress;
      }
      if (progress.status !== "done") {
        throw new CommandFailure(progress.status === "failed" ? progress.error : "the server was restarted meanwhile");
      }
      const { key_ids: keys, left_out: leftOut, ...done } = progress;
      context.print(options, progress, () =>
        [
          `${done.directory}: ${done.parts} parts, ${done.bytes} bytes, of ${done.at}`,
          keys.length === 0 ? "needs no master key" : `needs the master key ${keys.join(", ")}`,
          ...leftOut.map((what) => `left out: ${what}`),
        ].join("\n"),
      );
    });
  context
    .command(program, "restore", "replace the stores by a backup; no server may run on them")
    .argument("<directory>", "a backup")
    .option("--replace", "put aside what the data directory holds, and replace what PostgreSQL holds")
    .option("--passphrase-file <file>", "opens the master key of the backup with this file's first line")
    .option("--key-out <file>", "writes that master key into this new file, as MASTER_KEY=…")
    .action(async (directory, options) => {
      const config = context.config(options);
      if (await serverIsAt(managementSocketPath(config))) {
        throw new CommandFailure(`a server runs on ${resolve(config.stores.directory)}: stop it first`);
      }
      const passphrase = readPassphrase(options.passphraseFile);
      const keyOut = options.keyOut === undefined ? null : resolve(options.keyOut);
      const wish = { from: resolve(directory), replace: options.replace === true, passphrase, keyOut };
      const [{ restoreInto }, { explainStartFault }] = await Promise.all([
        import("../compose.ts"),
        import("./start-fault.ts"),
      ]);
      const result = await restoreInto(config, wish).catch(explainStartFault);
      context.print(options, result, () =>
        [
          `restored the backup of ${result.at}`,
          ...(result.replaced === null ? [] : [`what was there before is in ${result.replaced}`]),
          ...result.left_out.map((what) => `left out: ${what}`),
          "Keys that were revoked since then are valid again: see docs/guides/operations.md, Backups.",
        ].join("\n"),
      );
    });
}

function readPassphrase(file: unknown): string | null {
  if (typeof file !== "string") return null;
  try {
    const [passphrase = ""] = readFileSync(file, "utf8").split(/\r?\n/);
    if (passphrase.length >= 12) return passphrase;
  } catch {
    throw new CommandFailure(`the file ${file} of --passphrase-file cannot be read`);
  }
  throw new CommandFailure("a passphrase has at least 12 characters");
}
