import { METHODS } from "node:http";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@sluice/lib";
import { Connection } from "./connection.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpAnswer } from "./response-writer.ts";
import { EchoOwner } from "./testing/echo-owner.ts";
import { RequestStreams } from "./testing/request-streams.ts";
import { WireSocket } from "./testing/wire-socket.ts";

/** One request as a reader understood it. */
interface ReadRequest {
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  readonly body: string;
}

interface OurRequest extends ReadRequest {
  body: string;
  /** `broken`: refused in its body, and the connection is closed behind the answer. */
  state: "open" | "whole" | "broken";
}

interface OurReading {
  readonly requests: readonly OurRequest[];
  /** Whether nothing behind the last request is read. */
  readonly isClosed: boolean;
}

/** What Node's parser made of the same bytes. */
export interface TheirReading {
  readonly messages: readonly (ReadRequest & { readonly isWhole: boolean })[];
  /** llhttp's code; null while it waits for more. */
  readonly error: string | null;
}

/** Notes what a connection hands out, and answers each request when its body has come. */
class NotingOwner extends EchoOwner {
  readonly requests: OurRequest[] = [];

  override handle(request: HttpRequest): HttpAnswer | Promise<HttpAnswer> {
    const noted: OurRequest = {
      method: request.method,
      target: request.target,
      fields: [...request.headers.fields()].flat(),
      body: "",
      state: "open",
    };
    this.requests.push(noted);
    const answer = (state: "whole" | "broken"): HttpAnswer => {
      noted.state = state;
      return { status: state === "whole" ? 200 : 400, fields: "", body: "" };
    };
    const here = request.takeBody();
    if (here !== null) {
      noted.body = Buffer.from(here).toString("latin1");
      return answer("whole");
    }
    return new Promise((resolve) => {
      request.streamBody({
        part: (bytes, from, to) => {
          noted.body += Buffer.from(bytes.subarray(from, to)).toString("latin1");
        },
        end: () => resolve(answer("whole")),
        fail: () => resolve(answer("broken")),
      });
    });
  }
}

async function readHere(pieces: readonly string[]): Promise<OurReading> {
  const owner = new NotingOwner();
  const socket = new WireSocket();
  const connection = new Connection(socket, owner);
  for (const piece of pieces) {
    connection.received(Buffer.from(piece, "latin1"));
    await settled();
  }
  // A request behind a body that was waited for is read in a later turn.
  for (let before = -1; before !== owner.requests.length; ) {
    before = owner.requests.length;
    await settled();
  }
  return { requests: owner.requests, isClosed: socket.closedBy !== null };
}

/** Lets what waits for a body's end be answered; a promise passes through three steps. */
async function settled(): Promise<void> {
  for (let step = 0; step < 6; step += 1) await Promise.resolve();
}

/** Path and query of a target, as this server hands it out. */
function pathOfTarget(target: string): string {
  if (target.startsWith("/") || target === "*") return target;
  const path = target.replace(/^[a-z]+:\/\/[^/?]*/i, "");
  return path.startsWith("/") ? path : `/${path}`;
}

/** What this server takes and llhttp does not, on purpose. Nothing behind it in the stream is compared. */
export type Exception =
  /** Any token is a method (RFC 9110, 9.1), and answered 405; llhttp knows a list, and other protocols by methods. */
  | "method"
  /** A target with bytes of the upper half, for clients that send names as they are. */
  | "target"
  /** A request behind one with `Proxy-Connection: close`, a field of no standard that llhttp takes for Connection. */
  | "proxy-connection";

const knownMethods: ReadonlySet<string> = new Set(METHODS);

function exceptionOf(request: ReadRequest, { messages, error }: TheirReading): Exception | null {
  if (!knownMethods.has(request.method)) return "method";
  if (error === "HPE_INVALID_URL" && /[\u0080-\u00ff]/.test(request.target)) return "target";
  const fields = messages.at(-1)?.fields ?? [];
  const isProxied = fields.some((name, index) => index % 2 === 0 && name.toLowerCase() === "proxy-connection");
  return error === "HPE_CLOSED_CONNECTION" && isProxied ? "proxy-connection" : null;
}

