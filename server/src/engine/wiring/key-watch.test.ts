import { expect, test } from "bun:test";
import { KeyWatch } from "./key-watch.ts";

test("streams are looked at again and again, also after a look that failed", async () => {
  const looks: number[] = [];
  const thrice = Promise.withResolvers<void>();
  const held: string[] = [];
  using watch = new KeyWatch(
    {
      recheck: async () => {
        if (looks.push(looks.length) === 3) thrice.resolve();
        if (looks.length === 1) throw new Error("the store does not answer");
      },
      retryableError: (what, error) => held.push(`${what}: ${error}`),
    },
    1,
  );
  await thrice.promise;
  watch[Symbol.dispose]();
  expect(held).toEqual(["keys of open streams: Error: the store does not answer"]);
});
