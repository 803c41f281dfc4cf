import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dir, "../../../../../../shared/fixtures/exchanges");

/** One recorded answer or stream; texts are the wire's, to the digit. */
export interface ExchangeFixture {
  readonly exchange: string;
  readonly name: string;
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Of an answer; empty for a stream. */
  readonly body: string;
  /** Frames that the server sent, in order; empty for an answer. */
  readonly received: readonly string[];
}

/** Where a JSON value that begins at `from` ends. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at += 1;
      else if (character === '"') {
        isInString = false;
        if (depth === 0) return at + 1;
      }
    } else if (character === '"') isInString = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
      if (depth < 0) return at;
    }
  }
  return text.length;
}

/** The texts of all members of these names, in the order of the file. */
function valuesOf(text: string, names: readonly string[]): string[] {
  const pattern = new RegExp(`"(${names.join("|")})":\\s*`, "g");
  const found: string[] = [];
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const from = pattern.lastIndex;
    const end = endOfValue(text, from);
    found.push(text.slice(from, end));
    pattern.lastIndex = end;
  }
  return found;
}

interface Head {
  readonly kind: "rest" | "ws";
  readonly request?: string;
  readonly httpStatus?: number;
  readonly headers?: Record<string, string>;
  readonly frames?: readonly { readonly dir: "in" | "out"; readonly text?: string }[];
}

function read(exchange: string, file: string): ExchangeFixture {
  const text = readFileSync(join(directory, exchange, file), "utf8");
  const head: Head = JSON.parse(text);
  const frames = head.kind === "ws" ? valuesOf(text.slice(text.indexOf('"frames"')), ["frame", "text"]) : [];
  const body = head.kind === "rest" ? (valuesOf(text, ["body"]).at(-1) ?? "") : "";
  return {
    exchange,
    name: file.replace(".json", ""),
    request: head.request ?? "",
    status: head.httpStatus ?? 0,
    headers: head.headers ?? {},
    // A body that is no JSON is kept as a JSON string.
    body: body.startsWith('"') ? JSON.parse(body) : body,
    received: (head.frames ?? []).flatMap(({ dir, text: plain }, index) =>
      dir === "in" ? [plain ?? frames[index] ?? ""] : [],
    ),
  };
}

/** Recorded answers and streams of one exchange; none, with a loud word, where the data are not at hand. */
export function readExchangeFixtures(exchange: string): readonly ExchangeFixture[] {
  const path = join(directory, exchange);
  if (!existsSync(path)) {
    console.warn(`NOT RUN: no recorded answers of exchanges at ${path}`);
    return [];
  }
  return readdirSync(path)
    .toSorted()
    .map((file) => read(exchange, file));
}
