import { expect, test } from "bun:test";
import { encodeFrame, opcodes } from "./frames.ts";
import { clientFrame, eventsOf, type Frame, messageBytesMax } from "./testing/client-frames.ts";
import { run } from "./websocket-frames.campaign.ts";

const text = (value: string): Uint8Array => Buffer.from(value);
const nothing = new Uint8Array();
const read = (...frames: readonly Frame[]): string[] => eventsOf([Buffer.concat(frames.map(clientFrame))]);

test("streams of frames read the same whole, cut anywhere and byte by byte; changed ones are evaluated alike", async () => {
  expect(await run({ n: 300, seed: 5 })).toMatchObject({ passed: true });
}, 30_000);

test("the examples of RFC 6455, section 5.7, are read and written as it says", () => {
  expect(eventsOf([Buffer.from("818537fa213d7f9f4d5158", "hex")])).toEqual(["text Hello"]);
  expect(eventsOf([Buffer.from("898537fa213d7f9f4d5158", "hex")])).toEqual([`ping ${text("Hello").toHex()}`]);
  expect(encodeFrame(opcodes.text, "Hello").toString("hex")).toBe("810548656c6c6f");
  expect(encodeFrame(opcodes.binary, new Uint8Array(256)).subarray(0, 4).toString("hex")).toBe("827e0100");
  expect(encodeFrame(opcodes.binary, new Uint8Array(65_536)).subarray(0, 10).toString("hex")).toBe(
    "827f0000000000010000",
  );
});

test("what no client may send is broken with the code of its kind, and nothing is read after it", () => {
  const after: Frame = { opcode: 1, payload: text("after") };
  const broken: readonly (readonly [string, number, readonly Frame[]])[] = [
    ["no mask", 1002, [{ opcode: 1, payload: text("a"), mask: null }]],
    ["a reserved bit", 1002, [{ opcode: 1, payload: text("a"), reserved: 4 }]],
    ["an unknown kind of data", 1002, [{ opcode: 3, payload: text("a") }]],
    ["an unknown kind of control", 1002, [{ opcode: 0xb, payload: text("a") }]],
    ["a control frame in fragments", 1002, [{ opcode: 9, payload: text("a"), isFinal: false }]],
    ["a long control frame", 1002, [{ opcode: 9, payload: new Uint8Array(126) }]],
    ["a continuation of nothing", 1002, [{ opcode: 0, payload: text("a") }]],
    ["a message within a message", 1002, [{ opcode: 1, payload: text("a"), isFinal: false }, after]],
    ["a length in more bytes than it needs", 1002, [{ opcode: 1, payload: text("a"), lengthBytes: 2 }]],
    ["a length in eight bytes for two", 1002, [{ opcode: 1, payload: new Uint8Array(300), lengthBytes: 8 }]],
    ["a code in one byte", 1002, [{ opcode: 8, payload: Uint8Array.of(3) }]],
    ["text that is no UTF-8", 1007, [{ opcode: 1, payload: Uint8Array.of(0xc3, 0x28) }]],
    ["text that ends in a character", 1007, [{ opcode: 1, payload: Uint8Array.of(0xe2, 0x82) }]],
    ["a reason that is no UTF-8", 1007, [{ opcode: 8, payload: Uint8Array.of(0x03, 0xe8, 0xff) }]],
    ["a message beyond the bound", 1009, [{ opcode: 2, payload: new Uint8Array(messageBytesMax + 1) }]],
    [
      "fragments beyond the bound",
      1009,
      [
        { opcode: 2, payload: new Uint8Array(messageBytesMax), isFinal: false },
        { opcode: 0, payload: text("a") },
      ],
    ],
  ];
  for (const [name, code, frames] of broken) expect([name, read(...frames, after)]).toEqual([name, [`broken ${code}`]]);
  // The highest bit of a length, which no sender may set.
  const endless = Buffer.from("82ffffffffffffffffff00000000", "hex");
  expect(eventsOf([endless])).toEqual(["broken 1002"]);
});

test("the codes that a peer may close with are taken, with a reason or without, and no others", () => {
  const closedWith = (code: number): string | undefined =>
    read({ opcode: 8, payload: Uint8Array.of(code >> 8, code & 0xff, 0x61) }, { opcode: 9, payload: nothing }).join();
  for (const code of [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 4401, 4999]) {
    expect(closedWith(code)).toBe(`close ${code}`);
  }
  for (const code of [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535]) {
    expect([code, closedWith(code)]).toEqual([code, "broken 1002"]);
  }
  expect(read({ opcode: 8, payload: nothing })).toEqual(["close 1005"]);
});

test("a character may be cut by fragments, and a message of the bound is taken", () => {
  const euro = text("€");
  expect(
    read(
      { opcode: 1, payload: euro.subarray(0, 1), isFinal: false },
      { opcode: 0, payload: nothing, isFinal: false },
      { opcode: 0, payload: euro.subarray(1) },
    ),
  ).toEqual(["text €"]);
  const [event = ""] = read({ opcode: 2, payload: new Uint8Array(messageBytesMax) });
  expect(event.length).toBe("binary ".length + 2 * messageBytesMax);
});
