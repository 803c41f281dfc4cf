import type { ErrorCode } from "@sluice/contract/errors";
import type { ByteSource } from "@sluice/lib";
import { type ProblemOptions, problemOf } from "../../../http/index.ts";

/** Text, which goes out as UTF-8, or bytes, which go out as they are. */
export type AnswerBody = string | Uint8Array<ArrayBuffer>;

/** How a body that was sent while it came has ended: whole, cut by its source, or left by its client. */
export interface StreamEnding {
  readonly how: "whole" | "cut" | "left";
  /** Handed to the socket. */
  readonly bytes: number;
  /** What the source failed with when it was cut, else null. */
  readonly error: unknown;
}

/** A body that is still coming. */
export interface StreamedBody {
  readonly source: ByteSource;
  /** Called once. */
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

/** The client of an answer has gone: what is still coming of the answer is not read. */
export function dropAnswer(answer: HttpAnswer): void {
  if (!isStreamed(answer.body)) return;
  answer.body.source.cancel();
  answer.body.ended({ how: "left", bytes: 0, error: null });
}

/** Header lines of a record; a value never reaches into the next line. */
export function fieldLines(record: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in record) lines += `${name}: ${(record[name] ?? "").replace(/[^\t\x20-\x7e]/g, " ")}\r\n`;
  return lines;
}

/** A problem document (RFC 9457) as an answer. */
export function problemAnswer(code: ErrorCode, options: ProblemOptions): HttpAnswer {
  const { status, headers, body } = problemOf(code, options);
  return { status, fields: fieldLines(headers), body };
}
