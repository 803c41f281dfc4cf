import { expect, test } from "bun:test";
import { ListenError } from "../net/index.ts";
import { explainStartFault } from "./start-fault.ts";

function explained(code: string): string {
  try {
    explainStartFault(new ListenError("gateway", 8899, Object.assign(new Error("listen"), { code })));
  } catch (error) {
    return String(error);
  }
}

test("an endpoint that cannot listen says why: a taken port, an address of another machine, a port of the system", () => {
  expect(explained("EADDRINUSE")).toContain("port 8899 (gateway) is taken");
  expect(explained("EADDRINUSE")).toContain("--port-offset");
  for (const code of ["EINVAL", "EADDRNOTAVAIL", "ENOTFOUND"]) {
    expect(explained(code)).not.toContain("taken");
    expect(explained(code)).toContain("--bind");
  }
  expect(explained("EACCES")).toContain("rights");
});

test("an internal error goes on unchanged", () => {
  const error = new TypeError("x");
  expect(() => explainStartFault(error)).toThrow(error);
});
