import type { AnswerBody, HttpAnswer } from "../net/index.ts";
import type { WholeBody } from "../upstreams/index.ts";

/** An answer with what the stages found out about its request. */
export interface Answer extends HttpAnswer {
  readonly requestId: string;
  /** As X-Cache-Status says it. */
  readonly cache: "HIT" | "MISS" | "";
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
