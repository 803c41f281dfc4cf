import { SluiceError } from "@sluice/contract/errors";
import type { ByteSource } from "@sluice/lib";
import type { HttpRequest } from "./request.ts";
import { fieldLines, type HttpAnswer } from "./response-writer.ts";

/** Converts between an application's Request and Response and a connection of this HTTP/1.1 server. */

/** A REST application under some paths of the gateway. */
export interface AppMount {
  /** Paths equal to it or beneath it; "/" takes what no other mount takes. The longest one that fits wins. */
  readonly prefix: string;
  /** As Hono's `fetch`: the second argument becomes the handlers' bindings. */
  readonly fetch: (request: Request, bindings: AppBindings) => Response | Promise<Response>;
}

export interface AppBindings {
  readonly requestId: string;
  /** The socket's address; what it says behind a trusted proxy is for http's clientAddress. */
  readonly socketAddress: string;
  /** Put before the path of a code's page in problems; null leaves their `type` relative. */
  readonly docsBase?: string | null;
}

/** A response of up to so many bytes that is there at once goes out whole, under its length. */
const wholeBytesMax = 256 * 1024;

/**
 * The request for an application: absolute URL, all fields, the body as it comes, and a signal for when the client goes
 * away. Throws INVALID_REQUEST for what cannot be said in a Request.
 */
export function webRequest(request: HttpRequest): Request {
  const { method } = request;
  const headers = new Headers();
  for (const [name, value] of request.headers.fields()) headers.append(name, value);
  const gone = new AbortController();
  request.onGone = () => gone.abort();
  const host = request.headers.host ?? "";
  if (host !== "") headers.set("Host", host);
  // Clients that send a name as it is mean UTF-8.
  const target = Buffer.from(request.target, "latin1").toString("utf8");
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(request);
  try {
    const url = `http://${host === "" ? "localhost" : host}${target}`;
    return new Request(url, { method, headers, body, signal: gone.signal });
  } catch (error) {
    throw new SluiceError("INVALID_REQUEST", { message: "The request has no meaning here", cause: error });
  }
}

function bodyOf(request: HttpRequest): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  const here = request.takeBody();
  if (here !== null) return here.length === 0 ? null : new Uint8Array(here);
  let isBegun = false;
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (isBegun) {
          request.resumeBody();
          return;
        }
        isBegun = true;
        const over = (conclude: () => void): void => {
          if (!isOver) conclude();
          isOver = true;
        };
        request.streamBody({
          part: (bytes, from, to) => {
            if (isOver) return;
            controller.enqueue(new Uint8Array(bytes.subarray(from, to)));
            if ((controller.desiredSize ?? 0) < 0) request.pauseBody();
          },
          end: () => over(() => controller.close()),
          fail: () => over(() => controller.error(new Error("the body did not arrive whole"))),
        });
      },
      cancel: () => {
        isOver = true;
        request.resumeBody();
      },
    },
    { highWaterMark: 0 },
  );
}

/** An application's response as an answer: whole when all of it is there at once, else as it comes. */
export async function webAnswer(response: Response): Promise<HttpAnswer> {
  const answer = { status: response.status, fields: fieldsOf(response.headers) };
  if (response.body === null) {
    const length = response.headers.get("content-length");
    return { ...answer, body: "", ...(length === null ? {} : { headBytes: Number(length) }) };
  }
  const isEndless = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const reader = response.body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const asItComes = (coming: Promise<Reading> | null): HttpAnswer => ({
    ...answer,
    body: { source: sourceOf(reader, pieces, coming), isEndless, ended: () => undefined },
  });
  for (;;) {
    const coming = reader.read();
    const read = await Promise.race([coming, nextTurn()]);
    if (read?.done === true) return { ...answer, body: Buffer.concat(pieces, bytes) };
    if (read === null) return asItComes(coming);
    pieces.push(read.value);
    bytes += read.value.length;
    if (bytes > wholeBytesMax) return asItComes(null);
  }
}

/** What an application says of the framing is the connection's to say. */
const framingFields: ReadonlySet<string> = new Set(["connection", "content-length", "date", "transfer-encoding"]);

function fieldsOf(headers: Headers): string {
  let lines = "";
  for (const [name, value] of headers) if (!framingFields.has(name)) lines += fieldLines({ [name]: value });
  return lines;
}

type Reading = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>;

/** Null when what can be done without waiting has been done. */
const nextTurn = (): Promise<null> => new Promise((resolve) => setImmediate(resolve, null));

function sourceOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  pieces: Uint8Array[],
  coming: Promise<Reading> | null,
): ByteSource {
  let begun = coming;
  return {
    next: async () => {
      const piece = pieces.shift();
      if (piece !== undefined) return piece;
      const { value, done } = await (begun ?? reader.read());
      begun = null;
      return done ? null : value;
    },
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}
