import type { WholeBody } from "../upstreams/index.ts";

/** Text of one byte a character, or bytes: both go out as they are. */
export type AnswerBody = string | Uint8Array<ArrayBuffer>;

/** The node's answer with the caller's id in the place of ours. Nothing else of it is touched. */
export function spliced(body: WholeBody, id: string): AnswerBody {
  if (body.kind === "text") return body.head + id + body.tail;
  return Buffer.concat([body.head, Buffer.from(id), body.tail]);
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
