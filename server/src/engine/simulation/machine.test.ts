import { expect, test } from "bun:test";
import { systemClock, systemRandom } from "@sluice/lib";
import { superviseChild } from "../../processes/index.ts";
import type { Job, MachineAnswer } from "./dispatcher.ts";
import { SimulationMachine } from "./machine.ts";
import { emptyBundle } from "./testing/fake-machine.ts";

const log = { info: () => {}, warn: () => {} };

/** A machine whose process stands still, so that it answers nothing, with a job that it was sent. */
async function stopped() {
  const returned: string[][] = [];
  const machine = await SimulationMachine.start(0, {
    launch: (options, onExit) => superviseChild(options, { clock: systemClock, random: systemRandom, log, onExit }),
    ...{ clock: systemClock, log, always: [], tipAccounts: [], onRoom: () => {}, onExit: () => {} },
    onLost: (_machine, frames) => returned.push(...frames.map((jobs) => jobs.map(({ bundle }) => bundle.id))),
  });
  process.kill(machine.pid ?? 0, "SIGSTOP");
  const answered = Promise.withResolvers<MachineAnswer>();
  const job: Job = {
    ...{ bundle: emptyBundle("job", 200_000), block: null, keep: false, verify: false, isReplay: false },
    ...{ since: systemClock.monotonic(), isSuspect: false, deaths: 0, settle: answered.resolve },
  };
  machine.run([job]);
  return { machine, returned, answered: answered.promise };
}

test("what a machine has when it is closed is answered as closed, and returned to nobody", async () => {
  const { machine, returned, answered } = await stopped();
  await machine[Symbol.asyncDispose]();
  expect(await answered).toEqual({ kind: "unavailable", cause: "closed" });
  expect(returned).toEqual([]);
});

test("what a machine has when its process dies is returned, and not answered", async () => {
  const { machine, returned, answered } = await stopped();
  let answer: MachineAnswer | null = null;
  void answered.then((given) => {
    answer = given;
  });
  process.kill(machine.pid ?? 0, "SIGKILL");
  while (returned.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect([returned, answer]).toEqual([[["job"]], null]);
  await machine[Symbol.asyncDispose]();
});
