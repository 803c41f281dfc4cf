import { isIP } from "node:net";
import { type OracleSourceId, oracleSources } from "@sluice/contract/oracle";
import { isAddressRange, parseDuration, showDuration } from "@sluice/lib";
import { type Address, parseAddress } from "@sluice/wire/identifiers";

/** The outcome of reading one text: a value, or what was expected instead (never a repetition of the text). */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly expected: string };

/** Reads a text that an operator typed. Total: any text gives an outcome, and none throws. */
export interface Parser<T> {
  readonly parse: (text: string) => Parsed<T>;
  /** What is accepted, in a few words, for the reference and for faults. */
  readonly expects: string;
}

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });

function parser<T>(expects: string, read: (text: string) => T | undefined): Parser<T> {
  return {
    expects,
    parse: (text) => {
      const value = read(text.trim());
      return value === undefined ? { ok: false, expected: expects } : ok(value);
    },
  };
}

export function integer(minimum: number, maximum: number): Parser<number> {
  return parser(`a whole number from ${minimum} to ${maximum}`, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    return value !== undefined && value >= minimum && value <= maximum ? value : undefined;
  });
}

export function oneOf<const T extends string>(choices: readonly T[]): Parser<T> {
  return parser(`one of ${choices.join(", ")}`, (text) => choices.find((choice) => choice === text.toLowerCase()));
}

/** Distinct choices separated by commas, or `all`; returned in the order of `choices`. */
export function someOf<const T extends string>(choices: readonly T[]): Parser<readonly T[]> {
  return parser(`all, or some of ${choices.join(", ")} separated by commas`, (text) => {
    if (text.toLowerCase() === "all") return [...choices];
    const names = text.split(",").map((name) => name.trim().toLowerCase());
    const known = names.every((name) => choices.some((choice) => choice === name));
    return known ? choices.filter((choice) => names.includes(choice)) : undefined;
  });
}

const sizeUnits: Readonly<Record<string, number>> = { "": 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 };

/** Bytes, with an optional unit KiB, MiB or GiB. */
export function byteSize(minimum: number, maximum: number): Parser<number> {
  const expects = `a size from ${showBytes(minimum)} to ${showBytes(maximum)}, such as 67108864 or 64MiB`;
  return parser(expects, (text) => {
    const match = /^(\d{1,15})\s*(|[kmg]ib)$/i.exec(text);
    const unit = sizeUnits[match?.[2]?.toLowerCase() ?? ""];
    if (match === null || unit === undefined) return undefined;
    const bytes = Number(match[1]) * unit;
    return bytes >= minimum && bytes <= maximum ? bytes : undefined;
  });
}

/** A duration in seconds, minutes, hours or days; returned in milliseconds, of which the bounds are too. */
export function durationWithin(minimumMs: number, maximumMs: number): Parser<number> {
  const expects = `a time from ${showDuration(minimumMs)} to ${showDuration(maximumMs)}, such as 90m, 6h or 2d`;
  return parser(expects, (text) => {
    const ms = parseDuration(text);
    return ms !== null && ms >= minimumMs && ms <= maximumMs ? ms : undefined;
  });
}

/** Longer ones would reach beyond the dates that the ledger's engine counts in. */
const retentionMaxMs = 7_300 * 86_400_000;

/** How long rows are kept: a duration, returned in milliseconds, or the word `forever`. */
export function retention(leastMs: number, reason: string): Parser<number | "forever"> {
  const least = `at least ${showDuration(leastMs)}, since ${reason}`;
  const most = `at most ${showDuration(retentionMaxMs)}`;
  return parser(`a time such as ${showDuration(leastMs)} or forever: ${least}; ${most}`, (text) => {
    if (text.toLowerCase() === "forever") return "forever";
    const ms = parseDuration(text);
    return ms !== null && ms >= leastMs && ms <= retentionMaxMs ? ms : undefined;
  });
}

export function showBytes(bytes: number): string {
  for (const [unit, name] of [
    [1024 ** 3, "GiB"],
    [1024 ** 2, "MiB"],
    [1024, "KiB"],
  ] as const) {
    if (bytes >= unit && bytes % unit === 0) return `${bytes / unit}${name}`;
  }
  return String(bytes);
}

/** Reads a URL of one of `protocols` (with colon) that names a host; undefined when it is none. */
export function readUrl(text: string, protocols: readonly string[]): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return protocols.includes(url.protocol) && url.hostname !== "" ? url : undefined;
}

/** One address with one of `protocols` (without colon). The text is kept as it was given. */
export function urlOf(protocols: readonly string[]): Parser<string> {
  const withColon = protocols.map((protocol) => `${protocol}:`);
  return parser(`a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(" or ")}`, (text) =>
    readUrl(text, withColon) === undefined ? undefined : text,
  );
}

function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 || /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text)
  );
}

