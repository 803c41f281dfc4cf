import { nearestName } from "./faults.ts";
import { hide, maskUrl, show } from "./masking.ts";
import { integer, type Parsed, type Parser, readUrl } from "./parsers.ts";

export const upstreamGroups = ["read", "archive", "send"] as const;
export type UpstreamGroup = (typeof upstreamGroups)[number];

/** One node that calls are forwarded to. */
export interface UpstreamConfig {
  /** Unique in its network; the only name of the node that outsiders see. */
  readonly label: string;
  /** http or https, without user part. */
  readonly url: string;
  /** ws or wss; derived from `url` when not given. */
  readonly ws: string;
  readonly groups: readonly UpstreamGroup[];
  readonly weight: number;
  /** The most requests a second that the node may be sent; null is no limit. */
  readonly requestsPerSecond: number | null;
  /** Sent with each call, names in lower case; the place for a provider's key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The node's Yellowstone gRPC; absent where it serves none. */
  readonly yellowstone?: YellowstoneAddress;
}

export interface YellowstoneAddress {
  /** http or https with a host and a port alone. */
  readonly url: string;
  /** Sent as `x-token` with each call; secret. Null sends none. */
  readonly token: string | null;
}

export const upstreamsMax = 64;
const headersMax = 16;

const labelPattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/;
const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const headerValuePattern = /^[\t\x20-\x7e]{0,4096}$/;
/** Headers that belong to the connection or to the forwarding of a call, and so cannot be configured. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const weightParser = integer(1, 1000);
const rateParser = integer(1, 1_000_000);

const tokenPattern = /^[\x21-\x7e]{1,4096}$/;

const form = "label=url;ws=url;groups=read+archive+send;weight=n;rps=n;grpc=url;grpc-token=text;header=Name: value";

/** A fault inside an entry, thrown within this file and handled by the parser below; its text holds no secret. */
class EntryFault extends Error {}

function demand<T>(value: T | undefined, error: string): T {
  if (value === undefined) throw new EntryFault(error);
  return value;
}

/** The PubSub address by Solana's custom: the next port where one is named, else the same host. */
function deriveWebSocket(url: URL): string {
  const ws = new URL(url);
  ws.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const port = Number(url.port);
  if (url.port !== "" && port < 65_535) ws.port = String(port + 1);
  return ws.href;
}

function readGroups(text: string): readonly UpstreamGroup[] {
  const names = text.split("+").map((name) => name.trim().toLowerCase());
  const known = names.every((name) => upstreamGroups.some((group) => group === name));
  return demand(
    known ? upstreamGroups.filter((group) => names.includes(group)) : undefined,
    `groups made of ${upstreamGroups.join(", ")} joined by +`,
  );
}

/** Commas and semicolons part entries and options; inside a header and a token they are written %2C and %3B. */
const withoutCodes = (text: string): string => text.replace(/%2c/gi, ",").replace(/%3b/gi, ";");

function readHeader(text: string): readonly [string, string] {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(0, colon)).trim().toLowerCase();
  const value = withoutCodes(text.slice(colon + 1).trim());
  const valid = headerNamePattern.test(name) && headerValuePattern.test(value) && !reservedHeaders.has(name);
  return demand(valid ? ([name, value] as const) : undefined, "header=Name: value with a name that may be set");
}

function readNumber(option: string, text: string, numbers: Parser<number>): number {
  const parsed = numbers.parse(text);
  return demand(parsed.ok ? parsed.value : undefined, `${option} as ${numbers.expects}`);
}

interface Options {
  ws?: string;
  groups?: readonly UpstreamGroup[];
  weight?: number;
  rps?: number;
  grpc?: string;
  "grpc-token"?: string;
}

const singleOptions = ["ws", "groups", "weight", "rps", "grpc", "grpc-token"] as const;

/** A user part would be shown wherever the URL is; the token of such a server is an option of its own. */
function readGrpc(text: string): string {
  const url = demand(readUrl(text, ["http:", "https:"]), "grpc as a URL with http:// or https://");
  const isBare = url.username === "" && url.password === "" && url.pathname === "/" && url.search === "";
  return demand(isBare ? url.href : undefined, "grpc as a URL of a host alone, with the token in grpc-token");
}

function readToken(text: string): string {
  const token = withoutCodes(text);
  return demand(tokenPattern.test(token) ? token : undefined, "grpc-token as 1 to 4096 visible characters");
}

