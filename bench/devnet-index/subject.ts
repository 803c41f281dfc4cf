import { processLog } from "../../devnet/log.ts";
/**
 * One subject of bench/devnet-index, in a separate process, so that the objects of one are no work for the collector
 * of the other. The first argument is `ours` or `linear`. Reads one task a line, writes one answer a line.
 */

import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { AccountStore } from "../../devnet/chain/accounts/account-store.ts";
import { Chain } from "../../devnet/chain/bank/chain.ts";
import { PerformanceSamples } from "../../devnet/chain/bank/performance.ts";
import { createGenesis } from "../../devnet/chain/genesis/genesis.ts";
import { History } from "../../devnet/chain/history/history.ts";
import { defaultOptions } from "../../devnet/chain/options.ts";
import { FaucetRequests } from "../../devnet/chain/rpc/faucet-requests.ts";
import { answerBody, type Dispatch, dispatcher } from "../../devnet/chain/rpc/json-rpc.ts";
import type { ChainView } from "../../devnet/chain/rpc/method.ts";
import { rpcMethods } from "../../devnet/chain/rpc/table.ts";
import { LinearAccounts, LinearHistory, linearView } from "./linear.ts";
import { bodyOf, everything, shapes } from "./shapes.ts";
import { fillAccounts, fillHistory, sizes } from "./world.ts";

/** Calls of one shape, from number `first` on. */
export interface Task {
  readonly shape: number | "everything";
  readonly first: number;
  readonly calls: number;
}

export interface TaskAnswer {
  readonly times: readonly number[];
  /** Of the last call. */
  readonly bytes: number;
  readonly digest: string;
}

export interface Filled {
  readonly accounts: number;
  readonly transactions: number;
  readonly bytesAtStart: number;
  readonly bytesWithAccounts: number;
  readonly bytesWithAll: number;
  readonly appendMicroseconds: number;
}

async function residentBytes(): Promise<number> {
  for (let time = 0; time < 3; time++) {
    Bun.gc(true);
    await Bun.sleep(300);
  }
  return process.memoryUsage.rss();
}

const log = processLog("bench");

/** The view of a small real chain, but with these accounts and this history, all of it finalized. */
function viewOf(chain: Chain, accounts: AccountStore, history: History, slot: bigint): ChainView {
  const bank = { ...chain.at("finalized"), slot };
  return {
    genesis: chain.genesis,
    blockhashes: chain.blockhashes,
    epochs: chain.epochs,
    abandonedFork: null,
    statuses: chain.statuses,
    cluster: chain.cluster,
    openSlot: slot + 1n,
    at: () => bank,
    submit: (...transaction) => chain.submit(...transaction),
    simulate: (request) => chain.simulate(request),
    bundles: chain.bundles,
    simulateBundle: (...request) => chain.simulateBundle(...request),
    bankAt: () => bank,
    tip: bank,
    yearsAt: (at) => chain.yearsAt(at),
    accounts,
    history,
  };
}

function dispatchOf(view: ChainView): Dispatch {
  const endpoints = { rpc: "", pubsub: "" };
  const performance = new PerformanceSamples(view.at("finalized"));
  const node = { chain: view, performance, faucet: new FaucetRequests(), endpoints, now: () => 1_800_000_000_000, log };
  const methods = rpcMethods();
  return dispatcher(
    (name) => methods.get(name),
    (method, params) => method.run(params, node),
    log,
  );
}

async function run(dispatch: Dispatch, { shape, first, calls }: Task): Promise<TaskAnswer> {
  const asked = shape === "everything" ? everything : shapes[shape];
  if (asked === undefined) throw new Error(`there is no shape ${shape}`);
  const times: number[] = [];
  let answer = "";
  for (let n = first; n < first + calls; n++) {
    const body = bodyOf(asked, n);
    const before = performance.now();
    answer = (await answerBody(body, dispatch)) ?? "";
    times.push(performance.now() - before);
    if (answer.startsWith('{"jsonrpc":"2.0","error"')) throw new Error(`${body}: ${answer.slice(0, 300)}`);
  }
  return { times, bytes: answer.length, digest: Bun.hash(answer).toString(16) };
}

const chain = await Chain.start(defaultOptions, await createGenesis(defaultOptions, new LiteSvmMachine()), {
  svm: new LiteSvmMachine(),
  now: () => 1_800_000_000_000,
  log,
});
const isOurs = process.argv[2] === "ours";
const bytesAtStart = await residentBytes();
const store = new AccountStore();
const linearAccounts = isOurs ? null : new LinearAccounts();
if (isOurs) fillAccounts(store);
const bytesWithAccounts = await residentBytes();
const history = new History(defaultOptions);
const linearHistory = isOurs ? null : new LinearHistory();
// The peer finds single transactions here too: what differs is how those of an address are found.
const appendMicroseconds = fillHistory(history);
const view = viewOf(chain, store, history, BigInt(sizes.transactions / sizes.transactionsABlock));
const isLinear = linearAccounts !== null && linearHistory !== null;
const dispatch = dispatchOf(isLinear ? linearView(view, { accounts: linearAccounts, history: linearHistory }) : view);
const filled: Filled = {
  accounts: store.size,
  transactions: history.size,
  bytesAtStart,
  bytesWithAccounts,
  bytesWithAll: await residentBytes(),
  appendMicroseconds,
};
console.log(JSON.stringify(filled));
for await (const line of console) console.log(JSON.stringify(await run(dispatch, JSON.parse(line) as Task)));
process.exit(0);
