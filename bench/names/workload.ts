/** The names that bench/names requests: a hot set that stays in the resolver's memory, and names that it meets once. */
export const owner = "86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY";
export const rounds = 5;
export const hotNames: readonly string[] = Array.from({ length: 200 }, (_, at) => `hot-${at}.x1`);
export const coldEach = 200;

/** Each round has its own cold names. */
export const coldName = (round: number, at: number): string => `cold-${round}-${at}`;

/** Every label that the node knows under x1; round -1 warms up. */
export function* namesKnown(): Generator<string> {
  for (const name of hotNames) yield name.replace(".x1", "");
  for (let round = -1; round < rounds; round++) for (let at = 0; at < coldEach; at++) yield coldName(round, at);
}
