import { describe, expect, test } from "bun:test";
import { encodeBase58 } from "@sluice/wire/base58";
import { programs, sysvars } from "@sluice/wire/programs";
import { VoteAuthorizationLayout, VoteInit, VoteProgram } from "@solana/web3.js";
import { i64, parsedOf, parsedOfParts, text64, u8, u16, u32, u64 } from "../testing/instruction.ts";
import { A, a, B, b, C, c, D, d, E, raw } from "../testing/keys.ts";

describe("vote", () => {
  const vote = (type: string, info: object) => ({ program: "vote", parsed: { type, info } });
  const voteAccount = { voteAccount: A };
  const hash = new Uint8Array(32).fill(9);
  const hashText = encodeBase58(hash);

  test("initialize", () => {
    const built = VoteProgram.initializeAccount({ votePubkey: a, nodePubkey: b, voteInit: new VoteInit(b, c, d, 7) });
    const sysvarAccounts = { rentSysvar: sysvars.rent, clockSysvar: sysvars.clock };
    const authorized = { authorizedVoter: C, authorizedWithdrawer: D };
    expect(parsedOf(built)).toEqual(
      vote("initialize", { ...voteAccount, ...sysvarAccounts, node: B, ...authorized, commission: 7 }),
    );
  });
  test("authorize, plain and with a seed", () => {
    const voteAuthorizationType = VoteAuthorizationLayout.Withdrawer;
    const built = VoteProgram.authorize({
      votePubkey: a,
      authorizedPubkey: b,
      newAuthorizedPubkey: c,
      voteAuthorizationType,
    });
    const change = { newAuthority: C, authorityType: "Withdrawer" };
    const clockSysvar = sysvars.clock;
    expect(parsedOf(built)).toEqual(vote("authorize", { ...voteAccount, clockSysvar, authority: B, ...change }));
    const seeded = VoteProgram.authorizeWithSeed({
      votePubkey: a,
      currentAuthorityDerivedKeyBasePubkey: b,
      currentAuthorityDerivedKeyOwnerPubkey: d,
      currentAuthorityDerivedKeySeed: "seed",
      newAuthorizedPubkey: c,
      voteAuthorizationType,
    });
    const seed = { authorityBaseKey: B, authorityOwner: D, authoritySeed: "seed" };
    expect(parsedOf(seeded)).toEqual(vote("authorizeWithSeed", { ...voteAccount, clockSysvar, ...seed, ...change }));
    expect(parsedOfParts(programs.vote, [A, sysvars.clock, B, C], u32(7), u32(1))).toEqual(
      vote("authorizeChecked", { ...voteAccount, clockSysvar, authority: B, ...change }),
    );
    const checked = [u32(11), u32(1), raw(D), text64("seed")];
    expect(parsedOfParts(programs.vote, [A, sysvars.clock, B, C], ...checked)).toEqual(
      vote("authorizeCheckedWithSeed", { ...voteAccount, clockSysvar, ...seed, ...change }),
    );
  });
  test("withdraw and updateValidatorIdentity", () => {
    const withdraw = VoteProgram.withdraw({ votePubkey: a, authorizedWithdrawerPubkey: b, lamports: 5, toPubkey: c });
    expect(parsedOf(withdraw)).toEqual(
      vote("withdraw", { ...voteAccount, destination: C, withdrawAuthority: B, lamports: 5n }),
    );
    const update = VoteProgram.updateValidatorIdentity({ votePubkey: a, authorizedWithdrawerPubkey: b, nodePubkey: c });
    expect(parsedOf(update)).toEqual(
      vote("updateValidatorIdentity", { ...voteAccount, newValidatorIdentity: C, withdrawAuthority: B }),
    );
  });
  test("vote and voteSwitch", () => {
    const parts = [u64(2n), u64(10n), u64(12n), hash, u8(1), i64(1_700_000_000n)];
    const accounts = [A, sysvars.slotHashes, sysvars.clock, B];
    const named = { slotHashesSysvar: sysvars.slotHashes, clockSysvar: sysvars.clock, voteAuthority: B };
    const info = { ...voteAccount, ...named, vote: { slots: [10n, 12n], hash: hashText, timestamp: 1_700_000_000n } };
    expect(parsedOfParts(programs.vote, accounts, u32(2), ...parts)).toEqual(vote("vote", info));
    expect(parsedOfParts(programs.vote, accounts, u32(6), ...parts, raw(C))).toEqual(
      vote("voteSwitch", { ...info, hash: C }),
    );
  });
  test("updates of the tower, whole and compact, with and without a proof", () => {
    const lockouts = [
      { slot: 100n, confirmation_count: 31 },
      { slot: 330n, confirmation_count: 1 },
    ];
    const by = { ...voteAccount, voteAuthority: B };
    const update = { lockouts, root: 90n, hash: hashText, timestamp: null };
    const whole = [u64(2n), u64(100n), u32(31), u64(330n), u32(1), u8(1), u64(90n), hash, u8(0)];
    const send = (...parts: Uint8Array[]) => parsedOfParts(programs.vote, [A, B], ...parts);
    expect(send(u32(8), ...whole)).toEqual(vote("updatevotestate", { ...by, voteStateUpdate: update }));
    expect(send(u32(9), ...whole, raw(C))).toEqual(
      vote("updatevotestateswitch", { ...by, voteStateUpdate: update, hash: C }),
    );
    // Steps from the root 90: 10, then 230, which takes two bytes of seven bits.
    const compact = [u64(90n), u8(2), u8(10), u8(31), u8(0xe6, 0x01), u8(1), hash, u8(0)];
    expect(send(u32(12), ...compact)).toEqual(vote("compactupdatevotestate", { ...by, voteStateUpdate: update }));
    expect(send(u32(13), ...compact, raw(C))).toEqual(
      vote("compactupdatevotestateswitch", { ...by, voteStateUpdate: update, hash: C }),
    );
    const towerSync = { ...update, blockId: D };
    expect(send(u32(14), ...compact, raw(D))).toEqual(vote("towersync", { ...by, towerSync }));
    expect(send(u32(15), ...compact, raw(D), raw(C))).toEqual(vote("towersyncswitch", { ...by, towerSync, hash: C }));
    const rootless = [u64(2n ** 64n - 1n), u8(1), u8(7), u8(2), hash, u8(0), raw(D)];
    const first = { lockouts: [{ slot: 7n, confirmation_count: 2 }], root: null, hash: hashText, timestamp: null };
    expect(send(u32(14), ...rootless)).toEqual(vote("towersync", { ...by, towerSync: { ...first, blockId: D } }));
  });
  test("commissions, collectors and the second initialisation", () => {
    expect(parsedOfParts(programs.vote, [A, B], u32(5), u8(9))).toEqual(
      vote("updateCommission", { ...voteAccount, withdrawAuthority: B, commission: 9 }),
    );
    const parts = [u32(16), raw(B), raw(C), new Uint8Array(144), raw(D), u16(500), raw(A), u16(1000), raw(E)];
    expect(parsedOfParts(programs.vote, [A, B], ...parts)).toEqual(
      vote("initializeV2", {
        ...voteAccount,
        node: B,
        authorizedVoter: C,
        authorizedWithdrawer: D,
        inflationRewardsCommissionBps: 500,
        inflationRewardsCollector: A,
        blockRevenueCommissionBps: 1000,
        blockRevenueCollector: E,
      }),
    );
    expect(parsedOfParts(programs.vote, [A, B, C], u32(17), u32(1))).toEqual(
      vote("updateCommissionCollector", {
        ...voteAccount,
        newCollector: B,
        withdrawAuthority: C,
        commissionKind: "BlockRevenue",
      }),
    );
    expect(parsedOfParts(programs.vote, [A, B], u32(18), u16(250), u32(0))).toEqual(
      vote("updateCommissionBps", {
        ...voteAccount,
        withdrawAuthority: B,
        commissionBps: 250,
        commissionKind: "InflationRewards",
      }),
    );
    expect(parsedOfParts(programs.vote, [A, B], u32(19), u64(6n))).toEqual(
      vote("depositDelegatorRewards", { ...voteAccount, source: B, deposit: 6n }),
    );
  });
});
