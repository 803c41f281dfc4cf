import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { consoleBuildEntry } from "@sluice/console";

const stampFile = ".stamp";
const buildTimeoutMs = 60_000;

/**
 * The directory with the console's bundled files, made when it is missing or older than its sources. The bundler runs in
 * a process of its own, since it takes memory that a server would keep.
 */
export async function buildConsoleFiles(dataDirectory: string, closing: AbortSignal): Promise<string> {
  const directory = join(dataDirectory, "console");
  const stamp = sourceStamp();
  const known = join(directory, stampFile);
  if (existsSync(known) && readFileSync(known, "utf8") === stamp) return directory;
  const child = Bun.spawn([process.execPath, consoleBuildEntry, directory], {
    env: {},
    stdout: "ignore",
    stderr: "pipe",
    timeout: buildTimeoutMs,
    signal: closing,
    killSignal: "SIGKILL",
  });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`The console could not be bundled: ${said.slice(-1_000)}`);
  writeFileSync(known, stamp);
  return directory;
}

/** Names, sizes and times of all that goes into the bundle. */
function sourceStamp(): string {
  const root = dirname(dirname(consoleBuildEntry));
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
