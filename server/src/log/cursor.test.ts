import { expect, test } from "bun:test";
import { areLevel, decodeCursor, encodeCursor } from "./cursor.ts";
import { chain, slotOf } from "./testing/chain-model.ts";
import { formerCursors } from "./testing/former-cursors.ts";

const of = { network: "devnet", chain } as const;

test.each(Object.entries(formerCursors))(
  "a cursor of the release before is read, and the same place is written as before: %s",
  (_, { text, position }) => {
    expect(decodeCursor(text, of)).toEqual(position);
    // Without a bound the release before reads what this one writes, while both run.
    expect(encodeCursor(position, of)).toBe(text);
  },
);

test("a cursor with a bound is of another form, which is not level with the one without", () => {
  const { text, position } = formerCursors.wholeBlock;
  const bound = { ...position, from: slotOf(103) };
  const written = encodeCursor(bound, of);
  expect(decodeCursor(written, of)).toEqual(bound);
  expect([areLevel(text, written), areLevel(written, text), areLevel(written, written)]).toEqual([false, false, true]);
});

test("no changed byte of a former cursor is read as another place", () => {
  for (const { text } of Object.values(formerCursors)) {
    const bytes = Buffer.from(text, "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      expect(decodeCursor(changed.toString("base64url"), of)).toBeNull();
    }
  }
});
