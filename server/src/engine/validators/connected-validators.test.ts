import { expect, test } from "bun:test";
import type { SubscribeBundlesMessage } from "@sluice/contract/proto";
import { ManualClock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { ResponseStream } from "../../net/index.ts";
import { ConnectedValidators } from "./connected-validators.ts";

const identity = "leader" as Address;

test("a validator whose stream is being ended is handed nothing, so that nothing counts as handed over", () => {
  const written: unknown[] = [];
  const sink = { write: (message: unknown) => written.push(message) > 0, end: () => {} };
  const validators = new ConnectedValidators({
    clock: new ManualClock(0),
    mayValidate: () => true,
    events: {
      validatorConnected: () => {},
      validatorGone: () => {},
    },
  });
  validators.openBundles(identity, new ResponseStream<SubscribeBundlesMessage>({ waitingMax: 4 }, sink));
  const bundle = { id: "x", transactions: [Uint8Array.of(1)] };
  expect(validators.deliver(identity, [bundle])).toBe(true);
  validators.close();
  expect(validators.deliver(identity, [bundle])).toBe(false);
  expect(written).toHaveLength(1);
});
