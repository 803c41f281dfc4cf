import { posix } from "node:path";
import { type Layered, layered } from "./layers.ts";
import { capabilities, drivers, fetchOwners, limits, workspaceImports } from "./plan.ts";
import { factsOf, type SourceFacts, type SourceFile } from "./source.ts";

/** A breach of a rule: which one, where, and what was found. */
export interface Violation {
  readonly rule: Rule;
  readonly path: string;
  readonly line: number;
  readonly found: string;
}

export const rules = [
  "no-files",
  "layer",
  "same-layer",
  "side-entrance",
  "room-index",
  "workspace",
  "driver",
  "grpc",
  "outbound",
  "timer",
  "clock",
  "environment",
  "socket",
  "console",
  "cycle",
  "dead-file",
  "file-size",
  "function-size",
  "parameters",
  "line-length",
  "name",
  "constant-case",
  "same-type",
  "test-support",
] as const;
export type Rule = (typeof rules)[number];

export const isTest = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) || /(^|\/)test\//.test(path) || /(^|\/)(conformance|testing)(\.ts$|\/)/.test(path);
const isCampaign = (path: string): boolean => path.endsWith(".campaign.ts");
/** What runs in production: no test, campaign, benchmark or script. */
const ships = (path: string): boolean => !isTest(path) && !isCampaign(path) && !/^(bench|scripts|clients)\//.test(path);
const isEntry = (path: string, entries: ReadonlySet<string>): boolean =>
  entries.has(path) || isTest(path) || isCampaign(path) || path.startsWith("scripts/");

/** All breaches in a set of files. `entries` are the files that are started by name and so are imported by none. */
export function checkArchitecture(files: readonly SourceFile[], entries: ReadonlySet<string>): Violation[] {
  if (files.length === 0) return [{ rule: "no-files", path: "", line: 0, found: "no source files were seen" }];
  const facts = files.map(factsOf);
  const paths = new Set(files.map((file) => file.path));
  const graph = new Map(facts.map((file) => [file.path, linksOf(file, paths)]));
  return [
    ...facts.flatMap((file) => [
      ...checkImports(file, graph.get(file.path) ?? []),
      ...checkCapabilities(file),
      ...checkSizes(file),
      ...checkNames(file),
    ]),
    ...layered.flatMap((each) => checkRooms(each, facts)),
    ...checkCycles(graph),
    ...checkDeadFiles(graph, entries),
    ...checkTypes(facts),
  ];
}

interface Link {
  readonly specifier: string;
  readonly line: number;
  /** The file of Sluice that it means, or null for a package. */
  readonly target: string | null;
}

function linksOf(file: SourceFacts, paths: ReadonlySet<string>): Link[] {
  return file.imports.map((each) => ({ ...each, target: targetOf(file.path, each.specifier, paths) }));
}

function targetOf(from: string, specifier: string, paths: ReadonlySet<string>): string | null {
  const find = (...candidates: readonly string[]): string | undefined => candidates.find((path) => paths.has(path));
  if (specifier.startsWith(".")) return find(posix.normalize(posix.join(posix.dirname(from), specifier))) ?? null;
  const ours = /^@sluice\/([a-z]+)(?:\/(.+))?$/.exec(specifier);
  if (ours === null) return null;
  const [, workspace = "", inside] = ours;
  const path = `${workspace}/${inside ?? (workspace === "server" ? "src/main.ts" : "index.ts")}`;
  return find(path, `${path}.ts`, `${path}/index.ts`) ?? path;
}

const workspaceOf = (path: string): string => path.split("/")[0] ?? "";

function checkImports(file: SourceFacts, links: readonly Link[]): Violation[] {
  if (isTest(file.path)) return [];
  const found: Violation[] = [];
  for (const { specifier, line, target } of links) {
    const add = (rule: Rule): void => void found.push({ rule, path: file.path, line, found: specifier });
    if (target === null) {
      const owner = drivers[specifier];
      const isServers = file.path.startsWith("server/src/") && !isCampaign(file.path);
      if (owner !== undefined && isServers && !file.path.startsWith(owner)) add("driver");
      if (specifier === "@grpc/grpc-js" && isServers && !file.path.endsWith("/grpc.ts")) add("grpc");
      continue;
    }
    const [from, to] = [workspaceOf(file.path), workspaceOf(target)];
    if (from !== to && !(workspaceImports[from] ?? []).includes(to)) add("workspace");
    if (isTest(target) && ships(file.path)) add("test-support");
    if (isCampaign(file.path)) continue;
    for (const each of layered) {
      const rule = checkLayers(each, file.path, target);
      if (rule !== null) add(rule);
    }
  }
  return found;
}

/** The member of a layered folder in which a file lies: a sub-folder, or `.` for a file of the folder itself. */
function memberOf({ folder, layers }: Layered, path: string): string | null {
  if (!path.startsWith(`${folder}/`)) return null;
  const [first = "", ...rest] = path.slice(folder.length + 1).split("/");
  if (rest.length > 0) return first;
  const name = first.replace(/\.tsx?$/, "");
  return layers.some((layer) => layer.includes(name)) ? name : ".";
}

function checkLayers(plan: Layered, from: string, to: string): Rule | null {
  const [member, other] = [memberOf(plan, from), memberOf(plan, to)];
  if (member === null || member === other) return null;
  // A room of the server imports other workspaces, but no file of its own workspace outside the rooms.
  if (other === null) return plan.rooms && workspaceOf(to) === workspaceOf(from) ? "layer" : null;
  const layerOf = (name: string): number => plan.layers.findIndex((layer) => layer.includes(name));
  if (layerOf(other) === layerOf(member)) return "same-layer";
  if (layerOf(other) > layerOf(member) || layerOf(other) < 0) return "layer";
  return plan.rooms && to !== entranceOf(plan, other) ? "side-entrance" : null;
}

