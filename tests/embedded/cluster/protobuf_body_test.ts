import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "@/embedded/cluster/api_status.ts";
import { readProtobufConfigMap, readProtobufReview } from "@/embedded/cluster/protobuf_body.ts";

/** What kubectl 1.32 sends for `create configmap mine --from-literal=a=två --from-file=bin=…`. */
const CONFIG_MAP = Uint8Array.fromBase64(
  "azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjoKIQoEbWluZRIAGg1iYXRjaC1kZWZhdWx0IgAqADIAOABCABIJCgFhEgR0dsOlGgoKA2JpbhID/wABGgAiAA==",
);
/** What it sends for `auth can-i watch jobs.batch` before it knows the API's groups. */
const REVIEW = Uint8Array.fromBase64(
  "azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSSgoQCgASABoAIgAqADIAOABCABIsCioKDWJhdGNo" +
    "LWRlZmF1bHQSBXdhdGNoGgAiACoKam9icy5iYXRjaDIAOgAaCAgAEgAaACAAGgAiAA==",
);

Deno.test("protobuf: a ConfigMap of kubectl's is read as it was meant", () => {
  const map = readProtobufConfigMap(CONFIG_MAP);
  assert.deepEqual(JSON.parse(JSON.stringify(map)), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "mine", namespace: "batch-default" },
    data: { a: "två" },
    binaryData: { bin: "/wAB" },
  });
});

Deno.test("protobuf: a question about access is read as it was meant", () => {
  assert.deepEqual(readProtobufReview(REVIEW), {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: {
      resourceAttributes: {
        namespace: "batch-default",
        verb: "watch",
        group: "",
        version: "",
        resource: "jobs.batch",
        subresource: "",
        name: "",
      },
    },
  });
});

Deno.test("protobuf: bytes that are cut or changed are read or rejected, never anything else", () => {
  const judge = (bytes: Uint8Array) => {
    for (const read of [readProtobufConfigMap, readProtobufReview]) {
      try {
        read(bytes);
      } catch (error) {
        assert.ok(error instanceof ApiError && error.code === 400, String(error));
      }
    }
  };
  for (let length = 0; length < CONFIG_MAP.length; length++) judge(CONFIG_MAP.subarray(0, length));
  fc.assert(fc.property(fc.nat(CONFIG_MAP.length - 1), fc.nat(255), (at, byte) => judge(CONFIG_MAP.with(at, byte))));
  fc.assert(fc.property(fc.uint8Array(), (bytes) => judge(new Uint8Array([0x6b, 0x38, 0x73, 0, ...bytes]))));
  assert.throws(() => readProtobufConfigMap(new Uint8Array()), ApiError);
});
