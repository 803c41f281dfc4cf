/**
 * Callers in a process of their own, since each holds an open file at its end as the gateway does at the other:
 * callers-process.ts <port> <calls> <seed>. Sends the calls, all in flight at once, each on a connection of its own;
 * prints {"wrong"}, how many were not answered under their own id, and ends.
 */
import { seededRandom } from "@sluice/lib";
import { answerOf, callAlone, Spelling } from "./spelled-calls.ts";

/** Connections opened at once; the system's queue of those that are not yet accepted is short. */
const openedAtOnce = 250;

const [port = 0, calls = 0, seed = 0] = process.argv.slice(2).map(Number);
const random = seededRandom(seed);
const spelling = new Spelling(() => random.next());
const answers: Promise<boolean>[] = [];
let opening: Promise<void>[] = [];
for (let index = 0; index < calls; index += 1) {
  const id = spelling.id(index);
  const opened = Promise.withResolvers<void>();
  opening.push(opened.promise);
  const answer = callAlone(port, spelling.body(id), opened.resolve).then(
    (text) => text === answerOf(id),
    () => false,
  );
  answers.push(answer);
  // One that cannot be opened is a call without an answer.
  void answer.then(() => opened.resolve());
  if (opening.length === openedAtOnce) {
    await Promise.all(opening);
    opening = [];
  }
}
const right = await Promise.all(answers);
console.log(JSON.stringify({ wrong: right.filter((isRight) => !isRight).length }));
process.exit(0);