/** An address or host name to listen on; an IPv6 address may stand in brackets. */
export const hostName: Parser<string> = parser("an IP address or a host name", (text) => {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  return isHost(bare) ? bare : undefined;
});

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port`; an IPv6 address stands in brackets. */
export const socketAddress: Parser<SocketAddress> = parser("an address and a port, such as 127.0.0.1:9464", (text) => {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && isHost(host) && port >= 1 && port <= 65_535 ? { host, port } : undefined;
});

/** Address ranges separated by commas; a single address is a range of one. */
export const cidrList: Parser<readonly string[]> = parser(
  "address ranges separated by commas, such as 10.0.0.0/8, ::1",
  (text) => {
    const ranges = text.split(",").map((part) => part.trim());
    return ranges.every(isAddressRange) ? ranges : undefined;
  },
);

function readSecretKey(text: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  if (!/^[0-9a-z+/_-]{43}=?$/i.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === 32 ? bytes.toString("hex") : undefined;
}

/** 32 bytes, as 64 hexadecimal digits or as base64 (plain or URL-safe); returned as lower-case hexadecimal. */
export const secretKey: Parser<string> = parser(
  "32 random bytes as 64 hexadecimal digits or as base64, such as `openssl rand -hex 32` prints",
  readSecretKey,
);

/** At most eight of them, separated by commas. */
export const secretKeys: Parser<readonly string[]> = parser("such keys separated by commas, at most 8", (text) => {
  const read = text.split(",").map((part) => readSecretKey(part.trim()));
  const found = read.filter((key) => key !== undefined);
  return found.length === read.length && found.length <= 8 ? found : undefined;
});

/** The id of a program on the chain. */
export const programId: Parser<Address> = parser(
  "a program id: 32 bytes in base58",
  (text) => parseAddress(text) ?? undefined,
);

/** The account of a stake pool. */
export const stakePool: Parser<Address> = parser(
  "an address: 32 bytes in base58",
  (text) => parseAddress(text) ?? undefined,
);

/** The hash of a chain's genesis. */
export const genesisHash: Parser<string> = parser(
  "a genesis hash: 32 bytes in base58, as getGenesisHash answers it",
  (text) => parseAddress(text) ?? undefined,
);

/** Labels of nodes, as lists of nodes have them. */
export const labelList: Parser<readonly string[]> = parser("labels of nodes separated by commas", (text) => {
  const labels = text.split(",").map((label) => label.trim());
  return labels.every((label) => /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/.test(label)) ? labels : undefined;
});

/** A name that can stand in a statement without quotes. */
export const addressList: Parser<readonly Address[]> = parser("base58 addresses separated by commas", (text) => {
  const addresses = text.split(",").map((each) => parseAddress(each.trim()));
  return addresses.includes(null) ? undefined : addresses.filter((each) => each !== null);
});

export const bareName: Parser<string> = parser("a name of letters, digits and underscores", (text) =>
  /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(text) ? text : undefined,
);

/** The symbol of a currency. */
export const tokenSymbol: Parser<string> = parser("a symbol of 1 to 12 letters and digits", (text) =>
  /^[A-Za-z0-9]{1,12}$/.test(text) ? text : undefined,
);

/** A path in the file system; NUL would cut it short in the system's own calls. */
export const filePath: Parser<string> = parser("a path", (text) =>
  text !== "" && !text.includes("\0") && text.length <= 4096 ? text : undefined,
);

/** A day or a time in UTC; returned as Unix milliseconds. */
export const moment: Parser<number> = parser("a date or a time in UTC, such as 2027-06-30", (text) => {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  // Dates that no calendar has are moved on by some readers and refused by others.
  return Number.isNaN(atMs) || !new Date(atMs).toISOString().startsWith(text.slice(0, 10)) ? undefined : atMs;
});

/** Where an exchange is: two addresses in front of its exact paths. */
export interface SourceEndpoint {
  readonly rest: string;
  readonly ws: string;
}

/** `exchange=url;ws=url`, separated by commas. */
export const sourceEndpoints: Parser<Readonly<Partial<Record<OracleSourceId, SourceEndpoint>>>> = parser(
  "entries exchange=url;ws=url separated by commas, such as kraken=https://a.example;ws=wss://b.example",
  (text) => {
    const found: Partial<Record<OracleSourceId, SourceEndpoint>> = {};
    for (const entry of text.split(",")) {
      const match = /^\s*([a-z]+)\s*=\s*([^\s;]+?)\/?\s*;\s*ws\s*=\s*([^\s;]+?)\/?\s*$/i.exec(entry);
      const [, name = "", rest = "", ws = ""] = match ?? [];
      const id = sourceIds.find((one) => one === name.toLowerCase());
      if (id === undefined || found[id] !== undefined) return undefined;
      if (readUrl(rest, ["http:", "https:"]) === undefined || readUrl(ws, ["ws:", "wss:"]) === undefined)
        return undefined;
      found[id] = { rest, ws };
    }
    return found;
  },
);

/** Exchanges; the chain's own pools are read through the chain's nodes. */
const sourceIds: readonly OracleSourceId[] = Object.keys(oracleSources).filter(
  (id): id is OracleSourceId => id in oracleSources && id !== "chain",
);
