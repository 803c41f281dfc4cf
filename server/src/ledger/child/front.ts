import { createHash, timingSafeEqual } from "node:crypto";
import { rm } from "node:fs/promises";
import { type Clock, sleep } from "@sluice/lib";
import { failedAnswer, streamedAnswer, wholeAnswer } from "./answer.ts";
import { decodedBody, readText, spoolInsertData, spoolPath } from "./body.ts";
import { type Call, readCall } from "./call.ts";
import { type Engine, isResultTooLarge, type StatementContext } from "./engine.ts";
import { type EngineException, fromEngine, raise } from "./exceptions.ts";
import { isPiecewise } from "./formats.ts";
import { childLimits } from "./limits.ts";
import { readStatement, type Statement, stringLiteral } from "./statement.ts";

export interface FrontOptions {
  readonly user: string;
  readonly password: string;
  /** Where long INSERT data waits; exists and is empty. */
  readonly spoolDirectory: string;
  readonly version: string;
}

export interface FrontDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  /** 32 random hex digits. */
  readonly freshId: () => string;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** User and password of a request: Basic, or ClickHouse's own headers. */
function credentials(request: Request): string {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  if (basic !== undefined) return Buffer.from(basic, "base64").toString("utf8");
  return `${request.headers.get("x-clickhouse-user") ?? ""}:${request.headers.get("x-clickhouse-key") ?? ""}`;
}

/** ClickHouse's HTTP interface before one embedded engine. */
export class Front {
  readonly #options: FrontOptions;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #freshId: () => string;
  readonly #expected: Buffer;
  readonly #running = new Set<AbortController>();
  #spooled = 0;
  #closing = false;

  constructor(options: FrontOptions, dependencies: FrontDependencies) {
    this.#options = options;
    this.#engine = dependencies.engine;
    this.#clock = dependencies.clock;
    this.#freshId = dependencies.freshId;
    this.#expected = digest(`${options.user}:${options.password}`);
  }