/** The parts of `name=value`; an empty name without an equals sign. */
function nameAndValue(text: string): readonly [string, string] {
  const equals = text.indexOf("=");
  return [text.slice(0, Math.max(0, equals)).trim(), text.slice(equals + 1).trim()];
}

function readOption(text: string, options: Options, headers: Map<string, string>): void {
  const [written, value] = nameAndValue(text);
  const name = written.toLowerCase();
  if (name === "header") {
    const [header, content] = readHeader(value);
    demand(
      headers.has(header) || headers.size >= headersMax ? undefined : header,
      `at most ${headersMax} different headers`,
    );
    headers.set(header, content);
    return;
  }
  const single = singleOptions.find((each) => each === name);
  const fresh = single !== undefined && options[single] === undefined;
  demand(fresh ? name : undefined, `the options ${singleOptions.join(", ")} (each once) and header`);
  if (name === "ws") options.ws = demand(readUrl(value, ["ws:", "wss:"])?.href, "ws as a URL with ws:// or wss://");
  if (name === "groups") options.groups = readGroups(value);
  if (name === "weight") options.weight = readNumber("weight", value, weightParser);
  if (name === "rps") options.rps = readNumber("rps", value, rateParser);
  if (name === "grpc") options.grpc = readGrpc(value);
  if (name === "grpc-token") options["grpc-token"] = readToken(value);
}

/** A user part in the URL becomes a header, since it would otherwise be shown wherever the URL is. */
function takeUser(url: URL, headers: Map<string, string>): void {
  if (url.username === "" && url.password === "") return;
  const decode = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw new EntryFault("a user part of the URL that is percent-encoded correctly");
    }
  };
  const user = `${decode(url.username)}:${decode(url.password)}`;
  if (!headers.has("authorization")) headers.set("authorization", `Basic ${Buffer.from(user).toString("base64")}`);
  url.username = "";
  url.password = "";
}

function readEntry(text: string): UpstreamConfig {
  const [address = "", ...rest] = text.split(";");
  const [label, value] = nameAndValue(address);
  demand(labelPattern.test(label) ? label : undefined, "a label of letters, digits, dot, dash, underscore before =");
  const url = demand(readUrl(value, ["http:", "https:"]), "label=http://… or label=https://…");
  const options: Options = {};
  const headers = new Map<string, string>();
  for (const option of rest) if (option.trim() !== "") readOption(option, options, headers);
  takeUser(url, headers);
  const { grpc, "grpc-token": token = null } = options;
  demand(grpc === undefined && token !== null ? undefined : form, "grpc-token only beside grpc");
  return {
    label,
    url: url.href,
    ws: options.ws ?? deriveWebSocket(url),
    groups: options.groups ?? ["read"],
    weight: options.weight ?? 1,
    requestsPerSecond: options.rps ?? null,
    headers: Object.fromEntries(headers),
    ...(grpc === undefined ? {} : { yellowstone: { url: grpc, token } }),
  };
}

/** Reads the list of one network's nodes. `expected` names the entry by its number, never by its content. */
function parseUpstreams(text: string): Parsed<readonly UpstreamConfig[]> {
  const entries = text.split(",").filter((entry) => entry.trim() !== "");
  if (entries.length === 0 || entries.length > upstreamsMax) {
    return { ok: false, expected: `1 to ${upstreamsMax} entries ${form}` };
  }
  const upstreams: UpstreamConfig[] = [];
  for (const [index, entry] of entries.entries()) {
    try {
      const upstream = readEntry(entry);
      const taken = upstreams.some((other) => other.label === upstream.label);
      demand(taken ? undefined : upstream, "a label that no other entry has");
      upstreams.push(upstream);
    } catch (error) {
      if (!(error instanceof EntryFault)) throw error;
      return { ok: false, expected: `in entry ${index + 1}: ${error.message} (the form is ${form})` };
    }
  }
  return { ok: true, value: upstreams };
}

/** What is typed of a node in parts, as an operator's program gives it; absent parts are as in a list. */
export interface UpstreamParts {
  readonly label: string;
  readonly url: string;
  readonly ws?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly weight?: number | undefined;
  readonly requestsPerSecond?: number | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly yellowstone?: YellowstoneAddress | undefined;
}

/** One node from its parts, by the rules of a list's entries. */
export function upstreamOf(parts: UpstreamParts): Parsed<UpstreamConfig> {
  if (!labelPattern.test(parts.label))
    return { ok: false, expected: "a label of letters, digits, dot, dash, underscore" };
  return upstreamIn(upstreamEntry(parts));
}

