import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ManualClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { FrameWriter } from "@sluice/wire/frames";
import { MachineProcess, socketDirectory } from "./machine-process.ts";
import { echoKinds } from "./testing/echo-machine.ts";
import { restart } from "./testing/restart.ts";

const clock = new ManualClock();
const writer = new FrameWriter();
let machine: MachineProcess<string>;
let answers: [request: string, bytes: Uint8Array][];
let lost: string[];
let exits: string[];
let lives: number;

beforeEach(async () => {
  [answers, lost, exits, lives] = [[], [], [], 0];
  machine = await MachineProcess.start<string>(
    { name: "echo", entry: fileURLToPath(new URL("./testing/echo-machine.ts", import.meta.url)), env: {} },
    {
      launch: restart,
      clock,
      log: { warn: () => undefined },
      onUp: () => {
        lives += 1;
      },
      onAnswer: (request, reader) => answers.push([request, reader.sizedCopy()]),
      onLost: (requests) => lost.push(...requests),
      onExit: (reason) => exits.push(reason),
    },
  );
});
afterEach(() => machine[Symbol.asyncDispose]());

const echo = (bytes: Uint8Array): Uint8Array => writer.begin(echoKinds.echo).sizedBytes(bytes).end().take();
const empty = (kind: number): Uint8Array => writer.begin(kind).end().take();

test("requests are answered in order, however much more than a socket takes they are", async () => {
  const sizes = [1, 8_000_000, 0, 3_000_000, 17];
  for (const [index, size] of sizes.entries()) machine.request(echo(new Uint8Array(size).fill(index)), `${index}`);
  expect(machine.requests).toEqual(["0", "1", "2", "3", "4"]);
  await until(() => answers.length === sizes.length);
  const received = answers.map(([request, bytes]) => [
    request,
    bytes.length,
    bytes.every((byte) => `${byte}` === request),
  ]);
  expect(received).toEqual(sizes.map((size, index) => [`${index}`, size, true]));
  expect(machine.requests).toEqual([]);
});

test("requests that a killed process has not answered return in order, and the next process answers", async () => {
  for (const name of ["first", "second"]) machine.request(empty(echoKinds.silent), name);
  process.kill(machine.pid ?? 0, "SIGKILL");
  await until(() => lives === 2);
  expect(lost).toEqual(["first", "second"]);
  expect(exits).toEqual(["SIGKILL"]);
  machine.request(echo(Uint8Array.of(7)), "third");
  await until(() => answers.length === 1);
  expect(answers).toEqual([["third", Uint8Array.of(7)]]);
});

test("a life that sends an answer without a request is killed, and one that does not know a frame ends itself", async () => {
  machine.request(empty(echoKinds.unasked), "unasked");
  await until(() => lives === 2);
  machine.request(empty(echoKinds.unknown), "unknown");
  await until(() => lives === 3);
  expect(exits).toEqual(["invalid_answer", "exit_1"]);
  expect(answers.map(([request]) => request)).toEqual(["unasked"]);
  expect(lost).toEqual(["unknown"]);
});

test("a life hangs when its oldest request has waited for too long, and is killed as that", async () => {
  machine.request(empty(echoKinds.silent), "silent");
  clock.advance(999);
  expect(machine.isHanging(1_000)).toBe(false);
  clock.advance(2);
  expect(machine.isHanging(1_000)).toBe(true);
  machine.kill("hung");
  await until(() => lives === 2);
  expect(exits).toEqual(["hung"]);
  expect(machine.isHanging(0)).toBe(false);
});

test("disposal hands back what was asked and leaves neither a process nor a socket", async () => {
  const { pid } = machine;
  machine.request(empty(echoKinds.silent), "silent");
  await machine[Symbol.asyncDispose]();
  expect(lost).toEqual(["silent"]);
  expect([exits, machine.isUp]).toEqual([[], false]);
  expect(() => process.kill(pid ?? 0, 0)).toThrow();
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`sluice-machine-${process.pid}-`))).toEqual([]);
});

test("a process that does not start is an error, and leaves no socket", async () => {
  const start = MachineProcess.start<string>(
    { name: "absent", entry: "/nowhere/main.ts", env: {} },
    {
      launch: () => Promise.reject(new Error("it ended")),
      ...{ clock, log: { warn: () => undefined }, onUp: () => undefined, onAnswer: () => undefined },
      onLost: () => undefined,
    },
  );
  await expect(start).rejects.toThrow("it ended");
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`sluice-machine-${process.pid}-`))).toHaveLength(1);
});

test("files of a killed process are removed, and those of a living one stay", () => {
  const parent = mkdtempSync(join(tmpdir(), "sluice-sockets-"));
  try {
    // The greatest id that Linux gives out is below 2^22.
    for (const name of ["sluice-machine-4194305-abc", `sluice-machine-${process.ppid}-abc`, "sluice-machine-x"]) {
      mkdirSync(join(parent, name));
    }
    const created = basename(socketDirectory(parent));
    expect(created).toStartWith(`sluice-machine-${process.pid}-`);
    const left = [`sluice-machine-${process.ppid}-abc`, "sluice-machine-x", created];
    expect(readdirSync(parent).toSorted()).toEqual(left.toSorted());
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});
