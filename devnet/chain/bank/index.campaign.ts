import { AccountsModel } from "../accounts/testing/accounts-model.ts";
import { HistoryModel } from "../history/testing/history-model.ts";

/** Steps before both start over from nothing with another seed. */
const stepsEach = 500;

/**
 * Walks accounts and history through `n` random steps each, beside plain copies that are searched from end to end;
 * passes when every answer is the same at every slot that can be asked.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  for (let done = 0; done < n; done += stepsEach) {
    const name = `${seed} ${done}`;
    const accounts = new AccountsModel(name);
    const history = new HistoryModel(name);
    for (let step = done; step < Math.min(n, done + stepsEach); step += 1) {
      try {
        accounts.step();
        history.step();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { passed: false, summary: `seed ${seed}, step ${step}: ${message}` };
      }
    }
  }
  return { passed: true, summary: `seed ${seed}: ${n} steps of accounts and ${n} of history agree` };
}
