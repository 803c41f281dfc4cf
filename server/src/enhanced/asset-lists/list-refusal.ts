import type { ErrorCode } from "@sluice/contract/errors";

/** Why there is no answer. `code` and text are those of the endpoint. */
export class ListRefusal extends Error {
  override readonly name = "ListRefusal";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
