import { type Course, Simulation } from "./simulation.ts";

/**
 * Several workers spend the credits of the same accounts over one store that is slow, and in some courses fails; workers
 * are killed and the clock jumps over months. `n` is the number of steps in all.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const steps = Math.ceil(n / 4);
  const calm = { steps, killChance: 0, failureChance: 0, jumpChance: 0 };
  const courses: Course[] = [
    { ...calm, name: "calm", seed },
    { ...calm, name: "jumping clock", seed: seed + 1, jumpChance: 0.002 },
    { ...calm, name: "kills", seed: seed + 2, killChance: 0.002, jumpChance: 0.0005 },
    {
      ...calm,
      name: "kills and a failing store",
      seed: seed + 3,
      killChance: 0.001,
      jumpChance: 0.001,
      failureChance: 0.02,
    },
  ];
  const summaries: string[] = [];
  for (const course of courses) {
    const simulation = new Simulation(course);
    const fault = await simulation.play();
    if (fault !== null) return { passed: false, summary: `${course.name}, seed ${course.seed}: ${fault}` };
    summaries.push(simulation.summary);
  }
  return { passed: true, summary: summaries.join("; ") };
}
