import type { ByteSource } from "@sluice/lib";

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
export interface HttpAnswer {
  readonly status: number;
  /** Header lines in ASCII, each with its end. */
  readonly fields: string;
  readonly body: AnswerBody | StreamedBody;
  /** What a text takes as UTF-8, where that is known: to count it costs 0.2 µs, since it has to be put together first. */
  readonly bodyBytes?: number | undefined;
}

export const isStreamed = (body: HttpAnswer["body"]): body is StreamedBody =>
  typeof body === "object" && "source" in body;

/** Nobody waits for an answer any more; what is still coming of it is not waited for. */
export function dropped(answer: Pick<HttpAnswer, "body"> | { readonly tunnelTo: number }): void {
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
