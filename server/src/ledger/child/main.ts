/**
 * Entry of the ledger's child process: the ClickHouse engine (chDB) behind ClickHouse's own HTTP protocol on loopback.
 * It is started by the supervisor, which names the ledger's directory as its argument, hands it its orders on standard
 * input and keeps that pipe open: when the pipe ends, the parent is gone and so is this process. SIGTERM drains and
 * exits 0.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { accessControl } from "./access-control.ts";
import { engineConfiguration } from "./configuration.ts";
import { confineCalls } from "./confinement/confine.ts";
import { Engine } from "./engine.ts";
import { Front } from "./front.ts";
import { type ChildOrders, type ChildReport, parseOrders } from "./handshake.ts";
import { childLimits } from "./limits.ts";
import { loadNative } from "./native.ts";
import { releaseLibraryPages } from "./trim.ts";

const freshId = (): string => Buffer.from(systemRandom.bytes(16)).toString("hex");

function report(message: ChildReport): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Lays out the directory: `engine/` is ClickHouse's, `spool/` holds INSERT data under way and starts empty. */
function layOut(directory: string): { engine: string; spool: string; configuration: string } {
  const engine = join(directory, "engine");
  const spool = join(directory, "spool");
  const configuration = join(directory, "engine.xml");
  const users = join(directory, "users.xml");
  for (const path of [directory, engine, spool]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const archives = join(directory, "backups");
  writeFileSync(configuration, engineConfiguration({ archives, users }), { mode: 0o600 });
  writeFileSync(users, accessControl({ threads: 2 }), { mode: 0o600 });
  return { engine, spool, configuration };
}

async function versionOf(engine: Engine): Promise<string> {
  const nothing = { database: null, roles: [], settings: new Map(), parameters: new Map() };
  const result = await engine.run("SELECT version()", "TabSeparatedRaw", {
    ...nothing,
    signal: new AbortController().signal,
  });
  return Buffer.from(result.bytes).toString("utf8").trim();
}

async function serve(directory: string, orders: ChildOrders): Promise<{ stop: (deadlineMs: number) => Promise<void> }> {
  const paths = layOut(directory);
  const engine = new Engine(
    { directory: paths.engine, arguments: [`--config-file=${paths.configuration}`] },
    // Nothing that was acknowledged is lost with the process, and its parent starts it anew.
    { native: loadNative(), clock: systemClock, overdue: () => process.exit(70) },
  );
  // Only the holder of the engine's lock may clear what an earlier process left behind.
  for (const name of readdirSync(paths.spool)) rmSync(join(paths.spool, name), { force: true });
  const version = await versionOf(engine);
  const { user, password } = orders;
  const front = new Front(
    { user, password, spoolDirectory: paths.spool, version },
    { engine, clock: systemClock, freshId },
  );
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 255,
    maxRequestBodySize: childLimits.insertBytesMax,
    fetch: (request) => front.handle(request),
    error: () => new Response("Internal error\n", { status: 500 }),
  });
  // Before the first statement, and after all that the process opens for itself.
  const confinement = orders.isConfined ? confineCalls() : null;
  report({ ready: true, port: server.port ?? 0, version, confinement });
  systemClock.after(childLimits.releasePagesAfterMs, releaseLibraryPages, { keepsAlive: true });
  return {
    async stop(deadlineMs) {
      await front.drain(deadlineMs);
      await server.stop(true);
      if (!front.busy) engine.close();
    },
  };
}

/** Hands over the first line of standard input; `onEnd` is called when the pipe ends. */
function listenToParent(onLine: (line: string) => void, onEnd: () => void): void {
  let head: string | null = "";
  process.stdin.on("data", (piece: Buffer) => {
    if (head === null) return;
    head += piece.toString("utf8");
    const end = head.indexOf("\n");
    if (end === -1) return;
    const line = head.slice(0, end);
    head = null;
    onLine(line);
  });
  process.stdin.on("end", onEnd);
  process.stdin.on("close", onEnd);
  process.stdin.on("error", onEnd);
}

function run(directory: string): void {
  let stop: ((deadlineMs: number) => Promise<void>) | null = null;
  let leaving = false;
  const leave = (deadlineMs: number): void => {
    if (leaving) return;
    leaving = true;
    (stop?.(deadlineMs) ?? Promise.resolve()).finally(() => process.exit(0));
  };
  const begin = (line: string): void => {
    Promise.resolve()
      .then(() => serve(directory, parseOrders(line)))
      .then((running) => {
        stop = running.stop;
      })
      .catch((error: unknown) => {
        report({ ready: false, error: error instanceof Error ? error.message : String(error) });
        process.exit(1);
      });
  };
  listenToParent(begin, () => leave(childLimits.orphanDrainMs));
  process.on("SIGTERM", () => leave(childLimits.drainMs));
  // Ctrl-C reaches the whole terminal group; the parent decides when the ledger ends.
  process.on("SIGINT", () => undefined);
}

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: main.ts <directory>");
run(directory);
