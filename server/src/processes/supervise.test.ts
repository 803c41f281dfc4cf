import { afterEach, expect, test } from "bun:test";
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
    onExit: (exit) => exits.push(exit),
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
    { code: null, signal: "SIGKILL" },
    { code: null, signal: "SIGKILL" },
  ]);
  await child[Symbol.asyncDispose]();
  expect(lives.filter(isAlive)).toEqual([]);
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
