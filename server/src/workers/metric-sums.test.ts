import { expect, test } from "bun:test";
import { counter, createMetrics, gauge, latency } from "../observe/index.ts";
import { MetricSums, readFamilies } from "./metric-sums.ts";

const definitions = {
  calls: counter("sluice_calls_total", "Calls", ["method"]),
  open: gauge("sluice_open", "Open connections"),
  held: gauge("sluice_held", "Held, by kind", ["kind"]),
  times: latency("sluice_times_seconds", "Times", ["method"]),
};

/** The text of a process that counted so many calls, all of them in 3 ms. */
async function textOf(calls: Record<string, number>, open: number): Promise<string> {
  await using metrics = createMetrics();
  const families = metrics.register(definitions);
  for (const [method, count] of Object.entries(calls)) {
    families.calls.with(method).add(count);
    for (let index = 0; index < count; index += 1) families.times.with(method).observe(0.003);
  }
  families.open.with().set(open);
  families.held.with('a "quoted" kind').set(open);
  return await metrics.render();
}

/** The lines of one family in a text. */
const linesOf = (text: string, name: string): string[] =>
  text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

test("counters and histograms are sums over the processes, and each gauge has the worker as its label", async () => {
  const sums = new MetricSums();
  const text = sums.render([
    { life: 11, label: "1", text: await textOf({ getSlot: 3 }, 7) },
    { life: 12, label: "2", text: await textOf({ getSlot: 2, getBlock: 1 }, 5) },
  ]);
  expect(linesOf(text, "sluice_calls_total")).toEqual([
    'sluice_calls_total{method="getSlot"} 5',
    'sluice_calls_total{method="getBlock"} 1',
  ]);
  expect(linesOf(text, "sluice_open")).toEqual(['sluice_open{worker="1"} 7', 'sluice_open{worker="2"} 5']);
  expect(linesOf(text, "sluice_held")).toEqual([
    'sluice_held{worker="1",kind="a \\"quoted\\" kind"} 7',
    'sluice_held{worker="2",kind="a \\"quoted\\" kind"} 5',
  ]);
  expect(linesOf(text, "sluice_times_seconds_count")).toEqual([
    'sluice_times_seconds_count{method="getSlot"} 5',
    'sluice_times_seconds_count{method="getBlock"} 1',
  ]);
  expect(text).toContain('sluice_times_seconds_bucket{method="getSlot",le="0.005"} 5\n');
  expect(text).toContain('sluice_times_seconds_bucket{method="getSlot",le="0.0025"} 0\n');
});

test("a sum never falls when a process ends, whether or not it said a last word, and its gauges go", async () => {
  const sums = new MetricSums();
  const other = { life: 12, label: "2", text: await textOf({ getSlot: 10 }, 5) };
  sums.render([{ life: 11, label: "1", text: await textOf({ getSlot: 3 }, 7) }, other]);
  sums.ended(11);
  const after = sums.render([other]);
  expect(linesOf(after, "sluice_calls_total")).toEqual(['sluice_calls_total{method="getSlot"} 13']);
  expect(linesOf(after, "sluice_open")).toEqual(['sluice_open{worker="2"} 5']);
  // The next life begins at nothing, and says what it counted when it ends.
  sums.seen({ life: 13, text: await textOf({ getSlot: 4 }, 0) });
  sums.ended(13);
  expect(linesOf(sums.render([other]), "sluice_calls_total")).toEqual(['sluice_calls_total{method="getSlot"} 17']);
  expect(linesOf(sums.render([other]), "sluice_times_seconds_count")).toEqual([
    'sluice_times_seconds_count{method="getSlot"} 17',
  ]);
});

test("what is said twice is counted once", async () => {
  const sums = new MetricSums();
  const source = { life: 11, label: "1", text: await textOf({ getSlot: 3 }, 7) };
  sums.render([source]);
  expect(linesOf(sums.render([source]), "sluice_calls_total")).toEqual(['sluice_calls_total{method="getSlot"} 3']);
});

test("each process's families are written as they were read, infinite values and help included", () => {
  const text = "# HELP a A (1 or 2)\n# TYPE a gauge\na +Inf\n# HELP b_total B\n# TYPE b_total counter\nb_total NaN\n";
  expect(readFamilies(text).map(({ name, help, type }) => [name, help, type])).toEqual([
    ["a", "A (1 or 2)", "gauge"],
    ["b_total", "B", "counter"],
  ]);
  const shown = new MetricSums().render([{ life: 1, label: "1", text }]);
  expect(shown).toContain('# HELP a A (1 or 2)\n# TYPE a gauge\na{worker="1"} +Inf\n');
  // Nothing is known of it: no sum is spoilt.
  expect(shown).not.toContain("NaN");
});
