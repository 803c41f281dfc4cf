import { describe, expect, test } from "bun:test";
import { programs, sysvars } from "@sluice/wire/programs";
import { Authorized, Lockup, StakeAuthorizationLayout, StakeProgram } from "@solana/web3.js";
import { i64, parsedOf, parsedOfParts, text64, u8, u32, u64 } from "../testing/instruction.ts";
import { A, a, B, b, C, c, D, d, E, raw } from "../testing/keys.ts";

describe("stake", () => {
  const stake = (type: string, info?: object) => ({ program: "stake", parsed: info ? { type, info } : { type } });
  const clock = { clockSysvar: sysvars.clock };
  const history = { ...clock, stakeHistorySysvar: sysvars.stakeHistory };
  const stakeAccount = { stakeAccount: A };
  const staker = StakeAuthorizationLayout.Staker;

  test("initialize", () => {
    const built = StakeProgram.initialize({
      stakePubkey: a,
      authorized: new Authorized(b, c),
      lockup: new Lockup(5, 6, d),
    });
    const authorized = { staker: B, withdrawer: C };
    const lockup = { unixTimestamp: 5n, epoch: 6n, custodian: D };
    expect(parsedOf(built)).toEqual(
      stake("initialize", { ...stakeAccount, rentSysvar: sysvars.rent, authorized, lockup }),
    );
  });
  test("delegate, with and without the accounts that are no longer read", () => {
    const built = StakeProgram.delegate({ stakePubkey: a, authorizedPubkey: b, votePubkey: c });
    const whole = { ...stakeAccount, voteAccount: C, ...history, stakeConfigAccount: programs.stakeConfig };
    expect(parsedOf(built)).toEqual(stake("delegate", { ...whole, stakeAuthority: B }));
    expect(parsedOfParts(programs.stake, [A, C, B], u32(2))).toEqual(
      stake("delegate", { ...stakeAccount, voteAccount: C, stakeAuthority: B }),
    );
    expect(parsedOfParts(programs.stake, [A, C, sysvars.clock, sysvars.stakeHistory, B], u32(2))).toEqual(
      stake("delegate", { ...stakeAccount, voteAccount: C, ...history, stakeAuthority: B }),
    );
  });
  test("authorize", () => {
    const built = StakeProgram.authorize({
      stakePubkey: a,
      authorizedPubkey: b,
      newAuthorizedPubkey: c,
      stakeAuthorizationType: staker,
      custodianPubkey: d,
    });
    const info = { ...stakeAccount, ...clock, authority: B, custodian: D, newAuthority: C, authorityType: "Staker" };
    expect(parsedOf(built)).toEqual(stake("authorize", info));
  });
  test("authorizeWithSeed", () => {
    const built = StakeProgram.authorizeWithSeed({
      stakePubkey: a,
      authorityBase: b,
      authoritySeed: "seed",
      authorityOwner: c,
      newAuthorizedPubkey: d,
      stakeAuthorizationType: StakeAuthorizationLayout.Withdrawer,
    });
    expect(parsedOf(built)).toEqual(
      stake("authorizeWithSeed", {
        ...stakeAccount,
        authorityBase: B,
        ...clock,
        newAuthorized: D,
        authorityType: "Withdrawer",
        authoritySeed: "seed",
        authorityOwner: C,
      }),
    );
  });
  test("split, merge, withdraw and deactivate", () => {
    const split = StakeProgram.split({ stakePubkey: a, authorizedPubkey: b, splitStakePubkey: c, lamports: 5 }, 1);
    const info = { ...stakeAccount, newSplitAccount: C, stakeAuthority: B, lamports: 5n };
    expect(parsedOf(split)).toEqual(stake("split", info));
    const merge = StakeProgram.merge({ stakePubkey: a, sourceStakePubKey: b, authorizedPubkey: c });
    expect(parsedOf(merge)).toEqual(stake("merge", { destination: A, source: B, ...history, stakeAuthority: C }));
    const withdraw = StakeProgram.withdraw({ stakePubkey: a, authorizedPubkey: b, toPubkey: c, lamports: 5 });
    expect(parsedOf(withdraw)).toEqual(
      stake("withdraw", { ...stakeAccount, destination: C, ...history, withdrawAuthority: B, lamports: 5n }),
    );
    const deactivate = StakeProgram.deactivate({ stakePubkey: a, authorizedPubkey: b });
    expect(parsedOf(deactivate)).toEqual(stake("deactivate", { ...stakeAccount, ...clock, stakeAuthority: B }));
  });
  test("setLockup shows only what changes; the checked form names the custodian by account", () => {
    const parts = [u32(6), u8(1), i64(-5n), u8(0), u8(1), raw(C)];
    const lockup = { unixTimestamp: -5n, custodian: C };
    expect(parsedOfParts(programs.stake, [A, B], ...parts)).toEqual(
      stake("setLockup", { ...stakeAccount, custodian: B, lockup }),
    );
    expect(parsedOfParts(programs.stake, [A, B, C], u32(12), u8(0), u8(1), u64(9n))).toEqual(
      stake("setLockupChecked", { ...stakeAccount, custodian: B, lockup: { epoch: 9n, custodian: C } }),
    );
  });
  test("the checked forms, with and without sysvars", () => {
    const authorities = { staker: B, withdrawer: C };
    expect(parsedOfParts(programs.stake, [A, sysvars.rent, B, C], u32(9))).toEqual(
      stake("initializeChecked", { ...stakeAccount, rentSysvar: sysvars.rent, ...authorities }),
    );
    expect(parsedOfParts(programs.stake, [A, B, C], u32(9))).toEqual(
      stake("initializeChecked", { ...stakeAccount, ...authorities }),
    );
    const change = { authority: B, newAuthority: C, authorityType: "Withdrawer" };
    expect(parsedOfParts(programs.stake, [A, sysvars.clock, B, C, D], u32(10), u32(1))).toEqual(
      stake("authorizeChecked", { ...stakeAccount, ...clock, ...change, custodian: D }),
    );
    expect(parsedOfParts(programs.stake, [A, B, C], u32(10), u32(1))).toEqual(
      stake("authorizeChecked", { ...stakeAccount, ...change }),
    );
    const seed = { authoritySeed: "seed", authorityOwner: D, authorityType: "Staker" };
    expect(parsedOfParts(programs.stake, [A, B, sysvars.clock, C], u32(11), u32(0), text64("seed"), raw(D))).toEqual(
      stake("authorizeCheckedWithSeed", { ...stakeAccount, authorityBase: B, ...clock, newAuthorized: C, ...seed }),
    );
  });
  test("the rest", () => {
    expect(parsedOfParts(programs.stake, [A], u32(13))).toEqual(stake("getMinimumDelegation"));
    expect(parsedOfParts(programs.stake, [A, B, C], u32(14))).toEqual(
      stake("deactivateDelinquent", { ...stakeAccount, voteAccount: B, referenceVoteAccount: C }),
    );
    expect(parsedOfParts(programs.stake, [A, B, C, D, E], u32(15))).toEqual(
      stake("redelegate", {
        ...stakeAccount,
        newStakeAccount: B,
        voteAccount: C,
        stakeConfigAccount: D,
        stakeAuthority: E,
      }),
    );
    const moved = { source: A, destination: B, stakeAuthority: C, lamports: 8n };
    expect(parsedOfParts(programs.stake, [A, B, C], u32(16), u64(8n))).toEqual(stake("moveStake", moved));
    expect(parsedOfParts(programs.stake, [A, B, C], u32(17), u64(8n))).toEqual(stake("moveLamports", moved));
  });
});
