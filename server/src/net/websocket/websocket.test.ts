import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import fc from "fast-check";
import { EchoServer } from "./testing/echo-server.ts";
import { exchange } from "./testing/raw-exchange.ts";
import { CaseWriter, messageBytesMax } from "./testing/websocket-cases.ts";
import { type Expected, expectedOf, isText } from "./testing/websocket-model.ts";
import { run } from "./websocket.campaign.ts";

test("a running server answers valid and wrong frames with the messages and the code that RFC 6455 asks for", async () => {
  expect(await run({ n: 400, seed: 11 })).toMatchObject({ passed: true });
}, 30_000);

test("another answer or another code than the expected one is seen", async () => {
  await using server = new EchoServer();
  const writer = new CaseWriter(seededRandom(5));
  let played = 0;
  while (played < 20) {
    const one = writer.next();
    const { answers, code, isCut } = expectedOf(one.bytes, messageBytesMax);
    const [first, ...others] = answers;
    if (code === null || first === undefined) continue;
    played += 1;
    const changed: readonly Expected[] = [
      { answers, code: code + 1, isCut },
      { answers: [{ ...first, opcode: first.opcode ^ 3 }, ...others], code, isCut },
      { answers: others, code, isCut },
      { answers: [...answers, first], code, isCut },
    ];
    for (const expected of changed) expect(await exchange(server.port, one, expected)).toStartWith("frame ");
  }
});

test("the model takes the same bytes for UTF-8 as the decoder of the platform", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const byte = fc.oneof(fc.constantFrom(0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0x9f, 0xa0, 0x90), fc.nat(255));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), (bytes) => {
      const read = Uint8Array.from(bytes);
      let isDecoded = true;
      try {
        decoder.decode(read);
      } catch {
        isDecoded = false;
      }
      expect(isText(read)).toBe(isDecoded);
    }),
    { seed: 67, numRuns: 3_000 },
  );
});
