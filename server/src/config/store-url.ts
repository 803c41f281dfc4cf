import type { Parsed, SocketAddress } from "./parsers.ts";

/** The parts of a store's URL; credentials are decoded, `hosts` and `path` are as they were written. */
export interface StoreUrl {
  readonly scheme: string;
  readonly username: string | null;
  readonly password: string | null;
  readonly hosts: string;
  /** With its leading slash; empty without one. */
  readonly path: string;
  /** The options behind `?`, decoded, each at most once. */
  readonly options: ReadonlyMap<string, string>;
}

/** What a URL of a store lacks, in words for the operator; repeats nothing that could be a password. */
export class StoreUrlFault extends Error {}

const form = /^([a-z][a-z+]*):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** @throws {StoreUrlFault} for text that is no URL of one of `schemes`, or that is not percent-encoded */
export function splitStoreUrl(text: string, schemes: readonly string[]): StoreUrl {
  const match = form.exec(text);
  const [, scheme = "", credentials = "", hosts = "", path = "", query = ""] = match ?? [];
  if (!schemes.some((each) => text.startsWith(`${each}://`))) {
    throw new StoreUrlFault(`a URL that starts with ${schemes.map((each) => `${each}://`).join(", ")}`);
  }
  // What follows the password would be taken for a host or a path; a list of URLs is another mistake.
  if (match === null || (path.includes("@") && !/,[a-z+]+:$/.test(hosts))) {
    throw new StoreUrlFault("a URL in which @, :, / and # of user, password and path are percent-encoded (@ is %40)");
  }
  const colon = credentials.indexOf(":");
  const username = decoded(colon < 0 ? credentials : credentials.slice(0, colon), "user");
  const password = colon < 0 ? "" : decoded(credentials.slice(colon + 1), "password");
  return {
    scheme,
    username: username === "" ? null : username,
    password: password === "" ? null : password,
    hosts,
    path,
    options: readOptions(query),
  };
}

function readOptions(query: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const part of query.split("&").filter((each) => each !== "")) {
    const equals = part.indexOf("=");
    const name = decoded(equals < 0 ? part : part.slice(0, equals), "option");
    if (options.has(name)) throw new StoreUrlFault("a URL in which no option stands twice");
    options.set(name, equals < 0 ? "" : decoded(part.slice(equals + 1), "option"));
  }
  return options;
}

/** Text that was percent-encoded. */
export function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StoreUrlFault(`a URL whose ${what} is percent-encoded`);
  }
}

/** Hosts separated by commas, each with its port or `portDefault`; an IPv6 address stands in brackets. */
export function readHosts(text: string, portDefault: number): SocketAddress[] {
  return text.split(",").map((each) => {
    const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(each);
    const [, host = "", port = String(portDefault)] = match ?? [];
    if (host === "" || Number(port) < 1 || Number(port) > 65_535) {
      throw new StoreUrlFault("a URL whose hosts are names or addresses, each with a port from 1 to 65535 or none");
    }
    return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  });
}

/** @throws {StoreUrlFault} for an option that is not one of `known` */
export function refuseOthers(options: ReadonlyMap<string, string>, known: readonly string[]): void {
  if ([...options.keys()].every((name) => known.includes(name))) return;
  // The option itself is not repeated: in a mistyped URL it may be a part of a password.
  throw new StoreUrlFault(known.length === 0 ? "no options after ?" : `no options after ? but ${known.join(", ")}`);
}

/** An option that holds a path or a name; null when it is absent. */
export function textOption(options: ReadonlyMap<string, string>, name: string): string | null {
  const value = options.get(name);
  if (value === "") throw new StoreUrlFault(`a value for ${name}`);
  return value ?? null;
}

/** Runs a reader that throws StoreUrlFault, and gives the outcome as a value. */
export function parsedBy<T>(read: () => T): Parsed<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof StoreUrlFault) return { ok: false, expected: error.message };
    throw error;
  }
}
