/**
 * The engine without anything of ours before it, confined as the ledger's process is or not: what hostile SQL could do
 * once it had passed every check. Arguments: a directory, `confined` or `open`, and JSON text with statements and the
 * port of an HTTP server. Prints one line of JSON: what became of each statement and of each call to the system.
 */
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becomeConfined, confineCalls } from "../confinement/confine.ts";
import { loadNative } from "../native.ts";

const [directory, way, attempts] = process.argv.slice(2);
if (directory === undefined || way === undefined || attempts === undefined) {
  throw new Error("usage: unguarded.ts <directory> confined|open <attempts>");
}
if (way === "confined") becomeConfined(import.meta.path, directory, ["inside", attempts]);
const { statements, port } = JSON.parse(attempts) as { statements: string[]; port: number };

const native = loadNative();
const root = native.CreateConnection(join(directory, "engine"));
if (root === null) throw new Error("the engine opened no connection");
const confinement = way === "inside" ? confineCalls() : null;

const outcomeOf = async (attempt: () => unknown): Promise<string> => {
  try {
    return `did ${String(await attempt()).slice(0, 100)}`;
  } catch (error) {
    return `refused ${error instanceof Error ? error.message : String(error)}`.slice(0, 300);
  }
};
const run = async (sql: string): Promise<string> =>
  Buffer.from((await native.QueryAsyncConnection(root, sql, "TabSeparated")).bytes).toString("utf8");

const outcomes: Record<string, string> = {};
for (const sql of statements) outcomes[sql] = await outcomeOf(() => run(sql));
outcomes["read"] = await outcomeOf(() => readFileSync("/etc/passwd", "utf8"));
outcomes["list"] = await outcomeOf(() => openSync("/", "r"));
outcomes["write"] = await outcomeOf(() => writeFileSync(join(directory, "..", "written"), ""));
outcomes["connect"] = await outcomeOf(async () => {
  const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
  socket.end();
});
outcomes["listen"] = await outcomeOf(() =>
  Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } }).stop(),
);
outcomes["program"] = await outcomeOf(() => Bun.spawnSync([process.execPath, "--version"]).stdout);
outcomes["parent"] = await outcomeOf(() => readFileSync(`/proc/${process.ppid}/environ`, "utf8").length);
outcomes["after"] = await outcomeOf(() => run("SELECT 1"));
console.log(JSON.stringify({ confinement, outcomes }));
process.exit(0);
