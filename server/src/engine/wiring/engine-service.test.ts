import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { StateError } from "../../state/index.ts";
import { withExpectedFailures } from "./engine-service.ts";

const fenced = (): SluiceError => new SluiceError("OVERLOADED", { cause: new StateError("FENCED", "taken over") });
const away = (): SluiceError => new SluiceError("STORE_UNAVAILABLE", { cause: new StateError("UNAVAILABLE", "away") });

test("that a deposed process may not write is told once for each time that it led, and a store that is away is no error", () => {
  const told: string[] = [];
  const events = withExpectedFailures(
    {
      retryableError: (what: string, _error: unknown) => void told.push(`warn ${what}`),
      internalError: (where: string, _error: unknown) => void told.push(`error ${where}`),
    },
    { info: (_fields, message) => void told.push(message) },
  );
  events.leads();
  events.retryableError("old bundles", fenced());
  events.internalError("closing", new SuppressedError(fenced(), fenced()));
  expect(told.length).toBe(1);
  events.retryableError("old bundles", away());
  events.internalError("closing", new SuppressedError(away(), fenced()));
  events.internalError("closing", new SuppressedError(new Error("a defect"), away()));
  expect(told.slice(1)).toEqual(["warn old bundles", "warn closing", "error closing"]);
  const standby = new SluiceError("STORE_UNAVAILABLE", { cause: new StateError("READ_ONLY", "a standby") });
  events.internalError("forwarded counts", standby);
  expect(told.at(-1)).toBe("warn forwarded counts");
  events.leads();
  events.retryableError("old bundles", fenced());
  expect(told.length).toBe(6);
});
