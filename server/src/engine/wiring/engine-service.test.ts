import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { StateError } from "../../state/index.ts";
import { quietWhenFenced } from "./engine-service.ts";

const fenced = (): SluiceError => new SluiceError("OVERLOADED", { cause: new StateError("FENCED", "taken over") });
const away = (): SluiceError => new SluiceError("STORE_UNAVAILABLE", { cause: new StateError("UNAVAILABLE", "away") });

test("that a deposed process may not write is told once for each time that it led, and any other failure each time", () => {
  const told: string[] = [];
  const events = quietWhenFenced(
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
  expect(told.slice(1)).toEqual(["warn old bundles", "error closing"]);
  events.leads();
  events.retryableError("old bundles", fenced());
  expect(told.length).toBe(4);
});