  /** Answers one request; never throws. */
  async handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/ping") return new Response("Ok.\n");
    if (url.pathname !== "/") return new Response(`There is no handle ${url.pathname}\n`, { status: 404 });
    if (!timingSafeEqual(digest(credentials(request)), this.#expected)) {
      return this.#fail("", raise("AUTHENTICATION_FAILED", "Authentication failed: wrong user or password."));
    }
    if (request.method !== "POST" && request.method !== "GET") {
      return new Response("Use GET or POST\n", { status: 405, headers: { Allow: "GET, POST" } });
    }
    let queryId = "";
    try {
      const call = readCall(request, url, this.#freshId);
      queryId = call.queryId;
      return await this.#admit(call, request);
    } catch (error) {
      return this.#fail(queryId, fromEngine(error));
    }
  }

  /** Refuses new statements and waits until the running ones have ended, at most `deadlineMs`, then stops them. */
  async drain(deadlineMs: number): Promise<void> {
    this.#closing = true;
    const until = this.#clock.monotonic() + deadlineMs;
    while (this.#running.size > 0 && this.#clock.monotonic() < until) await sleep(this.#clock, 10);
    for (const running of this.#running) running.abort();
    const killedBy = this.#clock.monotonic() + 500;
    while (this.#running.size > 0 && this.#clock.monotonic() < killedBy) await sleep(this.#clock, 10);
  }

  /** True while a statement runs: the engine must not be closed under it. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  #fail(queryId: string, exception: EngineException): Response {
    return failedAnswer(queryId, exception, this.#options.version);
  }

  async #admit(call: Call, request: Request): Promise<Response> {
    if (this.#closing) throw raise("QUERY_WAS_CANCELLED", "The ledger is shutting down");
    if (this.#running.size >= childLimits.concurrentStatementsMax) {
      const text = `Too many simultaneous queries. Maximum: ${childLimits.concurrentStatementsMax}`;
      throw raise("TOO_MANY_SIMULTANEOUS_QUERIES", text);
    }
    const running = new AbortController();
    this.#running.add(running);
    const abort = (): void => running.abort();
    if (request.signal.aborted) running.abort();
    else request.signal.addEventListener("abort", abort, { once: true });
    const done = (): void => {
      request.signal.removeEventListener("abort", abort);
      this.#running.delete(running);
    };
    try {
      return await this.#execute(call, request, running.signal, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  async #execute(call: Call, request: Request, signal: AbortSignal, done: () => void): Promise<Response> {
    const multipart = request.headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
    let text = multipart ? await readForm(call, request) : call.query;
    let statement = readStatement(text);
    let body = multipart ? null : decodedBody(request);
    if (body !== null && !statement.takesData) {
      const rest = await readText(body, childLimits.statementBytesMax);
      body = null;
      text = text === "" ? rest : `${text}\n${rest}`;
      statement = readStatement(text);
    }
    refuse(statement);
    if (statement.empty) {
      done();
      return new Response("Ok.\n");
    }
    const { database, roles, settings, parameters } = call;
    const context: StatementContext = { database, roles, settings, parameters, signal };
    if (statement.takesData) {
      const answer = await this.#insert(call, text, statement, body, context);
      done();
      return answer;
    }
    return await this.#query(call, text, statement, context, done);
  }

  async #insert(
    call: Call,
    text: string,
    statement: Statement,
    body: ReadableStream<Uint8Array> | null,
    context: StatementContext,
  ): Promise<Response> {
    const at = statement.dataAt ?? text.length;
    this.#spooled++;
    const path = spoolPath(this.#options.spoolDirectory, this.#spooled);
    try {
      const { length } = await spoolInsertData(text.slice(at), body, path);
      const sql = insertFromFile(text.slice(0, at), statement, path);
      const written = await this.#engine.insert(sql, length, context);
      const { rowsWritten: writtenRows, bytesWritten: writtenBytes, elapsed } = written;
      const format = statement.format ?? "Values";
      return wholeAnswer(call, format, new Uint8Array(0), { writtenRows, writtenBytes, elapsed });
    } finally {
      await rm(path, { force: true });
    }
  }

  /** The whole result in memory, up to a bound, in any format; its figures are what was read. */
  async #measured(
    call: Call,
    { text, format }: { readonly text: string; readonly format: string },
    { context, done }: { readonly context: StatementContext; readonly done: () => void },
  ): Promise<Response> {
    const settings = boundedResult(context.settings, false) ?? context.settings;
    const result = await this.#engine.measured(text, format, { ...context, settings });
    done();
    const { bytes, rowsRead: readRows, bytesRead: readBytes, resultRows, elapsed } = result;
    const figures = { readRows, readBytes, resultRows, resultBytes: bytes.byteLength, elapsed };
    return wholeAnswer(call, format, new Uint8Array(bytes), figures);
  }

  /**
   * Results are first computed off the event loop, up to a bound; only what exceeds it is run again as a stream, since
   * a stream's analysis (which evaluates scalar subqueries) would hold up everybody else's statements.
   */
  async #query(
    call: Call,
    text: string,
    statement: Statement,
    context: StatementContext,
    done: () => void,
  ): Promise<Response> {
    const format = statement.format ?? call.defaultFormat ?? "TabSeparated";
    const piecewise = isPiecewise(format);
    if (call.waitsForEnd) return await this.#measured(call, { text, format }, { context, done });
    const settings = boundedResult(context.settings, piecewise);
    if (settings !== null) {
      try {
        const result = await this.#engine.run(text, format, { ...context, settings });
        done();
        const { rowsRead: readRows, bytesRead: readBytes, elapsed } = result;
        return wholeAnswer(call, format, result.bytes, { readRows, readBytes, elapsed });
      } catch (error) {
        if (!piecewise || !isResultTooLarge(error)) throw error;
      }
    }
    const stream = await this.#engine.stream(text, format, context);
    try {
      const first = await stream.next();
      return streamedAnswer(call, format, first, stream, this.#freshId().slice(0, 16), done);
    } catch (error) {
      stream.close();
      throw error;
    }
  }
}

/**
 * The INSERT with its data in a file. Never in the statement's own text: there the engine takes what follows an empty
 * line for the next statement, so that data could be run, and binary data could not be distinguished from it.
 */
function insertFromFile(text: string, statement: Statement, path: string): string {
  const from = ` FROM INFILE ${stringLiteral(path)} COMPRESSION 'none' `;
  if (statement.infileAt === null) throw raise("SYNTAX_ERROR", "Syntax error: no place for the data of the INSERT");
  const clauses = text.slice(statement.infileAt).trimEnd();
  const named = /\bFORMAT\s+\w+$/i.test(clauses) ? clauses : clauses.replace(/VALUES$/i, "FORMAT Values");
  return `${text.slice(0, statement.infileAt)}${from}${named}`;
}

/** What ClickHouse's HTTP interface refuses before it runs anything. */
function refuse(statement: Statement): void {
  if (statement.several) throw raise("SYNTAX_ERROR", "Syntax error: Multi-statements are not allowed");
  if (statement.intoOutfile) throw raise("INTO_OUTFILE_NOT_ALLOWED", "INTO OUTFILE is not allowed");
}

/** Settings of the first attempt, or null when the caller's own rule for long results asks for a stream at once. */
function boundedResult(settings: ReadonlyMap<string, string>, piecewise: boolean): Map<string, string> | null {
  if (piecewise && settings.get("result_overflow_mode") === "break") return null;
  const bound = piecewise ? childLimits.streamAboveResultBytes : childLimits.bufferedResultBytesMax;
  const asked = Number(settings.get("max_result_bytes") ?? 0);
  const first = new Map(settings);
  first.set("max_result_bytes", String(asked > 0 ? Math.min(asked, bound) : bound));
  return first;
}

/** Long parameters arrive as multipart fields `query` and `param_<name>`; returns the statement. */
async function readForm(call: Call, request: Request): Promise<string> {
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > childLimits.statementBytesMax) throw raise("QUERY_IS_TOO_LARGE", "The form is too long");
  const raw = await readText(decodedBody(request), childLimits.statementBytesMax);
  const type = request.headers.get("content-type") ?? "";
  const form = await new Response(raw, { headers: { "Content-Type": type } }).formData();
  let query = call.query;
  for (const [name, value] of form) {
    if (typeof value !== "string") throw raise("NOT_IMPLEMENTED", "External tables are not supported");
    if (name === "query") query = query === "" ? value : `${query}\n${value}`;
    else if (/^param_[A-Za-z_]\w{0,127}$/.test(name)) call.parameters.set(name.slice("param_".length), value);
    else throw raise("BAD_ARGUMENTS", "Unknown field in the form");
  }
  return query;
}
