import type { JsonObject } from "@sluice/encode";
import { stakePoolProgram } from "@sluice/wire/accounts/stake-pool";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Chain } from "../bank/index.ts";
import { tipAccounts } from "../consensus/index.ts";
import { type BlockEngineLinks, readBlockEngine } from "../leader/index.ts";
import { booleanMember, invalidParams, type MethodTable, stringValue } from "../rpc/index.ts";
import type { Faults } from "./faults.ts";
import { settings } from "./params.ts";

/** Programs whose effects are the chain's own. */
export const chainPrograms: readonly string[] = [stakePoolProgram, tipPrograms.payment, tipPrograms.distribution];

function blockEngineOf(engine: BlockEngineLinks): JsonObject {
  return { url: engine.url, links: engine.facts.map((link) => ({ ...link })) };
}

/** Outcomes of bundles; no other method reports those that do not land. */
function bundlesOf({ bundles: { facts } }: Chain): JsonObject {
  const { waiting, landed, kept, dropped } = facts;
  return { waiting, landed, kept, dropped: { ...dropped } };
}

/** Who the validators are, how their votes come about, and where pool and tips are kept. */
export function validatorsInfo({ parts: { chain, engine } }: Faults): JsonObject {
  const { genesis, cluster } = chain;
  const stakes = cluster.stakes.at(chain.epochs.epochOf(chain.at("processed").slot));
  return {
    votes: cluster.votesLand ? "transactions, run by the vote program" : "written by the chain, without transactions",
    validators: genesis.validators.map(({ identity, vote, stake, commission }) => ({
      identity,
      vote,
      stake,
      commission,
      activatedStake: stakes?.voters.find((voter) => voter.vote === vote)?.stake ?? 0n,
      delinquent: cluster.voting.delinquent.includes(identity),
    })),
    blockEngine: blockEngineOf(engine),
    bundles: bundlesOf(chain),
    stakePool: {
      program: stakePoolProgram,
      pool: genesis.pool.pool,
      validatorList: genesis.pool.validatorList,
      reserveStake: genesis.pool.reserveStake,
      poolMint: genesis.pool.poolMint,
      withdrawAuthority: genesis.pool.withdrawAuthority,
      effects: "the chain updates it in the first slot of each epoch; its program cannot be called",
    },
    tips: {
      paymentProgram: tipPrograms.payment,
      distributionProgram: tipPrograms.distribution,
      accounts: [...tipAccounts],
      effects: "the chain sweeps tips when the leader changes and pays all claims in the first slot of the next epoch",
    },
  };
}

/** Methods about single validators. */
export function validatorMethods(faults: Faults): MethodTable {
  const { chain, engine } = faults.parts;
  return {
    devnet_blockEngine: {
      required: 1,
      optional: 0,
      async run(params) {
        const requested = settings(params[0], ["url"])["url"] ?? null;
        const url = requested === null ? null : readBlockEngine(stringValue(requested));
        if (typeof url === "object" && url !== null) {
          throw invalidParams("Invalid params: url must be an http or https URL, or null.");
        }
        await engine.connect(url);
        return blockEngineOf(engine);
      },
    },
    devnet_delinquent: {
      required: 1,
      optional: 0,
      run(params) {
        const object = settings(params[0], ["validator", "on"]);
        const named = stringValue(object["validator"]);
        const found = chain.genesis.validators.find(({ identity, vote }) => identity === named || vote === named);
        if (found === undefined)
          throw invalidParams("Invalid params: validator must be an identity or a vote account.");
        chain.cluster.voting.setDelinquent(found.identity, booleanMember(object, "on", true));
        return { delinquent: [...chain.cluster.voting.delinquent] };
      },
    },
  };
}
