import { posix } from "node:path";
import { blank, functionsOf, importsOf, linesOf, type SourceFile } from "./source.ts";

/** A breach of the house's plan: which rule, where, and what was found. */
export interface Violation {
  readonly rule: Rule;
  readonly path: string;
  readonly line: number;
  readonly found: string;
}

export type Rule =
  | "no-files"
  | "layer"
  | "same-layer"
  | "side-door"
  | "workspace"
  | "driver"
  | "serve"
  | "outbound"
  | "grpc"
  | "environment"
  | "clock"
  | "cycle"
  | "dead-file"
  | "file-size"
  | "function-size"
  | "name"
  | "room-index";

/** The rooms of the server, in layers; a room imports only from layers before its own. */
export const layers: readonly (readonly string[])[] = [
  ["config", "observe", "processes", "http"],
  ["net"],
  ["chain"],
  ["state", "ledger", "hot"],
  ["keys", "limits", "credits", "cache", "upstreams", "ingest", "enhanced", "history", "analytics"],
  ["access"],
  ["rpc", "streams", "webhooks", "engine", "pool", "oracle", "names"],
  ["gateway", "admin"],
  ["compose"],
  ["command"],
];

export const sizeLimits = { fileLines: 500, functionLines: 70 } as const;

/** What a workspace may import of ours, besides its own files. */
const workspaceImports: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  wire: [],
  lib: [],
  auction: ["wire"],
  sdk: ["contract", "wire"],
  console: ["sdk"],
  svm: ["contract", "wire", "lib"],
  devnet: ["contract", "wire", "lib", "svm"],
  server: ["contract", "wire", "lib", "svm", "auction", "console", "devnet"],
  bench: ["contract", "wire", "lib", "svm", "auction", "sdk", "server", "devnet"],
  scripts: ["contract", "wire", "lib", "svm", "auction", "sdk", "console", "server", "devnet", "bench"],
};

const drivers: Readonly<Record<string, string>> = {
  kysely: "state",
  pg: "state",
  "bun:sqlite": "state",
  chdb: "ledger",
  "@clickhouse/client": "ledger",
  ioredis: "hot",
};