/**
 * A node as an entry of a list, from which `upstreamIn` reads it again. Commas and semicolons, which part entries, are
 * encoded.
 */
export function upstreamEntry(parts: UpstreamParts): string {
  const whole = (text: string): string => text.replaceAll(",", "%2C").replaceAll(";", "%3B");
  const { ws, groups, weight, requestsPerSecond, headers, yellowstone } = parts;
  return [
    `${parts.label}=${whole(parts.url)}`,
    ...(ws === undefined ? [] : [`ws=${whole(ws)}`]),
    ...(groups === undefined ? [] : [`groups=${whole(groups.join("+"))}`]),
    ...(weight === undefined ? [] : [`weight=${weight}`]),
    ...(requestsPerSecond === undefined || requestsPerSecond === null ? [] : [`rps=${requestsPerSecond}`]),
    ...(yellowstone === undefined ? [] : [`grpc=${whole(yellowstone.url)}`]),
    ...(typeof yellowstone?.token === "string" ? [`grpc-token=${whole(yellowstone.token)}`] : []),
    ...Object.entries(headers ?? {}).map(([name, value]) => `header=${whole(name)}: ${whole(value)}`),
  ].join(";");
}

export function upstreamIn(entry: string): Parsed<UpstreamConfig> {
  const parsed = parseUpstreams(entry);
  if (!parsed.ok) return parsed;
  const [upstream] = parsed.value;
  return upstream === undefined ? { ok: false, expected: form } : { ok: true, value: upstream };
}

export const upstreamList: Parser<readonly UpstreamConfig[]> = {
  expects: `entries ${form}, separated by commas`,
  parse: parseUpstreams,
};

/** A list of nodes as it may be shown: labels, addresses without secrets, options; of headers only the names. */
export function showUpstreams(text: string): string {
  const parsed = parseUpstreams(text);
  if (!parsed.ok) return showFaulty(text);
  return parsed.value
    .map(({ label, url, ws, groups, weight, requestsPerSecond, headers, yellowstone }) => {
      const rate = requestsPerSecond === null ? "" : `;rps=${requestsPerSecond}`;
      const token = typeof yellowstone?.token === "string" ? ";grpc-token=(hidden)" : "";
      const stream = yellowstone === undefined ? "" : `;grpc=${maskUrl(yellowstone.url)}${token}`;
      const named = Object.keys(headers).map((name) => `;header=${name}: (hidden)`);
      return `${label}=${maskUrl(url)};ws=${maskUrl(ws)};groups=${groups.join("+")};weight=${weight}${rate}${stream}${named.join("")}`;
    })
    .join(", ");
}

const optionNames = [...singleOptions, "header"];

/** A list with a fault: what has the form of a label, an address, an option, as far as it holds no secret. */
function showFaulty(text: string): string {
  const entries = text.split(",").filter((entry) => entry.trim() !== "");
  if (entries.length > upstreamsMax) return hide(text);
  return show(entries.map(showFaultyEntry).join(", "), "open");
}

function showFaultyEntry(entry: string): string {
  const [address = "", ...options] = entry.split(";");
  const [label, url] = nameAndValue(address);
  // What comes before something else than an address may be a token in the wrong place.
  const scheme = labelPattern.test(label) ? /^[a-z]{2,8}:?\/\//i.exec(url)?.[0] : undefined;
  if (scheme === undefined) return hide(entry);
  const shown = URL.canParse(url) && new URL(url).host !== "" ? maskUrl(url) : `${scheme}…`;
  return [`${label}=${shown}`, ...options.filter((option) => option.trim() !== "").map(showFaultyOption)].join(";");
}

function showFaultyOption(option: string): string {
  const [name, value] = nameAndValue(option);
  if (nearestName(name, optionNames) === null) return hide(option);
  if (name === "ws" || name === "grpc") return `${name}=${maskUrl(value)}`;
  if (name === "grpc-token") return `grpc-token=${hide(value)}`;
  const header = name === "header" ? /^([^:\s]{1,64}):/.exec(value)?.[1] : undefined;
  if (header !== undefined && headerNamePattern.test(header)) return `header=${header.toLowerCase()}: (hidden)`;
  return `${name}=${name !== "header" && isPlain(value) ? value : hide(value)}`;
}

/** Whether a value is a number or words of a list of groups: nothing that could be a token. */
function isPlain(value: string): boolean {
  return /^-?\d{0,9}$/.test(value) || value.split("+").every((word) => /^[a-z]{1,8}$/i.test(word));
}
