import { CodedError } from "@sluice/contract/errors";

type Reason = "NOT_SHARED" | "OTHER_CHAIN" | "OTHER_KEY" | "PROGRAM_FILES";

/** A start that would serve wrongly, with a sentence for the operator. */
export class StartRefusedError extends CodedError<Reason> {
  constructor(code: Reason, message: string) {
    super(code, { message, details: {} });
  }
}
