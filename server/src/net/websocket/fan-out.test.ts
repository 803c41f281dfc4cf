import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FanOut, type FrameGroup } from "./fan-out.ts";
import { type GroupClient, GroupSession, groupClient, RuntimeSocket, textsOf } from "./testing/fan-out-clients.ts";

const fanOutOf = (): FanOut =>
  new FanOut({
    failed: (error) => {
      throw error;
    },
  });
const seen = ({ wire }: GroupClient): string[] => textsOf(wire.written).texts;

describe("what is published in one turn", () => {
  test("goes out at its end, joined once, in one write to each member, and to no other", async () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const [one, two, other] = [groupClient(), groupClient(), groupClient()];
    for (const { session } of [one, two]) session.join(group);
    for (const text of ["x", "y", "z"]) group.publish(text);
    expect([one.wire.writes.length, fanOut.isTurnOpen]).toEqual([0, true]);
    await new Promise((resolve) => setImmediate(resolve));
    expect([seen(one), seen(two), seen(other)]).toEqual([["x", "y", "z"], ["x", "y", "z"], []]);
    expect([one.wire.writes.length, two.wire.writes.length]).toEqual([1, 1]);
    // The same bytes, not equal ones.
    expect(one.wire.writes[0]).toBe(two.wire.writes[0] as Uint8Array);
    expect(fanOut.isTurnOpen).toBe(false);
  });

  test("keeps its order over all groups of a member and what is sent to it alone, in one write", () => {
    const fanOut = fanOutOf();
    const [a, b] = [fanOut.group("a"), fanOut.group("b")];
    const [both, onlyA] = [groupClient(), groupClient()];
    both.session.join(a);
    both.session.join(b);
    onlyA.session.join(a);
    both.session.send("0");
    a.publish("1");
    b.publish("2");
    both.session.send("3");
    a.publish("4");
    expect([seen(both), both.session.unsentBytes]).toEqual([["0"], 3]);
    fanOut.endTurn();
    both.session.send("5");
    expect([seen(both), seen(onlyA)]).toEqual([
      ["0", "1", "2", "3", "4", "5"],
      ["1", "4"],
    ]);
    expect([both.wire.writes.length, onlyA.wire.writes.length]).toEqual([3, 1]);
    expect(both.session.unsentBytes).toBe(0);
  });

  test("goes to a socket of the runtime in one cork", () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const socket = new RuntimeSocket();
    const session = new GroupSession();
    session.opened(socket);
    session.join(group);
    group.publish("x");
    session.send("y");
    group.publish("z");
    fanOut.endTurn();
    expect([socket.got, socket.corks]).toEqual([["x", "y", "z"], 1]);
    group.publish("alone");
    fanOut.endTurn();
    expect([socket.got.at(-1), socket.corks]).toEqual(["alone", 1]);
  });

  test("beyond a mebibyte does not wait for the end, and long frames are not copied", () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const client = groupClient();
    client.session.join(group);
    group.publish("s");
    group.publish("l".repeat(600_000));
    group.publish("m".repeat(600_000));
    expect(seen(client).map((text) => text.length)).toEqual([1, 600_000, 600_000]);
    expect(client.wire.writes.map(({ length }) => length)).toEqual([3, 600_010, 600_010]);
  });

  test("is nothing where a group has no member", () => {
    const fanOut = fanOutOf();
    fanOut.group("a").publish("x");
    expect(fanOut.isTurnOpen).toBe(false);
  });
});

