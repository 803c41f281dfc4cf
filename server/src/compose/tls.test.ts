import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { CertificateFault } from "../net/index.ts";
import { createLog, createMetrics } from "../observe/index.ts";
import { Certificates, openPort } from "./tls.ts";

test("a port whose certificate cannot be read is refused once its listener has ended, and leaves nothing open", async () => {
  const clock = new ManualClock();
  await using resources = new AsyncDisposableStack();
  const log = createLog({ level: "silent" });
  const certificates = new Certificates({ clock, log, metrics: createMetrics(), resources });
  const steps: string[] = [];
  const listener = {
    port: 1,
    stop: async () => {
      await Bun.sleep(1);
      steps.push("stopped");
    },
  };
  const paths = { certificate: "/nowhere/certificate.pem", key: "/nowhere/key.pem" };
  const options = { endpoint: "gateway", hostname: "127.0.0.1", port: 0, tls: paths };
  const refused = openPort(options, { clock, certificates, proxies: null }, () => listener).catch((error: unknown) => {
    steps.push("refused");
    return error;
  });
  expect(await refused).toBeInstanceOf(CertificateFault);
  expect(steps).toEqual(["stopped", "refused"]);
});
