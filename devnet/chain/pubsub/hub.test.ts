import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { Keypair, SystemProgram } from "@solana/web3.js";
import { processLog } from "../../log.ts";
import { PerformanceSamples } from "../bank/performance.ts";
import { LaggingView } from "../faults/lagging-view.ts";
import { FaucetRequests } from "../rpc/faucet-requests.ts";
import type { RpcNode } from "../rpc/method.ts";
import { type ManualChain, signed, startManualChain } from "../testing/chain.ts";
import { PubSubHub } from "./hub.ts";
import type { ChainEvent, PubSubClient } from "./subscription.ts";

const sol = 1_000_000_000n;

let manual: ManualChain;
let node: RpcNode;
let hub: PubSubHub;
const log = processLog("test chain");

beforeEach(async () => {
  manual = await startManualChain();
  const { chain } = manual;
  const performance = new PerformanceSamples(chain.at("processed"));
  const view = new LaggingView(chain, () => undefined);
  node = {
    chain: view,
    performance,
    faucet: new FaucetRequests(),
    endpoints: { rpc: "", pubsub: "" },
    now: () => 0,
    log,
  };
  hub = new PubSubHub({ subscriptionsMax: 10 }, { node });
});

afterEach(() => manual[Symbol.asyncDispose]());

class Listener implements PubSubClient {
  readonly notifications: { readonly method: string; readonly params: { readonly result: unknown } }[] = [];

  send(text: string): void {
    this.notifications.push(JSON.parse(text));
  }
}

/** The newest block at `processed`, as the chain reports it. */
function frozen(): ChainEvent & { readonly kind: "reached" } {
  const bank = manual.chain.at("processed");
  const block = manual.chain.history.block(bank.slot);
  if (block === null) throw new Error("no block");
  return { kind: "reached", commitment: "processed", bank, block };
}

test("an error in one subscriber's notification does not affect later subscribers", () => {
  const broken: PubSubClient = {
    send() {
      throw new Error("broken on purpose");
    },
  };
  const sound = new Listener();
  void hub.dispatchFor(broken)("slotSubscribe", []);
  void hub.dispatchFor(sound)("slotsUpdatesSubscribe", []);
  const logged = spyOn(log, "error").mockImplementation(() => undefined);
  hub.publish({ kind: "opened", slot: 7n, parent: 6n });
  expect(logged).toHaveBeenCalledTimes(1);
  logged.mockRestore();
  expect(sound.notifications.map(({ method }) => method)).toEqual([
    "slotsUpdatesNotification",
    "slotsUpdatesNotification",
  ]);
});

test("a client that is gone gives back its subscriptions, and those alone", () => {
  const [leaving, staying] = [new Listener(), new Listener()];
  const join = (client: PubSubClient, count: number) =>
    Array.from({ length: count }, (_, index) =>
      hub.dispatchFor(client)("accountSubscribe", [
        Keypair.fromSeed(new Uint8Array(32).fill(index + 1)).publicKey.toBase58(),
      ]),
    );
  // Ten in all, three of which ask for the same as another.
  join(leaving, 7);
  join(staying, 3);
  void hub.dispatchFor(leaving)("accountUnsubscribe", [0]);
  void hub.dispatchFor(leaving)("slotSubscribe", []);
  expect(() => hub.dispatchFor(staying)("slotSubscribe", [])).toThrow("Node subscription limit reached");
  hub.closed(leaving);
  hub.closed(leaving);
  void hub.dispatchFor(staying)("slotSubscribe", []);
  hub.publish({ kind: "opened", slot: 7n, parent: 6n });
  expect([leaving.notifications.length, staying.notifications.length]).toEqual([0, 1]);
  const again = new Listener();
  join(again, 6);
  expect(() => hub.dispatchFor(again)("rootSubscribe", [])).toThrow("Node subscription limit reached");
});

test("a block is read once for all who ask for addresses in it, however many they are", async () => {
  const payer = Keypair.generate();
  manual.fund(payer, 10n * sol);
  await manual.closeSlots(1);
  const { chain } = manual;
  const others = Array.from({ length: 8 }, () => Keypair.generate());
  for (const { publicKey: toPubkey } of others) {
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: sol });
    chain.submit(signed(payer, chain.at("processed").blockhash, pay));
  }
  await manual.closeSlots(1);
  const listeners = others.map(({ publicKey }) => {
    const listener = new Listener();
    void hub.dispatchFor(listener)("logsSubscribe", [
      { mentions: [publicKey.toBase58()] },
      { commitment: "processed" },
    ]);
    return listener;
  });
  const read = spyOn(chain.history, "transaction");
  hub.publish(frozen());
  const { length } = frozen().block.transactions;
  expect([read.mock.calls.length, length]).toEqual([8, 8]);
  read.mockRestore();
  expect(listeners.map(({ notifications }) => notifications.length)).toEqual(others.map(() => 1));
});
