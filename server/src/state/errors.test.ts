import { expect, test } from "bun:test";
import { codeOfDriverError } from "./errors.ts";

test("a connection that PostgreSQL or the network ended is a store that is away, also where the driver has no code for it", () => {
  for (const message of [
    "Connection terminated unexpectedly",
    "Client has encountered a connection error and is not queryable",
    "timeout exceeded when trying to connect",
    "Query read timeout",
    "The server does not support SSL connections",
    "a:5432: The server does not support SSL connections; b:5432: The server does not support SSL connections",
  ]) {
    expect(codeOfDriverError(new Error(message))).toBe("UNAVAILABLE");
  }
  expect(codeOfDriverError(Object.assign(new Error("terminating connection"), { code: "57P01" }))).toBe("UNAVAILABLE");
  const ended = new Error("Connection terminated unexpectedly");
  const ofServers = new Error(`a:5432: the server takes no writes; b:5432: ${ended.message}`, { cause: ended });
  expect(codeOfDriverError(ofServers)).toBe("UNAVAILABLE");
  expect(codeOfDriverError(new Error("a defect"))).toBe("FAULT");
  expect(codeOfDriverError(new Error("a defect", { cause: new Error("of another") }))).toBe("FAULT");
});
