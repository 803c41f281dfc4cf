import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import { formfunction } from "../programs/formfunction.ts";
import { jupiterV6 } from "../programs/jupiter-v6.ts";
import { magicEdenV2 } from "../programs/magic-eden-v2.ts";
import { mplCore } from "../programs/mpl-core.ts";
import { orcaWhirlpool } from "../programs/orca-whirlpool.ts";
import { raydiumCpmm } from "../programs/raydium-cpmm.ts";
import { solanart } from "../programs/solanart.ts";
import { stakePoolDevnet } from "../programs/stake-pool.ts";
import { tokenMetadata } from "../programs/token-metadata.ts";
import { addressOf, type Scenario, type ScenarioCall } from "./scenario.ts";

const { wrappedNativeMint } = wellKnownAddresses;
const u64 = (value: bigint): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes.toString("hex");
};

const transfer = (from: string, to: string, lamports: bigint): ScenarioCall => ({
  program: programs.system,
  accounts: [from, to],
  data: `02000000${u64(lamports)}`,
});
const create = (account: string): ScenarioCall => ({
  program: programs.system,
  accounts: ["payer", account],
  data: `00000000${u64(2_039_280n)}${u64(165n)}${"07".repeat(32)}`,
});
const openAssociated = (account: string, mint: string): ScenarioCall => ({
  program: programs.associatedToken,
  accounts: ["payer", account, "payer", mint, programs.system, programs.token],
  data: "01",
  inner: [create(account), { program: programs.token, accounts: [account, mint, "payer"], data: "01" }],
});
const send = (from: string, to: string, amount: bigint): ScenarioCall => ({
  program: programs.token,
  accounts: [from, to, "payer"],
  data: `03${u64(amount)}`,
});
const sync = (account: string): ScenarioCall => ({ program: programs.token, accounts: [account], data: "11" });
const close = (account: string): ScenarioCall => ({
  program: programs.token,
  accounts: [account, "payer", "payer"],
  data: "09",
});
const stranger = addressOf("a program that nobody knows");
export const strange = (accounts: readonly string[], inner: readonly ScenarioCall[] = []): ScenarioCall => ({
  program: stranger,
  accounts,
  data: "0102",
  inner,
});
const tipAccount = "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5";

const wallet = (mint: string, before: bigint, after: bigint) => ({ mint, owner: "payer", before, after });
const vault = (mint: string, before: bigint, after: bigint) => ({ mint, owner: "pool", before, after });

function tag(parser: { instructions: readonly { name: string; tag: string }[] }, name: string): string {
  const found = parser.instructions.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found.tag;
}

const market = (name: string, more: Partial<ScenarioCall> = {}): ScenarioCall => ({
  program: magicEdenV2.id,
  accounts: ["payer", "seller", "notary", "token", "mint", "metadata", "escrow"],
  data: `${tag(magicEdenV2, name)}fffa${u64(7_000_000n)}${u64(1n)}`,
  ...more,
});
const stakeCall = (data: string, accounts: readonly string[] = ["stake", "vote"]): ScenarioCall => ({
  program: programs.stake,
  accounts,
  data,
});
const poolCall = (data: string, inner: readonly ScenarioCall[] = []): ScenarioCall => ({
  program: stakePoolDevnet.id,
  accounts: ["pool", "authority", "reserve", "payer", "shares"],
  data,
  inner,
});

export const exchanged = {
  walletA: wallet("mintA", 100n, 40n),
  walletB: wallet("mintB", 0n, 30n),
  vaultA: vault("mintA", 500n, 560n),
  vaultB: vault("mintB", 500n, 470n),
};
export const given = send("walletA", "vaultA", 60n);
export const got: ScenarioCall = { ...send("vaultB", "walletB", 30n), accounts: ["vaultB", "walletB", "pool"] };

export const coreTransfer: ScenarioCall = {
  program: mplCore.id,
  accounts: ["asset", mplCore.id, "payer", mplCore.id, "friend", programs.system],
  data: "0e00",
};

/** A market's instruction that its parser does not know, by which a token that it holds goes to the key of nines. */
const handedOut = (inner: readonly ScenarioCall[]): Scenario => ({
  calls: [
    {
      program: formfunction.id,
      accounts: ["payer", "token", "pool"],
      data: "8899aabbccddeeff",
      inner: [...inner, { program: programs.token, accounts: ["token", "pool"], data: `060201${"09".repeat(32)}` }],
    },
  ],
  tokens: { token: { ...vault("mint", 1n, 1n), decimals: 0 } },
});
export const acceptedOffer = handedOut([transfer("escrow", "creator", 50_000n), transfer("escrow", "payer", 950_000n)]);