/** In what the two readings contradict each other; null when this server read the same or refused more. */
export function contradictionOf(
  ours: OurReading,
  theirs: TheirReading,
): { readonly exception: Exception } | { readonly fault: string } | null {
  for (const [index, request] of ours.requests.entries()) {
    const other = theirs.messages[index];
    const place = `request ${index + 1}`;
    if (other === undefined) {
      const exception = exceptionOf(request, theirs);
      return exception === null ? { fault: `${place} is none there (${theirs.error})` } : { exception };
    }
    if (request.method !== other.method) return { fault: `${place}: another method` };
    if (request.target !== pathOfTarget(other.target)) return { fault: `${place}: another target` };
    if (JSON.stringify(request.fields) !== JSON.stringify(other.fields)) return { fault: `${place}: other fields` };
    const fault = bodyFault(request, other, theirs.error);
    if (fault !== null) return { fault: `${place}: ${fault}` };
  }
  const isWaiting = !ours.isClosed && ours.requests.at(-1)?.state !== "open";
  if (!isWaiting) return null;
  if (theirs.messages.length > ours.requests.length) return { fault: "there are more requests there" };
  return theirs.error === null ? null : { fault: `it waits for more of what is malformed there (${theirs.error})` };
}

function bodyFault(ours: OurRequest, theirs: TheirReading["messages"][number], error: string | null): string | null {
  if (ours.state === "whole") {
    if (!theirs.isWhole) return `its body does not end there (${error})`;
    return ours.body === theirs.body ? null : "another body";
  }
  if (ours.state === "open" && theirs.isWhole) return "its body ends there";
  if (ours.state === "open" && error !== null) return `it waits for more of a body that is malformed there (${error})`;
  return theirs.body.startsWith(ours.body) || ours.body.startsWith(theirs.body) ? null : "another body";
}

/** Node's parser in a process of its own. */
export class Llhttp implements AsyncDisposable {
  readonly #child = Bun.spawn(
    ["node", "--no-deprecation", fileURLToPath(new URL("testing/llhttp-child.mjs", import.meta.url))],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  readonly #lines = linesOf(this.#child.stdout);

  async read(streams: readonly (readonly string[])[]): Promise<readonly TheirReading[]> {
    this.#child.stdin.write(`${JSON.stringify(streams)}\n`);
    await this.#child.stdin.flush();
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error("Node's parser has ended");
    return JSON.parse(value) as readonly TheirReading[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stdin.end();
    await this.#child.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of stream) {
    const lines = (text + decoder.decode(part, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}

const batchStreams = 200;

/**
 * `n` streams of requests, valid, odd and changed, cut anywhere, read by a connection of this server and by Node's
 * llhttp without leniency. Passes when this server read of each the same requests, in method, target, fields and body,
 * or stopped before; what it takes on purpose is counted.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  await using llhttp = new Llhttp();
  const random = seededRandom(seed);
  const writer = new RequestStreams(() => random.next());
  const tally = { same: 0, stricter: 0, exceptions: 0, read: 0 };
  for (let begun = 0; begun < n; begun += batchStreams) {
    const streams = Array.from({ length: Math.min(batchStreams, n - begun) }, () => writer.next());
    const readThere = llhttp.read(streams);
    const readings: OurReading[] = [];
    for (const stream of streams) readings.push(await readHere(stream));
    for (const [index, theirs] of (await readThere).entries()) {
      const stream = streams[index] ?? [];
      const first = readings[index] ?? { requests: [], isClosed: true };
      // llhttp stops at the first byte that is wrong, and this server at the end of its line.
      const isBehind = theirs.error !== null && !first.isClosed;
      const ours = isBehind ? await readHere([...stream, "\r\n\r\n"]) : first;
      const outcome = contradictionOf(ours, theirs);
      if (outcome !== null && "fault" in outcome) {
        return {
          passed: false,
          summary: `stream ${begun + index}: ${outcome.fault}\n${JSON.stringify({ stream, ours, theirs })}`,
        };
      }
      tally.read += ours.requests.filter(({ state }) => state === "whole").length;
      if (outcome !== null) tally.exceptions += 1;
      else if (theirs.messages.filter(({ isWhole }) => isWhole).length > ours.requests.length) tally.stricter += 1;
      else tally.same += 1;
    }
  }
  const { same, stricter, exceptions, read } = tally;
  return {
    passed: true,
    summary: `${n} streams of ${writer.requests} requests: ${read} were read whole; ${same} streams were read as llhttp does, ${stricter} stopped before, ${exceptions} hold what is taken here on purpose`,
  };
}
