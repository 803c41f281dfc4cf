import { SluiceError } from "@sluice/contract/errors";
import type { ReloadOutcome as ReloadBody } from "@sluice/contract/schemas";
import type { ReloadResult } from "../config/index.ts";

/** The outcome as it is answered. An invalid configuration, or none to read, conflicts with what was asked. */
export function reloadBody(outcome: ReloadResult): ReloadBody {
  switch (outcome.kind) {
    case "reloaded":
      return { applied: [...outcome.applied], needs_restart: [...outcome.needsRestart] };
    case "invalid": {
      const errors = outcome.faults.map((message) => ({ path: "configuration", message }));
      const message = "The configuration is not valid; nothing was changed";
      throw new SluiceError("CONFLICT", { message, details: { errors } });
    }
    case "unavailable":
      throw new SluiceError("CONFLICT", { message: "This process cannot read its configuration again" });
  }
}
