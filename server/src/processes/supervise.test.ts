import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "@sluice/lib";
import { type SupervisedChild, superviseChild } from "./supervise.ts";

const readyChild = `process.on("SIGTERM",()=>process.exit(0)); process.stdin.on("data",()=>{});
process.stdin.on("end",()=>process.exit(0)); process.stdout.write(JSON.stringify({ready:true,pid:process.pid})+"\\n");`;

let child: SupervisedChild<{ pid: number }> | null = null;
afterEach(async () => {
  await child?.[Symbol.asyncDispose]();
  child = null;
});

const quiet = { info: () => {}, warn: () => {} };

function options(script: string) {
  return {
    name: "test child",
    command: [process.execPath, "-e", script],
    env: { PATH: "/usr/bin:/bin" },
    readReady: (line: string) => (line.startsWith("{") ? (JSON.parse(line) as { pid: number }) : null),
    readyTimeoutMs: 10_000,
    stopTimeoutMs: 1_000,
  };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("a killed child is restarted and reported, and disposal leaves nothing", async () => {
  const lives: number[] = [];
  const exits: unknown[] = [];
  let onLife: () => void = () => {};
  child = await superviseChild(options(readyChild), {
    clock: systemClock,
    random: seededRandom(1),
    log: quiet,
    onReady: (_, pid) => {
      lives.push(pid);
      onLife();
    },
    onExit: ({ pid: _pid, ...exit }) => exits.push(exit),
  });
  for (let life = 0; life < 2; life++) {
    const again = new Promise<void>((resolve) => {
      onLife = resolve;
    });
    process.kill(child.pid() ?? -1, "SIGKILL");
    await again;
  }
  expect(new Set(lives).size).toBe(3);
  expect(exits).toEqual([
    { code: null, signal: "SIGKILL", wasAsked: false },
    { code: null, signal: "SIGKILL", wasAsked: false },
  ]);
  await child[Symbol.asyncDispose]();
  expect(lives.filter(isAlive)).toEqual([]);
});

test("a child runs in the directory that is given, else in this process's, with the environment that is given alone", async () => {
  const says = readyChild.replace(
    "pid:process.pid",
    "pid:process.pid,where:process.cwd(),env:Object.keys(process.env)",
  );
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "sluice-supervise-")));
  for (const given of [directory, undefined]) {
    let said = "";
    await using started = await superviseChild(
      {
        ...options(says),
        ...(given === undefined ? {} : { directory: given }),
        readReady: (line) => {
          said = line;
          return { pid: 0 };
        },
      },
      { clock: systemClock, random: seededRandom(1), log: quiet },
    );
    expect(started.pid()).toBeGreaterThan(0);
    expect(JSON.parse(said)).toMatchObject({ where: given ?? process.cwd(), env: ["PATH"] });
  }
  rmSync(directory, { recursive: true });
});

test("a child that cannot start is an error with its last output", async () => {
  const dependencies = { clock: systemClock, random: seededRandom(1), log: quiet };
  const start = superviseChild(options('console.error("no such directory"); process.exit(3)'), dependencies);
  await expect(start).rejects.toThrow(/ended with 3 before it was ready/);
});

test("a child that never says that it is ready is ended after its time", async () => {
  const dependencies = { clock: systemClock, random: seededRandom(1), log: quiet };
  const slow = { ...options("setInterval(()=>{},1000)"), readyTimeoutMs: 300 };
  await expect(superviseChild(slow, dependencies)).rejects.toThrow(/not ready within 300 ms/);
});

test("a child that ignores SIGTERM is killed", async () => {
  const stubborn = readyChild.replace('process.on("SIGTERM",()=>process.exit(0));', 'process.on("SIGTERM",()=>{});');
  const dependencies = { clock: systemClock, random: seededRandom(1), log: quiet };
  const one = await superviseChild({ ...options(stubborn), stopTimeoutMs: 200 }, dependencies);
  const pid = one.pid() ?? -1;
  await one[Symbol.asyncDispose]();
  expect(isAlive(pid)).toBe(false);
});

const talkative = `process.on("SIGTERM",()=>process.exit(0)); process.on("SIGUSR2",()=>process.exit(0));
process.stdin.on("end",()=>process.exit(0)); process.stdin.resume();
process.on("message",(m)=>process.send({echo:m})); console.log("first line");
process.stdout.write(JSON.stringify({ready:true,pid:process.pid})+"\\n"); console.log("second line");`;

test("a child with messages is heard and answered, and each line that is not the ready one is passed on", async () => {
  const lines: string[] = [];
  const heard = Promise.withResolvers<unknown>();
  child = await superviseChild(
    { ...options(talkative), hasMessages: true },
    {
      clock: systemClock,
      random: seededRandom(1),
      log: quiet,
      onLine: (line) => void lines.push(line),
      onMessage: (message, pid) => heard.resolve({ message, isOfChild: pid === child?.pid() }),
    },
  );
  expect(child.send({ text: "hello" })).toBe(true);
  expect(await heard.promise).toEqual({ message: { echo: { text: "hello" } }, isOfChild: true });
  await child.end("SIGUSR2");
  expect([lines, child.send({ text: "late" })]).toEqual([["first line", "second line"], false]);
});

test("a child that is asked to restart is back when that is said, and was not one that ended by itself", async () => {
  const exits: unknown[] = [];
  const warnings: string[] = [];
  child = await superviseChild(options(talkative), {
    clock: systemClock,
    random: seededRandom(1),
    log: { warn: (_fields, message) => void warnings.push(message) },
    onExit: ({ pid: _pid, ...exit }) => void exits.push(exit),
  });
  const before = child.pid() ?? -1;
  await child.restart("SIGUSR2");
  expect(isAlive(before)).toBe(false);
  expect([child.pid() !== null && child.pid() !== before, exits, warnings]).toEqual([
    true,
    [{ code: 0, signal: null, wasAsked: true }],
    [],
  ]);
});

test("a child that cannot be started again is tried with pauses, counted each time and told once", async () => {
  const path = `${mkdtempSync(join(tmpdir(), "sluice-child-"))}/fails`;
  const failing = `if (require("fs").existsSync(${JSON.stringify(path)})) process.exit(3); ${talkative}`;
  const failed = Promise.withResolvers<void>();
  const warnings: string[] = [];
  const waitsMs: number[] = [];
  const after: typeof systemClock.after = (ms, work, how) => {
    waitsMs.push(ms);
    return systemClock.after(ms, work, how);
  };
  let failures = 0;
  child = await superviseChild(
    { ...options(failing), settledAfterMs: 60_000 },
    {
      clock: { ...systemClock, after },
      random: { ...seededRandom(1), next: () => 1 },
      log: { warn: (_fields, message) => void warnings.push(message) },
      onStartFailed: () => {
        failures += 1;
        if (failures === 3) failed.resolve();
      },
    },
  );
  writeFileSync(path, "");
  process.kill(child.pid() ?? -1, "SIGKILL");
  await failed.promise;
  rmSync(path);
  await child.settled();
  expect(child.pid()).not.toBeNull();
  // At once, then with pauses that double; its other times are longer.
  expect(waitsMs.filter((ms) => ms < 1_000)).toEqual([0, 100, 200, 400]);
  expect(warnings).toEqual(["a child ended and is restarted", "a child could not be started; it is tried again"]);
});
