/** The error texts of the name resolver: its bodies have no codes (spec: name resolver, Errors). Append-only. */
export const nameErrorTable = {
  "invalid handle": { status: 400, meaning: "The text behind `@` has not the shape of a handle." },
  "invalid domain": { status: 400, meaning: "The text has not the shape of a domain, or its path does not decode." },
  "handle not registered": {
    status: 404,
    meaning: "The chain has no such handle; with `X-Handles: unavailable` it has no program for handles at all.",
  },
  "domain not registered": {
    status: 404,
    meaning: "The chain has no such domain; with `X-Domains: unavailable` it has no program for domains at all.",
  },
  "not found": { status: 404, meaning: "The resolver has no such path." },
  "method not allowed": { status: 405, meaning: "The resolver takes GET and nothing else." },
  "ambiguous: both a handle and a domain shape": {
    status: 409,
    meaning: "The name begins with `@` and ends as a domain does; it is never resolved.",
  },
  "internal error": { status: 500, meaning: "An error of the resolver itself; `X-Request-Id` names it in the log." },
  "malformed account": {
    status: 502,
    meaning: "An account exists for the name and cannot be read: never a free name.",
  },
  "rpc unreachable": { status: 502, meaning: "The node did not answer; nothing is known of the name." },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly meaning: string }>>;

export type NameErrorText = keyof typeof nameErrorTable;

/** All texts, in the order of the table. */
export const nameErrorTexts = Object.keys(nameErrorTable).filter(
  (text): text is NameErrorText => text in nameErrorTable,
);
