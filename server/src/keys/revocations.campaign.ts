import { type Course, Revocations } from "./testing/revocations.ts";

/**
 * Keys and accounts change on three replicas that keep keys in memory and notify each other, over a store that answers
 * late and in any order: a replica that was notified grants nothing by what was before; one that was not stops when it
 * reads the revision, within a second and what the store takes, or, while the store fails, within the time for which a
 * key is kept. `n` is the number of steps in all.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const calm = { lossChance: 0, killChance: 0, failureChance: 0 };
  const courses: Omit<Course, "steps">[] = [
    { ...calm, name: "calm", seed },
    { ...calm, name: "losses of Redis and kills", seed: seed + 1, lossChance: 0.002, killChance: 0.001 },
    { name: "a failing store as well", seed: seed + 2, lossChance: 0.002, killChance: 0.001, failureChance: 0.2 },
  ];
  const summaries: string[] = [];
  for (const course of courses) {
    const play = new Revocations({ ...course, steps: Math.ceil(n / courses.length) });
    const fault = await play.play();
    if (fault !== null) return { passed: false, summary: `${course.name}, seed ${course.seed}: ${fault}` };
    summaries.push(play.summary);
  }
  return { passed: true, summary: summaries.join("; ") };
}
