/**
 * What keeps secrets out of the log. Every value that is logged passes through here: known fields are hidden by name,
 * and every string is searched for keys, bearer tokens and URLs, wherever it comes from (an upstream's error text too).
 */

export const hidden = "[hidden]";

/** Past these bounds a value is cut, so that no request can make a line of any size. */
const depthMax = 6;
const entriesMax = 64;
const charactersShown = 8_192;
/** A longer text is cut before it is searched; the cut lies far behind what is shown, so no secret escapes at it. */
const charactersSearched = 65_536;

const secretFields: ReadonlySet<string> = new Set([
  "authorization",
  "proxyauthorization",
  "cookie",
  "setcookie",
  "xapikey",
  "apikey",
  "xtoken",
  "xjitoauth",
  "token",
  "accesstoken",
  "refreshtoken",
  "sessiontoken",
  "password",
  "secret",
  "masterkey",
  "privatekey",
]);

/**
 * A key in any text; the environment stays, since it helps to find a mistake and gives nothing away. None of these asks
 * for a word boundary before it, since percent-encoding (`%20sk_live_…`) leaves none.
 */
const apiKeys = /sk_(live|dev)_[0-9A-Za-z_]+/g;
const keyQueries = /(api-key|api%2dkey|api_key|apikey|access_token|uuid)=[^&\s"'<>#]+/gi;
const bearers = /(bearer|basic)(?:\s|%20|\+)+[A-Za-z0-9._~+/=-]{8,}/gi;
/** Headers and members as they stand in a dump of a request, `x-api-key: …` or `"password":"…"`. */
const named = /((?:x-)?api[-_]?key|authorization|cookie|password|secret|x-token)(["']?\s*[:=]\s*["']?)[^\s"',;&}]+/gi;
const urls = /\b([a-z][a-z0-9+.-]{1,15}):\/\/[^\s"'<>\\^`{|}]+/gi;
/** One cheap look decides for most strings that nothing in them needs a change. */
const suspicious =
  /sk_(?:live|dev)_|:\/\/|api(?:-|_|%2d)?key|access_token=|uuid=|bearer|basic|authorization|cookie|password|secret|x-token/i;

/** Path segments of this length and more are taken for tokens. */
const tokenLengthMin = 12;

/** Keeps scheme, host and short path segments: tokens stand in the user part, in the path or in the query. */
function redactOneUrl(text: string): string {
  const parts = /^([^:]+:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(\?[^#]*)?/.exec(text);
  if (parts === null) return hidden;
  const [, scheme = "", user, host = "", path = "", query] = parts;
  const segments = path.split("/").map((segment) => (segment.length >= tokenLengthMin ? "…" : segment));
  return `${scheme}${user === undefined ? "" : "…@"}${host}${segments.join("/")}${query === undefined ? "" : "?…"}`;
}

/** The text without API keys, key queries, bearer tokens, and tokens in URLs; cut at 8,192 characters. */
export function redactText(text: string): string {
  const searched = text.length > charactersSearched ? text.slice(0, charactersSearched) : text;
  if (!suspicious.test(searched)) return cut(searched);
  const redacted = searched
    .replace(urls, redactOneUrl)
    .replace(apiKeys, (_key, environment: string) => `sk_${environment}_${hidden}`)
    .replace(keyQueries, (_query, name: string) => `${name}=${hidden}`)
    .replace(bearers, (_token, scheme: string) => `${scheme} ${hidden}`)
    .replace(named, (_field, name: string, between: string) => `${name}${between}${hidden}`);
  return cut(redacted);
}

function cut(text: string): string {
  return text.length > charactersShown ? `${text.slice(0, charactersShown)}…` : text;
}

function isSecretField(name: string): boolean {
  return secretFields.has(name.toLowerCase().replaceAll(/[-_]/g, ""));
}

function redactError(error: Error, depth: number): object {
  const code: unknown = Reflect.get(error, "code");
  return {
    type: redactText(error.name),
    message: redactText(String(error.message)),
    ...(typeof code === "string" || typeof code === "number" ? { code: redactValue(code, depth) } : {}),
    ...(typeof error.stack === "string" ? { stack: redactText(error.stack) } : {}),
    ...(error.cause === undefined ? {} : { cause: redactValue(error.cause, depth + 1) }),
  };
}

function redactObject(value: object, depth: number): unknown {
  if (depth >= depthMax) return "[deep]";
  if (value instanceof Error) return redactError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[no date]" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return redactText(value.href);
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((item) => redactValue(item, depth + 1));
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const kept: [string, unknown][] = [];
  for (const [name, item] of entries.slice(0, entriesMax)) {
    kept.push([redactText(String(name)), isSecretField(String(name)) ? hidden : redactValue(item, depth + 1)]);
  }
  return Object.fromEntries(kept);
}

/** A value ready for a line of JSON, without secrets. bigint becomes decimal text; cycles end at the depth bound. */
export function redactValue(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case "string":
      return redactText(value);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : redactObject(value, depth);
    case "function":
    case "symbol":
      return `[${typeof value}]`;
    default:
      return value;
  }
}

/** The fields of one line. A getter that throws must not end a request, so such fields are only named as unreadable. */
export function redactFields(fields: object): Record<string, unknown> {
  try {
    const redacted = redactValue(fields instanceof Error ? { error: fields } : fields);
    return typeof redacted === "object" && redacted !== null && !Array.isArray(redacted)
      ? { ...redacted }
      : { value: redacted };
  } catch {
    return { fields: "[unreadable]" };
  }
}
