import { describeLogConformance } from "./testing/conformance.ts";
import { openSegmentHarness } from "./testing/segment-logs.ts";

describeLogConformance("segment files", () => openSegmentHarness());
describeLogConformance("segment files that are synced at an interval, with a small memory", () =>
  openSegmentHarness({ sync: "interval", tailBytesMax: 1_000 }),
);
