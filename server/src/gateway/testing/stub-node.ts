export { StubNode } from "../../upstreams/testing/stub-node.ts";
