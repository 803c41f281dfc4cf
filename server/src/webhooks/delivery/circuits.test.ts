import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { EgressOutcome } from "../../net/index.ts";
import { Circuit } from "./circuit.ts";
import { EventCircuits } from "./event-circuits.ts";
import type { DeliveryEvents } from "./events.ts";
import { answered, DeliveryStand, type ReceivedCall, silentEvents } from "./testing/stand.ts";

// A busy machine takes some seconds for what passes on the clock.
setDefaultTimeout(60_000);

const eventOf = ({ fields }: ReceivedCall): string => fields.get("X-Service-Event") ?? "";

describe("a circuit", () => {
  test("opens after five failures in a row, or at once where one decides, and closes with a success", () => {
    const circuit = new Circuit();
    for (let times = 0; times < 4; times += 1) circuit.failed(0);
    expect([circuit.isOpen, circuit.isFailing]).toEqual([false, true]);
    circuit.succeeded();
    for (let times = 0; times < 4; times += 1) circuit.failed(0);
    expect(circuit.isOpen).toBe(false);
    circuit.failed(0);
    expect([circuit.isOpen, circuit.restUntilMs]).toEqual([true, 1_000]);
    circuit.succeeded();
    expect([circuit.isOpen, circuit.isFailing, circuit.restUntilMs]).toEqual([false, false, 0]);
    circuit.failed(7, true);
    expect([circuit.isOpen, circuit.restUntilMs]).toEqual([true, 1_007]);
  });
});

describe("circuits of events", () => {
  const standOf = () => {
    const aside = new Set<string>();
    const rows = {
      setAside: (event: string) => void aside.add(event),
      bringBack: (event: string) => void aside.delete(event),
    };
    const circuits = new EventCircuits(rows);
    const fail = (event: string, nowMs: number, times = 5): void => {
      for (let time = 0; time < times; time += 1) circuits.failed(event, nowMs, false);
    };
    return { aside, circuits, fail };
  };

  test("set one aside that fails five times, and let one attempt decide after its rest", () => {
    const { aside, circuits, fail } = standOf();
    fail("a", 0, 4);
    circuits.succeeded("a");
    fail("a", 0, 4);
    expect([[...aside], circuits.nextAtMs]).toEqual([[], Number.POSITIVE_INFINITY]);
    fail("a", 0, 1);
    expect([[...aside], circuits.nextAtMs]).toEqual([["a"], 1_000]);
    circuits.callRested(999);
    expect(aside.size).toBe(1);
    circuits.callRested(1_000);
    expect([aside.size, circuits.nextAtMs]).toEqual([0, Number.POSITIVE_INFINITY]);
    circuits.begun("a");
    expect([...aside]).toEqual(["a"]);
    // Others of it were under way before.
    circuits.callRested(9_000);
    expect(aside.size).toBe(1);
    circuits.failed("a", 5_000, false);
    expect([aside.size, circuits.nextAtMs]).toEqual([1, 7_000]);
    circuits.callRested(7_000);
    circuits.begun("a");
    circuits.undecided("a");
    expect(aside.size).toBe(0);
    circuits.begun("a");
    circuits.succeeded("a");
    expect(aside.size).toBe(0);
    fail("a", 8_000, 4);
    expect(aside.size).toBe(0);
  });

  test("take turns where the endpoint as a whole is left alone", () => {
    const { aside, circuits } = standOf();
    for (const [at, event] of ["a", "b", "c"].entries()) circuits.failed(event, at, true);
    const called: string[] = [];
    for (let turn = 0; turn < 7; turn += 1) {
      const before = [...aside];
      expect(circuits.callOldest()).toBe(true);
      const event = before.find((each) => !aside.has(each)) ?? "";
      called.push(event);
      circuits.begun(event);
      circuits.failed(event, 100 + turn, true);
    }
    expect(called).toEqual(["a", "b", "c", "a", "b", "c", "a"]);
    circuits.callAll();
    expect([aside.size, circuits.callOldest()]).toEqual([0, false]);
    circuits.clear();
    circuits.failed("a", 0, false);
    expect(aside.size).toBe(0);
  });
});

