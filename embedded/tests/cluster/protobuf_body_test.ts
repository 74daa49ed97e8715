import fc from "fast-check";
import assert from "node:assert/strict";
import { ApiError } from "@/embedded/cluster/api_status.ts";
import { readProtobufConfigMap } from "@/embedded/cluster/object_body.ts";

/** What kubectl 1.32 sends for `create configmap mine --from-literal=a=två --from-file=bin=…`. */
const CONFIG_MAP = Uint8Array.fromBase64(
  "azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjoKIQoEbWluZRIAGg1iYXRjaC1kZWZhdWx0IgAqADIAOABCABIJCgFhEgR0dsOlGgoKA2JpbhID/wABGgAiAA==",
);
Deno.test("protobuf: a ConfigMap from kubectl is read", () => {
  const map = readProtobufConfigMap(CONFIG_MAP);
  assert.deepEqual(JSON.parse(JSON.stringify(map)), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "mine", namespace: "batch-default" },
    data: { a: "två" },
    binaryData: {},
  });
});

Deno.test("protobuf: cut or changed bytes are read or rejected with an ApiError", () => {
  const judge = (bytes: Uint8Array) => {
    try {
      readProtobufConfigMap(bytes);
    } catch (error) {
      assert.ok(error instanceof ApiError && error.code === 400, String(error));
    }
  };
  for (let length = 0; length < CONFIG_MAP.length; length++) judge(CONFIG_MAP.subarray(0, length));
  fc.assert(fc.property(fc.nat(CONFIG_MAP.length - 1), fc.nat(255), (at, byte) => judge(CONFIG_MAP.with(at, byte))));
  fc.assert(fc.property(fc.uint8Array(), (bytes) => judge(new Uint8Array([0x6b, 0x38, 0x73, 0, ...bytes]))));
  assert.throws(() => readProtobufConfigMap(new Uint8Array()), ApiError);
});
