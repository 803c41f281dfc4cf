import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The script that bundles the pages: `bun <entry> <directory>` writes them there, compressed forms beside them. */
const buildEntry: string = fileURLToPath(new URL("./build.ts", import.meta.url));
const stampFile = ".stamp";
const buildTimeoutMs = 60_000;

/**
 * The directory `console` below `dataDirectory` with the bundled files, which are built when they are missing or older
 * than their sources. The bundler runs in a child process, because its memory would stay with the server.
 * @throws {Error} when the bundler fails, or when `closing` is aborted meanwhile
 */
export async function buildConsoleFiles(dataDirectory: string, closing: AbortSignal): Promise<string> {
  const directory = join(dataDirectory, "console");
  const stamp = sourceStamp();
  const known = join(directory, stampFile);
  if (existsSync(known) && readFileSync(known, "utf8") === stamp) return directory;
  const child = Bun.spawn([process.execPath, buildEntry, directory], {
    env: {},
    stdout: "ignore",
    stderr: "pipe",
    timeout: buildTimeoutMs,
    signal: closing,
    killSignal: "SIGKILL",
  });
  const output = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`The console could not be bundled: ${output.slice(-1_000)}`);
  writeFileSync(known, stamp);
  return directory;
}

/** A digest of the names, sizes and times of all sources. */
function sourceStamp(): string {
  const root = dirname(dirname(buildEntry));
  const hash = new Bun.CryptoHasher("sha256");
  for (const workspace of ["console", "sdk", "contract"]) {
    for (const name of readdirSync(join(root, workspace), { recursive: true, encoding: "utf8" }).toSorted()) {
      if (name.includes("node_modules")) continue;
      const { size, mtimeMs } = statSync(join(root, workspace, name));
      hash.update(`${workspace}/${name} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest("hex");
}
