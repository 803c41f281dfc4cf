import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";
import { startServerProcess } from "./server-process.ts";

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/status`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

if (!existsSync("/proc/self/status")) console.warn("NOT RUN: the end of servers of tests (this system has no /proc)");
else {
  test("a server ends when it is disposed of", async () => {
    const server = await startServerProcess(["sleep", "600"]);
    expect(isAlive(server.pid)).toBe(true);
    await server[Symbol.asyncDispose]();
    expect(isAlive(server.pid)).toBe(false);
  });

  test("a server ends when the shell above it is killed", async () => {
    await using server = await startServerProcess(["sleep", "600"]);
    const program = () => readFileSync(`/proc/${server.pid}/comm`, "utf8").trim();
    await eventually("the program, which the system is asked to end before it begins", () => program() === "sleep");
    const above = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);
    process.kill(above, "SIGKILL");
    await eventually("its end", () => !isAlive(server.pid));
  });
}
