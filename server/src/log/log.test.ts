import { describeLogConformance } from "./testing/conformance.ts";
import { openSegmentHarness } from "./testing/segment-logs.ts";

describeLogConformance("segment files", (changes) => openSegmentHarness(changes));
describeLogConformance("segment files that are synced at an interval, with a small memory", (changes) =>
  openSegmentHarness({ sync: "interval", tailBytesMax: 1_000, ...changes }),
);
