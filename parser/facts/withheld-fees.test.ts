import { expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { enhancedRecord } from "../enhanced/record.ts";
import { parseTransaction } from "../parse.ts";
import { u64 } from "../testing/built.ts";
import { addressOf, parsedScenario, type ScenarioCall, scenario } from "../testing/scenario.ts";

const send = (from: string, to: string, amount: bigint): ScenarioCall => ({
  program: programs.token2022,
  accounts: [from, "mint", to, "payer"],
  data: Buffer.from([12, ...u64(amount), 6]).toString("hex"),
});
const of2022 = { mint: "mint", program: programs.token2022 };
const sent = {
  calls: [send("mine", "theirs", 1_000_000n)],
  tokens: {
    mine: { ...of2022, owner: "payer", before: 5_000_000n, after: 4_000_000n },
    theirs: { ...of2022, owner: "friend", before: 7n, after: 990_007n },
  },
};

test("a transfer of which the mint withholds a fee is told with what arrives, and the fee beside it", () => {
  expect(parsedScenario(sent).transfers).toMatchObject([{ amount: 990_000n, fee: 10_000n }]);
  const view = scenario(sent);
  const record = enhancedRecord(view, parseTransaction(view), { place: { slot: 1n, blockTime: null } });
  expect(record["tokenTransfers"]).toMatchObject([
    { rawTokenAmount: { tokenAmount: "990000" }, tokenAmount: { units: 990_000n, decimals: 6 }, feeAmount: "10000" },
  ]);
  expect(record["events"]).toMatchObject({ transfers: [{ amount: "990000", feeAmount: "10000" }] });
  const mint = addressOf("mint");
  expect(record["description"]).toBe(
    `${addressOf("payer")} transferred 0.99 ${mint} to ${addressOf("friend")}; 0.01 ${mint} was withheld as a fee.`,
  );
});

test("what a program that nothing knows gives is an exchange only where more than its fee arrives", () => {
  const stranger = addressOf("a program that nobody knows");
  const exchange = (arrived: bigint) =>
    parsedScenario({
      calls: [
        {
          program: stranger,
          accounts: ["mine"],
          data: "01",
          inner: [
            {
              program: programs.token,
              accounts: ["mine", "vault", "payer"],
              data: `03${Buffer.from(u64(60n)).toString("hex")}`,
            },
            send("theirs", "got", 30n),
          ],
        },
      ],
      tokens: {
        mine: { mint: "other", owner: "payer", before: 100n, after: 40n },
        vault: { mint: "other", owner: "pool", before: 0n, after: 60n },
        theirs: { ...of2022, owner: "pool", before: 30n, after: 0n },
        got: { ...of2022, owner: "payer", before: 0n, after: arrived },
      },
    }).type;
  expect([exchange(29n), exchange(0n)]).toEqual(["SWAP", "UNKNOWN"]);
});
