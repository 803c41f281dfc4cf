import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawnChild } from "./child.ts";
import { nodeUrl, type Place, type RunningSubject, trustIn } from "./subject.ts";

const root = join(import.meta.dir, "..", "..");
/** Far above what one machine can send, so that the limiter counts and never refuses. */
const requestsPerSecond = 1_000_000;
/** Below what the system gives out by itself, so that only another server can be in the way. */
const portOffsets = { first: 11_000, last: 21_000 };
const startMs = 60_000;

/** Runs a command of `sluice` against the server of a data directory and reads its JSON. */
async function manage<T>(directory: string, ...args: string[]): Promise<T> {
  const child = Bun.spawn(["sh", join(root, "bin", "sluice"), ...args, "--json"], {
    env: { ...process.env, DATA_DIR: directory },
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`sluice ${args.join(" ")} failed`);
  return JSON.parse(text) as T;
}

/**
 * The whole gateway, as `npm start` runs it, with the stub as its devnet node: every part of a request's way, the
 * ledger's facts and its engine's process included. Its CPU is that of the tree below it.
 */
export async function startServer(place: Place): Promise<RunningSubject> {
  const directory = join(place.directory, "data");
  const devFile = join(directory, "dev.json");
  const span = portOffsets.last - portOffsets.first;
  const offset = portOffsets.first + (process.pid % span);
  const node = nodeUrl(place);
  const child = spawnChild(
    ["sh", join(root, "bin", "sluice"), "dev", "--port-offset", String(offset), "--log-level", "warn"],
    {
      ...trustIn(place),
      DATA_DIR: directory,
      // The stub answers a gateway's calls; other services would ask it for a chain.
      ROLES: "gateway",
      UPSTREAMS_DEVNET: `stub=${node};ws=${node.replace("http", "ws")}`,
      NETWORK_DEFAULT: "devnet",
      // It answers every call alike.
      GENESIS_ALLOW_UNKNOWN: "stub",
    },
  );
  for (const until = Date.now() + startMs; !existsSync(devFile); await Bun.sleep(50)) {
    if (child.isOver() || Date.now() > until) throw new Error("sluice dev did not start");
  }
  const { doors: endpoints } = JSON.parse(readFileSync(devFile, "utf8")) as { doors: { rpc: string } };
  // A separate account whose rate never refuses; everything else about it is as for any customer.
  const account = await manage<{ id: string }>(
    directory,
    "accounts",
    "create",
    "--name",
    "bench",
    "--tier",
    "business",
  );
  const limits = ["--requests-per-second", String(requestsPerSecond), "--credits-monthly", "1000000000000"];
  await manage(directory, "accounts", "set-limits", account.id, ...limits);
  const { key } = await manage<{ key: string }>(
    directory,
    "keys",
    "create",
    "--account",
    account.id,
    "--environment",
    "dev",
  );
  return {
    port: Number(new URL(endpoints.rpc).port),
    path: "/rpc",
    pid: child.pid,
    headers: { "X-API-Key": key },
    [Symbol.asyncDispose]: () => child.stop(),
  };
}

/** Only the rooms of a request's way, in one process, with accounts and keys in memory and no ledger. */
export async function startRooms(place: Place): Promise<RunningSubject> {
  const script = join(import.meta.dir, "sluice-rooms.ts");
  const child = spawnChild([process.execPath, script, nodeUrl(place), String(requestsPerSecond)], trustIn(place));
  const { port, key } = JSON.parse(await child.line()) as { port: number; key: string };
  return {
    port,
    path: "/rpc",
    pid: child.pid,
    headers: { "X-API-Key": key },
    [Symbol.asyncDispose]: () => child.stop(),
  };
}
