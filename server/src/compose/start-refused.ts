import { CodedError } from "@sluice/contract/errors";

/** A start that would serve wrongly, with a sentence for the operator. */
export class StartRefusedError extends CodedError<"NOT_SHARED" | "OTHER_CHAIN"> {
  constructor(code: "NOT_SHARED" | "OTHER_CHAIN", message: string) {
    super(code, { message, details: {} });
  }
}
