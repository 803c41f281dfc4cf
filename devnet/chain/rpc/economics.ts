import { inflationRate, inflationSchedule } from "../consensus/index.ts";
import { rentExemptLamports } from "../model/index.ts";
import { invalidParams, invalidRequest } from "./errors.ts";
import { bankOf, type MethodTable, withContext } from "./method.ts";
import {
  addressValue,
  bareCommitmentAt,
  booleanMember,
  configAt,
  listValue,
  u64Value,
  variantMember,
} from "./params.ts";

const dataBytesMax = 10_485_760n;
const largestMax = 20;
const feeAddressesMax = 128;
const feeSlots = 150n;

/** Rent, supply, inflation and fees. */
export const economicsMethods: MethodTable = {
  getMinimumBalanceForRentExemption: {
    required: 1,
    optional: 1,
    run(params) {
      const bytes = u64Value(params[0], "usize");
      bareCommitmentAt(params, 1);
      if (bytes > dataBytesMax) throw invalidRequest();
      return rentExemptLamports(Number(bytes));
    },
  },
  getSupply: {
    required: 0,
    optional: 1,
    run(params, node) {
      const config = configAt(params, 0, "struct RpcSupplyConfig");
      booleanMember(config, "excludeNonCirculatingAccountsList", false);
      const bank = bankOf(node, config);
      const total = bank.capitalization;
      return withContext(bank, { total, circulating: total, nonCirculating: 0n, nonCirculatingAccounts: [] });
    },
  },
  getLargestAccounts: {
    required: 0,
    optional: 1,
    run(params, node) {
      const config = configAt(params, 0, "struct RpcLargestAccountsConfig");
      const filter = variantMember(config, "filter", ["circulating", "nonCirculating"] as const, null);
      // The rows are sorted whatever it says; a wrong value is still refused.
      booleanMember(config, "sortResults", true);
      const bank = bankOf(node, config);
      if (filter === "nonCirculating") return withContext(bank, []);
      const richest = node.chain.accounts.richest(largestMax, bank.slot);
      const largest = richest.map(([address, { lamports }]) => ({ address, lamports }));
      return withContext(bank, largest);
    },
  },
  getInflationGovernor: {
    required: 0,
    optional: 1,
    run(params) {
      bareCommitmentAt(params, 0);
      return { ...inflationSchedule };
    },
  },
  getInflationRate: {
    required: 0,
    optional: 0,
    run(_params, node) {
      const { slot } = node.chain.at("finalized");
      const epoch = node.chain.epochs.epochOf(slot);
      return { ...inflationRate(node.chain.yearsAt(slot)), epoch };
    },
  },
  getRecentPrioritizationFees: {
    required: 0,
    optional: 1,
    run(params, node) {
      const list = params[0] === undefined || params[0] === null ? [] : listValue(params[0]);
      if (list.length > feeAddressesMax) throw invalidParams(`Too many inputs provided; max ${feeAddressesMax}`);
      const addresses = list.map((entry) => addressValue(entry));
      const { chain } = node;
      const newest = chain.at("processed").slot;
      const first = newest >= feeSlots ? newest - feeSlots + 1n : 0n;
      return chain.history.slots(first, newest, Number(feeSlots)).map((slot) => {
        return { slot, prioritizationFee: chain.history.lowestUnitPrice(slot, addresses) ?? 0n };
      });
    },
  },
};
