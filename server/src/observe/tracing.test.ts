import { afterEach, describe, expect, test } from "bun:test";
import { type Attributes, type Span, SpanStatusCode, type TracerProvider, trace } from "@opentelemetry/api";
import { createTracing } from "./tracing.ts";

afterEach(() => trace.disable());

interface Recorded {
  name: string;
  attributes: Attributes;
  status: number | undefined;
  message: string | undefined;
  ended: number;
}

/** A provider that keeps what it receives; it builds on the API's own span that does nothing. */
function recorder(): { provider: TracerProvider; spans: Recorded[] } {
  const spans: Recorded[] = [];
  const start = (name: string, options: { attributes?: Attributes }): Span => {
    const record: Recorded = {
      name,
      attributes: { ...options.attributes },
      status: undefined,
      message: undefined,
      ended: 0,
    };
    spans.push(record);
    const span = trace.wrapSpanContext({ traceId: "1".repeat(32), spanId: "1".repeat(16), traceFlags: 1 });
    return Object.assign(span, {
      setAttribute: (key: string, value: string) => {
        record.attributes[key] = value;
        return span;
      },
      setStatus: (status: { code: number; message?: string }) => {
        record.status = status.code;
        record.message = status.message;
        return span;
      },
      end: () => {
        record.ended++;
      },
    });
  };
  const tracer = {
    startSpan: start,
    startActiveSpan: (name: string, options: object, work: (span: Span) => unknown) => work(start(name, options)),
  };
  return { provider: { getTracer: () => tracer as never }, spans };
}

describe("tracing", () => {
  test("without a provider a span is a plain call and gives back the result itself", async () => {
    const tracing = createTracing();
    expect(tracing.enabled).toBe(false);
    const promise = Promise.resolve(1);
    expect(tracing.span("a", {}, () => promise)).toBe(promise);
    expect(() => tracing.span("a", {}, () => JSON.parse("{"))).toThrow(SyntaxError);
  });

  test("with a provider a span carries its attributes and ends once, for values and for promises", async () => {
    const { provider, spans } = recorder();
    trace.setGlobalTracerProvider(provider);
    const tracing = createTracing();
    expect(tracing.enabled).toBe(true);
    expect(tracing.span("now", { network: "devnet" }, () => 1)).toBe(1);
    const later = tracing.span("later", {}, async (span) => {
      span.note("url", "https://u:hunter2@node.example/");
      return 2;
    });
    expect(spans[1]?.ended).toBe(0);
    expect(await later).toBe(2);
    await Promise.resolve();
    await Promise.resolve();
    expect(spans).toMatchObject([
      { name: "now", attributes: { network: "devnet" }, ended: 1 },
      { name: "later", attributes: { url: "https://…@node.example/" }, ended: 1 },
    ]);
  });

  test("a failure ends the span as an error without secrets, and reaches the caller", async () => {
    const { provider, spans } = recorder();
    trace.setGlobalTracerProvider(provider);
    const tracing = createTracing();
    const fault = new Error("sk_live_abc was refused");
    expect(() =>
      tracing.span("now", {}, () => {
        throw fault;
      }),
    ).toThrow(fault);
    await expect(tracing.span("later", {}, () => Promise.reject(fault))).rejects.toBe(fault);
    await Promise.resolve();
    for (const span of spans) {
      expect(span).toMatchObject({ status: SpanStatusCode.ERROR, message: "sk_live_[hidden] was refused", ended: 1 });
    }
  });
});
