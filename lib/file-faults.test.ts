import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileFaultIn, fileFaultOf } from "./file-faults.ts";

const refused = (code: string): Error =>
  Object.assign(new Error(`${code}: text, open '/x'`), { code, syscall: "open" });

test("what the system refuses of a file has a cause and a remedy in words, from the error or from its text", () => {
  for (const code of ["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "EIO", "ENOTDIR", "EISDIR", "EEXIST"]) {
    const fault = fileFaultOf(refused(code));
    expect(fault?.cause.length).toBeGreaterThan(5);
    expect(fault?.remedy).toEndWith(".");
    expect(fileFaultIn(`ledger ended with 1: {"error":"${code}: text, mkdir '/x'"}`)).toBe(fault);
  }
  expect(fileFaultOf(refused("EROFS"))?.cause).toContain("read-only");
});

test("any other error has none: a missing file, a socket's error without a call, and no error at all", () => {
  expect(fileFaultOf(Object.assign(new Error("x"), { code: "EROFS" }))).toBeNull();
  expect(fileFaultOf(refused("ENOENT"))).toBeNull();
  expect(fileFaultOf("EROFS: text")).toBeNull();
  expect(fileFaultIn("Code: 62. DB::Exception: Syntax error: failed")).toBeNull();
  try {
    readFileSync(import.meta.dir);
  } catch (error) {
    expect(fileFaultOf(error)?.cause).toContain("folder");
  }
});