describe("members that come and go while messages wait", () => {
  test("get exactly what was published while they were in the group", () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const [stays, comes, goes, returns] = [groupClient(), groupClient(), groupClient(), groupClient()];
    for (const { session } of [stays, goes, returns]) session.join(group);
    group.publish("1");
    goes.session.leave(group);
    returns.session.leave(group);
    comes.session.join(group);
    group.publish("2");
    returns.session.join(group);
    group.publish("3");
    fanOut.endTurn();
    expect([stays, comes, goes, returns].map(seen)).toEqual([["1", "2", "3"], ["2", "3"], ["1"], ["1", "3"]]);
    expect(group.size).toBe(3);
    group.publish("4");
    fanOut.endTurn();
    expect([stays, comes, goes, returns].map((client) => seen(client).at(-1))).toEqual(["4", "4", "1", "4"]);
  });

  test("a session that ends gets what was published before, then its message and its code, and has left", () => {
    const fanOut = fanOutOf();
    const [a, b] = [fanOut.group("a"), fanOut.group("b")];
    const client = groupClient();
    client.session.join(a);
    client.session.join(b);
    a.publish("1");
    b.publish("2");
    client.session.end({ code: 4408, message: "why" });
    a.publish("3");
    fanOut.endTurn();
    expect(textsOf(client.wire.written)).toEqual({ texts: ["1", "2", "why"], code: 4408 });
    expect([a.size, b.size]).toEqual([0, 0]);
    client.session.join(a);
    expect(a.size).toBe(0);
  });

  test("a client that has gone is in no group, and the server's end drains all with 1001", () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const [gone, left] = [groupClient(), groupClient()];
    for (const { session } of [gone, left]) session.join(group);
    group.publish("1");
    gone.connection.clientGone();
    expect([group.size, gone.session.closedWith]).toEqual([1, 1006]);
    for (const { session } of [gone, left]) session.drain();
    fanOut.endTurn();
    expect([textsOf(left.wire.written), gone.wire.written]).toEqual([{ texts: ["1"], code: 1001 }, ""]);
    expect(group.size).toBe(0);
  });

  test("what a session does while its turn is delivered comes behind what it still gets of that turn", () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const [first, second, third] = [groupClient(), groupClient(), groupClient()];
    for (const { session } of [first, second, third]) session.join(group);
    first.session.decide = () => {
      first.session.decide = () => true;
      second.session.send("alone");
      third.session.end({ code: 4000 });
      group.publish("next");
      return true;
    };
    group.publish("1");
    fanOut.endTurn();
    expect([first, second].map(seen)).toEqual([["1"], ["1", "alone"]]);
    expect(textsOf(third.wire.written)).toEqual({ texts: ["1"], code: 4000 });
    fanOut.endTurn();
    expect([first, second, third].map(seen)).toEqual([["1", "next"], ["1", "alone", "next"], ["1"]]);
  });
});