const entranceOf = ({ folder }: Layered, room: string): string =>
  room === "compose" || room === "main" ? `${folder}/${room}.ts` : `${folder}/${room}/index.ts`;

/** Each room has one entrance, which opens by saying what it is; each member of a layered folder has its layer. */
function checkRooms(plan: Layered, files: readonly SourceFacts[]): Violation[] {
  const members = new Set(files.flatMap(({ path }) => (ships(path) ? (memberOf(plan, path) ?? []) : [])));
  return [...members].flatMap((member): Violation[] => {
    const path = plan.rooms ? entranceOf(plan, member) : `${plan.folder}/${member}`;
    if (!plan.layers.some((layer) => layer.includes(member))) {
      return [{ rule: "layer", path, line: 1, found: `${member} has no layer in ${plan.folder}` }];
    }
    const index = files.find((file) => file.path === path);
    if (!plan.rooms) return [];
    if (index === undefined) return [{ rule: "room-index", path, line: 0, found: "missing" }];
    return index.text.startsWith("/**") ? [] : [{ rule: "room-index", path, line: 1, found: "no opening comment" }];
  });
}

function checkCapabilities(file: SourceFacts): Violation[] {
  const { path } = file;
  if (!ships(path)) return [];
  const found: Violation[] = [];
  for (const { rule, uses, within, owners } of capabilities) {
    if (!within.some((each) => path.startsWith(each)) || owners.some((each) => path.startsWith(each))) continue;
    for (const { name, line } of file.uses) if (uses.has(name)) found.push({ rule, path, line, found: name });
  }
  if (path.startsWith("server/src/") && !fetchOwners.some((each) => path.startsWith(each))) {
    for (const { name, line } of file.uses) {
      if (name === "fetch" || name === "globalThis.fetch") found.push({ rule: "outbound", path, line, found: name });
    }
  }
  return found;
}

/** The whole numbers between two. */
const between = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first - 1) }, (_, index) => first + 1 + index);

function checkSizes(file: SourceFacts): Violation[] {
  const { path } = file;
  const lines = file.text.split("\n");
  const commented = new Set(file.comments.flatMap(({ first, last }) => [first, last, ...between(first, last)]));
  const found: Violation[] = lines.flatMap((text, index) => {
    const isLong =
      commented.has(index + 1) && text.length > limits.lineLength && !/biome-ignore|https?:\/\/\S{60}/.test(text);
    return isLong ? [{ rule: "line-length", path, line: index + 1, found: `${text.length} columns` }] : [];
  });
  if (isTest(path)) return found;
  if (file.lines > limits.fileLines) {
    found.push({ rule: "file-size", path, line: file.lines, found: `${file.lines} lines` });
  }
  for (const { name, line, lines, parameters } of file.functions) {
    if (lines > limits.functionLines) {
      found.push({ rule: "function-size", path, line, found: `${name}: ${lines} lines` });
    }
    if (parameters > limits.parameters && ships(path)) {
      found.push({ rule: "parameters", path, line, found: `${name}: ${parameters}` });
    }
  }
  return found;
}

const forbiddenNames = /(^|[/-])(utils?|helpers?|common|manager)(\.|\/|-|$)/;
const supportNames = /(^|\/)(simulated|simulation|fake|stub|mock|kit)-[^/]*\.ts$/;
const screaming = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

function checkNames({ path, variables }: SourceFacts): Violation[] {
  const found: Violation[] = [];
  if (forbiddenNames.test(path)) found.push({ rule: "name", path, line: 0, found: path });
  if (supportNames.test(path) && ships(path)) found.push({ rule: "test-support", path, line: 0, found: path });
  for (const { name, line } of variables) {
    if (name.length > 1 && screaming.test(name)) found.push({ rule: "constant-case", path, line, found: name });
  }
  return found;
}

/** No two exported types of the server's rooms have one name, and none has the members of another. */
function checkTypes(files: readonly SourceFacts[]): Violation[] {
  const found: Violation[] = [];
  const seen = new Map<string, string>();
  for (const { path, exported } of files) {
    if (!ships(path) || !/^(server\/src|svm|auction|lib|contract|wire)\//.test(path)) continue;
    for (const { name, line, kind, shape } of exported) {
      if (kind !== "type") continue;
      for (const key of [`name ${name}`, ...(shape === null ? [] : [`shape ${shape}`])]) {
        const first = seen.get(key);
        if (first === undefined) seen.set(key, `${name} of ${path}`);
        else found.push({ rule: "same-type", path, line, found: `${name} is also ${first}` });
      }
    }
  }
  return found;
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
    for (const { target } of graph.get(path) ?? []) if (target !== null) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

/**
 * Files that nothing started reaches. Tests keep alive only what lies with them: what only its tests import is dead.
 */
function checkDeadFiles(graph: ReadonlyMap<string, readonly Link[]>, entries: ReadonlySet<string>): Violation[] {
  const alive = new Set<string>();
  const queue = [...graph.keys()].filter((path) => isEntry(path, entries));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (alive.has(path)) continue;
    alive.add(path);
    const fromTest = isTest(path);
    for (const { target } of graph.get(path) ?? []) {
      if (target !== null && (!fromTest || isTest(target))) queue.push(target);
    }
  }
  return [...graph.keys()]
    .filter((path) => !alive.has(path))
    .map((path) => ({ rule: "dead-file", path, line: 0, found: "nothing imports it" }));
}
