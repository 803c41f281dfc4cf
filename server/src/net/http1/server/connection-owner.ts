import type { HttpAnswer } from "./answer.ts";
import type { HttpRequest } from "./request.ts";
import type { HeadFault } from "./request-head.ts";

/** What becomes of a request: an answer, or its connection goes on as a tunnel to a port of this machine. */
export type Handled = HttpAnswer | { readonly tunnelTo: number };

export interface ConnectionOwner {
  /** Monotonic milliseconds, to the resolution of the owner's looks. */
  readonly nowMs: number;
  /** Whether connections are closed after their present answer. */
  readonly isDraining: boolean;
  /** `Date: …` with its end. */
  readonly date: string;
  /** Never throws and never rejects. */
  handle(request: HttpRequest): Handled | Promise<Handled>;
  /** The answer to what is no request. */
  refusal(fault: HeadFault): HttpAnswer;
  /** The pair of these is told for each request; the second also when its client went away. */
  begun(): void;
  finished(): void;
  tunnelled(localPort: number, clientAddress: string | null): void;
  ended(connection: object): void;
}