describe("a receiver that refuses one type of event", () => {
  const refusing =
    (event: string) =>
    (call: ReceivedCall): EgressOutcome =>
      answered(eventOf(call) === event ? 500 : 200);
  const events = ["transaction.confirmed", "block.confirmed"];
  /** Of one block: many that are refused, then one that is not. */
  const blockOf = (slot: bigint, refused: number) => [
    ...Array.from({ length: refused }, (_, ordinal) => ({ slot, ordinal })),
    { slot, ordinal: refused, event: "block.confirmed" },
  ];

  test("gets the others as they come, though more of the refused wait than are held in memory", async () => {
    await using stand = await DeliveryStand.open({ receive: refusing("transaction.confirmed") });
    const webhook = await stand.opened.createWebhook({ events });
    let aside = 0;
    const held: DeliveryEvents["held"] = (figures) => {
      aside = figures.aside;
    };
    const worker = await stand.worker({}, { events: { ...silentEvents, held } });
    for (let slot = 1n; slot <= 3n; slot += 1n) await stand.opened.add(webhook.id, blockOf(slot, 1_100));
    await stand.pass(8_000, 500);
    const blocks = (): readonly string[] => {
      const found = stand.received.filter((call) => eventOf(call) === "block.confirmed");
      return found.map(({ body }) => /"slot":(\d+)/.exec(body)?.[1] ?? "");
    };
    expect([blocks(), aside]).toEqual([["1", "2", "3"], 1]);
    worker.appended(await stand.opened.add(webhook.id, blockOf(4n, 10)));
    await stand.settle();
    // While the refused rest.
    expect(blocks()).toEqual(["1", "2", "3", "4"]);
    await stand.pass(120_000, 2_000);
    const refused = stand.received.filter((call) => eventOf(call) === "transaction.confirmed").length;
    // A first burst, and then one attempt at a time.
    expect([refused > 16, refused < 40]).toEqual([true, true]);
    stand.receive = () => answered(200);
    for (let round = 0; round < 100 && stand.facts.length < 5_000; round += 1) {
      await stand.pass(2_000);
      const [queue] = await stand.opened.state.webhooks.queues([webhook.id]);
      if (queue?.waiting === 0) break;
    }
    expect(await stand.opened.state.webhooks.queues([webhook.id])).toMatchObject([{ waiting: 0 }]);
    const delivered = stand.facts.filter(({ outcome }) => outcome === "delivered");
    expect([delivered.length, new Set(delivered.map(({ deliveryId }) => deliveryId)).size]).toEqual([3_314, 3_314]);
  });

  test("is found well by an event that it answers, whatever is due of those that it refuses", async () => {
    let isDown = true;
    const receive = (call: ReceivedCall): EgressOutcome =>
      answered(isDown || eventOf(call) === "transaction.confirmed" ? 500 : 200);
    await using stand = await DeliveryStand.open({ receive });
    const webhook = await stand.opened.createWebhook({ events });
    await stand.opened.add(webhook.id, blockOf(1n, 30));
    await stand.worker();
    // Retries of the refused are due by then.
    await stand.pass(60_000, 1_000);
    expect(stand.facts.some(({ outcome }) => outcome === "delivered")).toBe(false);
    isDown = false;
    await stand.pass(122_000, 1_000);
    const delivered = stand.facts.filter(({ outcome }) => outcome === "delivered");
    expect(delivered.map(({ event }) => event)).toEqual(["block.confirmed"]);
  });

  test("has them in order before all others where its webhook is in order", async () => {
    await using stand = await DeliveryStand.open({ receive: refusing("transaction.confirmed") });
    const retryPolicy = { maxAttempts: 7, backoffMultiplier: 1 };
    const webhook = await stand.opened.createWebhook({ events, fifo: true, retryPolicy });
    await stand.opened.add(webhook.id, blockOf(1n, 1));
    await stand.worker();
    await stand.pass(200_000, 1_000);
    expect(stand.received.map(eventOf)).toEqual([
      ...Array.from({ length: 7 }, () => "transaction.confirmed"),
      "block.confirmed",
    ]);
  });
});

describe("what an owner asks for", () => {
  test("is tried at once, though it waits for a later time in memory, also by a worker of another process", async () => {
    for (const isOther of [false, true]) {
      await using stand = await DeliveryStand.open({ receive: () => answered(500) });
      const webhook = await stand.opened.createWebhook();
      const [row] = await stand.opened.add(webhook.id, [{}]);
      const worker = await stand.worker();
      // After six attempts the next one is minutes away.
      await stand.pass(200_000, 1_000);
      const { length } = stand.received;
      stand.receive = () => answered(200);
      await stand.store.retry(webhook.id, row?.deliveryId ?? "");
      if (!isOther) worker.added(webhook.id);
      await stand.pass(isOther ? 2_000 : 0, 500);
      await stand.settle();
      expect([isOther, stand.received.length]).toEqual([isOther, length + 1]);
      expect(await stand.opened.state.webhooks.queues([webhook.id])).toMatchObject([{ waiting: 0 }]);
    }
  });

  test("is tried at once though the receiver is left alone, unless that has asked for it", async () => {
    await using stand = await DeliveryStand.open({ receive: () => answered(500) });
    const webhook = await stand.opened.createWebhook();
    const rows = await stand.opened.add(
      webhook.id,
      Array.from({ length: 20 }, (_, at) => ({ slot: BigInt(at) })),
    );
    const worker = await stand.worker();
    await stand.pass(130_000, 1_000);
    const ask = async () => {
      const before = stand.received.length;
      await stand.store.retry(webhook.id, rows[0]?.deliveryId ?? "");
      worker.added(webhook.id);
      await stand.settle();
      return stand.received.length - before;
    };
    expect(await ask()).toBe(1);
    stand.receive = () => answered(503, "3600");
    expect(await ask()).toBe(1);
    expect(await ask()).toBe(0);
  });
});
