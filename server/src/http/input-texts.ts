/** What is read of an issue that a schema raises, before it has a text. */
export interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
  readonly expected?: unknown;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly values?: unknown;
  readonly format?: unknown;
}

/** Longest value of the caller's that a text repeats. */
const shownCharactersMax = 40;

const kindTexts: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/**
 * The text of an issue for which its schema has none: what is expected, and what was sent. The names of members stand
 * in the path beside it.
 */
export function issueText(issue: RawIssue): string {
  const expected = expectationOf(issue);
  if (issue.input === undefined) return `is missing; it must be ${expected}`;
  return `must be ${expected}, not ${shown(issue)}`;
}

function expectationOf(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return kindTexts[String(issue.expected)] ?? String(issue.expected);
    case "invalid_value":
      return oneOf(Array.isArray(issue.values) ? issue.values : []);
    case "too_small":
      return bound(issue, { amount: issue.minimum, word: "at least", strict: "more than" });
    case "too_big":
      return bound(issue, { amount: issue.maximum, word: "at most", strict: "less than" });
    case "invalid_format":
      return formatTexts[String(issue.format)] ?? "of the documented form";
    default:
      return "of the documented form";
  }
}

const formatTexts: Readonly<Record<string, string>> = {
  datetime: "a time such as 2026-12-01T00:00:00Z",
  date: "a day such as 2026-12-01",
  url: "an absolute address",
};

function oneOf(values: readonly unknown[]): string {
  const [only] = values;
  return values.length === 1 ? String(only) : `one of ${values.map(String).join(", ")}`;
}

function bound(
  { origin, inclusive }: RawIssue,
  { amount, word, strict }: { readonly amount: unknown; readonly word: string; readonly strict: string },
): string {
  const text = `${inclusive === false ? strict : word} ${String(amount)}`;
  const unit = Number(amount) === 1 ? "" : "s";
  if (origin === "string") return `a string of ${text} character${unit}`;
  return origin === "array" ? `a list of ${text} item${unit}` : text;
}

/** What was sent: its size where that is what is wrong, a short value itself, and of anything else its kind. */
function shown({ code, input, origin }: RawIssue): string {
  const isBound = code === "too_small" || code === "too_big";
  if (isBound && typeof input === "string" && origin === "string") return String(input.length);
  if (isBound && Array.isArray(input)) return String(input.length);
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object") return "an object";
  const text = typeof input === "string" ? JSON.stringify(input) : String(input);
  if (text.length <= shownCharactersMax && code !== "invalid_type") return text;
  if (typeof input === "string") return code === "invalid_type" ? "a string" : `a string of ${input.length} characters`;
  return text.length <= shownCharactersMax ? text : "another one";
}
