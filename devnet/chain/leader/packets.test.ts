import { expect, test } from "bun:test";
import { readPacket } from "./connection.ts";

const meta = (size: number, discard = false) => ({
  size: String(size),
  addr: "nonsense",
  port: 99_999_999,
  flags: {
    discard,
    forwarded: false,
    repair: false,
    simple_vote_tx: false,
    tracer_packet: discard,
    from_staked_node: false,
  },
  sender_stake: "0",
});

test("a packet is as long as its meta says, and one that says more than it brings, or brings too much, is discarded", () => {
  const data = Uint8Array.of(1, 2, 3, 4);
  expect(readPacket({ data, meta: meta(4) })).toEqual({ data, isDiscarded: false });
  expect(readPacket({ data, meta: meta(2) })).toEqual({ data: Uint8Array.of(1, 2), isDiscarded: false });
  expect(readPacket({ data, meta: meta(5) }).isDiscarded).toBe(true);
  expect(readPacket({ data, meta: { ...meta(0), size: "18446744073709551615" } }).isDiscarded).toBe(true);
  expect(readPacket({ data: new Uint8Array(4_096), meta: meta(4_096) }).isDiscarded).toBe(false);
  expect(readPacket({ data: new Uint8Array(4_097), meta: meta(4_097) }).isDiscarded).toBe(true);
});

test("the wire's discard flag is ignored, and without a meta nothing of the data counts", () => {
  const data = Uint8Array.of(1, 2, 3, 4);
  expect(readPacket({ data, meta: meta(4, true) }).isDiscarded).toBe(false);
  for (const packet of [{ data }, { data, meta: null }]) expect(readPacket(packet).data).toHaveLength(0);
});
