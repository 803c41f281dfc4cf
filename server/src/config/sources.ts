import { parse, TomlError } from "smol-toml";
import { type ConfigFault, nearestName, type Source } from "./faults.ts";
import { flagName, type KeyName, keyNames, keys } from "./keys.ts";
import { show } from "./masking.ts";

/** A value that a source has for a key, before it is parsed, with the name it has in its source. */
export interface WrittenValue {
  readonly text: string;
  readonly source: Exclude<Source, "rule">;
  readonly writtenAs: string;
}

export type WrittenValues = Map<KeyName, WrittenValue>;
export type FlagValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** Unknown names that resemble a key are faults; all names of these families belong to Sluice. */
const ownPrefixes = ["SLUICE_", "UPSTREAMS_"];
/** The test suites' own variables, which a server ignores. */
const testPrefix = "SLUICE_TEST_";
const tomlDepthMax = 8;

function unknown(key: string, source: Source, expected: string, suggestion: string | null): ConfigFault {
  return { key: show(key, "open"), source, given: null, expected, suggestion };
}

/** An empty value is the same as none, as container platforms set variables that are to be left out. */
export function readEnvironmentValues(
  env: Readonly<Record<string, string | undefined>>,
  values: WrittenValues,
  faults: ConfigFault[],
): void {
  for (const name of keyNames) {
    const text = Object.hasOwn(env, name) ? env[name] : undefined;
    if (text !== undefined && text.trim() !== "") values.set(name, { text, source: "environment", writtenAs: name });
  }
  for (const name of Object.keys(env)) {
    if (Object.hasOwn(keys, name) || name.startsWith(testPrefix)) continue;
    const prefix = ownPrefixes.find((own) => name.startsWith(own));
    if (prefix === undefined) continue;
    const suggestion = nearestName(name, keyNames) ?? nearestName(name.slice("SLUICE_".length), keyNames);
    faults.push(unknown(name, "environment", "a key of the reference", suggestion));
  }
}

const keyByTomlPath: ReadonlyMap<string, KeyName> = new Map(
  keyNames.flatMap((name) => {
    const path = keys[name].toml;
    return path === null ? [] : [[path, name] as const];
  }),
);

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The text that the environment would hold for a TOML value; undefined for a kind that no key takes. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value)) return undefined;
  const parts = value.map((item) => (Array.isArray(item) ? undefined : textOf(item)));
  return parts.every((part) => part !== undefined) ? parts.join(",") : undefined;
}

function* leaves(table: Readonly<Record<string, unknown>>, path: string, depth: number): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(table)) {
    const here = path === "" ? key : `${path}.${key}`;
    const isGroup = [...keyByTomlPath.keys()].some((known) => known.startsWith(`${here}.`));
    if (isTable(value) && depth < tomlDepthMax && (isGroup || Object.keys(value).length > 0)) {
      yield* leaves(value, here, depth + 1);
    } else {
      yield [here, value];
    }
  }
}

/**
 * The parser's message ends with the lines of the file around the fault, which may hold secrets: the place is reported,
 * and the rule that was broken where that is one of the parser's own texts.
 */
function parseToml(text: string, faults: ConfigFault[]): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    faults.push({
      key: "SLUICE_CONFIG",
      source: "file",
      given: error instanceof TomlError ? describeTomlFault(error) : "a fault at an unknown place",
      expected: "a TOML 1.0 document",
      suggestion: null,
    });
    return {};
  }
}

/** The first words of the parser's own texts, none of which quotes the file. */
const tomlRules: ReadonlySet<string> = new Set(
  "control document each expected illegal incomplete integer invalid trying unexpected unfinished unrecognised".split(
    " ",
  ),
);

function describeTomlFault({ message, line, column }: TomlError): string {
  const [first = ""] = message.split("\n");
  const rule = first.replace(/^Invalid TOML document: /, "");
  return `${tomlRules.has(rule.split(" ")[0] ?? "") ? rule : "a fault"} at line ${line}, column ${column}`;
}

export function readTomlValues(text: string, values: WrittenValues, faults: ConfigFault[]): void {
  for (const [path, value] of leaves(parseToml(text, faults), "", 1)) {
    const name = keyByTomlPath.get(path);
    if (name === undefined) {
      const suggestion = nearestName(path, [...keyByTomlPath.keys()]) ?? tomlPathOf(nearestName(path, keyNames));
      faults.push(unknown(path, "file", "a key of the reference", suggestion));
      continue;
    }
    const written = textOf(value);
    if (written === undefined) {
      faults.push({
        key: path,
        source: "file",
        given: "a table or a date",
        expected: keys[name].parser.expects,
        suggestion: null,
      });
    } else if (written.trim() !== "") {
      values.set(name, { text: written, source: "file", writtenAs: path });
    }
  }
}

function tomlPathOf(name: string | null): string | null {
  return keyNames.flatMap((key) => (key === name ? [keys[key].toml] : []))[0] ?? null;
}

/** Flags are named `port-offset` or, as argument parsers give them, `portOffset`. */
export function readFlagValues(flags: FlagValues, values: WrittenValues, faults: ConfigFault[]): void {
  for (const [flag, value] of Object.entries(flags)) {
    if (value === undefined || value === "") continue;
    const kebab = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const name = keyNames.find((key) => flagName(key) === kebab);
    const writtenAs = `--${kebab}`;
    if (name === undefined) {
      const nearest = nearestName(kebab, keyNames.map(flagName));
      faults.push(unknown(writtenAs, "flag", "a known flag", nearest === null ? null : `--${nearest}`));
    } else if (!keys[name].flag) {
      const expected = `${name} in the environment or in a file, since other users of a machine can read its command lines`;
      faults.push(unknown(writtenAs, "flag", expected, null));
    } else {
      values.set(name, { text: String(value), source: "flag", writtenAs });
    }
  }
}
