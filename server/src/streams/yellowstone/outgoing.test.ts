import { expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { GrpcStatusError, PackedMessage, type PackedResponses } from "../../net/index.ts";
import { Outgoing } from "./outgoing.ts";

const lagged = new GrpcStatusError("INTERNAL", "lagged to send an update");

/** A client that takes a piece when it is asked to, and what happened to its stream. */
function client() {
  const untaken: (() => void)[] = [];
  const told: string[] = [];
  let isOpen = true;
  const responses: PackedResponses = {
    get isOpen() {
      return isOpen;
    },
    takesGzip: false,
    write: (_piece, taken) => void untaken.push(taken),
    end: ({ message }) => {
      isOpen = false;
      told.push(`end ${message}`);
    },
    leave: ({ message }) => void told.push(`leave ${message}`),
    onClose: () => {},
  };
  const outgoing = new Outgoing({ clock: systemClock, responses, take: () => true, sent: () => {} });
  return { outgoing, told, take: () => untaken.shift()?.() };
}

test("a client that takes nothing is told to leave at once, though no status can be written behind half a message", () => {
  const { outgoing, told, take } = client();
  outgoing.send([PackedMessage.of([new Uint8Array(1024 * 1024)])]);
  outgoing.end(lagged);
  expect(told).toEqual(["leave lagged to send an update"]);
  expect(outgoing.isOpen).toBe(false);
  // One that takes the rest gets the status itself.
  for (let piece = 0; piece < 20; piece += 1) take();
  expect(told).toEqual(["leave lagged to send an update", "end lagged to send an update"]);
});
