/** What the front has to know of a statement before it hands it to the engine; the engine itself does the parsing. */
export interface Statement {
  /** True for INSERT statements that carry data (VALUES or FORMAT), not for INSERT ... SELECT. */
  readonly takesData: boolean;
  /** Offset where inline data begins in an INSERT that takes data, else null. */
  readonly dataAt: number | null;
  /** Offset where `FROM INFILE '...'` may be put in an INSERT that takes data, else null. */
  readonly infileAt: number | null;
  /** The name after the closing FORMAT clause, or null. */
  readonly format: string | null;
  /** True when anything but comments follows a semicolon. */
  readonly several: boolean;
  /** True when INTO OUTFILE occurs, which would write files of this machine. */
  readonly intoOutfile: boolean;
  /** True when there is no statement at all, only blanks and comments. */
  readonly empty: boolean;
}

interface Token {
  readonly kind: "word" | "quoted" | "punctuation";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const closingQuote: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "‘": "’", "“": "”" };

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline + 1;
}

/** Returns the offset behind blanks and comments as ClickHouse's lexer sees them (`--`, `#!`, `# `, slash-star). */
function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = text[at] ?? "";
    const next = text[at + 1] ?? "";
    if (/\s/.test(character)) at++;
    else if (character === "-" && next === "-") at = endOfLine(text, at);
    else if (character === "#" && (next === "!" || next === " ")) at = endOfLine(text, at);
    else if (character === "/" && next === "*") {
      const close = text.indexOf("*/", at + 2);
      at = close === -1 ? text.length : close + 2;
    } else break;
  }
  return at;
}

function quotedEnd(text: string, start: number, close: string): number {
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === "\\") at += 2;
    else if (text[at] === close) {
      if (text[at + 1] !== close) return at + 1;
      at += 2;
    } else at++;
  }
  return text.length;
}

function nextToken(text: string, from: number): Token | null {
  const start = skipBlank(text, from);
  const first = text[start];
  if (first === undefined) return null;
  const close = closingQuote[first];
  if (close !== undefined) {
    const end = quotedEnd(text, start, close);
    return { kind: "quoted", text: text.slice(start, end), start, end };
  }
  if (first === "$") {
    const tag = /\$\w*\$/y;
    tag.lastIndex = start;
    const opening = tag.exec(text)?.[0];
    if (opening !== undefined) {
      const closing = text.indexOf(opening, start + opening.length);
      const end = closing === -1 ? text.length : closing + opening.length;
      return { kind: "quoted", text: "", start, end };
    }
  }
  const word = /[A-Za-z_0-9][\w$]*/y;
  word.lastIndex = start;
  const found = word.exec(text)?.[0];
  if (found !== undefined) return { kind: "word", text: found, start, end: start + found.length };
  return { kind: "punctuation", text: first, start, end: start + 1 };
}

/** One pass over the tokens; INSERT data is never looked into, since it is not SQL. */
class StatementReader {
  takesData = false;
  dataAt: number | null = null;
  infileAt: number | null = null;
  format: string | null = null;
  several = false;
  intoOutfile = false;
  empty = true;
  #insert = false;
  #settingsAt: number | null = null;
  #depth = 0;
  #ended = false;
  #previous = "";
  /** The state of a possible closing FORMAT clause: a name was seen, and only SETTINGS may follow. */
  #formatOpen = false;

  read(text: string): Statement {
    let at = 0;
    for (let token = nextToken(text, at); token !== null; token = nextToken(text, at)) {
      at = token.end;
      if (!this.#take(token, text)) break;
    }
    if (!this.takesData && !this.#formatOpen) this.format = null;
    const { takesData, dataAt, infileAt, format, several, intoOutfile, empty } = this;
    return { takesData, dataAt, infileAt, format, several, intoOutfile, empty };
  }

  /** Returns false when the rest is data or no longer matters. */
  #take(token: Token, text: string): boolean {
    if (this.#ended) {
      if (token.text === ";") return true;
      this.several = true;
      return false;
    }
    if (token.text === ";" && token.kind === "punctuation") {
      this.#ended = true;
      return true;
    }
    const word = token.kind === "word" ? token.text.toUpperCase() : "";
    if (this.empty) this.#insert = word === "INSERT";
    this.empty = false;
    if (token.kind === "punctuation")
      this.#depth += "([{".includes(token.text) ? 1 : ")]}".includes(token.text) ? -1 : 0;
    if (this.#previous === "INTO" && word === "OUTFILE") this.intoOutfile = true;
    const more = this.#depth > 0 ? true : this.#takeOutermost(token, word, text);
    this.#previous = word;
    return more;
  }

  #takeOutermost(token: Token, word: string, text: string): boolean {
    if (this.#previous === "FORMAT" && token.kind === "word") {
      this.format = token.text;
      this.#formatOpen = true;
      if (!this.#insert) return true;
      this.takesData = true;
      this.dataAt = inlineDataStart(text, token.end);
      return false;
    }
    if (this.#formatOpen && word !== "SETTINGS" && this.#previous !== "SETTINGS" && this.#settingsAt === null) {
      this.#formatOpen = false;
    }
    if (word === "SETTINGS" && this.#settingsAt === null) this.#settingsAt = token.start;
    if (word === "FORMAT" && this.#insert) this.infileAt = this.#settingsAt ?? token.start;
    if (!this.#insert) return true;
    if (word === "VALUES" && this.#previous !== "INTO" && this.#previous !== "TABLE") {
      this.takesData = true;
      this.infileAt = this.#settingsAt ?? token.start;
      this.format = "Values";
      this.dataAt = token.end;
      return false;
    }
    // What follows is a query, or a file that the statement names: it takes no data from us.
    if (word === "SELECT" || word === "WITH" || word === "INFILE") this.#insert = false;
    return true;
  }
}

/** Data starts on the line after `FORMAT name`, or behind the one blank when it stands on the same line. */
function inlineDataStart(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  if (text[at] === ";") at++;
  if (text[at] === "\r") at++;
  if (text[at] === "\n") at++;
  return at;
}

/** Finds in ClickHouse SQL what the HTTP front needs. Linear in the text; never throws. */
export function readStatement(text: string): Statement {
  return new StatementReader().read(text);
}

/** A ClickHouse string literal of any text. */
export function stringLiteral(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\0", "\\0")}'`;
}

/** A back-quoted ClickHouse identifier of any text. */
export function quotedIdentifier(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}
