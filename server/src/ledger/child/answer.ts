import { gzipSync } from "node:zlib";
import type { Call } from "./call.ts";
import type { EngineStream } from "./engine.ts";
import { type EngineException, exceptionTrailer, fromEngine, statusOf } from "./exceptions.ts";
import { contentType } from "./formats.ts";

/** Figures for `X-ClickHouse-Summary`; all are counts, `elapsed` is in seconds. */
export interface Figures {
  readonly readRows?: number;
  readonly readBytes?: number;
  readonly writtenRows?: number;
  readonly writtenBytes?: number;
  /** Of the result, where it is not what was read. */
  readonly resultRows?: number;
  readonly resultBytes?: number;
  readonly elapsed?: number;
}

/** ClickHouse's summary, whose numbers are strings. */
function summary(figures: Figures): string {
  const text = (value: number | undefined): string => String(Math.round(value ?? 0));
  return JSON.stringify({
    read_rows: text(figures.readRows),
    read_bytes: text(figures.readBytes),
    written_rows: text(figures.writtenRows),
    written_bytes: text(figures.writtenBytes),
    total_rows_to_read: "0",
    result_rows: text(figures.resultRows ?? figures.writtenRows ?? figures.readRows),
    result_bytes: text(figures.resultBytes ?? figures.writtenBytes ?? figures.readBytes),
    elapsed_ns: text((figures.elapsed ?? 0) * 1e9),
  });
}

function headersOf(queryId: string, format: string): Headers {
  return new Headers({
    "Content-Type": contentType(format),
    "X-ClickHouse-Server-Display-Name": "sluice-ledger",
    "X-ClickHouse-Query-Id": queryId.replaceAll(/[^\x20-\x7e]/g, "?"),
    "X-ClickHouse-Format": format,
    "X-ClickHouse-Timezone": "UTC",
  });
}

/** A finished statement. */
export function wholeAnswer(call: Call, format: string, bytes: Uint8Array, figures: Figures): Response {
  const headers = headersOf(call.queryId, format);
  headers.set("X-ClickHouse-Summary", summary(figures));
  if (!call.gzipAnswer || bytes.byteLength === 0) return new Response(new Uint8Array(bytes), { headers });
  headers.set("Content-Encoding", "gzip");
  return new Response(new Uint8Array(gzipSync(bytes)), { headers });
}

/**
 * A result that is sent while the engine computes it. The next piece is asked for only when the one before has been
 * taken, so a slow reader slows the engine instead of filling memory. `done` is called once, whatever the end.
 */
export function streamedAnswer(
  call: Call,
  format: string,
  first: Uint8Array | null,
  stream: EngineStream,
  tag: string,
  done: () => void,
): Response {
  const headers = headersOf(call.queryId, format);
  headers.set("X-ClickHouse-Exception-Tag", tag);
  let next = first;
  let ended = false;
  const finish = (): void => {
    if (ended) return;
    ended = true;
    stream.close();
    done();
  };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          if (next === null) {
            finish();
            controller.close();
            return;
          }
          controller.enqueue(new Uint8Array(next));
          next = await stream.next();
        } catch (error) {
          finish();
          controller.enqueue(new Uint8Array(exceptionTrailer(tag, fromEngine(error).text)));
          controller.close();
        }
      },
      cancel() {
        finish();
      },
    },
    { highWaterMark: 0 },
  );
  if (!call.gzipAnswer) return new Response(body, { headers });
  headers.set("Content-Encoding", "gzip");
  return new Response(body.pipeThrough(new CompressionStream("gzip")), { headers });
}

/** A failure before anything was sent. `version` is the engine's, named as ClickHouse does. */
export function failedAnswer(queryId: string, exception: EngineException, version: string): Response {
  const headers = new Headers({
    "Content-Type": "text/plain; charset=UTF-8",
    "X-ClickHouse-Exception-Code": String(exception.code),
    "X-ClickHouse-Query-Id": queryId.replaceAll(/[^\x20-\x7e]/g, "?"),
  });
  return new Response(`${exception.text} (version ${version})\n`, { status: statusOf(exception.code), headers });
}
