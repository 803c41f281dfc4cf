import type { ByteSource } from "@sluice/lib";
import type { WholeBody } from "../upstreams/index.ts";

/** Text, which goes out as UTF-8, or bytes, which go out as they are. */
export type AnswerBody = string | Uint8Array<ArrayBuffer>;

/** How a body that was sent while it came has ended: `left` when it was the client who went away. */
export interface StreamEnding {
  readonly how: "whole" | "cut" | "left";
  /** Handed to the socket. */
  readonly bytes: number;
  readonly fault: unknown;
}

/** A body that is still coming. */
export interface StreamedBody {
  readonly source: ByteSource;
  /** Told once. */
  readonly ended: (ending: StreamEnding) => void;
}

/** An answer before it is framed: without Date, Connection and what states the body's length. */
export interface Answer {
  readonly status: number;
  /** Header lines in ASCII, each with its end. */
  readonly fields: string;
  readonly body: AnswerBody | StreamedBody;
  /** What a text takes as UTF-8, where that is known: to count it costs 0.2 µs, since it has to be put together first. */
  readonly bodyBytes?: number | undefined;
  readonly requestId: string;
  /** As X-Cache-Status says it. */
  readonly cache: "HIT" | "MISS" | "";
}

export const isStreamed = (body: Answer["body"]): body is StreamedBody => typeof body === "object" && "source" in body;

/** Nobody waits for an answer any more; what is still coming of it is not waited for. */
export function dropped(answer: Pick<Answer, "body"> | { readonly tunnelTo: number }): void {
  if (!("body" in answer) || !isStreamed(answer.body)) return;
  answer.body.source.cancel();
  answer.body.ended({ how: "left", bytes: 0, fault: null });
}

/** Header lines of a record; a value never reaches into the next line. */
export function fieldLines(record: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in record) lines += `${name}: ${(record[name] ?? "").replace(/[^\t\x20-\x7e]/g, " ")}\r\n`;
  return lines;
}

/** The node's answer with the caller's id in the place of ours. Nothing else of it is touched. */
export function spliced(body: WholeBody, id: string): AnswerBody {
  if (body.kind === "text") return body.head + id + body.tail;
  return Buffer.concat([body.head, Buffer.from(id), body.tail]);
}

/** What `spliced` takes of text, where that is seen without putting it together. */
export function splicedBytes(body: WholeBody, id: string): number | undefined {
  return body.kind === "text" ? body.head.length + body.tail.length + Buffer.byteLength(id) : undefined;
}

/** The answers of a batch in the order of its calls. */
export function joinedBatch(parts: readonly AnswerBody[]): AnswerBody {
  if (parts.every((part) => typeof part === "string")) return `[${parts.join(",")}]`;
  const pieces: Uint8Array[] = [];
  for (const [index, part] of parts.entries()) {
    pieces.push(Buffer.from(index === 0 ? "[" : ","), typeof part === "string" ? Buffer.from(part) : part);
  }
  pieces.push(Buffer.from("]"));
  return Buffer.concat(pieces);
}