/** Rooms that call out by fetch: to nodes, to exchanges, and the `sluice` command to its own server's socket. */
const outboundRooms: ReadonlySet<string> = new Set(["upstreams", "chain", "oracle", "names", "command"]);
const clockPattern =
  /\b(Date\.now\(|new Date\(\)|performance\.now\(|Math\.random\(|crypto\.getRandomValues\(|randomUUID\b|randomBytes\b)/;
const forbiddenNames = /(^|[/-])(utils?|helpers?|common|manager)(\.|\/|-|$)/;

export const isTest = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) || /(^|\/)test\//.test(path) || /(^|\/)(conformance|testing)(\.ts$|\/)/.test(path);
export const isEntry = (path: string, entries: ReadonlySet<string>): boolean =>
  entries.has(path) || isTest(path) || path.endsWith(".campaign.ts") || path.startsWith("scripts/");

const workspaceOf = (path: string): string => path.split("/")[0] ?? "";
/** A folder directly under server/src, or compose.ts, which is a room of one file. */
const roomOf = (path: string): string | null =>
  /^server\/src\/(?:([^/]+)\/|(compose)\.ts)/.exec(path)?.slice(1).find(Boolean) ?? null;
const doorOf = (room: string): string => (room === "compose" ? "server/src/compose.ts" : `server/src/${room}/index.ts`);
const layerOf = (room: string): number => layers.findIndex((layer) => layer.includes(room));

/** All breaches in a set of files. `entries` are the files that are started by name and so are imported by nobody. */
export function checkWalls(files: readonly SourceFile[], entries: ReadonlySet<string>): Violation[] {
  if (files.length === 0) return [{ rule: "no-files", path: "", line: 0, found: "no source files were seen" }];
  const paths = new Set(files.map((file) => file.path));
  const graph = new Map(files.map((file) => [file.path, linksOf(file, paths)]));
  return [
    ...files.flatMap((file) => [
      ...checkImports(file, graph.get(file.path) ?? []),
      ...checkCode(file),
      ...checkSizes(file),
    ]),
    ...checkRooms(files, paths),
    ...checkCycles(graph),
    ...checkDeadFiles(graph, entries),
  ];
}

interface Link {
  readonly specifier: string;
  readonly line: number;
  /** The file of ours that it means, or null for a package. */
  readonly target: string | null;
}

function linksOf(file: SourceFile, paths: ReadonlySet<string>): Link[] {
  return importsOf(file).map(({ specifier, line }) => ({
    specifier,
    line,
    target: resolve(file.path, specifier, paths),
  }));
}

function resolve(from: string, specifier: string, paths: ReadonlySet<string>): string | null {
  if (specifier.startsWith(".")) {
    const path = posix.normalize(posix.join(posix.dirname(from), specifier));
    return [path, `${path}.ts`, `${path}.tsx`].find((candidate) => paths.has(candidate)) ?? null;
  }
  const ours = /^@sluice\/([a-z]+)(?:\/(.+))?$/.exec(specifier);
  if (ours === null) return null;
  if (ours[2] === undefined) return `${ours[1]}/${ours[1] === "server" ? "src/main.ts" : "index.ts"}`;
  const inside = `${ours[1]}/${ours[2]}`;
  return paths.has(`${inside}/index.ts`) ? `${inside}/index.ts` : `${inside}.ts`;
}

function checkImports(file: SourceFile, links: readonly Link[]): Violation[] {
  const found: Violation[] = [];
  const add = (rule: Rule, link: Link): void => {
    found.push({ rule, path: file.path, line: link.line, found: link.specifier });
  };
  const room = roomOf(file.path);
  const workspace = workspaceOf(file.path);
  for (const link of links) {
    if (link.target !== null) {
      const targetWorkspace = workspaceOf(link.target);
      if (targetWorkspace !== workspace && !isTest(file.path)) {
        if (!(workspaceImports[workspace] ?? []).includes(targetWorkspace)) add("workspace", link);
      }
      if (room !== null && !isTest(file.path)) {
        const rule = checkRoomLink(room, link.target);
        if (rule !== null) add(rule, link);
      }
      continue;
    }
    const driverRoom = drivers[link.specifier];
    if (driverRoom !== undefined && workspace === "server" && !isTest(file.path) && room !== driverRoom)
      add("driver", link);
    if (/^node:https?$/.test(link.specifier) && room !== null && !isTest(file.path)) add("outbound", link);
    if (link.specifier === "@grpc/grpc-js" && room !== null && !isTest(file.path)) {
      if (!file.path.endsWith("/grpc.ts")) add("grpc", link);
    }
  }
  return found;
}

function checkRoomLink(room: string, target: string): Rule | null {
  const other = roomOf(target);
  if (other === room) return null;
  if (other === null) return target.startsWith("server/") ? "layer" : null;
  if (layerOf(other) === layerOf(room)) return "same-layer";
  if (layerOf(other) > layerOf(room) || layerOf(other) < 0) return "layer";
  return target === doorOf(other) ? null : "side-door";
}

function checkCode(file: SourceFile): Violation[] {
  const found: Violation[] = [];
  if (forbiddenNames.test(file.path)) found.push({ rule: "name", path: file.path, line: 0, found: file.path });
  const room = roomOf(file.path);
  const inServer = file.path.startsWith("server/src/") && !isTest(file.path);
  if (!inServer) return found;
  const lines = blank(file.text, { strings: true }).split("\n");
  lines.forEach((text, index) => {
    const add = (rule: Rule): void => {
      found.push({ rule, path: file.path, line: index + 1, found: text.trim() });
    };
    if (/\b(process|Bun)\.env\b/.test(text) && room !== "config") add("environment");
    if (/\bBun\.serve\b/.test(text) && room !== "net" && !file.path.startsWith("server/src/ledger/child/"))
      add("serve");
    if (clockPattern.test(text) && !/\bimport\b/.test(text)) add("clock");
    if (/(?<![.\w])fetch\(/.test(text) && !outboundRooms.has(room ?? "")) {
      if (!/\b(async )?fetch\([^)]*\)\s*[:{]/.test(text)) add("outbound");
    }
  });
  return found;
}

function checkSizes(file: SourceFile): Violation[] {
  if (isTest(file.path)) return [];
  const found: Violation[] = [];
  const lines = linesOf(file);
  if (lines > sizeLimits.fileLines) {
    found.push({ rule: "file-size", path: file.path, line: lines, found: `${lines} lines` });
  }
  for (const span of functionsOf(file)) {
    if (span.lines > sizeLimits.functionLines) {
      found.push({ rule: "function-size", path: file.path, line: span.line, found: `${span.lines} lines` });
    }
  }
  return found;
}

/** Each room has one door that says what it is. */
function checkRooms(files: readonly SourceFile[], paths: ReadonlySet<string>): Violation[] {
  const rooms = new Set(files.map((file) => roomOf(file.path)).filter((room) => room !== null));
  return [...rooms].flatMap((room): Violation[] => {
    const index = doorOf(room);
    if (!paths.has(index)) return [{ rule: "room-index", path: index, line: 0, found: "missing" }];
    const text = files.find((file) => file.path === index)?.text ?? "";
    if (!text.startsWith("/**")) return [{ rule: "room-index", path: index, line: 1, found: "no opening comment" }];
    if (layerOf(room) < 0) return [{ rule: "layer", path: index, line: 1, found: `room ${room} has no layer` }];
    return [];
  });
}

function checkCycles(graph: ReadonlyMap<string, readonly Link[]>): Violation[] {
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push({ rule: "cycle", path, line: 0, found: [...trail.slice(trail.indexOf(path)), path].join(" -> ") });
      return;
    }
    if (done.has(path)) return;
    for (const link of graph.get(path) ?? []) if (link.target !== null) visit(link.target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

function checkDeadFiles(graph: ReadonlyMap<string, readonly Link[]>, entries: ReadonlySet<string>): Violation[] {
  const alive = new Set<string>();
  // A file that only its tests import is dead, so tests keep nothing alive but what lies with them.
  const queue = [...graph.keys()].filter((path) => isEntry(path, entries));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (alive.has(path)) continue;
    alive.add(path);
    const fromTest = isTest(path);
    for (const link of graph.get(path) ?? []) {
      if (link.target !== null && (!fromTest || isTest(link.target))) queue.push(link.target);
    }
  }
  return [...graph.keys()]
    .filter((path) => !alive.has(path))
    .map((path) => ({ rule: "dead-file", path, line: 0, found: "nothing imports it" }));
}
