import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Hot } from "../hot.ts";
import { sharingConformance } from "./conformance/sharing.ts";
import type { HotSubject } from "./conformance/subject.ts";

/** An empty store of one driver. */
export interface HotHarness extends AsyncDisposable {
  readonly hot: Hot;
  /** A second replica's view of the same store; for memory that is the same one. */
  readonly other: Hot;
  /** Lets that much time pass, by the clock that the store lives on. */
  pass(durationMs: number): Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Drivers may answer with a kind of Uint8Array of their own; only the bytes are compared. */
const plain = (value: Uint8Array | null): Uint8Array | null => (value === null ? null : Uint8Array.from(value));

/** Every promise that `Hot` makes while the store is there, as tests. Each driver passes the same ones. */
export function describeHotConformance(driver: string, open: () => Promise<HotHarness>): void {
  describe(`hot conformance on ${driver}`, () => {
    let harness: HotHarness | null = null;
    let keys = 0;
    const opened = (): HotHarness => {
      if (harness === null) throw new Error("The store is not open.");
      return harness;
    };
    beforeAll(async () => {
      harness = await open();
    });
    afterAll(async () => {
      await harness?.[Symbol.asyncDispose]();
    });
    const subject: HotSubject = {
      hot: () => opened().hot,
      other: () => opened().other,
      pass: (durationMs) => opened().pass(durationMs),
      newKey: () => {
        keys += 1;
        return `key ${keys} {x} é\n🦀`;
      },
    };
    valueConformance(subject);
    sharingConformance(subject);
    boundsConformance(subject);
  });
}

function valueConformance({ hot, other, pass, newKey }: HotSubject): void {
  describe("values", () => {
    test("any bytes come back as they were, to every replica, and nothing comes back for another key", async () => {
      const key = newKey();
      const all = Uint8Array.from({ length: 256 }, (_, value) => value);
      await hot().set(key, all, 60_000);
      expect(plain(await other().get(key))).toEqual(all);
      await hot().set(key, new Uint8Array(0), 60_000);
      expect((await hot().get(key))?.length).toBe(0);
      expect(await hot().get(newKey())).toBeNull();
    });

    test("changing the buffer after it was stored changes nothing", async () => {
      const [key, buffer] = [newKey(), bytes("before")];
      await hot().set(key, buffer, 60_000);
      buffer.fill(0);
      expect(plain(await hot().get(key))).toEqual(bytes("before"));
    });

    test("a value is gone when its life is over, and a new one has a life of its own", async () => {
      const [short, renewed] = [newKey(), newKey()];
      await hot().set(short, bytes("a"), 40);
      await hot().set(renewed, bytes("a"), 40);
      await hot().set(renewed, bytes("b"), 60_000);
      await pass(60);
      expect(await hot().get(short)).toBeNull();
      expect(plain(await hot().get(renewed))).toEqual(bytes("b"));
    });

    test("a deleted value is gone, and deleting what is not there is no failure", async () => {
      const key = newKey();
      await hot().set(key, bytes("a"), 60_000);
      await other().delete(key);
      await other().delete(key);
      expect(await hot().get(key)).toBeNull();
    });

    test("a value over 16 MiB is not kept, and neither is the one it was to replace", async () => {
      const key = newKey();
      await hot().set(key, bytes("small"), 60_000);
      await hot().set(key, new Uint8Array(16 * 1024 * 1024 + 1), 60_000);
      expect(await hot().get(key)).toBeNull();
    });
  });
}

function boundsConformance({ hot, other, newKey }: HotSubject): void {
  describe("bounds", () => {
    test("keys, lives and amounts out of bounds are refused with RangeError", async () => {
      const value = bytes("a");
      for (const key of ["", "x".repeat(513)]) await expect(hot().get(key)).rejects.toThrow(RangeError);
      for (const ttlMs of [0, -1, 1.5, Number.NaN, 31 * 24 * 3_600_000]) {
        await expect(hot().set(newKey(), value, ttlMs)).rejects.toThrow(RangeError);
      }
    });

    test("those who use one store read one id of it, and those who use another one read another", async () => {
      const id = await hot().identify(null);
      expect([await other().identify(null), await other().identify("another")]).toEqual([id, id]);
      if (hot().driver === "memory") expect(id).toBeNull();
      else expect(id).toMatch(/^[0-9a-f]{32}$/);
    });

    test("an open store answers a ping", async () => {
      expect(await hot().ping()).toBe(true);
    });
  });
}
