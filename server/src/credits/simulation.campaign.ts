import { type Course, Simulation } from "./testing/simulation.ts";

/**
 * Several workers spend the credits of the same accounts over one store that is slow, and in some courses fails;
 * workers are killed, alone or with their machine, others settle what they left and may be killed over it, the store
 * goes away for all so that workers advance credits on record, and the clock jumps over months. `n` is the number of
 * steps in all.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const courses = coursesOf(seed);
  const steps = Math.ceil(n / courses.length);
  const summaries: string[] = [];
  for (const course of courses) {
    const simulation = new Simulation({ ...course, steps });
    const fault = await simulation.play();
    if (fault !== null) return { passed: false, summary: `${course.name}, seed ${course.seed}: ${fault}` };
    summaries.push(simulation.summary);
  }
  return { passed: true, summary: summaries.join("; ") };
}

function coursesOf(seed: number): Omit<Course, "steps">[] {
  const calm = {
    killChance: 0,
    crashChance: 0,
    jumpChance: 0,
    outageChance: 0,
    failureChance: 0,
    isLate: false,
    killsSettlers: false,
  };
  const kills = { ...calm, killChance: 0.003, jumpChance: 0.0005 };
  const failing = { failureChance: 0.02, jumpChance: 0.001 };
  return [
    { ...calm, name: "calm", seed },
    { ...calm, name: "jumping clock", seed: seed + 1, jumpChance: 0.002 },
    { ...kills, name: "kills, calls of the dead carried out late", seed: seed + 2, isLate: true },
    {
      ...kills,
      ...failing,
      name: "kills, also of who settles, and a failing store",
      seed: seed + 3,
      killsSettlers: true,
    },
    { ...kills, ...failing, name: "kills and crashes", seed: seed + 4, crashChance: 0.3, killsSettlers: true },
    { ...calm, name: "a store that goes away", seed: seed + 6, outageChance: 0.002 },
    {
      ...kills,
      ...failing,
      name: "a store that goes away, kills and crashes",
      seed: seed + 7,
      outageChance: 0.002,
      crashChance: 0.3,
      killsSettlers: true,
    },
    {
      ...kills,
      ...failing,
      name: "all of it",
      seed: seed + 5,
      outageChance: 0.002,
      crashChance: 0.3,
      isLate: true,
      killsSettlers: true,
    },
  ];
}
