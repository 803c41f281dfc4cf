import type { JsonObject, JsonValue } from "@sluice/encode";
import type { Chain } from "../bank/index.ts";
import {
  booleanMember,
  invalidParams,
  listValue,
  type Method,
  type MethodTable,
  nodeBehind,
  stringValue,
  variantValue,
} from "../rpc/index.ts";
import { disturbances } from "../yellowstone/index.ts";
import { corruptions } from "./edge.ts";
import type { Faults } from "./faults.ts";
import { codeMember, settings, shareMember, wholeNumber } from "./params.ts";
import type { Advance } from "./slot-clock.ts";
import { chainPrograms, validatorMethods, validatorsInfo } from "./validators.ts";

/** Bounds, so that no call asks for more than minutes of work or much memory. */
const skipSlotsMax = 10_000;
const lagSlotsMax = 512;
const waitMsMax = 600_000;
const advanceSlotsMax = 5_000;
const advanceEpochsMax = 1_000;
const advanceSecondsMax = 31_536_000;
const methodsMax = 64;
const firstParameter = { required: 1, optional: 0 } as const;
const noParameter = { required: 0, optional: 0 } as const;

/**
 * Each program of genesis, and whether it is the real one, assembled for this chain, only seen by its effect, or given.
 */
function programsOf(faults: Faults): JsonObject {
  const { accounts, description } = faults.parts.chain.genesis;
  const executable = accounts.filter(({ account }) => account?.executable === true);
  const own = (address: string) => (chainPrograms.includes(address) ? "effect" : "real");
  return Object.fromEntries(
    executable.map(({ address }) => [address, description.programKinds.get(address) ?? own(address)]),
  );
}

/** Pools by name, with all that a swap must name and where their prices are read. */
function poolsOf(faults: Faults): JsonObject {
  const { pools } = faults.parts.chain.genesis.description;
  return Object.fromEntries(
    pools.map(({ name, sides, ...addresses }) => {
      const shown = sides.map(({ mint, vault }) => ({
        mint: mint.address,
        tokenProgram: mint.program,
        decimals: mint.decimals,
        vault,
      }));
      return [name, { ...addresses, layout: "cpmm", sides: shown }];
    }),
  );
}

/** The state of the virtual machine, and the outcomes of transactions that no client is answered about. */
function machineOf({ facts: { machine, pending, dropped, dangerous, rebuilds } }: Chain): JsonObject {
  return { pid: machine.pid, ended: machine.ended, rebuilds, pending, dropped, dangerous };
}

function info(faults: Faults): JsonObject {
  const { chain, clock, view } = faults.parts;
  const { slot } = chain.at("processed");
  const { description } = chain.genesis;
  return {
    seed: faults.seed,
    slot,
    shownSlot: view.at("processed").slot,
    confirmedSlot: chain.at("confirmed").slot,
    finalizedSlot: chain.at("finalized").slot,
    epoch: chain.epochs.epochOf(slot),
    unixTimestampMs: Math.floor(clock.now()),
    faults: faults.active(),
    machine: machineOf(chain),
    programs: programsOf(faults),
    wallets: Object.fromEntries(description.wallets),
    mints: Object.fromEntries(description.mints),
    pools: poolsOf(faults),
    ...validatorsInfo(faults),
  };
}

/** Walks every account as of the finalized slot: what they hold together must be what the chain says that there is. */
function audit(faults: Faults): JsonObject {
  const { chain } = faults.parts;
  const { slot, capitalization } = chain.at("finalized");
  let lamports = 0n;
  let accounts = 0n;
  for (const [, account] of chain.accounts.all(slot)) {
    lamports += account.lamports;
    accounts += 1n;
  }
  return { slot, accounts, lamports, capitalization };
}

function lag(faults: Faults, slots: JsonValue | undefined, zombie: boolean): JsonObject {
  faults.parts.view.lag(wholeNumber(slots, "slots", 1, lagSlotsMax));
  faults.zombie = zombie;
  return faults.active();
}

function advanceOf(value: JsonValue | undefined): Advance {
  const object = settings(value, ["slots", "epochs", "seconds"]);
  const [name, ...others] = Object.keys(object);
  if (name === undefined || others.length > 0) {
    throw invalidParams("Invalid params: name one of slots, epochs and seconds.");
  }
  const whole = (highest: number) => BigInt(wholeNumber(object[name], name, 1, highest));
  if (name === "slots") return { slots: whole(advanceSlotsMax) };
  return name === "epochs" ? { epochs: whole(advanceEpochsMax) } : { seconds: whole(advanceSecondsMax) };
}