describe("a slow member", () => {
  test("keeps parts of the shared bytes, and gets the rest in order when it reads again", () => {
    const fanOut = fanOutOf();
    const group = fanOut.group("a");
    const [slow, fast] = [groupClient(), groupClient()];
    for (const { session } of [slow, fast]) session.join(group);
    let drains = 0;
    slow.session.drained = () => {
      drains += 1;
    };
    slow.wire.takes = 3;
    for (let turn = 0; turn < 3; turn += 1) {
      group.publish(`${turn}a`);
      group.publish(`${turn}b`);
      fanOut.endTurn();
    }
    expect([slow.session.unsentBytes, fast.session.unsentBytes, slow.wire.writes.length]).toEqual([21, 0, 1]);
    slow.wire.takes = 10;
    slow.connection.clientDrained();
    expect([slow.session.unsentBytes, drains]).toEqual([11, 0]);
    slow.wire.takes = Number.POSITIVE_INFINITY;
    slow.connection.clientDrained();
    expect([slow.session.unsentBytes, drains]).toEqual([0, 1]);
    expect(seen(slow)).toEqual(seen(fast));
  });

  test("is its session's to bound: it may keep what it is asked to take, or end, and costs the others nothing", () => {
    const fanOut = fanOutOf();
    const [group, other] = [fanOut.group("a"), fanOut.group("b")];
    const [slow, fast] = [groupClient(), groupClient()];
    for (const { session } of [slow, fast]) session.join(group);
    slow.session.join(other);
    const kept: [string | null, string][] = [];
    slow.session.decide = ({ frames }) => {
      if (slow.session.unsentBytes < 4) return true;
      for (const { group: name, data } of frames) kept.push([name, String(data)]);
      if (kept.length > 2) slow.session.end({ code: 4408 });
      return false;
    };
    slow.wire.takes = 0;
    for (const text of ["1a", "2a", "3a"]) {
      group.publish(text);
      other.publish("b");
      fanOut.endTurn();
    }
    expect(kept).toEqual([
      ["a", "2a"],
      ["b", "b"],
      ["a", "3a"],
      ["b", "b"],
    ]);
    expect(seen(fast)).toEqual(["1a", "2a", "3a"]);
    slow.wire.takes = Number.POSITIVE_INFINITY;
    slow.connection.clientDrained();
    expect(textsOf(slow.wire.written)).toEqual({ texts: ["1a", "b"], code: 4408 });
    expect([group.size, other.size]).toEqual([1, 0]);
  });

  test("a session that fails is reported, and the others still get the turn", () => {
    const errors: unknown[] = [];
    const fanOut = new FanOut({ failed: (error) => errors.push(error) });
    const group = fanOut.group("a");
    const [failing, well] = [groupClient(), groupClient()];
    for (const { session } of [failing, well]) session.join(group);
    failing.session.decide = () => {
      throw new Error("a session failed");
    };
    group.publish("1");
    fanOut.endTurn();
    expect([errors.length, seen(well)]).toEqual([1, ["1"]]);
    expect(textsOf(failing.wire.written)).toEqual({ texts: [], code: 1011 });
  });
});

/** What a run does: each step names a client or a group by number. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("publish"), group: fc.nat(2), client: fc.constant(0) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("join", "leave", "send", "drain", "takes"),
      group: fc.nat(2),
      client: fc.nat(4),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("turn", "end"), group: fc.constant(0), client: fc.nat(4) }),
  },
);

test("each client gets what was published while it was a member and what was sent to it, in that order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const fanOut = fanOutOf();
      const groups = ["a", "b", "c"].map((name) => fanOut.group(name));
      const clients = Array.from({ length: 5 }, groupClient);
      const joined = clients.map(() => new Set<FrameGroup>());
      const expected: string[][] = clients.map(() => []);
      const ended = new Set<number>();
      let next = 0;
      for (const { kind, group: at, client: index } of steps) {
        const [group, client] = [groups[at], clients[index]];
        if (group === undefined || client === undefined) continue;
        const isEnded = ended.has(index);
        if (kind === "turn") fanOut.endTurn();
        else if (kind === "takes") client.wire.takes = at * 5;
        else if (kind === "drain") client.connection.clientDrained();
        else if (kind === "leave") {
          client.session.leave(group);
          joined[index]?.delete(group);
        } else if (kind === "end") {
          client.session.end({ code: 4000 });
          ended.add(index);
        } else if (kind === "join") {
          client.session.join(group);
          if (!isEnded) joined[index]?.add(group);
        } else {
          const text = `${next++}`;
          if (kind === "publish") {
            group.publish(text);
            joined.forEach((mine, of) => {
              if (mine.has(group) && !ended.has(of)) expected[of]?.push(text);
            });
          } else {
            client.session.send(text);
            if (!isEnded) expected[index]?.push(text);
          }
        }
      }
      fanOut.endTurn();
      for (const { wire, connection } of clients) {
        wire.takes = Number.POSITIVE_INFINITY;
        connection.clientDrained();
      }
      expect(clients.map(({ wire }) => textsOf(wire.written))).toEqual(
        expected.map((texts, index) => ({ texts, code: ended.has(index) ? 4000 : null })),
      );
      groups.forEach((group) => {
        expect(group.size).toBe(joined.filter((mine, of) => mine.has(group) && !ended.has(of)).length);
      });
    }),
    { seed: 67, numRuns: 500 },
  );
});
