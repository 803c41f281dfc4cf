import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { ListenError } from "../net/index.ts";
import { StateError } from "../state/index.ts";
import { explainStartFault } from "./start-fault.ts";
import { CommandFailure } from "./terminal.ts";

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
  const ofGrpc = new Error("No address added out of total 1 resolved: [listen EADDRINUSE: address already in use]");
  const taken = new ListenError("engineGrpc", 7440, ofGrpc);
  expect(() => explainStartFault(taken)).toThrow("port 7440 (engineGrpc) is taken");
  // Whatever else it is, it is told as what it is.
  for (const code of ["EMFILE", "EPERM", ""]) {
    expect(explained(code)).not.toContain("taken");
    expect(explained(code)).toContain("port 8899: listen.");
  }
});

test("a store's sentence is found wherever it stands among the causes of an error", () => {
  const damaged = new StateError("CORRUPT", "The database /x is damaged: a page. Put a copy in its place.");
  const wrapped = new SluiceError("INTERNAL_ERROR", { cause: new Error("query", { cause: damaged }) });
  for (const error of [damaged, wrapped])
    expect(() => explainStartFault(error)).toThrow(new CommandFailure(damaged.message));
});

test("a file that the system refuses is named with the cause and the way out", () => {
  const details = { code: "EROFS", syscall: "open", path: "/x/dev.json.7" };
  const refused = Object.assign(new Error("EROFS: read-only file system, open '/x/dev.json.7'"), details);
  expect(() => explainStartFault(refused)).toThrow(
    new CommandFailure(
      "/x/dev.json.7: the file system is read-only. Make it writable, or choose another data directory (DATA_DIR).",
    ),
  );
});

test("an internal error goes on unchanged", () => {
  const error = new TypeError("x");
  expect(() => explainStartFault(error)).toThrow(error);
});
