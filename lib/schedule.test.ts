import { describe, expect, test } from "bun:test";
import { ManualClock, systemClock } from "./clock.ts";
import { BackgroundTask, Debounce, Serial, SingleFlight, sleep, within } from "./schedule.ts";

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

describe("ManualClock", () => {
  test("timers fire in the order of their times, each at its own time, and timers set on the way fire too", () => {
    const clock = new ManualClock(1_000);
    const fired: [string, number, number][] = [];
    const note = (name: string) => () => fired.push([name, clock.now(), clock.monotonic()]);
    clock.after(30, note("late"));
    clock.after(10, () => {
      note("early")();
      clock.after(5, note("nested"));
    });
    clock.after(10, note("early too"));
    clock.advance(29);
    expect(fired).toEqual([
      ["early", 1_010, 10],
      ["early too", 1_010, 10],
      ["nested", 1_015, 15],
    ]);
    clock.advance(1);
    expect(fired.at(-1)).toEqual(["late", 1_030, 30]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("an interval fires at each multiple until it is cancelled, also from within its own run", () => {
    const clock = new ManualClock();
    const at: number[] = [];
    const timer = clock.every(100, () => {
      at.push(clock.monotonic());
      if (at.length === 3) timer.cancel();
    });
    clock.advance(1_000);
    expect(at).toEqual([100, 200, 300]);
  });

  test("a cancelled timer never fires, and a jump of the wall clock fires nothing", () => {
    const clock = new ManualClock();
    let fired = 0;
    const timer = clock.after(10, () => {
      fired += 1;
    });
    clock.jump(1_000_000);
    expect(fired).toBe(0);
    timer.cancel();
    timer.cancel();
    clock.advance(100);
    expect(fired).toBe(0);
    expect(clock.now()).toBe(clock.now());
    expect(() => clock.every(0, () => undefined)).toThrow(RangeError);
  });

  test("a clock begins at 0 unless it is told otherwise, and an interval has to be above zero", () => {
    const clock = new ManualClock();
    expect([clock.now(), clock.monotonic(), new ManualClock(5).now()]).toEqual([0, 0, 5] as never);
    for (const intervalMs of [0, -1, Number.NaN]) expect(() => clock.every(intervalMs, () => {})).toThrow(RangeError);
    let fired = 0;
    clock.every(0.5, () => (fired += 1));
    clock.advance(1);
    expect(fired).toBe(2);
  });

  test("a timer without a delay fires when the clock is moved by nothing, and may move it on", () => {
    const clock = new ManualClock();
    clock.after(-5, () => clock.advance(10));
    clock.advance(0);
    expect([clock.monotonic(), clock.pendingTimers]).toEqual([10, 0] as never);
    clock.advance(-5);
    expect(clock.monotonic()).toBe(5 as never);
    let fired = 0;
    clock.after(0, () => (fired += 1));
    clock.advance(0);
    expect(fired).toBe(1);
  });

  test("a timer that is cancelled by another one of the same time does not fire", () => {
    const clock = new ManualClock();
    let fired = 0;
    clock.after(10, () => second.cancel());
    const second = clock.after(10, () => {
      fired += 1;
    });
    clock.advance(10);
    expect(fired).toBe(0);
  });
});

describe("the system's clock", () => {
  test("fires once or repeatedly, and not after it was cancelled", async () => {
    let once = 0;
    let often = 0;
    const done = Promise.withResolvers<void>();
    systemClock.after(1, () => {
      once += 1;
    });
    const cancelled = systemClock.after(1, () => {
      once += 100;
    });
    cancelled.cancel();
    const interval = systemClock.every(
      1,
      () => {
        often += 1;
        if (often === 3) done.resolve();
      },
      { keepsAlive: true },
    );
    await done.promise;
    interval.cancel();
    expect([once, often]).toEqual([1, 3]);
  });
});

describe("sleep", () => {
  test("resolves when the time has passed", async () => {
    const clock = new ManualClock();
    let awake = false;
    const sleeping = sleep(clock, 50).then(() => {
      awake = true;
    });
    clock.advance(49);
    await settle();
    expect(awake).toBe(false);
    clock.advance(1);
    await sleeping;
  });

  test("resolves at once when its signal is aborted, and leaves no timer behind", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const sleeping = sleep(clock, 50, stop.signal);
    stop.abort();
    await sleeping;
    await sleep(clock, 50, stop.signal);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("within", () => {
  test("gives the value in time, and says so when it is late; a late rejection is handled", async () => {
    const clock = new ManualClock();
    expect(await within(clock, 10, Promise.resolve(7))).toEqual({ ok: true, value: 7 });
    const work = Promise.withResolvers<number>();
    const outcome = within(clock, 10, work.promise);
    clock.advance(10);
    expect(await outcome).toEqual({ ok: false });
    work.reject(new Error("late"));
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });

  test("rejects as the work does when that is in time", async () => {
    const clock = new ManualClock();
    expect(within(clock, 10, Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("SingleFlight", () => {
  test("callers during a run join it, and a caller after it starts the next, also after a failure", async () => {
    const runs: PromiseWithResolvers<number>[] = [];
    const flight = new SingleFlight(() => {
      const run = Promise.withResolvers<number>();
      runs.push(run);
      return run.promise;
    });
    const first = flight.run();
    expect(flight.run()).toBe(first);
    runs[0]?.reject(new Error("refused"));
    expect(first).rejects.toThrow("refused");
    await settle();
    expect(flight.running).toBeNull();
    const second = flight.run();
    runs[1]?.resolve(2);
    expect(await second).toBe(2);
    expect(runs.length).toBe(2);
  });
});

describe("Serial", () => {
  test("runs one at a time in order, and a failure stops none after it", async () => {
    const serial = new Serial();
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = serial.run(async () => {
      order.push("first begins");
      await gate.promise;
      order.push("first ends");
      throw new Error("refused");
    });
    const second = serial.run(() => {
      order.push("second");
      return 2;
    });
    expect(serial.pending).toBe(2);
    await settle();
    expect(order).toEqual(["first begins"]);
    gate.resolve();
    expect(first).rejects.toThrow("refused");
    expect(await second).toBe(2);
    await serial.idle();
    expect(order).toEqual(["first begins", "first ends", "second"]);
    expect(serial.pending).toBe(0);
  });
});

describe("BackgroundTask", () => {
  test("runs at its interval, one at a time, and reports failures", async () => {
    const clock = new ManualClock();
    let began = 0;
    const errors: unknown[] = [];
    let gate = Promise.withResolvers<void>();
    const task = new BackgroundTask(
      { everyMs: 100 },
      {
        clock,
        work: () => {
          began += 1;
          return gate.promise;
        },
        onError: (error) => errors.push(error),
      },
    );
    clock.advance(300);
    expect(began).toBe(1);
    gate.reject("refused");
    await settle();
    expect(errors).toEqual(["refused"]);
    gate = Promise.withResolvers<void>();
    clock.advance(100);
    expect(began).toBe(2);
    gate.resolve();
    await task[Symbol.asyncDispose]();
    clock.advance(1_000);
    expect(began).toBe(2);
  });

  test("a run that is asked for during another begins after it", async () => {
    const clock = new ManualClock();
    let began = 0;
    const gate = Promise.withResolvers<void>();
    await using task = new BackgroundTask(
      {},
      {
        clock,
        work: () => {
          began += 1;
          return began === 1 ? gate.promise : undefined;
        },
        onError: () => undefined,
      },
    );
    void task.run();
    task.runWithin(10);
    task.runWithin(1);
    expect(task.isDue).toBe(true);
    clock.advance(10);
    await settle();
    expect(began).toBe(1);
    gate.resolve();
    await settle();
    expect(began).toBe(2);
  });

  test("its finish is a run after the one under way, reports what fails or takes too long, and never rejects", async () => {
    const clock = new ManualClock();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let began = 0;
    const errors: string[] = [];
    const task = new BackgroundTask(
      { everyMs: 100, closeMsMax: 50 },
      { clock, work: () => gates[began++]?.promise, onError: (error) => errors.push(String(error)) },
    );
    void task.run();
    const finishing = task.finish();
    expect(began).toBe(1);
    gates[0]?.reject(new Error("read-only"));
    await settle();
    expect([began, errors]).toEqual([2, ["Error: read-only"]]);
    clock.advance(50);
    await finishing;
    expect(errors).toEqual(["Error: read-only", "Error: The last run did not end within 50 ms."]);
    clock.advance(1_000);
    expect([began, clock.pendingTimers]).toEqual([2, 0]);
  });

  test("disposal waits for the run under way, but not for ever", async () => {
    const clock = new ManualClock();
    const task = new BackgroundTask(
      { closeMsMax: 50 },
      { clock, work: () => new Promise(() => undefined), onError: () => undefined },
    );
    void task.run();
    let isClosed = false;
    const closing = task[Symbol.asyncDispose]().then(() => {
      isClosed = true;
    });
    clock.advance(49);
    await settle();
    expect(isClosed).toBe(false);
    clock.advance(1);
    await closing;
    task.runWithin(1);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("Debounce", () => {
  test("runs at once after a quiet period, then at most once an interval, and joins requests in between", async () => {
    const clock = new ManualClock();
    let runs = 0;
    const debounce = new Debounce({ everyMs: 100 }, { clock, work: () => (runs += 1) });
    debounce.request();
    debounce.request();
    await settle();
    expect(runs).toBe(1);
    debounce.request();
    debounce.request();
    clock.advance(99);
    expect(runs).toBe(1);
    clock.advance(1);
    expect(runs).toBe(2);
    clock.advance(99);
    debounce.request();
    await settle();
    expect(runs).toBe(2);
    clock.advance(1);
    expect(runs).toBe(3);
    clock.advance(100);
    debounce.request();
    await settle();
    expect(runs).toBe(4);
  });
});