/** Methods that change the chain itself; what they do stays. */
function chainMethods(faults: Faults): MethodTable {
  const { chain, clock, view } = faults.parts;
  return {
    devnet_skipSlots: {
      ...firstParameter,
      run(params) {
        clock.skip(BigInt(wholeNumber(params[0], "slots", 1, skipSlotsMax)));
        return { openSlot: chain.openSlot, skipping: clock.skipping };
      },
    },
    devnet_fork: {
      ...firstParameter,
      async run(params) {
        const object = settings(params[0], ["depth", "landAgain", "confirmed"]);
        const landAgain = booleanMember(object, "landAgain", false);
        const keeps = booleanMember(object, "confirmed", false) ? "finalized" : "confirmed";
        if (view.behind > 0) throw invalidParams("Invalid params: a node that lags cannot fork.");
        await chain.settled();
        const depth = wholeNumber(object["depth"], "depth", 1, chain.forkDepthMax(keeps));
        const { parent, abandoned } = await chain.fork(depth, landAgain, keeps).catch((fault: unknown) => {
          // A slot was confirmed or finalized between the check and the fork.
          throw fault instanceof RangeError ? invalidParams(`Invalid params: ${fault.message}.`) : fault;
        });
        clock.forked();
        return { parent, abandoned, openSlot: chain.openSlot };
      },
    },
    devnet_prune: {
      ...firstParameter,
      run(params) {
        const finalized = Number(view.at("finalized").slot);
        chain.history.dropBefore(BigInt(wholeNumber(params[0], "slot", 0, finalized)));
        return { firstAvailableBlock: chain.history.firstSlot };
      },
    },
    devnet_advance: {
      ...firstParameter,
      async run(params) {
        await clock.advance(advanceOf(params[0]), chain);
        const { slot } = chain.at("processed");
        const unixTimestampMs = Math.floor(clock.now());
        return { slot, epoch: chain.epochs.epochOf(slot), unixTimestampMs };
      },
    },
  };
}

/** Methods that set faults of what the node sends unasked, over PubSub and Yellowstone. */
function streamMethods(faults: Faults): MethodTable {
  const { sockets, streams } = faults.parts;
  return {
    devnet_dropPubsub: {
      ...firstParameter,
      run(params) {
        const object = settings(params[0], ["share", "seed"]);
        const seed = object["seed"] === undefined ? undefined : String(object["seed"]);
        sockets.drop = { share: shareMember(object), random: faults.random("dropPubsub", seed) };
        return faults.active();
      },
    },
    devnet_closePubsub: { ...noParameter, run: () => ({ closed: sockets.closeAll() }) },
    devnet_disturbGrpc: {
      ...firstParameter,
      run(params) {
        const object = settings(params[0], ["share", "kind", "seed"]);
        const kind = variantValue(object["kind"], disturbances);
        const seed = object["seed"] === undefined ? undefined : String(object["seed"]);
        streams.disturb = { share: shareMember(object), kind, random: faults.random("disturbGrpc", seed) };
        return faults.active();
      },
    },
    devnet_closeGrpc: { ...noParameter, run: () => ({ closed: streams.closeAll() }) },
  };
}

/** Methods that set faults of the node's endpoints, until they are cleared. */
function nodeMethods(faults: Faults): MethodTable {
  const { edge } = faults.parts;
  return {
    devnet_lag: { ...firstParameter, run: (params) => lag(faults, params[0], false) },
    devnet_zombie: { ...firstParameter, run: (params) => lag(faults, params[0], true) },
    devnet_slow: {
      ...firstParameter,
      run(params) {
        const object = settings(params[0], ["ms", "share", "methods"]);
        const requested = object["methods"] ?? null;
        const methods = requested === null ? null : listValue(requested).map((entry) => stringValue(entry));
        if (methods !== null && methods.length > methodsMax) {
          throw invalidParams(`Invalid params: at most ${methodsMax} methods.`);
        }
        const ms = wholeNumber(object["ms"], "ms", 0, waitMsMax);
        edge.slow = { ms, methods, share: shareMember(object), random: faults.random("slow") };
        return faults.active();
      },
    },
    devnet_refuse: {
      ...firstParameter,
      async run(params) {
        const connections = booleanMember(settings(params[0], ["connections"]), "connections", true);
        if (connections) await faults.refuseConnections();
        else edge.unavailable = true;
        return faults.active();
      },
    },
    devnet_freeze: {
      ...firstParameter,
      run(params) {
        edge.frozen.shut(wholeNumber(params[0], "ms", 1, waitMsMax));
        return faults.active();
      },
    },
    devnet_corrupt: {
      ...firstParameter,
      run(params) {
        const object = settings(params[0], ["share", "kind"]);
        const kind = variantValue(object["kind"], corruptions);
        edge.corrupt = { share: shareMember(object), kind, random: faults.random("corrupt") };
        return faults.active();
      },
    },
    devnet_error: {
      ...firstParameter,
      run(params) {
        const object = settings(params[0], ["share", "code"]);
        edge.error = { share: shareMember(object), code: codeMember(object), random: faults.random("error") };
        return faults.active();
      },
    },
  };
}

/** The devnet_* methods by name. */
export function adminMethods(faults: Faults): ReadonlyMap<string, Method> {
  return new Map(
    Object.entries({
      devnet_info: { ...noParameter, run: () => info(faults) },
      devnet_audit: { ...noParameter, run: () => audit(faults) },
      ...chainMethods(faults),
      ...nodeMethods(faults),
      ...streamMethods(faults),
      ...validatorMethods(faults),
      devnet_clear: {
        ...noParameter,
        async run() {
          await faults.clear();
          return faults.active();
        },
      },
    }),
  );
}

/** getHealth of a node that may lag. */
export function healthMethod(faults: Faults): Method {
  return {
    ...noParameter,
    run() {
      const behind = faults.slotsBehind;
      if (behind !== null) throw nodeBehind(behind);
      return "ok";
    },
  };
}