export const listingForOffer: Scenario = {
  calls: [
    { program: solanart.id, accounts: ["payer", "mine", "held", "payer", "sale"], data: `05${u64(0n)}` },
    {
      program: solanart.id,
      accounts: ["payer", "offer", "friend", "mint", "mine", "friends"],
      data: `02${u64(9_000n)}`,
      inner: [send("mine", "friends", 1n)],
    },
  ],
};

/** What is told, and the type that it is. */
export const cases: readonly { readonly what: string; readonly type: string; readonly told: Scenario }[] = [
  { what: "lamports to another", type: "TRANSFER", told: { calls: [transfer("payer", "friend", 5n)] } },
  { what: "lamports to oneself", type: "TRANSFER", told: { calls: [transfer("payer", "payer", 5n)] } },
  { what: "a tip alone", type: "TRANSFER", told: { calls: [transfer("payer", tipAccount, 5n)] } },
  {
    what: "an account that is opened, with a tip",
    type: "CREATE_ACCOUNT",
    told: { calls: [openAssociated("token", "mint"), transfer("payer", tipAccount, 5n)] },
  },
  {
    what: "an account that is opened for what it gets",
    type: "TRANSFER",
    told: {
      calls: [openAssociated("friends", "mint"), send("mine", "friends", 5n)],
      tokens: { mine: wallet("mint", 9n, 4n), friends: { mint: "mint", owner: "friend", before: 0n, after: 5n } },
    },
  },
  {
    what: "an associated account that was there already",
    type: "UNKNOWN",
    told: { calls: [{ ...openAssociated("token", "mint"), inner: [] }] },
  },
  {
    what: "currency that is wrapped in a new account",
    type: "CREATE_ACCOUNT",
    told: {
      calls: [openAssociated("wrapped", wrappedNativeMint), transfer("payer", "wrapped", 5n), sync("wrapped")],
      tokens: { wrapped: wallet(wrappedNativeMint, 0n, 5n) },
    },
  },
  {
    what: "currency that is wrapped in an account that was there",
    type: "UNKNOWN",
    told: {
      calls: [transfer("payer", "wrapped", 5n), sync("wrapped")],
      tokens: { wrapped: wallet(wrappedNativeMint, 1n, 6n) },
    },
  },
  {
    what: "an account that is closed",
    type: "CLOSE_ACCOUNT",
    told: { calls: [close("token")], lamports: { token: [2_039_280n, 0n], payer: [10n, 2_034_290n] } },
  },
  {
    what: "a transfer beside a program that nothing knows and that may change accounts",
    type: "UNKNOWN",
    told: { calls: [transfer("payer", "friend", 5n), strange(["something"])] },
  },
  {
    what: "a transfer beside a program that nothing knows and that changes nothing",
    type: "TRANSFER",
    told: { calls: [transfer("payer", "friend", 5n), strange([])] },
  },
  {
    what: "tokens that a program that nothing knows moves one way",
    type: "UNKNOWN",
    told: { calls: [strange(["walletA"], [given])], tokens: exchanged },
  },
  {
    what: "tokens that a program that nothing knows exchanges with one party",
    type: "SWAP",
    told: { calls: [strange(["walletA"], [given, got])], tokens: exchanged },
  },
  {
    what: "an exchange beside tokens that are sent to another",
    type: "SWAP",
    told: {
      calls: [strange(["walletA"], [given, got]), send("walletB", "friendB", 10n)],
      tokens: {
        ...exchanged,
        walletB: wallet("mintB", 0n, 20n),
        friendB: { mint: "mintB", owner: "friend", before: 0n, after: 10n },
      },
    },
  },
  {
    what: "a route into the account of another",
    type: "SWAP",
    told: {
      calls: [
        {
          program: jupiterV6.id,
          accounts: [programs.token, "payer", "walletA", "friendB"],
          data: tag(jupiterV6, "route"),
          inner: [given, send("vaultB", "friendB", 30n)],
        },
      ],
      tokens: {
        ...{ walletA: exchanged.walletA, vaultA: exchanged.vaultA, vaultB: exchanged.vaultB },
        friendB: { mint: "mintB", owner: "friend", before: 0n, after: 30n },
      },
    },
  },
  {
    what: "tokens that a program that nothing knows exchanges and of which it leaves the wallet nothing",
    type: "UNKNOWN",
    told: {
      calls: [strange(["walletA"], [given, got, send("walletB", "vaultC", 30n)])],
      tokens: {
        ...exchanged,
        walletB: wallet("mintB", 0n, 0n),
        vaultC: { mint: "mintB", owner: "burner", before: 0n, after: 30n },
      },
    },
  },
  {
    what: "two tokens that go to a pool",
    type: "UNKNOWN",
    told: {
      calls: [
        {
          program: raydiumCpmm.id,
          accounts: ["payer", "authority", "pool"],
          data: `${tag(raydiumCpmm, "deposit")}${u64(1n)}${u64(9n)}${u64(9n)}`,
          inner: [given, send("walletB", "vaultB", 3n)],
        },
      ],
      tokens: { ...exchanged, walletB: wallet("mintB", 10n, 7n), vaultB: vault("mintB", 1n, 4n) },
    },
  },
  {
    what: "a stake that is delegated",
    type: "STAKE",
    told: { calls: [create("stake"), stakeCall(`00000000${"01".repeat(112)}`), stakeCall("02000000")] },
  },
  { what: "a stake that is deactivated", type: "UNSTAKE", told: { calls: [stakeCall("05000000")] } },
  {
    what: "a stake that is withdrawn",
    type: "UNSTAKE",
    told: { calls: [stakeCall(`04000000${u64(7n)}`, ["stake", "payer"])] },
  },
  {
    what: "a stake that is split",
    type: "UNKNOWN",
    told: { calls: [stakeCall(`03000000${u64(7n)}`, ["stake", "new"])] },
  },
  { what: "lamports for shares of a stake pool", type: "STAKE", told: { calls: [poolCall(`0e${u64(7n)}`)] } },
  { what: "shares of a stake pool for lamports", type: "UNSTAKE", told: { calls: [poolCall(`10${u64(7n)}`)] } },
  {
    what: "a stake pool that delegates its own stake",
    type: "UNKNOWN",
    told: { calls: [poolCall(`04${u64(7n)}${u64(0n)}`, [stakeCall("02000000")])] },
  },
  { what: "a bid", type: "NFT_BID", told: { calls: [market("deposit"), market("buy")] } },
  { what: "a deposit without a bid", type: "UNKNOWN", told: { calls: [market("deposit")] } },
  { what: "a bid that is taken back", type: "UNKNOWN", told: { calls: [market("cancelBuy"), market("withdraw")] } },
  {
    what: "an offer to buy that the seller takes",
    type: "NFT_SALE",
    told: { calls: [market("cancelSell"), market("sell"), market("executeSaleV2")] },
  },
  {
    what: "a listing, whatever it pays for",
    type: "NFT_LISTING",
    told: { calls: [transfer("payer", "friend", 5n), market("sell")] },
  },
  { what: "a listing that is taken back", type: "NFT_CANCEL_LISTING", told: { calls: [market("cancelSell")] } },
  {
    what: "a sale that failed",
    type: "NFT_SALE",
    told: { calls: [market("executeSaleV2")], error: { InstructionError: [0, { Custom: 6001 }] } },
  },
  {
    what: "one unit of a new mint, and no more",
    type: "NFT_MINT",
    told: {
      calls: [
        { program: programs.token2022, accounts: ["mint"], data: `1400${"05".repeat(32)}00` },
        { program: programs.token2022, accounts: ["mint", "token", "payer"], data: `07${u64(1n)}` },
        { program: programs.token2022, accounts: ["mint", "payer"], data: "060000" },
      ],
      tokens: { token: { ...wallet("mint", 0n, 1n), decimals: 0 } },
    },
  },
  {
    what: "one unit of a new mint whose authority may mint more",
    type: "UNKNOWN",
    told: {
      calls: [
        { program: programs.token, accounts: ["mint"], data: `1400${"05".repeat(32)}00` },
        { program: programs.token, accounts: ["mint", "token", "payer"], data: `07${u64(1n)}` },
      ],
      tokens: { token: { ...wallet("mint", 0n, 1n), decimals: 0 } },
    },
  },
  {
    what: "an edition that a program that nothing knows mints",
    type: "NFT_MINT",
    told: {
      calls: [
        strange(
          ["mint"],
          [
            { program: programs.token, accounts: ["mint", "token", "payer"], data: `07${u64(1n)}` },
            { program: tokenMetadata.id, accounts: ["edition", "mint"], data: "1101" },
          ],
        ),
      ],
      tokens: { token: { ...wallet("mint", 0n, 1n), decimals: 0 } },
    },
  },
  {
    what: "a position of a pool, which is a mint of one unit",
    type: "UNKNOWN",
    told: {
      calls: [
        {
          program: orcaWhirlpool.id,
          accounts: ["payer", "position"],
          data: tag(orcaWhirlpool, "openPositionWithMetadata"),
          inner: [
            { program: programs.token, accounts: ["mint", "token", "payer"], data: `07${u64(1n)}` },
            { program: tokenMetadata.id, accounts: ["edition", "mint"], data: "1101" },
          ],
        },
      ],
      tokens: { token: { ...wallet("mint", 0n, 1n), decimals: 0 } },
    },
  },
  {
    what: "a token account that is given away",
    type: "TRANSFER",
    told: {
      calls: [{ program: programs.token, accounts: ["token", "payer"], data: `060201${"09".repeat(32)}` }],
      tokens: { token: wallet("mint", 3n, 3n) },
    },
  },
  {
    what: "a nonce account of which all is withdrawn",
    type: "CLOSE_ACCOUNT",
    told: {
      calls: [{ program: programs.system, accounts: ["nonce", "payer"], data: `05000000${u64(10n)}` }],
      lamports: { nonce: [10n, 0n] },
    },
  },
  {
    what: "a nonce account of which a part is withdrawn",
    type: "TRANSFER",
    told: {
      calls: [{ program: programs.system, accounts: ["nonce", "payer"], data: `05000000${u64(10n)}` }],
      lamports: { nonce: [30n, 20n] },
    },
  },
  { what: "a lookup table that is opened", type: "CREATE_ACCOUNT", told: { calls: [tableCall("00000000")] } },
  { what: "a lookup table that gets addresses", type: "UNKNOWN", told: { calls: [tableCall("02000000")] } },
  {
    what: "a lookup table that is closed",
    type: "CLOSE_ACCOUNT",
    told: { calls: [tableCall("04000000")], lamports: { table: [5n, 0n] } },
  },
  {
    what: "an instruction of a known market that calls itself a change of price",
    type: "NFT_LISTING",
    told: {
      calls: [{ program: solanart.id, accounts: ["payer", "sale"], data: `09${u64(5n)}` }],
      logs: [`Program ${solanart.id} invoke [1]`, "Program log: Instruction: Update price"],
    },
  },
  {
    what: "an instruction of a known market that lets go of a token that it held in place",
    type: "NFT_CANCEL_LISTING",
    told: {
      calls: [
        {
          program: formfunction.id,
          accounts: ["payer", "token"],
          data: "0011223344556677",
          inner: [{ program: programs.token, accounts: ["token", "payer"], data: "05" }],
        },
      ],
      tokens: { token: { ...wallet("mint", 1n, 1n), decimals: 0 } },
    },
  },
  {
    what: "an instruction of a known market that gives what it holds to who does not sign, and pays who does",
    type: "NFT_SALE",
    told: acceptedOffer,
  },
  {
    what: "an instruction of a known market that gives what it holds to who does not sign, and pays another",
    type: "UNKNOWN",
    told: handedOut([transfer("escrow", "creator", 950_000n)]),
  },
  { what: "a listing that is taken back to take an offer", type: "NFT_SALE", told: listingForOffer },
  {
    what: "an instruction of a known market that says nothing that is known",
    type: "UNKNOWN",
    told: {
      calls: [
        { program: solanart.id, accounts: ["payer", "sale"], data: `09${u64(5n)}` },
        transfer("payer", "friend", 5n),
      ],
      logs: [`Program ${solanart.id} invoke [1]`, "Program log: Instruction: Something else"],
    },
  },
  {
    what: "an asset of MPL Core that goes to another",
    type: "TRANSFER",
    told: { calls: [coreTransfer] },
  },
];

function tableCall(data: string): ScenarioCall {
  return { program: programs.addressLookupTable, accounts: ["table", "payer", "payer"], data };
}
