import { expect, test } from "bun:test";
import { getSysvarClockEncoder, getSysvarEpochScheduleEncoder } from "@solana/sysvars";
import fc from "fast-check";
import { maxU64 } from "../identifiers.ts";
import { decodeClock, decodeEpochSchedule, firstSlotOfEpoch, slotsOfEpoch } from "./clock.ts";

const u64 = fc.bigInt({ min: 0n, max: maxU64 });
const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("the clock is read as the reference writes it", () => {
  fc.assert(
    fc.property(u64, i64, u64, i64, (slot, epochStartTimestamp, epoch, unixTimestamp) => {
      const leaderScheduleEpoch = epoch;
      const written = { slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixTimestamp } as never;
      const data = new Uint8Array(getSysvarClockEncoder().encode(written));
      expect(decodeClock(data)).toEqual({ slot, epochStartTimestamp, epoch, unixTimestamp });
      expect(decodeClock(data.subarray(1))).toBeNull();
    }),
  );
});

test("the schedule is read as the reference writes it, and none has epochs without a slot", () => {
  fc.assert(
    fc.property(u64, u64, u64, (slotsPerEpoch, firstNormalEpoch, firstNormalSlot) => {
      const written = { slotsPerEpoch, leaderScheduleSlotOffset: 1n, warmup: true, firstNormalEpoch, firstNormalSlot };
      const data = new Uint8Array(getSysvarEpochScheduleEncoder().encode(written as never));
      const read = decodeEpochSchedule(data);
      expect(read).toEqual(slotsPerEpoch === 0n ? null : { slotsPerEpoch, firstNormalEpoch, firstNormalSlot });
    }),
  );
});

test("epochs of the beginning double from 32 slots on, and those that follow have one length", () => {
  const schedule = { slotsPerEpoch: 8_192n, firstNormalEpoch: 8n, firstNormalSlot: 8_160n };
  const epochs = [0n, 1n, 7n, 8n, 9n];
  expect(epochs.map((epoch) => firstSlotOfEpoch(schedule, epoch))).toEqual([0n, 32n, 4_064n, 8_160n, 16_352n]);
  expect(epochs.map((epoch) => slotsOfEpoch(schedule, epoch))).toEqual([32n, 64n, 4_096n, 8_192n, 8_192n]);
  for (let epoch = 0n; epoch < 12n; epoch += 1n) {
    const next = firstSlotOfEpoch(schedule, epoch) + slotsOfEpoch(schedule, epoch);
    expect(firstSlotOfEpoch(schedule, epoch + 1n)).toBe(next);
  }
});
