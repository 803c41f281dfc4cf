import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { Crew, type CrewWorker, type RollingRestart } from "./crew.ts";

interface FakeTerms {
  /** Of the nth worker that is launched: whether it comes to listen, and to serve. */
  readonly listens?: (launched: number) => boolean;
  readonly serves?: (launched: number) => boolean;
}

/** A crew of workers that only write down what becomes of them. */
function openCrew({ listens = () => true, serves = () => true }: FakeTerms = {}) {
  const steps: string[] = [];
  const ends: { restarted: readonly number[]; stoppedBy: string | null }[] = [];
  let launched = 0;
  const launch = async (number: number, turn: number): Promise<CrewWorker> => {
    launched += 1;
    const name = `${number}.${turn}`;
    const isServing = serves(launched);
    steps.push(`launch ${name}`);
    if (!listens(launched)) throw new Error(`worker ${number} does not listen`);
    return {
      number,
      turn,
      pid: launched,
      isServing,
      failures: 0,
      openedAtMs: 0,
      serves: async () => {
        if (isServing) steps.push(`serves ${name}`);
        return isServing;
      },
      replace: async () => void steps.push(`replace ${name}`),
      end: async (how) => void steps.push(`${how} ${name}`),
    };
  };
  const events = {
    rollingRestartBegan: () => void steps.push("begins"),
    rollingRestartEnded: (outcome: { restarted: readonly number[]; stoppedBy: string | null }) =>
      void ends.push(outcome),
  };
  const options = { gateways: [1, 2], others: [0], servingMsMax: 1_000 };
  const crew = new Crew(options, { clock: new ManualClock(0), events, launch });
  return { crew, steps, ends };
}

const restarted = async (crew: Crew<CrewWorker>): Promise<RollingRestart | null> => {
  crew.restart();
  await crew.settled();
  return crew.lastRestart;
};

test("workers are restarted one at a time: each ends when its successor serves, and one without shared ports is replaced", async () => {
  const { crew, steps, ends } = openCrew();
  await crew.start();
  expect(steps.splice(0)).toEqual(["launch 0.0", "launch 1.0", "launch 2.0"]);
  expect(await restarted(crew)).toEqual({ state: "done", restarted: [1, 2, 0], reason: null });
  expect(steps.splice(0)).toEqual([
    "begins",
    ...["launch 1.1", "serves 1.1", "retire 1.0"],
    ...["launch 2.1", "serves 2.1", "retire 2.0"],
    ...["replace 0.0", "serves 0.0"],
  ]);
  expect(ends).toEqual([{ restarted: [1, 2, 0], stoppedBy: null }]);
  // A worker and its successor never have the same turn, however many there were.
  await restarted(crew);
  expect(steps.filter((step) => step.startsWith("launch"))).toEqual(["launch 1.0", "launch 2.0"]);
});

test("a worker that never serves stops the restart: it is ended, and its predecessor and the others go on", async () => {
  const { crew, steps, ends } = openCrew({ serves: (launched) => launched !== 5 });
  await crew.start();
  steps.length = 0;
  const reason = "worker 2 did not serve within 1 s of its start";
  expect(await restarted(crew)).toEqual({ state: "stopped", restarted: [1], reason });
  expect(steps).toEqual(["begins", "launch 1.1", "serves 1.1", "retire 1.0", "launch 2.1", "retire 2.1"]);
  expect(crew.workers.map(({ number, turn }) => [number, turn])).toEqual([
    [0, 0],
    [1, 1],
    [2, 0],
  ]);
  expect([crew.all.length, ends]).toEqual([3, [{ restarted: [1], stoppedBy: reason }]]);
});

test("so does one that never listens, with its reason; the next restart begins anew", async () => {
  const { crew } = openCrew({ listens: (launched) => launched !== 4 });
  await crew.start();
  expect(await restarted(crew)).toEqual({ state: "stopped", restarted: [], reason: "worker 1 does not listen" });
  expect(await restarted(crew)).toMatchObject({ state: "done", restarted: [1, 2, 0] });
});

test("a start of which one fails ends the others and is rejected with its reason", async () => {
  const { crew, steps } = openCrew({ listens: (launched) => launched !== 2 });
  await expect(crew.start()).rejects.toThrow("worker 1 does not listen");
  expect(steps.filter((step) => step.startsWith("drain"))).toContain("drain 2.0");
  expect(steps.filter((step) => step.startsWith("drain"))).toContain("drain 0.0");
});

test("one restart runs at a time, and none begins once the crew ends", async () => {
  const { crew, steps } = openCrew();
  await crew.start();
  expect([crew.restart(), crew.restart()]).toEqual([true, false]);
  await crew[Symbol.asyncDispose]();
  expect([crew.lastRestart?.state, crew.restart()]).toEqual(["stopped", false]);
  for (const worker of crew.all) expect(steps).toContain(`drain ${worker.number}.${worker.turn}`);
});
