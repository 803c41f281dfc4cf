import { expect, test } from "bun:test";
import { isLoopback } from "./dev.ts";

test("the console opens without a key only where only this machine can reach it", () => {
  for (const bind of ["127.0.0.1", "127.8.8.8", "::1", "localhost"]) expect(isLoopback(bind)).toBe(true);
  for (const bind of ["0.0.0.0", "::", "192.168.1.5", "127.0.0.1.example.com", "node.local"]) {
    expect(isLoopback(bind)).toBe(false);
  }
});
