import { expect, test } from "bun:test";
import { monotonicMs } from "@sluice/lib";
import type { Block, MachineAnswer } from "./dispatcher.ts";
import { Dispatcher, dispatchBounds } from "./dispatcher.ts";
import { emptyBundle, FakeMachine } from "./testing/fake-machine.ts";

class World {
  readonly dispatcher = new Dispatcher({ frameMsMax: 1_000, waitMsMax: 5_000 });
  readonly machines: FakeMachine[];
  readonly answers = new Map<string, MachineAnswer[]>();
  #blocks = 0;

  constructor(machines: number) {
    this.machines = Array.from({ length: machines }, () => new FakeMachine());
    for (const machine of this.machines) this.dispatcher.add(machine);
  }

  machine(index = 0): FakeMachine {
    const machine = this.machines[index];
    if (machine === undefined) throw new RangeError(`no machine ${index}`);
    return machine;
  }

  submit(id: string, block: Block | null = null, since = 0, unitLimit = 200_000): void {
    const bundle = emptyBundle(id, unitLimit);
    this.dispatcher.submit({
      ...{
        bundle,
        block,
        keep: block !== null,
        verify: false,
        isReplay: false,
        since: monotonicMs(since),
        isSuspect: false,
        deaths: 0,
      },
      settle: (answer) => {
        this.answers.set(id, [...(this.answers.get(id) ?? []), answer]);
        if (answer.kind === "succeeded") block?.kept.push(bundle);
      },
    });
  }

  open(): Block {
    this.#blocks += 1;
    const block: Block = { number: this.#blocks, kept: [], isOver: false };
    this.dispatcher.openBlock(block);
    return block;
  }

  /** Answers whatever the machines have until they have nothing. */
  async settle(): Promise<void> {
    await null;
    for (let idle = false; !idle; this.dispatcher.pump()) {
      idle = this.machines.every(({ frames }) => frames === 0);
      for (const machine of this.machines) machine.answer();
    }
  }

  end(machine: FakeMachine): void {
    this.dispatcher.lost(machine, machine.end());
  }

  revive(machine: FakeMachine): void {
    machine.isUp = true;
    this.dispatcher.pump();
  }

  answered(id: string): string[] {
    return (this.answers.get(id) ?? []).map((answer) => ("cause" in answer ? answer.cause : answer.kind));
  }
}

test("bundles that are submitted together go out together, in frames bounded in number, bundles and units", async () => {
  const world = new World(1);
  for (let index = 0; index < 200; index += 1) world.submit(`${index}`);
  await null;
  expect(world.machine().holds.map((ids) => ids.length)).toEqual([
    dispatchBounds.frameBundles,
    dispatchBounds.frameBundles,
  ]);
  await world.settle();
  expect(world.answered("199")).toEqual(["succeeded"]);
  for (let index = 0; index < 9; index += 1) world.submit(`big${index}`, null, 0, dispatchBounds.frameUnits / 2);
  await null;
  expect(world.machine().holds.map((ids) => ids.length)).toEqual([2, 2]);
});

test("the bundles that a machine had when it ended run again, each alone", async () => {
  const world = new World(1);
  for (const id of ["a", "b", "c"]) world.submit(id);
  await null;
  world.end(world.machine());
  world.submit("later");
  world.revive(world.machine());
  for (const id of ["a", "b", "c"]) {
    expect(world.machine().holds).toEqual([[id]]);
    world.machine().answer();
    world.dispatcher.pump();
  }
  expect(world.machine().holds).toEqual([["later"]]);
  await world.settle();
  for (const id of ["a", "b", "c", "later"]) expect(world.answered(id)).toEqual(["succeeded"]);
});

test("a bundle that ends machines is found and answered, and the others succeed", async () => {
  const world = new World(2);
  for (const id of ["good", "bad", "fine"]) world.submit(id);
  await null;
  for (let step = 0; step < 40; step += 1) {
    for (const machine of world.machines) {
      const isEnding = machine.holds.flat().includes("bad");
      if (isEnding) world.end(machine);
      else machine.answer();
      world.revive(machine);
    }
  }
  expect(["good", "bad", "fine"].map((id) => world.answered(id))).toEqual([
    ["succeeded"],
    ["machine_ended"],
    ["succeeded"],
  ]);
  // Once with the others, and twice alone.
  expect(world.dispatcher.ended).toBe(1 + dispatchBounds.deaths);
});

test("a block is rebuilt before its next bundle runs, and stays with its machine", async () => {
  const world = new World(2);
  const block = world.open();
  for (const id of ["first", "second"]) world.submit(id, block);
  await world.settle();
  for (const id of ["third", "fourth"]) world.submit(id, block);
  await null;
  const machine = world.machines.find(({ frames }) => frames > 0) ?? world.machine();
  expect(machine.holds).toEqual([["third", "fourth"]]);
  world.end(machine);
  world.submit("fifth", block);
  world.revive(machine);
  expect(machine.holds).toEqual([["first", "second"]]);
  machine.answer();
  world.dispatcher.pump();
  expect(machine.holds).toEqual([["third"]]);
  await world.settle();
  expect(block.kept.map(({ id }) => id)).toEqual(["first", "second", "third", "fourth", "fifth"]);
});

test("a block that cannot be rebuilt is over, and so is a closed one", async () => {
  const world = new World(1);
  const [block, closed] = [world.open(), world.open()];
  world.submit("first", block);
  await world.settle();
  world.submit("second", block);
  await null;
  world.end(world.machine());
  world.revive(world.machine());
  world.machine().answer({ kind: "failed", index: 0, error: "AccountInUse", logs: [] });
  world.dispatcher.pump();
  expect(world.answered("second")).toEqual(["session_over"]);
  world.dispatcher.closeBlock(closed);
  world.submit("third", closed);
  expect(world.answered("third")).toEqual(["session_over"]);
  expect(world.machine().closed).toEqual([closed.number]);
});

test("a machine that hangs is killed, and a bundle that waits too long is answered", async () => {
  const world = new World(1);
  world.machine().isUp = false;
  world.submit("early", null, 1_000);
  world.submit("late", null, 4_000);
  world.dispatcher.sweep(monotonicMs(6_500));
  expect([world.answered("early"), world.answered("late")]).toEqual([["too_late"], []]);
  world.machine().hangs = true;
  world.dispatcher.sweep(monotonicMs(6_500));
  expect(world.machine().kills).toBe(1);
  world.dispatcher.close();
  expect(world.answered("late")).toEqual(["closed"]);
});
