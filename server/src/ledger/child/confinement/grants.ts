import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileGrant } from "./landlock.ts";

/** Files that a process has mapped, from /proc/self/maps: its program, the loader and libraries. */
export function mappedFiles(maps: string): readonly string[] {
  const paths = maps.split("\n").map((line) => /\s(\/.+)$/.exec(line)?.[1]);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** The package that holds this file; the sources of the process, and where its dependencies are. */
const packageRoot = join(import.meta.dir, "../../../../..");

/**
 * What the ledger's process has to open: its directory, its sources and dependencies, the libraries of the system, and
 * what tells it of its machine. Names in the package's folder may be listed, since Bun looks for packages there, but
 * files there are closed: the data directory of a development server is one of its folders.
 */
export function ledgerGrants(directory: string, program: string = process.execPath): readonly FileGrant[] {
  const mapped = mappedFiles(readFileSync("/proc/self/maps", "utf8"));
  const loaders = mapped.filter((path) => /\/ld-[^/]*\.so[^/]*$/.test(path));
  const inside = ["server", "lib", "node_modules", "package.json", "tsconfig.json"];
  const machine = ["/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"];
  return [
    // By name too, as each of them may be a link to another disk.
    ...["", "engine", "spool", "backups"].map((folder): FileGrant => ({ path: join(directory, folder), use: "own" })),
    ...[program, ...loaders].map((path): FileGrant => ({ path, use: "run" })),
    ...new Set(mapped.map((path) => dirname(path))).values().map((path): FileGrant => ({ path, use: "read" })),
    ...inside.map((name): FileGrant => ({ path: join(packageRoot, name), use: "read" })),
    { path: packageRoot, use: "list" },
    ...machine.map((path): FileGrant => ({ path, use: "read" })),
    { path: "/proc/self", use: "read", held: true },
    { path: "/proc/sys/vm", use: "read", held: true },
    { path: "/etc/ld.so.cache", use: "read" },
    { path: "/usr/share/zoneinfo", use: "read" },
    { path: "/dev/urandom", use: "read" },
    { path: "/dev/null", use: "write" },
  ];
}
